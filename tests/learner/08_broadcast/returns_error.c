/* SPDX-License-Identifier: MIT */
// what: returns an error of its own
// expect: On rank 0 it returned P2P_ERR_ARG (-1): invalid argument.
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_ERR_ARG;
}
