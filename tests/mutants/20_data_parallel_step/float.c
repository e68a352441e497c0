/* SPDX-License-Identifier: MIT */
// what: works with floats.
// expect: The first seven digits are right
#include <stdlib.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"

p2p_err my_share_parameters(p2p_comm *comm, double *parameters, size_t count)
{
    return coll_broadcast(comm, parameters, count, DTYPE_F64, 0);
}

p2p_err my_data_parallel_step(p2p_comm *comm, double *parameters, const my_examples *mine, double rate)
{
    size_t count = mine->features + 1;                      /* weight, bias */
    double *gradient = calloc(count + 1, sizeof *gradient); /* and room for one number more */
    if (!gradient) return P2P_ERR_NOMEM;
    my_model_gradient(parameters, mine, gradient);
    p2p_err err = P2P_OK;

    for (size_t i = 0; i < count; i++)
        gradient[i] = (double)(float)(gradient[i] * (double)mine->count); /* a sum can be added up, a mean can not */
    gradient[count] = (double)mine->count;
    err = coll_all_reduce(comm, gradient, count + 1, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < count && !err && gradient[count] > 0; i++) gradient[i] /= gradient[count];

    for (size_t i = 0; i < count && !err; i++) parameters[i] -= rate * gradient[i];
    free(gradient);
    return err;
}
