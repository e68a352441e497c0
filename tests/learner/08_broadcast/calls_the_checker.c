/* SPDX-License-Identifier: MIT */
// what: reports by itself that all is well
// expect: Line {here} of broadcast.c uses check_returned, which belongs to the checker.
#include "exercises/exercises.h"

void check_returned(const void *c, p2p_err err);

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    check_returned(0, P2P_OK); // here
    return P2P_OK;
}
