/* SPDX-License-Identifier: MIT */
// what: combines the errors and multiplies by its own x.
// expect: each gradient has its own
#include "collectives/collectives.h"
#include "exercises/exercises.h"
p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double error = *w * x - y;
    p2p_err err = coll_all_reduce(comm, &error, 1, DTYPE_F64, op);
    if (!err) *w -= rate * 2 * x * error;
    return err;
}
