/* SPDX-License-Identifier: MIT */
// what: calls itself for ever
// expect: of broadcast.c rank 0 fills its stack
#include "exercises/exercises.h"

static int deeper(int n)
{
    volatile char room[1000];
    room[n % 1000] = 1;
    return n < 0 ? 0 : deeper(n + 1) + room[5];
}

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return deeper(1);
}
