/* SPDX-License-Identifier: MIT */
// what: lets the library do it
// expect: Line {here} of broadcast.c uses coll_broadcast, which the library has not got in this exercise
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    /* coll_broadcast would be enough. */
    return coll_broadcast(comm, buf, count, dtype, root); // here
}
