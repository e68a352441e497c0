/* SPDX-License-Identifier: MIT */
/*
 * conv_oracle: convolution as it is defined: a visit to every (n, k, p, q; c, r, s) with the tap inside the image:
 *
 *      y[n,k,p,q]      += x[n,c,h,w] * weight[k,c,r,s]           h = p * stride + r - padding
 *      dx[n,c,h,w]     += dy[n,k,p,q] * weight[k,c,r,s]          w = q * stride + s - padding
 *      dweight[k,c,r,s] += dy[n,k,p,q] * x[n,c,h,w]
 */
#include <string.h>

#include "kernels/oracle.h"

size_t kernel_oracle_elements(kernel_shape shape)
{
    return (size_t)shape.n * (size_t)shape.c * (size_t)shape.h * (size_t)shape.w;
}

/* Indices of the three numbers of a product. */
typedef struct {
    size_t x, weight, y;
} meeting;

typedef void (*visitor)(const meeting *at, void *state);

static void visit_taps(const kernel_conv *conv, const kernel_oracle_part *part, int n, int k, int p, int q,
                       visitor visit, void *state)
{
    int top = p * conv->stride - conv->padding, left = q * conv->stride - conv->padding, size = conv->size;
    kernel_shape in = conv->in, out = kernel_conv_out(conv);

    for (int c = part->first.c; c < part->end.c; c++)
        for (int r = 0; r < size; r++)
            for (int s = 0; s < size; s++) {
                int h = top + r, w = left + s;
                meeting at = {(size_t)(((n * in.c + c) * in.h + h) * in.w + w),
                              (size_t)(((k * in.c + c) * size + r) * size + s),
                              (size_t)(((n * out.c + k) * out.h + p) * out.w + q)};
                if (h >= 0 && h < in.h && w >= 0 && w < in.w) visit(&at, state);
            }
}

static void visit_all(const kernel_conv *conv, const kernel_oracle_part *part, visitor visit, void *state)
{
    kernel_shape out = kernel_conv_out(conv);
    kernel_oracle_part all = {{0, 0, 0}, {out.n, out.c, conv->in.c}};

    if (!part) part = &all;
    for (int n = part->first.n; n < part->end.n; n++)
        for (int k = part->first.k; k < part->end.k; k++)
            for (int p = 0; p < out.h; p++)
                for (int q = 0; q < out.w; q++) visit_taps(conv, part, n, k, p, q, visit, state);
}

typedef struct {
    const double *x, *weight, *dy;
    double *result;
} tensors;

static void forward(const meeting *at, void *state)
{
    tensors *t = state;
    t->result[at->y] += t->x[at->x] * t->weight[at->weight];
}

static void backward_input(const meeting *at, void *state)
{
    tensors *t = state;
    t->result[at->x] += t->dy[at->y] * t->weight[at->weight];
}

static void backward_weight(const meeting *at, void *state)
{
    tensors *t = state;
    t->result[at->weight] += t->dy[at->y] * t->x[at->x];
}

static void count(const meeting *at, void *state)
{
    (void)at;
    *(double *)state += 1;
}

void kernel_oracle_conv_forward(const kernel_conv *conv, const kernel_oracle_part *part, const double *x,
                                const double *weight, double *y)
{
    memset(y, 0, kernel_oracle_elements(kernel_conv_out(conv)) * sizeof *y);
    visit_all(conv, part, forward, &(tensors){x, weight, NULL, y});
}

void kernel_oracle_conv_backward_input(const kernel_conv *conv, const kernel_oracle_part *part, const double *dy,
                                       const double *weight, double *dx)
{
    memset(dx, 0, kernel_oracle_elements(conv->in) * sizeof *dx);
    visit_all(conv, part, backward_input, &(tensors){NULL, weight, dy, dx});
}

void kernel_oracle_conv_backward_weight(const kernel_conv *conv, const kernel_oracle_part *part, const double *x,
                                        const double *dy, double *dweight)
{
    size_t taps = (size_t)conv->size * (size_t)conv->size;

    memset(dweight, 0, (size_t)conv->out_channels * (size_t)conv->in.c * taps * sizeof *dweight);
    visit_all(conv, part, backward_weight, &(tensors){x, NULL, dy, dweight});
}

double kernel_oracle_conv_work(const kernel_conv *conv)
{
    kernel_conv one = *conv;
    double work = 0;

    one.in.n = one.in.c = one.out_channels = 1;
    visit_all(&one, NULL, count, &work);
    return work * conv->in.c * conv->out_channels;
}
