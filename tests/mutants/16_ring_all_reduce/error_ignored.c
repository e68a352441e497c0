/* SPDX-License-Identifier: MIT */
// what: goes on when the first half has failed
// expect: in a function of ring_reduce_scatter.c, which your code calls
// expect: returned P2P_OK all the same
#include "exercises/exercises.h"

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    my_ring_reduce_scatter(comm, buf, count, dtype, op);
    return my_ring_all_gather(comm, buf, count, dtype);
}
