/* SPDX-License-Identifier: MIT */
// what: takes the step whatever coll_all_reduce says.
// expect: coll_all_reduce failed on rank 0
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = 2 * x * (*w * x - y); /* of (w x - y)^2, by w */
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);

    (void)err;
    *w -= rate * gradient;
    return P2P_OK;
}
