/* SPDX-License-Identifier: MIT */
// what: one rank computes for ever
// expect: rank 1 computes, at broadcast.c:{here}
// expect: rank 0 has returned from my_broadcast
// expect: is in a loop that never ends
// options: --limit 3
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    volatile unsigned i = p2p_rank(comm) == 1;
    while (i) i |= 1; // here
    return P2P_OK;
}
