/* SPDX-License-Identifier: MIT */
// what: begins to receive and does not wait
// expect: Rank 1 returned while a request of its own was still under way: p2p_irecv(source 0, tag 1) at broadcast.c:{here}.
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);
    p2p_request request;

    if (p2p_rank(comm) != root) return p2p_irecv(comm, buf, bytes, root, 1, &request); // here
    for (int r = 0; r < p2p_size(comm); r++)
        if (r != root) p2p_send(comm, buf, bytes, r, 1);
    return P2P_OK;
}
