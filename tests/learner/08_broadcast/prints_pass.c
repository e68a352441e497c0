/* SPDX-License-Identifier: MIT */
// what: says PASS and leaves with 0
// expect: Rank 0 left without p2p_finalize (exit status 0). Does your code call exit?
// reject: passed
// reject: PASS
#include <stdio.h>
#include <stdlib.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    printf("08_broadcast: passed\nPASS\n{\"score\": 100}\n");
    exit(0);
}
