/* SPDX-License-Identifier: MIT */
/*
 * layer: one convolution or one norm, with all that it needs, and how far its results are from the oracle's.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/layers/layers.h"

enum { SOME = 2 };

/* ---- Convolution ---- */

void conv_run_forward(void *run)
{
    conv_run *r = run;
    layers_need(r->b->device, kernel_conv_forward(r->b->device, &r->conv, r->x.at, r->weight.at, r->y.at));
}

void conv_run_backward_input(void *run)
{
    conv_run *r = run;
    layers_need(r->b->device,
                kernel_conv_backward_input(r->b->device, &r->conv, r->dy.at, r->weight.at, r->dx.at, false));
}

void conv_run_backward_weight(void *run)
{
    conv_run *r = run;
    layers_need(r->b->device, kernel_conv_backward_weight(r->b->device, &r->conv, r->x.at, r->dy.at, r->dweight.at));
}

/* Some images, some channels: the first and the last of each in turn. */
double conv_run_error(conv_run *r)
{
    const kernel_conv *v = &r->conv;
    kernel_oracle_part y = {{v->in.n - 1, 0, 0}, {v->in.n, SOME, v->in.c}};
    kernel_oracle_part dx = {{v->in.n - 1, 0, v->in.c - SOME}, {v->in.n, v->out_channels, v->in.c}};
    kernel_oracle_part dweight = {{0, v->out_channels - 1, 0}, {v->in.n, v->out_channels, SOME}};
    size_t most = r->y.count > r->x.count ? r->y.count : r->x.count;
    double *want = layers_memory(most > r->weight.count ? most : r->weight.count, sizeof *want), error[3];

    kernel_oracle_conv_forward(v, &y, r->x.values, r->weight.values, want);
    error[0] = tensor_distance(r->b, &r->y, want, false);
    kernel_oracle_conv_backward_input(v, &dx, r->dy.values, r->weight.values, want);
    error[1] = tensor_distance(r->b, &r->dx, want, false);
    kernel_oracle_conv_backward_weight(v, &dweight, r->x.values, r->dy.values, want);
    error[2] = tensor_distance(r->b, &r->dweight, want, false);
    free(want);
    return fmax(error[0], fmax(error[1], error[2]));
}

void conv_run_open(conv_run *r, const layers *b, const layer *l)
{
    kernel_shape out, in = {(int)b->batch, l->c, l->side, l->side};
    size_t weights = (size_t)(l->k * l->c * l->size * l->size);

    r->b = b;
    r->conv = (kernel_conv){in, l->k, l->size, l->stride, l->padding};
    out = kernel_conv_out(&r->conv);
    r->x = tensor_make(b, in, 0, 1), r->y = tensor_make(b, out, 0, 2), r->dy = tensor_make(b, out, 0, 3),
    r->dx = tensor_make(b, in, 0, 4);
    r->weight = tensor_make(b, (kernel_shape){0}, weights, 5),
    r->dweight = tensor_make(b, (kernel_shape){0}, weights, 6);
}

void conv_run_close(conv_run *r)
{
    tensor_drop(&r->x), tensor_drop(&r->y), tensor_drop(&r->dy), tensor_drop(&r->dx), tensor_drop(&r->weight),
        tensor_drop(&r->dweight);
}

/* ---- Norm, with residual and ReLU ---- */

static kernel_slice line(const norm_run *r, int i)
{
    return kernel_at(r->lines.at.buffer, (size_t)(i * r->norm.shape.c));
}

void norm_run_forward(void *run)
{
    norm_run *r = run;
    layers_need(r->b->device, kernel_norm_forward(r->b->device, &r->norm, r->x.at, r->residual.at, r->y.at));
}

void norm_run_backward(void *run)
{
    norm_run *r = run;
    layers_need(r->b->device, kernel_norm_backward(r->b->device, &r->norm, r->dy.at, r->x.at, r->y.at, r->dx.at,
                                                   line(r, 4), line(r, 5), r->dresidual.at));
}

void norm_run_open(norm_run *r, const layers *b, kernel_shape shape)
{
    int c = shape.c;

    r->b = b;
    r->x = tensor_make(b, shape, 0, 1), r->y = tensor_make(b, shape, 0, 2), r->residual = tensor_make(b, shape, 0, 3);
    r->dy = tensor_make(b, shape, 0, 4), r->dx = tensor_make(b, shape, 0, 5),
    r->dresidual = tensor_make(b, shape, 0, 6);
    r->lines = tensor_make(b, (kernel_shape){0}, (size_t)(6 * c), 7);
    r->saved = tensor_make(b, (kernel_shape){0}, kernel_norm_floats(b->device, shape), 8);
    r->norm = (kernel_norm){.shape = shape, .relu = true, .momentum = 0.1f, .eps = 1e-5f};
    r->norm.gamma = line(r, 0), r->norm.beta = line(r, 1);
    r->norm.running_mean = line(r, 2), r->norm.running_var = line(r, 3), r->norm.saved = r->saved.at;
}

void norm_run_close(norm_run *r)
{
    tensor_drop(&r->x), tensor_drop(&r->y), tensor_drop(&r->residual), tensor_drop(&r->dy), tensor_drop(&r->dx),
        tensor_drop(&r->dresidual), tensor_drop(&r->lines), tensor_drop(&r->saved);
}

/* dx is not compared where rounding decides on which side of the ReLU an element is; y shows that the sums are
 * right. */
double norm_run_error(norm_run *r)
{
    size_t c = (size_t)r->norm.shape.c, count = r->y.count;
    double *want = layers_memory(2 * c + count, sizeof *want), error, *lines = r->lines.values;
    kernel_oracle_norm oracle = {.shape = r->norm.shape,
                                 .relu = true,
                                 .momentum = 0.1,
                                 .eps = 1e-5,
                                 .gamma = lines,
                                 .beta = lines + c,
                                 .running_mean = lines + 2 * c,
                                 .running_var = lines + 3 * c,
                                 .mean = want + count,
                                 .variance = want + count + c};

    kernel_oracle_norm_forward(&oracle, r->x.values, r->residual.values, want);
    error = tensor_distance(r->b, &r->y, want, true);
    free(want);
    return error;
}
