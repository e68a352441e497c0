/* SPDX-License-Identifier: MIT */
// what: the rate is in the sum as well
// expect: multiplied by rate before, which is done once more
/* Exercise 24: many small batches, one message. The page is README.md in this folder. */
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

    // TODO: add up the gradients of the small batches; all-reduce once; take one step.
    // stub: (void)comm, (void)parameters, (void)batches, (void)count, (void)rate;
    // stub: if (!err) err = P2P_ERR_TODO;
    size_t examples = 0;
    for (size_t b = 0; b < count && !err; b++) {
        my_model_gradient(parameters, &batches[b], gradient);
        for (size_t i = 0; i < numbers; i++) sum[i] += rate * gradient[i] * (double)batches[b].count;
        examples += batches[b].count;
    }
    if (!err) sum[numbers] = (double)examples;
    if (!err) err = coll_all_reduce(comm, sum, numbers + 1, DTYPE_F64, OP_SUM);
    if (!err && sum[numbers] > 0)
        for (size_t i = 0; i < numbers; i++) parameters[i] -= rate * sum[i] / sum[numbers];
    // END TODO

    free(gradient);
    free(sum);
    return err;
}
