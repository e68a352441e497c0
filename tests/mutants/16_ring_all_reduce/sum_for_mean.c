/* SPDX-License-Identifier: MIT */
// what: asks its first half for a sum whatever op is
// expect: has the sum of all parts, not the mean
// expect: Is op handed on
#include "exercises/exercises.h"

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    (void)op;
    p2p_err err = my_ring_reduce_scatter(comm, buf, count, dtype, OP_SUM);
    if (err) return err;
    return my_ring_all_gather(comm, buf, count, dtype);
}
