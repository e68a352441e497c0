/* SPDX-License-Identifier: MIT */
/*
 * rate: what the files of bench/rate share.
 *
 *      rate.c     the kernels, and the program        (beside this folder)
 *      say.c      what is printed, in JSON
 *      run.c      a kernel on the device: its arguments, and are its results right?
 *      speed.c    how long it takes beside another, and what the device is able to
 */
#ifndef PAIRWISE_BENCH_RATE_H
#define PAIRWISE_BENCH_RATE_H

#include <stdio.h>

#include "kernels/device.h"
#include "tests/exercises/works.h"

enum { RATE_CASES = 3 };

typedef struct {
    size_t n[WORK_SIZES], group[2];
} rate_size;

/* The last size is the one that is timed. */
typedef struct {
    const char *name, *ours;
    work_describe *describe;
    double tolerance;  /* of the largest */
    float begin, step; /* data lie round begin */
    rate_size sizes[RATE_CASES];
} rate_kernel;

typedef struct {
    kernel_device *device;
    const rate_kernel *r;
    work w;
    const size_t *n;
    cl_mem memory[WORK_ARGUMENTS];
    float *data[WORK_ARGUMENTS], *out;
    double seconds; /* of theirs */
} rate_run;

/* ---- say.c ---- */

extern FILE *rate__said; /* where standard output was: what a kernel prints goes nowhere */

bool rate__keep_output(void);

/* An object with one text in it, and the end of the program. */
_Noreturn void rate__end_with(const char *name, const char *text);

/* A call of OpenCL must not fail. */
void rate__need(cl_int code, const char *what);

/* ---- run.c ---- */

/* The program's kernel; `what` is what is said if the device's compiler does not take it. */
cl_kernel rate__kernel(kernel_device *device, const char *source, const char *name, const char *what);

/* Buffers and data of one size of it->r. */
void rate__begin(rate_run *it, const rate_size *size);
void rate__end(rate_run *it);

void rate__set_arguments(const rate_run *it, cl_kernel kernel);
double rate__launch(const rate_run *it, cl_kernel kernel); /* seconds that it took */

/* Is what it computes of this size the oracle's? */
void rate__check(rate_run *it, cl_kernel kernel, const rate_size *size);

/* Is what theirs computes of a large size, which has begun, what ours computes? The oracle would take too long. Returns how often
 * it is done while ours is done once, in it->seconds: of one timed run each, which may be wrong by much. */
double rate__check_large(rate_run *it, cl_kernel theirs, cl_kernel ours);

/* ---- speed.c ---- */

double rate__now(void);

/* Seconds of theirs, and how often it is done while ours is done once; they run in turn. */
double rate__measure(rate_run *it, cl_kernel theirs, cl_kernel ours, double *ratio);

/* Multiply-adds in registers, a second; bytes of two long vectors that become a third, a second. */
double rate__peak_of_sums(kernel_device *device);
double rate__peak_of_memory(kernel_device *device);

#endif
