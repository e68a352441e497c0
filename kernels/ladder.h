/* SPDX-License-Identifier: MIT */
/*
 * ladder: convolution from the plain loop to the fastest kernel, one idea a rung, one rung a file: what `bench/kernels
 * --ladder` measures and tests/kernels_ladder.c holds to the oracle. The upper rungs are the trainer's own kernels.
 */
#ifndef PAIRWISE_KERNELS_LADDER_H
#define PAIRWISE_KERNELS_LADDER_H

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { KERNEL_FORWARD, KERNEL_BY_INPUT, KERNEL_BY_WEIGHT, KERNEL_PASSES } kernel_pass;

typedef struct {
    const char *name, *idea;         /* two words; half a line */
    const char *file[KERNEL_PASSES]; /* in kernels/: where to read it; NULL: this pass has no such rung */
    bool plain;                      /* tensors lie as (N, C, H, W), not as activations */
} kernel_rung;

/* All rungs, from the lowest; returns how many. */
size_t kernel_ladder(const kernel_rung **rungs);

/* One pass the way of a rung: forward gives c = y from a = x and b = weight; by input c = dx from a = dy and b =
 * weight; by weight c = dweight from a = x and b = dy. KERNEL_ERR_ARG if the rung has no such pass. A shape that a rung
 * cannot compute (channels that are no multiple of a tile) is computed by a lower one. */
kernel_err kernel_climb(kernel_device *device, size_t rung, kernel_pass pass, const kernel_conv *conv, kernel_slice a,
                        kernel_slice b, kernel_slice c);

/* Queue `rounds` rounds of multiply-adds only on `items` work-items; `out` has room for as many floats. *operations:
 * how many that are, two for each multiply-add. */
kernel_err kernel_multiply_adds(kernel_device *device, size_t items, int rounds, kernel_slice out, double *operations);

#ifdef __cplusplus
}
#endif
#endif
