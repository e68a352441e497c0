/* SPDX-License-Identifier: MIT */
// what: follows a null pointer
// expect: In line {here} of broadcast.c rank 0 uses a NULL pointer
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype;
    int *volatile nowhere = p2p_rank(comm) == root ? NULL : &root;
    return *nowhere; // here
}
