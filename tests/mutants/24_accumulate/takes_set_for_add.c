/* SPDX-License-Identifier: MIT */
// what: takes my_model_gradient to add to gradient, which it sets
// expect: it does not add to it
#include <stdlib.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_accumulated_step(p2p_comm *comm, double *parameters, size_t features, const my_examples batches[],
                            size_t count, double rate)
{
    size_t numbers = features + 1;                  /* weight, bias */
    double *sum = calloc(numbers + 1, sizeof *sum); /* and room for one number more */
    double *gradient = calloc(numbers, sizeof *gradient);
    p2p_err err = sum && gradient ? P2P_OK : P2P_ERR_NOMEM;

    for (size_t b = 0; b < count && !err; b++) {
        my_model_gradient(parameters, &batches[b], gradient);
        sum[numbers] += (double)batches[b].count;
    }
    for (size_t i = 0; i < numbers && !err; i++) sum[i] = sum[numbers] * gradient[i];
    if (!err) err = coll_all_reduce(comm, sum, numbers + 1, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < numbers && !err && sum[numbers] > 0; i++) parameters[i] -= rate * sum[i] / sum[numbers];

    free(gradient);
    free(sum);
    return err;
}
