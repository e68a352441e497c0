/* SPDX-License-Identifier: MIT */
// what: sends from an address that leads nowhere
// expect: In line {here} of broadcast.c rank 0 uses a pointer that leads nowhere, in p2p_send.
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    return p2p_send(comm, (void *)0x123456789abc, 8, 0, 1); // here
}
