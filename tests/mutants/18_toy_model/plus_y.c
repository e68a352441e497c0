/* SPDX-License-Identifier: MIT */
// what: adds y where it is to be subtracted.
// expect: here it is w x + y
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = 2 * x * (*w * x + y); /* of (w x + y)^2, by w */
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);

    if (err) return err;
    *w -= rate * gradient;
    return P2P_OK;
}
