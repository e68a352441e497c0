/* SPDX-License-Identifier: MIT */
// what: the loop ends at count / n
// expect: there the last number has not moved
/* Exercise 25: each rank keeps a part of the optimizer. The page is README.md in this folder. */
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    // TODO: the mean gradient of this rank's chunk; the step of this rank's chunk; all chunks to all ranks.
    // stub: (void)comm, (void)parameters, (void)gradient, (void)velocity, (void)count, (void)rate, (void)momentum;
    // stub: return P2P_ERR_TODO;
    size_t first, length;
    p2p_err err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &first, &length);
    for (size_t i = 0; i < count / (size_t)p2p_size(comm) && !err; i++) {
        velocity[i] = momentum * velocity[i] + gradient[first + i];
        parameters[first + i] -= rate * velocity[i];
    }
    return err ? err : ring_all_gather(comm, parameters, count, DTYPE_F64);
    // END TODO
}
