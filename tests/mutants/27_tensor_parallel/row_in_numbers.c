/* SPDX-License-Identifier: MIT */
// what: copies rows of a in numbers, not bytes
// expect: only some bytes have come
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"

void my_cut(const my_perceptron *whole, size_t first, my_perceptron *part)
{
    memcpy(part->b_bias, whole->b_bias, whole->outputs * sizeof *whole->b_bias);
    for (size_t i = 0; i < whole->inputs; i++)
        memcpy(part->a + i * part->hidden, whole->a + i * whole->hidden + first, part->hidden);
    for (size_t j = 0; j < part->hidden; j++) part->a_bias[j] = whole->a_bias[first + j];
    memcpy(part->b, whole->b + first * whole->outputs, part->hidden * whole->outputs * sizeof *whole->b);
}

p2p_err my_tensor_forward(p2p_comm *comm, const my_perceptron *part, size_t batch, const double *x, double *h,
                          double *y)
{
    size_t hidden = part->hidden, outputs = part->outputs;
    for (size_t i = 0; i < batch * hidden; i++) h[i] = part->a_bias[i % hidden];
    my_multiply(h, x, part->a, batch, part->inputs, hidden);
    for (size_t i = 0; i < batch * hidden; i++) h[i] = h[i] > 0 ? h[i] : 0;
    for (size_t i = 0; i < batch * outputs; i++) y[i] = 0;
    my_multiply(y, h, part->b, batch, hidden, outputs);

    p2p_err err = coll_all_reduce(comm, y, batch * outputs, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < batch * outputs && !err; i++) y[i] += part->b_bias[i % outputs];
    return err;
}

/* What comes back through b and relu to this rank's part of h. */
static void backward_hidden(const my_perceptron *part, size_t batch, const double *h, const double *dy, double *dh)
{
    my_multiply_bt(dh, dy, part->b, batch, part->outputs, part->hidden);
    for (size_t i = 0; i < batch * part->hidden; i++) dh[i] = h[i] > 0 ? dh[i] : 0;
}

static void zero(const my_perceptron *gradient)
{
    for (size_t i = 0; i < gradient->inputs * gradient->hidden; i++) gradient->a[i] = 0;
    for (size_t i = 0; i < gradient->hidden; i++) gradient->a_bias[i] = 0;
    for (size_t i = 0; i < gradient->hidden * gradient->outputs; i++) gradient->b[i] = 0;
    for (size_t i = 0; i < gradient->outputs; i++) gradient->b_bias[i] = 0;
}

p2p_err my_tensor_backward(p2p_comm *comm, const my_perceptron *part, size_t batch, const double *x, const double *h,
                           const double *dy, my_perceptron *gradient, double *dx)
{
    size_t inputs = part->inputs, hidden = part->hidden, outputs = part->outputs;
    double *dh = calloc(batch * hidden + 1, sizeof *dh);
    p2p_err err = P2P_OK;
    if (!dh) return P2P_ERR_NOMEM;
    backward_hidden(part, batch, h, dy, dh);
    zero(gradient);
    my_multiply_at(gradient->a, x, dh, inputs, batch, hidden);
    my_multiply_at(gradient->b, h, dy, hidden, batch, outputs);
    for (size_t i = 0; i < batch * hidden; i++) gradient->a_bias[i % hidden] += dh[i];
    for (size_t i = 0; i < batch * outputs; i++) gradient->b_bias[i % outputs] += dy[i];
    for (size_t i = 0; i < batch * inputs; i++) dx[i] = 0;
    my_multiply_bt(dx, dh, part->a, batch, hidden, inputs);

    err = coll_all_reduce(comm, dx, batch * inputs, DTYPE_F64, OP_SUM);

    free(dh);
    return err;
}
