/* SPDX-License-Identifier: MIT */
/*
 * rate: what the files of bench/rate share.
 *
 *      rate.c     orders from learn, and answers     (beside this folder)
 *      run.c      a kernel on the device
 *      speed.c    what the device is able to
 */
#ifndef PAIRWISE_BENCH_RATE_H
#define PAIRWISE_BENCH_RATE_H

#include "kernels/device.h"
#include "learn/check/rate.h"

/* One kernel, and its buffers; what went wrong is in words. */
typedef struct {
    kernel_device *device;
    cl_kernel kernel;
    work w;
    cl_mem memory[WORK_ARGUMENTS];
    char *shared; /* memory */
    size_t shared_bytes;
    char words[RATE_WORDS];
} rate_run;

double rate__now(void);

/* ---- run.c: false, and words say why ---- */

bool rate__build(rate_run *it, const char *source, const char *name);
bool rate__begin(rate_run *it, const work *w);
bool rate__launch(rate_run *it, double *seconds);

/* ---- speed.c ---- */

/* Multiply-adds in registers, a second; bytes of two long vectors that become a third, a second. 0: it cannot be measured. */
double rate__peak_of_sums(kernel_device *device);
double rate__peak_of_memory(rate_run *it);

#endif
