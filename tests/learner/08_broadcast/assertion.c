/* SPDX-License-Identifier: MIT */
// what: an assert that does not hold
// expect: In line {here} of broadcast.c rank 0 calls abort. Does an assert fail?
#include <assert.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    assert(p2p_size(comm) > 1); // here
    return P2P_OK;
}
