/* SPDX-License-Identifier: MIT */
// what: first and length exchanged
// expect: Are first and length, in this order, what ring_reduce_scatter sets
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    size_t first, length;
    p2p_err err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &length, &first);
    if (err) return err;
    for (size_t i = 0; i < length; i++) {
        velocity[i] = momentum * velocity[i] + gradient[first + i];
        parameters[first + i] -= rate * velocity[i];
    }
    return ring_all_gather(comm, parameters, count, DTYPE_F64);
}
