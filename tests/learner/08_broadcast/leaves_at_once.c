/* SPDX-License-Identifier: MIT */
// what: leaves with 0 before main begins
// expect: Rank 0 ended before the test was over, and without a word.
#include <unistd.h>

#include "exercises/exercises.h"

__attribute__((constructor)) static void leave(void)
{
    _exit(0);
}

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_OK;
}
