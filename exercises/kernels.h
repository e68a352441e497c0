/* SPDX-License-Identifier: MIT */
/*
 * kernels: the kernels that you will write, in OpenCL C, exercises K1 to K5; the page of each says more. The host starts
 * one work-item for each place of a grid, in work-groups of any size: where the work does not fill the last group, there are
 * work-items without work. All data are float, all sizes int, and no buffer is longer than is said.
 */
#ifndef PAIRWISE_EXERCISES_KERNELS_H
#define PAIRWISE_EXERCISES_KERNELS_H

#ifndef __OPENCL_VERSION__ /* for a program in C they are functions */
#define __kernel
#define __global
#define __local
#endif

/* ---- K1_vector_add ---- */

/* c[i] = a[i] + b[i] for i < n. */
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n);

/* ---- K2_sum ---- */

/* The sum of n numbers, by parts: partial[g] is the sum of what group g has added up, and the host adds those. scratch:
 * a float for each work-item of the group. The size of a group is a power of two; there are fewer work-items than
 * numbers, or more. */
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n);

/* ---- K3_matmul ---- */

/* c = a * b: a is m x k, b is k x n, c is m x n, row after row. The work-item at (x, y) computes the TILE x TILE elements
 * of c that begin in row TILE * y and column TILE * x, as far as there are any. */
#define TILE 4
__kernel void my_matmul(__global const float *a, __global const float *b, __global float *c, const int m, const int n,
                        const int k);

/* ---- K4_conv ---- */

/* A convolution of 3 x 3 taps over `channels` planes of height x width, with zeros round them: out is `outputs` planes of
 * the same size, weight outputs * channels * 9 floats. The work-item at (x, y) computes the CHANNELS output planes that
 * begin with CHANNELS * (y / height), as far as there are any, at the pixel of row y % height and column x. */
#define CHANNELS 4
__kernel void my_conv(__global const float *in, __global const float *weight, __global float *out, const int channels,
                      const int outputs, const int height, const int width);

/* ---- K5_norm ---- */

/* Each group has a row of `width` numbers: y = (x - mean) / sqrt(variance + eps), mean and variance over the row. scratch: two
 * floats for each work-item of the group, whose size is a power of two. */
__kernel void my_norm(__global const float *x, __global float *y, __local float *scratch, const int width,
                      const float eps);

#endif
