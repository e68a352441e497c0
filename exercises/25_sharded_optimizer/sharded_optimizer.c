/* SPDX-License-Identifier: MIT */
/* Exercise 25: each rank keeps a part of the optimizer. The page is README.md in this folder. */
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    // TODO: the mean gradient of this rank's chunk; the step of this rank's chunk; all chunks to all ranks.
    (void)comm, (void)parameters, (void)gradient, (void)velocity, (void)count, (void)rate, (void)momentum;
    return P2P_ERR_TODO;
    // END TODO
}
