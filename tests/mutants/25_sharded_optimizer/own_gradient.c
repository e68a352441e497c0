/* SPDX-License-Identifier: MIT */
// what: the reduce-scatter is missing
// expect: moved by its owner's gradient only
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum)
{
    size_t first, length;
    ring_chunk(count, p2p_size(comm), p2p_rank(comm), &first, &length);

    for (size_t i = 0; i < length; i++) {
        velocity[i] = momentum * velocity[i] + gradient[first + i];
        parameters[first + i] -= rate * velocity[i];
    }
    return ring_all_gather(comm, parameters, count, DTYPE_F64);
}
