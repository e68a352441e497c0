/* SPDX-License-Identifier: MIT */
/*
 * peak: multiply-adds in registers only: the highest speed that this device can reach. So many sums are under way that
 * the latency of one is hidden.
 */
#define SUMS 12

/* x: work-item; stores its sums, so that the compiler cannot remove them. */
__kernel void multiply_adds(SLICE(float, out), const int rounds)
{
    vec sum[SUMS];
    const vec factor = 0.999f, more = 0.001f;

    UNROLL
    for (int i = 0; i < SUMS; i++) sum[i] = CONVERT((ivec)(i + (int)get_global_id(0)));
    for (int round = 0; round < rounds; round++) {
        UNROLL
        for (int i = 0; i < SUMS; i++) sum[i] = MULTIPLY_ADD(sum[i], factor, more);
    }
    UNROLL
    for (int i = 1; i < SUMS; i++) sum[0] += sum[i];
    OPEN(out)[get_global_id(0)] = sum_lanes(sum[0]);
}
