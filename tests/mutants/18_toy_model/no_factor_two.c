/* SPDX-License-Identifier: MIT */
// what: the derivative of a square without its factor 2
// expect: the factor 2 is missing in the gradient
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = x * (*w * x - y);
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);

    if (err) return err;
    *w -= rate * gradient;
    return P2P_OK;
}
