/* SPDX-License-Identifier: MIT */
/*
 * oracle: what every kernel must compute, as plain loops in double over plain (N, C, H, W) tensors: to read beside the
 * kernels, and to hold them against. Pointers belong to the caller; nothing can fail.
 */
#ifndef PAIRWISE_KERNELS_ORACLE_H
#define PAIRWISE_KERNELS_ORACLE_H

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

size_t kernel_oracle_elements(kernel_shape shape); /* n * c * h * w */

/* A part of the products of a convolution: images, output channels, input channels. */
typedef struct {
    struct {
        int n, k, c;
    } first, end;
} kernel_oracle_part;

/* Convolution (conv_oracle.c). x: conv->in, y: kernel_conv_out(conv), weight: (K, C, R, R). All of the result is
 * written, the sum of the products in `part` (NULL: all of them): for some images and output channels y is right then,
 * for some images and input channels dx, for some output and input channels dweight, if the rest is all there. */
void kernel_oracle_conv_forward(const kernel_conv *conv, const kernel_oracle_part *part, const double *x,
                                const double *weight, double *y);
void kernel_oracle_conv_backward_input(const kernel_conv *conv, const kernel_oracle_part *part, const double *dy,
                                       const double *weight, double *dx);
void kernel_oracle_conv_backward_weight(const kernel_conv *conv, const kernel_oracle_part *part, const double *x,
                                        const double *dy, double *dweight);

/* Useful multiply-adds of one image: those of taps inside it. */
double kernel_oracle_conv_work(const kernel_conv *conv);

/* Batch norm (norm_oracle.c). residual may be NULL. Running statistics are moved unless frozen; mean and variance (C
 * each) are those that were used, for backward. */
typedef struct {
    kernel_shape shape;
    bool frozen, relu;
    double momentum, eps;
    const double *gamma, *beta;
    double *running_mean, *running_var;
    double *mean, *variance;
} kernel_oracle_norm;

void kernel_oracle_norm_forward(const kernel_oracle_norm *norm, const double *x, const double *residual, double *y);

/* dresidual may be NULL. */
void kernel_oracle_norm_backward(const kernel_oracle_norm *norm, const double *dy, const double *x, const double *y,
                                 double *dx, double *dgamma, double *dbeta, double *dresidual);

/* Pools (pool_oracle.c). */
void kernel_oracle_max_pool_forward(kernel_shape in, const double *x, double *y, int *chosen);
void kernel_oracle_max_pool_backward(kernel_shape in, const double *dy, const int *chosen, double *dx);
void kernel_oracle_mean_pool_forward(kernel_shape in, const double *x, double *y);
void kernel_oracle_mean_pool_backward(kernel_shape in, const double *dy, double *dx);

/* Linear layer and loss (loss_oracle.c). x: (N, C), weight: (K, C), y, logits: (N, K). */
void kernel_oracle_linear_forward(int n, int c, int k, const double *x, const double *weight, const double *bias,
                                  double *y);
void kernel_oracle_linear_backward(int n, int c, int k, const double *x, const double *weight, const double *dy,
                                   double *dx, double *dweight, double *dbias);

/* The sum of the losses; dlogits may be NULL. */
double kernel_oracle_cross_entropy(int n, int k, const double *logits, const int *labels, double scale, double *dlogits,
                                   int *correct);

/* One step of an optimiser for one parameter; the state beside it (update_oracle.c). Returns the new parameter. */
double kernel_oracle_update(const kernel_optimizer *optimizer, uint64_t step, double parameter, double gradient,
                            double state[2]);

#ifdef __cplusplus
}
#endif
#endif
