/* SPDX-License-Identifier: MIT */
/* What the device is able to. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/rate/rate.h"
#include "kernels/ladder.h"

enum { PEAK_TIMES = 5, PEAK_ROUNDS = 20000 };

double rate__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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

/* The shared memory has the room: the work that is timed is as large. */
double rate__peak_of_memory(rate_run *it)
{
    static const char source[] = "__kernel void stream(__global const float16 *a, __global const float16 *b, __global "
                                 "float16 *c, int n) { const int i = get_global_id(0); c[i] = a[i] + b[i]; }";
    static const size_t n[WORK_SIZES] = {1 << 20}, group[2] = {256, 1};
    double best = 0, seconds;
    work w = work_vector_add(n, group);
    while (rate_place(&w, WORK_ARGUMENTS) > it->shared_bytes && w.arguments[0].count > 4096) {
        size_t less[WORK_SIZES] = {w.arguments[0].count / 2};
        w = work_vector_add(less, group);
    }
    if (rate_place(&w, WORK_ARGUMENTS) > it->shared_bytes || !rate__build(it, source, "stream") || !rate__begin(it, &w))
        return 0;
    it->w.global[0] /= 16;
    for (int i = 0; i < PEAK_TIMES && rate__launch(it, &seconds); i++)
        if (i > 0) best = fmax(best, it->w.bytes / seconds);
    return best;
}
