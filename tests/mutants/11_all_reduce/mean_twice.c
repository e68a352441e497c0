/* SPDX-License-Identifier: MIT */
// what: divides the mean once more, after a reduce that has done it.
// expect: divided twice
#include "exercises/exercises.h"

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_err err = my_reduce(comm, buf, count, dtype, op, 0);
    if (!err) err = my_broadcast(comm, buf, count, dtype, 0);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, p2p_size(comm));
    return err;
}
