/* SPDX-License-Identifier: MIT */
// what: the gradient is a float
// expect: a float has no more
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    float gradient = (float)(2 * x * (*w * x - y));
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F32, op);

    if (err) return err;
    *w -= rate * gradient;
    return P2P_OK;
}
