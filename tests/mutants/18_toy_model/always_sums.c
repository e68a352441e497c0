/* SPDX-License-Identifier: MIT */
// what: sums whatever op says
// expect: combined the gradients with sum, not with op, which is OP_MEAN here
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = 2 * x * (*w * x - y);
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, OP_SUM);
    (void)op;
    *w -= rate * gradient;
    return err;
}
