/* SPDX-License-Identifier: MIT */
/*
 * common: in front of every program. The options say how work is divided:
 *
 *      LANES     floats in a vector: images side by side in it
 *      VECTORS   vectors a work-item handles
 *      ITEMS     work-items side by side in a block (1 on CPUs)
 *
 * A block is LANES * VECTORS * ITEMS images; a channel of a pixel is a block of floats. kernels/layout.h has a picture.
 */
#pragma OPENCL FP_CONTRACT OFF

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if LANES == 1
typedef float vec;
typedef int ivec;
#define FIRST_LANES 0
#define CONVERT(x) ((float)(x))
#else
typedef JOIN(float, LANES) vec;
typedef JOIN(int, LANES) ivec;
#define CONVERT JOIN(convert_float, LANES)
#endif
#if LANES == 4
#define FIRST_LANES (ivec)(0, 1, 2, 3)
#elif LANES == 8
#define FIRST_LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7)
#elif LANES == 16
#define FIRST_LANES (ivec)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

#define SPAN (LANES * VECTORS) /* floats of a work-item in a block */
#define BLOCK (SPAN * ITEMS)

/* Channels of a pixel with the gap behind them: kernels/layout.h says why. */
#define STORED(channels) ((channels) + ((channels) % GAP_EVERY == 0))

/* A fused multiply-add (one rounding) where the device has a fast one, as OpenCL or PoCL says; GPUs always have. */
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || LANES == 1
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* For loops over tiles, whose indices must be constants for the tile to stay in registers. */
#define UNROLL _Pragma("unroll")

/* A slice of a buffer: its two arguments, and the pointer that they give together. */
#define SLICE(type, name) __global type *name##_buffer, const ulong name##_first
#define OPEN(name) (name##_buffer + name##_first)

inline vec load(__global const float *at)
{
    return *(__global const vec *)at;
}

inline void store(__global float *at, vec value)
{
    *(__global vec *)at = value;
}

/* The sum of the lanes, in a fixed order. */
inline float sum_lanes(vec v)
{
#if LANES == 16
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
#elif LANES == 8
    const float4 b = v.lo + v.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
#elif LANES == 4
    const float2 c = v.lo + v.hi;
    return c.x + c.y;
#else
    return v;
#endif
}

/* The sums of the lanes of LANES vectors, as one vector: neighbours are added in pairs, again and again.
 *      a b c d | e f g h   to   a+b c+d e+f g+h                 2 shuffles and an addition for two vectors
 * A third of the work of as many sum_lanes. */
inline vec sum_lanes_of(const vec v[LANES])
{
#if LANES > 1
#define PAIR(a, b) ((vec)((a).even, (b).even) + (vec)((a).odd, (b).odd))
    vec sum[LANES / 2];

    UNROLL
    for (int i = 0; i < LANES / 2; i++) sum[i] = PAIR(v[2 * i], v[2 * i + 1]);
    UNROLL
    for (int i = 0; i < LANES / 4; i++) sum[i] = PAIR(sum[2 * i], sum[2 * i + 1]);
    UNROLL
    for (int i = 0; i < LANES / 8; i++) sum[i] = PAIR(sum[2 * i], sum[2 * i + 1]);
    UNROLL
    for (int i = 0; i < LANES / 16; i++) sum[i] = PAIR(sum[2 * i], sum[2 * i + 1]);
    return sum[0];
#else
    return v[0];
#endif
}

/* Which lanes are images: -1 (1 for a single lane), the others 0. `lane` is the first one's number in the batch. */
inline ivec is_image(int lane, int n)
{
    return FIRST_LANES + lane < (ivec)n;
}

/* v, and 0 in the lanes beyond the last image. */
inline vec keep_images(vec v, int lane, int n)
{
    return lane + LANES <= n ? v : select((vec)0.0f, v, is_image(lane, n));
}
