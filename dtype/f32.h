/* SPDX-License-Identifier: MIT */
/*
 * f32: one operation of two numbers, to the bit. What compilers and instructions leave open (which NaN comes out of
 * two, which zero out of min(-0, +0)) is written out.
 */
#ifndef PAIRWISE_DTYPE_F32_H
#define PAIRWISE_DTYPE_F32_H

#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "dtype/ must be compiled without -ffast-math: its results are defined to the bit"
#endif

#define F32_NAN UINT32_C(0x7fc00000)

static inline uint32_t bits32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float quiet32(float x)
{
    return x != x ? float32(F32_NAN) : x;
}

/* Equal numbers have equal bits, but for the zeros, which differ in the sign: OR prefers -0, AND prefers +0. */
static inline float min32(float a, float b)
{
    uint32_t x = bits32(a), y = bits32(b);
    uint32_t low = (a < b ? x : y) | (a == b ? x : 0);
    return float32(((a != a) | (b != b)) ? F32_NAN : low);
}

static inline float max32(float a, float b)
{
    uint32_t x = bits32(a), y = bits32(b);
    uint32_t high = (a > b ? x : y) & (a == b ? x : UINT32_MAX);
    return float32(((a != a) | (b != b)) ? F32_NAN : high);
}

#endif
