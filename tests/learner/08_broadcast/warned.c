/* SPDX-License-Identifier: MIT */
// what: compiles with a warning, and is wrong as well
// expect: warning: unused variable 'unused'
// expect: Rank 0 sent 0 messages
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int unused;
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_OK;
}
