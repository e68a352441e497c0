/* SPDX-License-Identifier: MIT */
/*
 * peak: nothing but multiply-adds, in registers: as fast as this device can ever be. As many sums at a time as hide how
 * long one takes.
 */
#define SUMS 12

/* x: work-item; leaves what it has, so that the compiler cannot leave it out. */
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
