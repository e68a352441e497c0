/* SPDX-License-Identifier: MIT */
// what: prints for ever
// expect: It printed more than 64 MiB and was stopped
// reject: nothing to say
#include <stdio.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    for (;;) printf("%d has nothing to say, and says it again, and again, and again, and again\n", p2p_rank(comm));
}
