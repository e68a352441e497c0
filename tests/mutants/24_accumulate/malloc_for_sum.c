/* SPDX-License-Identifier: MIT */
// what: adds up in memory that malloc gave
// expect: What malloc gave was in the sum to begin with
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

    double *all = malloc((numbers + 1) * sizeof *all);
    if (!all) err = P2P_ERR_NOMEM;
    if (!err) all[numbers] = 0;
    for (size_t b = 0; b < count && !err; b++) {
        my_model_gradient(parameters, &batches[b], gradient);
        for (size_t i = 0; i < numbers; i++) all[i] += (double)batches[b].count * gradient[i];
        all[numbers] += (double)batches[b].count;
    }
    if (!err) err = coll_all_reduce(comm, all, numbers + 1, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < numbers && !err && all[numbers] > 0; i++) parameters[i] -= rate * all[i] / all[numbers];
    free(all);

    free(gradient);
    free(sum);
    return err;
}
