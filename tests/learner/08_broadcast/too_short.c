/* SPDX-License-Identifier: MIT */
// what: receives into half a buffer
// expect: Rank 1: p2p_recv(source 0, tag 1) at broadcast.c:{here}: a message of 20 bytes from rank 0 with tag 1 does not fit into a buffer of 10 bytes
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes / 2, root, 1, NULL); // here
    for (int r = 0; r < p2p_size(comm); r++)
        if (r != root) p2p_send(comm, buf, bytes, r, 1);
    return P2P_OK;
}
