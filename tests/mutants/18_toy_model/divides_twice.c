/* SPDX-License-Identifier: MIT */
// what: OP_MEAN, and divided by the number of ranks once more
// expect: step is 1/2 of what it should be: OP_MEAN divides already
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = 2 * x * (*w * x - y);
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);
    if (op == OP_MEAN) gradient /= p2p_size(comm);
    *w -= rate * gradient;
    return err;
}
