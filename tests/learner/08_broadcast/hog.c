/* SPDX-License-Identifier: MIT */
// what: takes all the memory there is
// expect: Rank 0 takes more memory than a rank may have
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (;;) {
        char *volatile more = malloc(1 << 24);
        if (more) memset((char *)more, 1, 1 << 24);
    }
}
