/* SPDX-License-Identifier: MIT */
// what: does nothing with one rank
// expect: With one rank no parameter has changed
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    size_t first, length;
    if (p2p_size(comm) == 1) return P2P_OK;
    p2p_err err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &first, &length);
    if (err) return err;
    for (size_t i = 0; i < length; i++) {
        velocity[i] = momentum * velocity[i] + gradient[first + i];
        parameters[first + i] -= rate * velocity[i];
    }
    return ring_all_gather(comm, parameters, count, DTYPE_F64);
}
