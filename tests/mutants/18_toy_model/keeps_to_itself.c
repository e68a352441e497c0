/* SPDX-License-Identifier: MIT */
// what: the gradients are never combined, each rank follows its own
// expect: followed its own gradient, 4;
// expect: Combined with sum it is 6.
#include "exercises/exercises.h"

p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op)
{
    (void)comm, (void)op;
    *w -= rate * 2 * x * (*w * x - y);
    return P2P_OK;
}
