/* SPDX-License-Identifier: MIT */
/*
 * layers: what bench/kernels and bench/train measure layers with.
 *
 *      models.c      the layers of the three models
 *      tensors.c     numbers on the device and here, and how long an operation takes
 *      layer.c       one convolution, one norm, and its distance from the oracle
 *      peak.c        the highest speed of the machine
 *      ladder.c      kernels --ladder
 *
 * An error of the device ends the program: 2 if it was called wrongly, else 1.
 */
#ifndef PAIRWISE_BENCH_LAYERS_H
#define PAIRWISE_BENCH_LAYERS_H

#include "bench/util/report.h"
#include "kernels/ladder.h"
#include "kernels/oracle.h"

/* ---- The models ---- */

typedef struct {
    const char *model;
    int times;                             /* in the model */
    int c, side, k, size, stride, padding; /* of the convolution; a norm of the result follows */
} layer;

extern const layer layers_of_models[];
extern const size_t layers_count;

/* Multiply-adds of the convolutions, counted as two operations, of taps inside the image only, for `batch` images: the
 * forward pass; a training step: forward, by weight and, but for the first layer, by input. */
double layers_forward_work(const char *model, long batch);
double layers_step_work(const char *model, long batch);

/* ---- Measuring ---- */

typedef struct {
    kernel_device *device;
    long batch, repeats;
} layers;

typedef void (*layers_operation)(void *run);

/* Milliseconds of the fastest of `repeats` runs, each waited for, after one that does not count; fewer if they take
 * long. The fastest, as for the peak: time that other programs take does not count. */
double layers_measure(const layers *b, layers_operation operate, void *run);

void layers_need(kernel_device *device, kernel_err err);
void *layers_memory(size_t count, size_t size); /* zeros, aligned to 64 bytes, to be freed */
float *layers_random(size_t count, unsigned seed);

/* The same numbers as floats on the device and as doubles here. */
typedef struct {
    double *values;
    size_t count;
    kernel_shape shape; /* n == 0: a plain vector */
    kernel_slice at;
} tensor;

/* An activation of this shape, or, if shape.n is 0, a vector. Random numbers from -1 to 1. */
tensor tensor_make(const layers *b, kernel_shape shape, size_t count, unsigned seed);
void tensor_drop(tensor *t);

/* The largest distance as a share of the largest element: of all, or of those that the oracle has worked out (the
 * others are 0 in `want`). */
double tensor_distance(const layers *b, const tensor *got, const double *want, bool all);

/* ---- Layers ---- */

typedef struct {
    const layers *b;
    kernel_conv conv;
    tensor x, weight, y, dy, dx, dweight;
} conv_run;

void conv_run_open(conv_run *r, const layers *b, const layer *l);
void conv_run_close(conv_run *r);
void conv_run_forward(void *run);
void conv_run_backward_input(void *run);
void conv_run_backward_weight(void *run);
double conv_run_error(conv_run *r); /* of all three, after they have run: some images, some channels */

typedef struct {
    const layers *b;
    kernel_norm norm;
    tensor x, y, residual, dy, dx, dresidual, lines, saved; /* lines: gamma, beta, running, dgamma, dbeta */
} norm_run;

void norm_run_open(norm_run *r, const layers *b, kernel_shape shape);
void norm_run_close(norm_run *r);
void norm_run_forward(void *run);
void norm_run_backward(void *run);
double norm_run_error(norm_run *r);

/* ---- The limit, and the ladder ---- */

typedef struct {
    double in_c, in_opencl, most; /* operations a second, all cores in use; most: the larger */
} layers_peak;

layers_peak layers_find_peak(const layers *b);

/* The table of kernels --ladder. False if a rung was wrong. */
bool layers_ladder(const layers *b, report_format format);

#endif
