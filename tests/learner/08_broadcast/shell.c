/* SPDX-License-Identifier: MIT */
// what: asks the shell
// expect: Rank 0 starts a process.
// reject: passed
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return system("echo passed") ? P2P_ERR_ARG : P2P_OK;
}
