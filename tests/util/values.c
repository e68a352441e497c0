/* SPDX-License-Identifier: MIT */
#include "tests/util/values.h"

#include <math.h>
#include <string.h>

enum { MOST_RANKS = 64 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t random_of(int rank, size_t i, int seed)
{
    return mix(mix((uint64_t)seed * 1000003u + (uint64_t)rank) + i);
}

static uint64_t bits_f32(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t bits_f64(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float as_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;

    memcpy(&x, &low, sizeof x);
    return x;
}

static double as_f64(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static double tame(enum op op, uint64_t r)
{
    static const double factors[] = {1, -1, 2, 0.5, -2, -0.5};

    return op == OP_PROD ? factors[r % 6] : (double)(r % 101) - 37;
}

/* One in three is special; the others are numbers of a few magnitudes, so that sums round and do not drown. */
static double wild(uint64_t r)
{
    static const double special[] = {INFINITY, -INFINITY, 0.0, -0.0, 1e-310, -3e-311, 1e-42, -1e-44, 3e38, 1.7e308};
    static const double scale[] = {1.0, 1e-3, 1e3, 1.0 / 3, 1e7};

    if (r % 32 < 10) return special[r % 32];
    return ((double)(mix(r) >> 12) / 4503599627370496.0 - 0.5) * scale[(r >> 8) % 5];
}

/* Quiet and signalling, both signs, any payload. */
static uint64_t wild_bits(enum dtype dtype, uint64_t r)
{
    if (dtype == DTYPE_F32) return r % 32 == 31 ? (0x7f800001u | (mix(r) & 0x807fffffu)) : bits_f32((float)wild(r));
    return r % 32 == 31 ? (0x7ff0000000000001u | (mix(r) & 0x800fffffffffffffu)) : bits_f64(wild(r));
}

uint64_t value_of(enum values kind, enum dtype dtype, enum op op, int rank, size_t i, int seed)
{
    uint64_t r = random_of(rank, i, seed);

    switch (dtype) {
    case DTYPE_F32: return kind == WILD ? wild_bits(dtype, r) : bits_f32((float)tame(op, r));
    case DTYPE_F64: return kind == WILD ? wild_bits(dtype, r) : bits_f64(tame(op, r));
    case DTYPE_I32: return r & 0xffffffffu; /* integers wrap around: any order will do */
    case DTYPE_I64: return r;
    case DTYPE_U8: return r & 0xffu;
    }
    return 0;
}

void values_fill(void *buf, size_t count, enum values kind, enum dtype dtype, enum op op, int rank, int seed)
{
    size_t size = dtype_size(dtype);

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = value_of(kind, dtype, op, rank, i, seed);
        memcpy((char *)buf + i * size, &bits, size); /* little-endian, as everything here */
    }
}

uint64_t value_at(const void *buf, enum dtype dtype, size_t i)
{
    size_t size = dtype_size(dtype);
    uint64_t bits = 0;

    memcpy(&bits, (const char *)buf + i * size, size);
    return bits;
}

/* ---- One operation ---- */

static double lower(double a, double b)
{
    if (a != a || b != b) return NAN;
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}

static double higher(double a, double b)
{
    if (a != a || b != b) return NAN;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}

static uint64_t combine_f32(enum op op, float a, float b)
{
    float result = op == OP_MIN    ? (float)lower(a, b)
                   : op == OP_MAX  ? (float)higher(a, b)
                   : op == OP_PROD ? a * b
                                   : a + b;

    return result != result ? 0x7fc00000u : bits_f32(result);
}

static uint64_t combine_f64(enum op op, double a, double b)
{
    double result = op == OP_MIN ? lower(a, b) : op == OP_MAX ? higher(a, b) : op == OP_PROD ? a * b : a + b;

    return result != result ? 0x7ff8000000000000u : bits_f64(result);
}

/* Wrapping is what unsigned 64-bit arithmetic does in its lower bits; comparing needs the sign. */
static uint64_t combine_integers(enum op op, uint64_t a, uint64_t b, bool a_is_less)
{
    switch (op) {
    case OP_MIN: return a_is_less ? a : b;
    case OP_MAX: return a_is_less ? b : a;
    case OP_PROD: return a * b;
    default: return a + b;
    }
}

uint64_t value_combine(enum dtype dtype, enum op op, uint64_t left, uint64_t right)
{
    switch (dtype) {
    case DTYPE_F32: return combine_f32(op, as_f32(left), as_f32(right));
    case DTYPE_F64: return combine_f64(op, as_f64(left), as_f64(right));
    case DTYPE_I32: return combine_integers(op, left, right, (int32_t)left < (int32_t)right) & 0xffffffffu;
    case DTYPE_I64: return combine_integers(op, left, right, (int64_t)left < (int64_t)right);
    case DTYPE_U8: return combine_integers(op, left, right, left < right) & 0xffu;
    }
    return 0;
}

static uint64_t divide(enum dtype dtype, uint64_t sum, int n)
{
    if (dtype == DTYPE_F32) {
        float mean = as_f32(sum) / (float)n;
        return mean != mean ? 0x7fc00000u : bits_f32(mean);
    }
    double mean = as_f64(sum) / n;
    return mean != mean ? 0x7ff8000000000000u : bits_f64(mean);
}

/* ---- All ranks ---- */

/* Neighbours pair up, then neighbouring pairs, and so on: parts[0] is the result. */
static void pair_up(uint64_t parts[], int n, enum dtype dtype, enum op op)
{
    for (int gap = 1; gap < n; gap *= 2)
        for (int q = 0; q + gap < n; q += 2 * gap) parts[q] = value_combine(dtype, op, parts[q], parts[q + gap]);
}

/* The first pairs fold, so that a power of two is left. */
static int fold_extra(uint64_t parts[], int n, enum dtype dtype, enum op op)
{
    int power = 1, left = 0;

    while (power * 2 <= n) power *= 2;
    for (int q = 0; q < n; q++) {
        bool pair = q < 2 * (n - power);
        parts[left++] = pair ? value_combine(dtype, op, parts[q], parts[q + 1]) : parts[q];
        if (pair) q++;
    }
    return left;
}

static void in_line(uint64_t parts[], int n, enum dtype dtype, enum op op)
{
    for (int q = 1; q < n; q++) parts[0] = value_combine(dtype, op, parts[0], parts[q]);
}

uint64_t value_expected(enum shape shape, int at, int n, enum values kind, enum dtype dtype, enum op op, size_t i,
                        int seed)
{
    uint64_t parts[MOST_RANKS] = {0};
    int begins = shape == TREE ? at : shape == RING ? (at + 1) % n : 0;

    for (int q = 0; q < n; q++) parts[q] = value_of(kind, dtype, op, (begins + q) % n, i, seed);
    if (n == 1) return parts[0];
    if (shape == TREE)
        pair_up(parts, n, dtype, op);
    else if (shape == DOUBLING)
        pair_up(parts, fold_extra(parts, n, dtype, op), dtype, op);
    else
        in_line(parts, n, dtype, op);
    return op == OP_MEAN ? divide(dtype, parts[0], n) : parts[0];
}

size_t values_wrong(const void *buf, size_t first, size_t count, enum shape shape, int at, int n, enum values kind,
                    enum dtype dtype, enum op op, int seed)
{
    size_t i = first;

    while (i < first + count && value_at(buf, dtype, i) == value_expected(shape, at, n, kind, dtype, op, i, seed)) i++;
    return i;
}

size_t values_changed(const void *buf, size_t count, enum values kind, enum dtype dtype, enum op op, int rank, int seed)
{
    size_t i = 0;

    while (i < count && value_at(buf, dtype, i) == value_of(kind, dtype, op, rank, i, seed)) i++;
    return i;
}
