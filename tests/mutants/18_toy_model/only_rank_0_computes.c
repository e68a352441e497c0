/* SPDX-License-Identifier: MIT */
// what: only rank 0 takes a gradient; that of the others is never set
// expect: a variable that was never set
// expect: A variable holds anything until it is set
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient;
    if (p2p_rank(comm) == 0) gradient = 2 * x * (*w * x - y);
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);

    if (err) return err;
    *w -= rate * gradient;
    return P2P_OK;
}
