/* SPDX-License-Identifier: MIT */
// what: divides by zero
// expect: In line {here} of broadcast.c rank 0 divides by zero
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    return 5 / p2p_rank(comm) ? P2P_OK : P2P_ERR_ARG; // here
}
