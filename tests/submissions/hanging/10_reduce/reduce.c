/* SPDX-License-Identifier: MIT */
/* Every rank waits for its neighbour, and none sends. */
#include "exercises/exercises.h"

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    // TODO
    (void)op, (void)root;
    return p2p_recv(comm, buf, count * dtype_size(dtype), (p2p_rank(comm) + 1) % p2p_size(comm), 1, NULL);
    // END TODO
}
