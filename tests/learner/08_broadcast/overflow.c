/* SPDX-License-Identifier: MIT */
// what: adds one to the largest int
// expect: In line {here} of broadcast.c rank 0 breaks a rule of C: signed integer overflow
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    int largest = 2147483647;
    largest += p2p_size(comm); // here
    return largest == 5 ? P2P_OK : P2P_ERR_ARG;
}
