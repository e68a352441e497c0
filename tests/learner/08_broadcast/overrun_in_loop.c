/* SPDX-License-Identifier: MIT */
// what: one element too many, in a loop of its own
// expect: In line {here} of broadcast.c rank 0 reads beyond the end of a buffer of 20 bytes (4 bytes at once)
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int *numbers = buf, sum = 0;
    (void)comm, (void)dtype, (void)root;
    for (size_t i = 0; i <= count; i++) sum ^= numbers[i]; // here
    return sum ? P2P_OK : P2P_ERR_ARG;
}
