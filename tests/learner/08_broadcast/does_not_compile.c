/* SPDX-License-Identifier: MIT */
// what: a semicolon is missing
// expect: broadcast.c does not compile. The first error is in line {here}: expected
// expect: error: expected
// reject: warning
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    int number return P2P_OK; // here
}
