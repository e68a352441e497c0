/* SPDX-License-Identifier: MIT */
// what: goes on when the reduce has failed
// expect: in a function of reduce.c, which your code calls
// expect: returned P2P_OK all the same
#include "exercises/exercises.h"

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    my_reduce(comm, buf, count, dtype, op, 0);
    return my_broadcast(comm, buf, count, dtype, 0);
}
