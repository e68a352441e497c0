/* SPDX-License-Identifier: MIT */
// what: sends memory that it has freed
// expect: In line {here} of broadcast.c rank 0 reads memory that has been freed
// expect: in p2p_send
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)dtype, (void)root;
    char *volatile copy = calloc(1, count + 1);
    free(copy);
    return p2p_send(comm, copy, count, 0, 1); // here
}
