/* SPDX-License-Identifier: MIT */
/*
 * The loops that combine two buffers: one loop, written once, for each type with each operator.
 *
 *      left     a0  a1  a2  a3 ...
 *      right    b0  b1  b2  b3 ...
 *      out      a0 OP b0, a1 OP b1, ...      out may be left or right: each element is read before it is written
 *
 * Bits must not depend on the compiler, nor on whether an element falls into the vector body of a loop or its tail.
 * What differs there is therefore written out (f32.h). f16 and bf16 take the loops of f32, block by block.
 */
#include "dtype/reduce.h"

#include "dtype/f32.h"
#include "dtype/half.h"
#include "dtype/own.h"

/* ---- f64; f32 is in f32.h ---- */

#define F64_NAN UINT64_C(0x7ff8000000000000)

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

static inline double quiet64(double x)
{
    return x != x ? float64(F64_NAN) : x;
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
        [DTYPE_F16] = {x##sum_f32, x##sum_f32, x##min_f32, x##max_f32, x##prod_f32}, \
        [DTYPE_BF16] = {x##sum_f32, x##sum_f32, x##min_f32, x##max_f32, x##prod_f32}, \
    };
/* clang-format on */

LOOPS(narrow, )
LOOPS(wide, wide_)

/* ---- f16 and bf16 ---- */

enum { BLOCK = 1024 }; /* elements that are f32 at a time, in the nearest cache */

typedef struct {
    char *out;
    const char *left, *right;
    size_t count;
    enum dtype dtype;
} halves;

static void combine_halves(const halves *h, loop combine, bool has_wide)
{
    float left[BLOCK], right[BLOCK];
    for (size_t at = 0, part; at < h->count; at += part) {
        size_t first = at * sizeof(uint16_t);
        part = h->count - at < BLOCK ? h->count - at : BLOCK;
        dtype__to_f32(left, h->left + first, part, h->dtype, has_wide);
        dtype__to_f32(right, h->right + first, part, h->dtype, has_wide);
        combine(left, left, right, part);
        dtype__from_f32(h->out + first, left, part, h->dtype, has_wide);
    }
}

/* ---- Public ---- */

static void combine_any(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op,
                        bool has_wide)
{
    loop combine = has_wide ? wide[dtype][op] : narrow[dtype][op];
    if (dtype__is_half(dtype))
        combine_halves(&(halves){out, left, right, count, dtype}, combine, has_wide);
    else
        combine(out, left, right, count);
}

void dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    if (dtype_problem(dtype, op)) return;
    if ((unsigned)op >= OP_COUNT)
        dtype__own_combine(out, left, right, count, dtype, op);
    else
        combine_any(out, left, right, count, dtype, op, HAS_WIDE);
}

void dtype__combine_narrow(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    combine_any(out, left, right, count, dtype, op, false);
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

static void scale_halves(uint16_t *x, size_t count, enum dtype dtype, float ranks)
{
    float block[BLOCK];
    for (size_t part; count; x += part, count -= part) {
        part = count < BLOCK ? count : BLOCK;
        dtype_to_f32(block, x, part, dtype);
        scale_f32(block, part, ranks);
        dtype_from_f32(x, block, part, dtype);
    }
}

void dtype_scale(void *buf, size_t count, enum dtype dtype, int ranks)
{
    if (dtype == DTYPE_F32) scale_f32(buf, count, (float)ranks);
    if (dtype == DTYPE_F64) scale_f64(buf, count, (double)ranks);
    if (dtype__is_half(dtype)) scale_halves(buf, count, dtype, (float)ranks);
}
