/* SPDX-License-Identifier: MIT */
/*
 * pool_oracle: the pools as they are defined. chosen[] is the place in x that the maximum came from.
 */
#include <math.h>
#include <string.h>

#include "kernels/oracle.h"

static int choose(kernel_shape in, const double *x, int image, int p, int q)
{
    int best = -1;

    for (int h = p * 2 - 1; h <= p * 2 + 1; h++)
        for (int w = q * 2 - 1; w <= q * 2 + 1; w++) {
            int at = (image * in.h + h) * in.w + w;
            if (h < 0 || h >= in.h || w < 0 || w >= in.w) continue;
            if (best < 0 || x[at] > x[best] || isnan(x[at])) best = at;
        }
    return best;
}

/* (N, C, H, W) to (N, C, P, Q): "image" counts n and c together. */
void kernel_oracle_max_pool_forward(kernel_shape in, const double *x, double *y, int *chosen)
{
    kernel_shape out = kernel_max_pool_out(in);
    size_t at = 0;

    for (int image = 0; image < in.n * in.c; image++)
        for (int p = 0; p < out.h; p++)
            for (int q = 0; q < out.w; q++, at++) {
                chosen[at] = choose(in, x, image, p, q);
                y[at] = x[chosen[at]];
            }
}

void kernel_oracle_max_pool_backward(kernel_shape in, const double *dy, const int *chosen, double *dx)
{
    size_t count = kernel_oracle_elements(kernel_max_pool_out(in));

    memset(dx, 0, kernel_oracle_elements(in) * sizeof *dx);
    for (size_t i = 0; i < count; i++) dx[chosen[i]] += dy[i];
}

void kernel_oracle_mean_pool_forward(kernel_shape in, const double *x, double *y)
{
    int pixels = in.h * in.w;

    for (int image = 0; image < in.n * in.c; image++) {
        y[image] = 0;
        for (int i = 0; i < pixels; i++) y[image] += x[image * pixels + i] / pixels;
    }
}

void kernel_oracle_mean_pool_backward(kernel_shape in, const double *dy, double *dx)
{
    int pixels = in.h * in.w;

    for (int image = 0; image < in.n * in.c; image++)
        for (int i = 0; i < pixels; i++) dx[image * pixels + i] = dy[image] / pixels;
}
