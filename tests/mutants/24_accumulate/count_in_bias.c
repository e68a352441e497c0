/* SPDX-License-Identifier: MIT */
// what: adds the count to the bias
// expect: The number of examples was added to the bias
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
        double weight = (double)batches[b].count;
        my_model_gradient(parameters, &batches[b], gradient);
        for (size_t i = 0; i < numbers; i++) sum[i] += weight * gradient[i];
        sum[features] += weight;
    }
    if (!err) err = coll_all_reduce(comm, sum, numbers, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < numbers && !err && sum[features] > 0; i++) parameters[i] -= rate * sum[i] / sum[features];

    free(gradient);
    free(sum);
    return err;
}
