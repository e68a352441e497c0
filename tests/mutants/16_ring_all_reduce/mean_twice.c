/* SPDX-License-Identifier: MIT */
// what: divides the mean once more, after a reduce-scatter that has done it.
// expect: divided twice
#include "exercises/exercises.h"

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_err err = my_ring_reduce_scatter(comm, buf, count, dtype, op);
    if (!err) err = my_ring_all_gather(comm, buf, count, dtype);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, p2p_size(comm));
    return err;
}
