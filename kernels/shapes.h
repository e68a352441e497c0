/* SPDX-License-Identifier: MIT */
/*
 * shapes: arguments that go to the device in one piece. Read by the C files and, in front of every program, by the
 * device's compiler: only int and float.
 */
#ifndef PAIRWISE_KERNELS_SHAPES_H
#define PAIRWISE_KERNELS_SHAPES_H

typedef struct {
    int n, blocks, channels, height, width;
} shape_image;

/* Output pixels (height, width) and `channels` of them, from `in_` ones. Forward y from x; transposed dx from dy. */
typedef struct {
    int n, blocks;
    int channels, height, width;
    int in_channels, in_height, in_width;
    int size, stride, padding;
    int row, column; /* in weights: floats from an output channel to the next, from an input channel to the next */
    int transposed;  /* taps run backwards */
    int add;         /* to what is there */
    int run;         /* so many pixels by the same channels, one after the other */
} shape_conv;

/* Gradient by weight: (out_channels, in_channels, size, size), in `splits` partial sums. */
typedef struct {
    int n, blocks;
    int in_channels, in_height, in_width;
    int out_channels, out_height, out_width;
    int size, stride, padding;
    int splits;
    int some_unused; /* taps: they never fall inside */
} shape_weight;

/* `chunks` partial sums over the positions of the image. */
typedef struct {
    int n, blocks, channels, positions; /* height * width */
    int chunks;
    int frozen, relu;
    float momentum, eps;
} shape_norm;

/* rest1 is 1 - beta1 as a double gives it, and so on; the others as update.cl has them. */
typedef struct {
    float lr, weight_decay, momentum, beta1, rest1, beta2, rest2, alpha, rest_alpha, eps;
    float shrink, step_size, correction;
} shape_update;

#endif
