/* SPDX-License-Identifier: MIT */
/* Prints without end. */
#include <stdio.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (;;) puts("All work and no play makes rank 0 a dull rank. All work and no play makes rank 0 a dull rank.");
    // END TODO
}
