/* SPDX-License-Identifier: MIT */
// what: sends with one tag and receives with another
// expect: A deadlock, because of a tag mismatch: rank 1 has a message with tag 1 from rank 0 waiting (20 bytes), but wants tag 2.
// reject: p2p_split
// reject: check_rank
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, root, 2, NULL);
    for (int r = 0; r < p2p_size(comm); r++)
        if (r != root) p2p_send(comm, buf, bytes, r, 1);
    return P2P_OK;
}
