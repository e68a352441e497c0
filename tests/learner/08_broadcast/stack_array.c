/* SPDX-License-Identifier: MIT */
// what: an index that a local array has not
// expect: In line {here} of broadcast.c rank 0 uses an index that its array has not
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    volatile int little[2];
    (void)comm, (void)buf, (void)dtype, (void)root;
    for (size_t i = 0; i <= count; i++) little[i] = 1; // here
    return little[1] ? P2P_OK : P2P_ERR_ARG;
}
