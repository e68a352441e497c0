/* SPDX-License-Identifier: MIT */
/*
 * The loops that combine two buffers: one loop, written once, for each type with each operator.
 *
 *      left     a0  a1  a2  a3 ...
 *      right    b0  b1  b2  b3 ...
 *      out      a0 OP b0, a1 OP b1, ...      out may be left or right: each element is read before it is written
 *
 * Bits must not depend on the compiler, nor on whether an element falls into the vector body of a loop or its tail.
 * What differs there (which NaN comes out of two, which zero out of min(-0, +0)) is therefore written out below.
 */
#include <string.h>

#include "dtype/own.h"
#include "dtype/reduce.h"

#if defined(__FAST_MATH__)
#error "dtype/reduce.c must be compiled without -ffast-math: its results are defined to the bit"
#endif

/* ---- Floats ---- */

#define F32_NAN UINT32_C(0x7fc00000)
#define F64_NAN UINT64_C(0x7ff8000000000000)

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

static inline uint64_t bits64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double float64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float quiet32(float x)
{
    return x != x ? float32(F32_NAN) : x;
}

static inline double quiet64(double x)
{
    return x != x ? float64(F64_NAN) : x;
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

static inline double min64(double a, double b)
{
    uint64_t x = bits64(a), y = bits64(b);
    uint64_t low = (a < b ? x : y) | (a == b ? x : 0);
    return float64(((a != a) | (b != b)) ? F64_NAN : low);
}

static inline double max64(double a, double b)
{
    uint64_t x = bits64(a), y = bits64(b);
    uint64_t high = (a > b ? x : y) & (a == b ? x : UINT64_MAX);
    return float64(((a != a) | (b != b)) ? F64_NAN : high);
}

/* ---- The loop ---- */

/* Each element is read before it is written, and none that comes later depends on it: so the compiler may take several
 * at once, though out may be left or right. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* then it takes one at a time */
#define ELEMENT_BY_ELEMENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ELEMENT_BY_ELEMENT _Pragma("GCC ivdep")
#endif

#define LOOP_FOR(target, name, type, value)                                               \
    target static void name(void *out, const void *left, const void *right, size_t count) \
    {                                                                                     \
        typedef type element;                                                             \
        element *to = out;                                                                \
        const element *as = left, *bs = right;                                            \
        ELEMENT_BY_ELEMENT                                                                \
        for (size_t i = 0; i < count; i++) {                                              \
            element a = as[i], b = bs[i];                                                 \
            to[i] = value;                                                                \
        }                                                                                 \
    }

/* Wider registers do twice as much at a time, where there are any: the same operations, and so the same bits. */
#if defined(__x86_64__)
#define HAS_WIDE __builtin_cpu_supports("avx2")
#define WIDE __attribute__((target("avx2")))
#else
#define HAS_WIDE false
#define WIDE
#endif

#define LOOP(name, type, value)   \
    LOOP_FOR(, name, type, value) \
    LOOP_FOR(WIDE, wide_##name, type, value)

LOOP(sum_f32, float, quiet32(a + b))
LOOP(prod_f32, float, quiet32(a *b))
LOOP(min_f32, float, min32(a, b))
LOOP(max_f32, float, max32(a, b))

LOOP(sum_f64, double, quiet64(a + b))
LOOP(prod_f64, double, quiet64(a *b))
LOOP(min_f64, double, min64(a, b))
LOOP(max_f64, double, max64(a, b))

/* Unsigned arithmetic wraps; signed overflow would be undefined. */
LOOP(sum_i32, int32_t, (int32_t)((uint32_t)a + (uint32_t)b))
LOOP(prod_i32, int32_t, (int32_t)((uint32_t)a *(uint32_t)b))
LOOP(min_i32, int32_t, a < b ? a : b)
LOOP(max_i32, int32_t, a > b ? a : b)

LOOP(sum_i64, int64_t, (int64_t)((uint64_t)a + (uint64_t)b))
LOOP(prod_i64, int64_t, (int64_t)((uint64_t)a *(uint64_t)b))
LOOP(min_i64, int64_t, a < b ? a : b)
LOOP(max_i64, int64_t, a > b ? a : b)

LOOP(sum_u8, uint8_t, (uint8_t)(a + b))
LOOP(prod_u8, uint8_t, (uint8_t)(a *b))
LOOP(min_u8, uint8_t, a < b ? a : b)
LOOP(max_u8, uint8_t, a > b ? a : b)

typedef void (*loop)(void *out, const void *left, const void *right, size_t count);

/* clang-format off */
/* A mean is a sum until dtype_scale. */
#define LOOPS(table, x)                                                           \
    static const loop table[DTYPE_COUNT][OP_COUNT] = {                            \
        /*              OP_SUM      OP_MEAN     OP_MIN      OP_MAX      OP_PROD */ \
        [DTYPE_F32] = {x##sum_f32, x##sum_f32, x##min_f32, x##max_f32, x##prod_f32}, \
        [DTYPE_F64] = {x##sum_f64, x##sum_f64, x##min_f64, x##max_f64, x##prod_f64}, \
        [DTYPE_I32] = {x##sum_i32, NULL,       x##min_i32, x##max_i32, x##prod_i32}, \
        [DTYPE_I64] = {x##sum_i64, NULL,       x##min_i64, x##max_i64, x##prod_i64}, \
        [DTYPE_U8]  = {x##sum_u8,  NULL,       x##min_u8,  x##max_u8,  x##prod_u8},  \
    };
/* clang-format on */

LOOPS(narrow, )
LOOPS(wide, wide_)

/* ---- Public ---- */

void dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    if (dtype_problem(dtype, op)) return;
    if ((unsigned)op >= OP_COUNT) {
        dtype__own_combine(out, left, right, count, dtype, op);
        return;
    }
    loop combine = HAS_WIDE ? wide[dtype][op] : narrow[dtype][op];
    combine(out, left, right, count);
}

void dtype__combine_narrow(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    narrow[dtype][op](out, left, right, count);
}

void dtype_reduce(void *into, const void *from, size_t count, enum dtype dtype, enum op op)
{
    dtype_combine(into, into, from, count, dtype, op);
}

void dtype_reduce_left(void *into, const void *from, size_t count, enum dtype dtype, enum op op)
{
    dtype_combine(into, from, into, count, dtype, op);
}

static void scale_f32(float *x, size_t count, float ranks)
{
    for (size_t i = 0; i < count; i++) x[i] = quiet32(x[i] / ranks);
}

static void scale_f64(double *x, size_t count, double ranks)
{
    for (size_t i = 0; i < count; i++) x[i] = quiet64(x[i] / ranks);
}

void dtype_scale(void *buf, size_t count, enum dtype dtype, int ranks)
{
    if (dtype == DTYPE_F32) scale_f32(buf, count, (float)ranks);
    if (dtype == DTYPE_F64) scale_f64(buf, count, (double)ranks);
}
