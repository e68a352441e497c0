/* SPDX-License-Identifier: MIT */
// what: all-gathers the length of the chunk
// expect: ring_all_gather was called with 5 numbers on rank 0, and should be with 10
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    size_t first, length;
    p2p_err err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &first, &length);

    if (err) return err;
    for (size_t i = 0; i < length; i++) {
        velocity[i] = momentum * velocity[i] + gradient[first + i];
        parameters[first + i] -= rate * velocity[i];
    }
    return ring_all_gather(comm, parameters + first, length, DTYPE_F64);
}
