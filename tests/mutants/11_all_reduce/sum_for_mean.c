/* SPDX-License-Identifier: MIT */
// what: asks my_reduce for a sum whatever op is
// expect: has the sum of all parts, not the mean
// expect: given op as it came
#include "exercises/exercises.h"

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    (void)op;
    p2p_err err = my_reduce(comm, buf, count, dtype, OP_SUM, 0);
    if (err) return err;
    return my_broadcast(comm, buf, count, dtype, 0);
}
