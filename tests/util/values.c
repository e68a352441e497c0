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

/* ---- 16 bits, in the slowest way: by the exponent ---- */

typedef struct {
    int fraction, least, most; /* bits of the fraction; exponents of the least and the greatest normal number */
    uint64_t nan;
} half_format;

static half_format format_of(enum dtype dtype)
{
    return dtype == DTYPE_F16 ? (half_format){10, -14, 15, 0x7e00} : (half_format){7, -126, 127, 0x7fc0};
}

double value_of_half(enum dtype dtype, uint64_t half)
{
    half_format f = format_of(dtype);
    int fraction = (int)(half & ((1u << f.fraction) - 1)),
        exponent = (int)(half >> f.fraction & (0x7fffu >> f.fraction));
    double size = exponent ? ldexp(fraction + (1 << f.fraction), exponent + f.least - 1 - f.fraction)
                           : ldexp(fraction, f.least - f.fraction);

    if (exponent + f.least - 1 > f.most) size = fraction ? NAN : INFINITY;
    return half >> 15 ? -size : size;
}

uint64_t half_of_value(enum dtype dtype, double x)
{
    half_format f = format_of(dtype);
    uint64_t sign = signbit(x) ? 0x8000 : 0, infinity = (uint64_t)(f.most - f.least + 2) << f.fraction;
    int exponent;

    if (x != x) return f.nan;
    if (x == 0) return sign;
    if (isinf(x)) return sign | infinity;
    frexp(x, &exponent);
    if (exponent - 1 < f.least) exponent = f.least + 1;
    double steps = rint(ldexp(fabs(x), f.fraction - exponent + 1)); /* of the last bit; ties to even */
    uint64_t half = (uint64_t)(exponent - 1 - f.least) * (1u << f.fraction) + (uint64_t)steps;
    return sign | (half < infinity ? half : infinity);
}

static double tame(enum op op, uint64_t r)
{
    static const double factors[] = {1, -1, 2, 0.5, -2, -0.5};

    return op == OP_PROD ? factors[r % 6] : (double)(r % 101) - 37;
}

/* bf16 has integers up to 256 only, and there may be 64 ranks. */
static double tame_half(enum op op, uint64_t r)
{
    return op == OP_PROD ? tame(op, r) : (double)(r % 7) - 3;
}

/* One in three is special; the others are numbers of a few magnitudes, so that sums round and do not drown. */
static double wild(uint64_t r)
{
    static const double special[] = {INFINITY, -INFINITY, 0.0, -0.0, 1e-310, -3e-311, 1e-42, -1e-44, 3e38, 1.7e308};
    static const double scale[] = {1.0, 1e-3, 1e3, 1.0 / 3, 1e7};

    if (r % 32 < 10) return special[r % 32];
    return ((double)(mix(r) >> 12) / 4503599627370496.0 - 0.5) * scale[(r >> 8) % 5];
}

/* Of 16 bits every value is likely; half of them are numbers of a few magnitudes. */
static uint64_t wild_half(enum dtype dtype, uint64_t r)
{
    return r % 2 ? mix(r) & 0xffff : half_of_value(dtype, wild(r >> 1));
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
    case DTYPE_F16:
    case DTYPE_BF16: return kind == WILD ? wild_half(dtype, r) : half_of_value(dtype, tame_half(op, r));
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

static uint64_t combine_halves(enum dtype dtype, enum op op, uint64_t left, uint64_t right)
{
    float a = (float)value_of_half(dtype, left), b = (float)value_of_half(dtype, right);

    return half_of_value(dtype, (double)as_f32(combine_f32(op, a, b)));
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
    case DTYPE_F16:
    case DTYPE_BF16: return combine_halves(dtype, op, left, right);
    }
    return 0;
}

static uint64_t divide(enum dtype dtype, uint64_t sum, int n)
{
    if (dtype == DTYPE_F32) {
        float mean = as_f32(sum) / (float)n;
        return mean != mean ? 0x7fc00000u : bits_f32(mean);
    }
    if (dtype != DTYPE_F64) return half_of_value(dtype, (double)((float)value_of_half(dtype, sum) / (float)n));
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

uint64_t value_on_hosts(const int host[], int hosts, int chunk, int n, enum values kind, enum dtype dtype, enum op op,
                        size_t i, int seed)
{
    uint64_t sum = 0;

    for (int step = 1; step <= hosts; step++) {
        uint64_t sum_of_host = 0;
        bool any = false;
        for (int q = 0; q < n; q++) {
            if (host[q] != (chunk + step) % hosts) continue;
            uint64_t part = value_of(kind, dtype, op, q, i, seed);
            sum_of_host = any ? value_combine(dtype, op, sum_of_host, part) : part;
            any = true;
        }
        sum = step == 1 ? sum_of_host : value_combine(dtype, op, sum, sum_of_host);
    }
    return op == OP_MEAN && n > 1 ? divide(dtype, sum, n) : sum;
}

uint64_t value_of_leaders(const int host[], int hosts, int n, enum values kind, enum dtype dtype, enum op op, size_t i,
                          int seed)
{
    uint64_t of_hosts[MOST_RANKS] = {0};

    for (int h = 0; h < hosts; h++) {
        uint64_t parts[MOST_RANKS] = {0};
        int here = 0;
        for (int q = 0; q < n; q++)
            if (host[q] == h) parts[here++] = value_of(kind, dtype, op, q, i, seed);
        pair_up(parts, here, dtype, op);
        of_hosts[h] = parts[0];
    }
    pair_up(of_hosts, fold_extra(of_hosts, hosts, dtype, op), dtype, op);
    return op == OP_MEAN && n > 1 ? divide(dtype, of_hosts[0], n) : of_hosts[0];
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
