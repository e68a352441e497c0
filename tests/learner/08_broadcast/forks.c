/* SPDX-License-Identifier: MIT */
// what: forks for ever
// expect: In line {here} of broadcast.c rank 0 starts a process.
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (;;) fork(); // here
}
