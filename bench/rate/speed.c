/* SPDX-License-Identifier: MIT */
/* How long a kernel takes beside another, in turn, and what the device is able to. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/rate/rate.h"
#include "kernels/ladder.h"

enum { LEAST_ROUNDS = 9, MOST_ROUNDS = 63, PEAK_TIMES = 5, PEAK_ROUNDS = 20000 };

static const double most_seconds = 0.3; /* for timing, once */

double rate__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_size);
    return times[count / 2];
}

double rate__measure(rate_run *it, cl_kernel theirs, cl_kernel ours, double *ratio)
{
    double times[MOST_ROUNDS], ratios[MOST_ROUNDS], spent = 0;
    const cl_kernel kernels[2] = {theirs, ours};
    int rounds = 0;
    for (; rounds < MOST_ROUNDS && (rounds < LEAST_ROUNDS || spent < most_seconds); rounds++) {
        double time[2];
        for (int k = 0; k < 2; k++) spent += time[(k + rounds) % 2] = rate__launch(it, kernels[(k + rounds) % 2]);
        times[rounds] = time[0];
        ratios[rounds] = time[1] / time[0];
    }
    *ratio = median(ratios, rounds);
    return median(times, rounds);
}

/* ---- The peak ---- */

double rate__peak_of_sums(kernel_device *device)
{
    kernel_buffer *buffer;
    double best = 0, operations;
    size_t items = (size_t)device->info.cores * 4;
    if (kernel_buffer_new(device, "peak", items, &buffer)) return 0;
    for (int i = 0; i < PEAK_TIMES; i++) {
        double begin = rate__now();
        if (kernel_multiply_adds(device, items, PEAK_ROUNDS, (kernel_slice){buffer, 0}, &operations) ||
            kernel_finish(device))
            break;
        if (i > 0) best = fmax(best, operations / (rate__now() - begin)); /* the first one is compiled */
    }
    return best;
}

double rate__peak_of_memory(kernel_device *device)
{
    static const char source[] = "__kernel void stream(__global const float16 *a, __global const float16 *b, __global "
                                 "float16 *c, int n) { const int i = get_global_id(0); c[i] = a[i] + b[i]; }";
    static const rate_kernel streams = {"peak", source, work_vector_add, 0, 0, 1, {{{1 << 22}, {256, 1}}}};
    rate_run it = {.device = device, .r = &streams};
    cl_kernel kernel = rate__kernel(device, source, "stream", "none");
    double best = 0;
    rate__begin(&it, &streams.sizes[0]);
    rate__set_arguments(&it, kernel);
    it.w.global[0] /= 16;
    for (int i = 0; i < PEAK_TIMES; i++) best = fmax(best, it.w.bytes / rate__launch(&it, kernel));
    rate__end(&it);
    return best;
}
