/* SPDX-License-Identifier: MIT */
// what: works on a duplicate of the communicator and never frees it
// expect: never freed
// expect: ended by p2p_free
#include "exercises/exercises.h"

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_comm *own;
    p2p_err err = p2p_dup(comm, &own);
    if (err) return err;
    err = my_ring_reduce_scatter(own, buf, count, dtype, op);
    if (err) return err;
    return my_ring_all_gather(own, buf, count, dtype);
}
