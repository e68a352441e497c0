/* SPDX-License-Identifier: MIT */
// what: asks malloc for minus a thousand bytes
// expect: In line {here} of broadcast.c rank 0 asks for more memory than a rank may have. Is the size a negative number?
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)dtype, (void)root;
    char *volatile room = malloc(count - 1000); // here
    free(room);
    return P2P_OK;
}
