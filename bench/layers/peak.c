/* SPDX-License-Identifier: MIT */
/*
 * peak: multiply-adds in registers only, once in C on one core and once in OpenCL on all cores of the device. The speed
 * of a kernel is printed as a share of that.
 */
#include <string.h>

#include "bench/layers/layers.h"
#include "bench/util/loop.h"

enum { LANES = 16, SUMS = 12, ROUNDS = 200000, TIMES = 9 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static volatile float sink;

/* The compiler makes of a * b + c one instruction where there is one (-ffp-contract is off by default in C11). */
#if defined(__clang__)
#define CONTRACT
#else
#define CONTRACT __attribute__((optimize("O2", "fp-contract=fast", "unroll-loops")))
#endif

#define LOOP                                                                \
    {                                                                       \
        lanes sum[SUMS], factor = {0}, more = {0};                          \
        for (int i = 0; i < LANES; i++) factor[i] = 0.999F, more[i] = 0.1F; \
        for (int i = 0; i < SUMS; i++) sum[i] = factor * (float)i;          \
        for (int round = 0; round < ROUNDS; round++)                        \
            for (int i = 0; i < SUMS; i++) sum[i] = sum[i] * factor + more; \
        for (int i = 1; i < SUMS; i++) sum[0] += sum[i];                    \
        sink = sum[0][0];                                                   \
    }

#if defined(__x86_64__)
CONTRACT __attribute__((target("avx512f"))) static void loop_16(void) LOOP CONTRACT
    __attribute__((target("avx2,fma"))) static void loop_8(void) LOOP
#endif
    CONTRACT static void loop_any(void) LOOP

    static void run_loop(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        loop_16();
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        loop_8();
    else
#endif
        loop_any();
}

static double peak_in_c(void)
{
    double best = 0;

    for (int i = 0; i < TIMES; i++) {
        double start = loop_now_us(), us;
        run_loop();
        us = loop_now_us() - start;
        if (2.0 * LANES * SUMS * ROUNDS / us * 1e6 > best) best = 2.0 * LANES * SUMS * ROUNDS / us * 1e6;
    }
    return best;
}

static double peak_in_opencl(const layers *b, int cores)
{
    size_t items = (size_t)cores * 4;
    tensor out = tensor_make(b, (kernel_shape){0}, items, 1);
    double best = 0, operations, us;

    for (int i = 0; i < TIMES; i++) {
        double start = loop_now_us();
        layers_need(b->device, kernel_multiply_adds(b->device, items, ROUNDS / 4, out.at, &operations));
        layers_need(b->device, kernel_finish(b->device));
        us = loop_now_us() - start;
        if (operations / us * 1e6 > best) best = operations / us * 1e6;
    }
    tensor_drop(&out);
    return best;
}

layers_peak layers_find_peak(const layers *b)
{
    kernel_device_info info;
    layers_peak found;

    layers_need(b->device, kernel_info(b->device, &info));
    found.in_c = peak_in_c() * (info.is_cpu ? info.cores : 1);
    found.in_opencl = peak_in_opencl(b, info.cores);
    found.most = info.is_cpu && found.in_c > found.in_opencl ? found.in_c : found.in_opencl;
    return found;
}
