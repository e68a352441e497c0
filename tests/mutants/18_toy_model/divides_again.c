/* SPDX-License-Identifier: MIT */
// what: divides by the number of ranks, whatever op is.
// expect: or the step was divided by the 2 ranks
// expect: with no division of your own
#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    double gradient = 2 * x * (*w * x - y); /* of (w x - y)^2, by w */
    p2p_err err = coll_all_reduce(comm, &gradient, 1, DTYPE_F64, op);

    if (err) return err;
    *w -= rate * gradient / p2p_size(comm);
    return P2P_OK;
}
