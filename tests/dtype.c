/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * dtype: names, checks and the loops that combine, against one element at a time. Buffers of every length around the
 * loops' blocks, and every alignment of left, right and out to each other.
 */
#include "dtype/reduce.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dtype/half.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { LONGEST = 200, MARGIN = 16 };

typedef struct {
    enum dtype dtype;
    enum op op;
} kernel;

static size_t all_kernels(kernel kernels[])
{
    size_t count = 0;

    for (int d = 0; d < DTYPE_COUNT; d++)
        for (int o = 0; o < OP_COUNT; o++)
            if (!dtype_problem((enum dtype)d, (enum op)o)) kernels[count++] = (kernel){(enum dtype)d, (enum op)o};
    return count;
}

/* ---- Names and checks ---- */

Test(dtype, names_and_sizes)
{
    static const char *const types[] = {"f32", "f64", "i32", "i64", "u8", "f16", "bf16"};
    static const char *const ops[] = {"sum", "mean", "min", "max", "prod"};
    static const size_t sizes[] = {4, 8, 4, 8, 1, 2, 2};
    enum dtype dtype;
    enum op op;

    for (int i = 0; i < DTYPE_COUNT; i++) {
        cr_assert_str_eq(dtype_name((enum dtype)i), types[i]);
        cr_assert_eq(dtype_size((enum dtype)i), sizes[i]);
        cr_assert(dtype_parse(types[i], &dtype) && (int)dtype == i);
    }
    for (int i = 0; i < OP_COUNT; i++) {
        cr_assert_str_eq(op_name((enum op)i), ops[i]);
        cr_assert(op_parse(ops[i], &op) && (int)op == i);
    }
}

Test(dtype, what_does_not_exist)
{
    enum dtype dtype = DTYPE_I64;
    enum op op = OP_MAX;

    cr_assert(!dtype_parse("f8", &dtype) && !dtype_parse("", &dtype) && dtype == DTYPE_I64);
    cr_assert(!op_parse("avg", &op) && op == OP_MAX);
    for (int i = -1; i <= 99; i += 25) {
        if (i >= 0 && i < 5) continue;
        cr_assert_eq(dtype_size((enum dtype)i), 0u);
        cr_assert_str_eq(dtype_name((enum dtype)i), "?");
        cr_assert_str_eq(op_name((enum op)i), "?");
        cr_assert_not_null(dtype_problem((enum dtype)i, OP_SUM));
        cr_assert_not_null(dtype_problem(DTYPE_F32, (enum op)i));
    }
}

Test(dtype, mean_of_integers_is_a_problem_and_does_nothing)
{
    static const enum dtype integers[] = {DTYPE_I32, DTYPE_I64, DTYPE_U8};
    unsigned char a[16] = {1, 2, 3, 4, 5, 6, 7, 8}, b[16] = {9, 9, 9, 9, 9, 9, 9, 9}, before[16];

    memcpy(before, a, sizeof a);
    for (size_t i = 0; i < COUNT(integers); i++) {
        const char *problem = dtype_problem(integers[i], OP_MEAN);
        cr_assert(problem && strstr(problem, "mean of integers") && dtype_advice(integers[i], OP_MEAN));
        dtype_reduce(a, b, 1, integers[i], OP_MEAN);
        dtype_scale(a, 1, integers[i], 2);
        cr_assert_arr_eq(a, before, sizeof a);
    }
    cr_assert_null(dtype_problem(DTYPE_F32, OP_MEAN));
    cr_assert_null(dtype_advice(DTYPE_F32, OP_MEAN));
    cr_assert_null(dtype_problem(DTYPE_F64, OP_MEAN));
    cr_assert_null(dtype_problem(DTYPE_F16, OP_MEAN));
    cr_assert_null(dtype_problem(DTYPE_BF16, OP_MEAN));
}

Test(dtype, sizes_that_overflow)
{
    size_t bytes = 7;

    cr_assert(dtype_bytes(0, DTYPE_F64, &bytes) && bytes == 0);
    cr_assert(dtype_bytes((size_t)1 << 40, DTYPE_F64, &bytes) && bytes == (size_t)8 << 40);
    cr_assert(!dtype_bytes(SIZE_MAX, DTYPE_U8, &bytes));
    cr_assert(!dtype_bytes(SIZE_MAX / 4 + 2, DTYPE_F32, &bytes));
    cr_assert(!dtype_bytes((size_t)PTRDIFF_MAX / 8 + 1, DTYPE_I64, &bytes));
    cr_assert(!dtype_bytes(1, (enum dtype)DTYPE_COUNT, &bytes));
    cr_assert_eq(bytes, (size_t)8 << 40);
}

/* ---- Every kernel, every length, every alignment ---- */

typedef void (*combine)(unsigned char *out, unsigned char *left, unsigned char *right, size_t count, kernel k);

static void three_buffers(unsigned char *out, unsigned char *left, unsigned char *right, size_t count, kernel k)
{
    dtype_combine(out, left, right, count, k.dtype, k.op);
}

static void narrow(unsigned char *out, unsigned char *left, unsigned char *right, size_t count, kernel k)
{
    memcpy(out, left, count * dtype_size(k.dtype));
    dtype__combine_narrow(out, out, right, count, k.dtype, k.op);
}

static void into_left(unsigned char *out, unsigned char *left, unsigned char *right, size_t count, kernel k)
{
    memcpy(out, left, count * dtype_size(k.dtype));
    dtype_reduce(out, right, count, k.dtype, k.op);
}

static void into_right(unsigned char *out, unsigned char *left, unsigned char *right, size_t count, kernel k)
{
    memcpy(out, right, count * dtype_size(k.dtype));
    dtype_reduce_left(out, left, count, k.dtype, k.op);
}

/* OP_MEAN adds: the division is dtype_scale's. */
static uint64_t expected(kernel k, size_t i)
{
    uint64_t left = value_of(WILD, k.dtype, k.op, 0, i, 1), right = value_of(WILD, k.dtype, k.op, 1, i, 1);

    return value_combine(k.dtype, k.op == OP_MEAN ? OP_SUM : k.op, left, right);
}

/* Shifts are in elements, so that the three buffers lie differently to a vector's width. */
static void check_kernel(combine run, kernel k, size_t count, int shift)
{
    static unsigned char memory[3][8 * (LONGEST + 4 * MARGIN)];
    size_t size = dtype_size(k.dtype), ahead = size * (size_t)(shift % 4), behind = size * (size_t)(shift / 4);
    unsigned char *out = memory[0] + size * MARGIN + ahead, *left = memory[1] + behind, *right = memory[2] + ahead;

    memset(memory[0], 0xA5, sizeof memory[0]);
    values_fill(left, count, WILD, k.dtype, k.op, 0, 1);
    values_fill(right, count, WILD, k.dtype, k.op, 1, 1);
    run(out, left, right, count, k);
    for (size_t i = 0; i < count; i++)
        cr_assert(value_at(out, k.dtype, i) == expected(k, i),
                  "%s %s, element %zu of %zu, shift %d: %#lx %#lx make %#lx, not %#lx", dtype_name(k.dtype),
                  op_name(k.op), i, count, shift, (unsigned long)value_of(WILD, k.dtype, k.op, 0, i, 1),
                  (unsigned long)value_of(WILD, k.dtype, k.op, 1, i, 1), (unsigned long)value_at(out, k.dtype, i),
                  (unsigned long)expected(k, i));
    for (size_t i = 0; i < size * MARGIN; i++)
        cr_assert(out[-1 - (ptrdiff_t)i] == 0xA5 && out[count * size + i] == 0xA5, "written outside the buffer");
    cr_assert_eq(values_changed(right, count, WILD, k.dtype, k.op, 1, 1), count, "an input was changed");
}

static void check_all(combine run)
{
    kernel kernels[DTYPE_COUNT * OP_COUNT];
    size_t many = all_kernels(kernels);

    cr_assert_eq(many, 32u);
    for (size_t k = 0; k < many; k++)
        for (size_t count = 0; count <= LONGEST; count += count < 70 ? 1 : 43)
            for (int shift = 0; shift < 16; shift += 5) check_kernel(run, kernels[k], count, shift);
}

Test(dtype, combine_into_a_third_buffer)
{
    check_all(three_buffers);
}

Test(dtype, without_wide_registers)
{
    check_all(narrow);
}

Test(dtype, reduce_into_the_left)
{
    check_all(into_left);
}

Test(dtype, reduce_into_the_right)
{
    check_all(into_right);
}

Test(dtype, operands_may_change_sides)
{
    kernel kernels[DTYPE_COUNT * OP_COUNT];
    size_t many = all_kernels(kernels);
    uint64_t a[LONGEST], b[LONGEST], ab[LONGEST], ba[LONGEST];

    for (size_t k = 0; k < many; k++) {
        values_fill(a, LONGEST, WILD, kernels[k].dtype, kernels[k].op, 2, 3);
        values_fill(b, LONGEST, WILD, kernels[k].dtype, kernels[k].op, 3, 3);
        dtype_combine(ab, a, b, LONGEST, kernels[k].dtype, kernels[k].op);
        dtype_combine(ba, b, a, LONGEST, kernels[k].dtype, kernels[k].op);
        cr_assert_arr_eq(ab, ba, LONGEST * dtype_size(kernels[k].dtype));
    }
}

/* ---- Values that are known by hand ---- */

static uint32_t f32_of(float a, float b, enum op op)
{
    uint32_t bits;

    dtype_reduce(&a, &b, 1, DTYPE_F32, op);
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

Test(dtype, signed_zeros_and_nan_in_f32)
{
    const uint32_t nan = 0x7fc00000, minus_zero = 0x80000000, infinity = 0x7f800000;

    cr_assert_eq(f32_of(-0.0f, 0.0f, OP_MIN), minus_zero);
    cr_assert_eq(f32_of(0.0f, -0.0f, OP_MIN), minus_zero);
    cr_assert_eq(f32_of(-0.0f, 0.0f, OP_MAX), 0u);
    cr_assert_eq(f32_of(0.0f, -0.0f, OP_MAX), 0u);
    cr_assert_eq(f32_of(-0.0f, -0.0f, OP_SUM), minus_zero);
    cr_assert_eq(f32_of(-0.0f, 0.0f, OP_SUM), 0u);
    cr_assert_eq(f32_of(INFINITY, -INFINITY, OP_SUM), nan);
    cr_assert_eq(f32_of(INFINITY, -INFINITY, OP_MAX), infinity);
    cr_assert_eq(f32_of(0.0f, INFINITY, OP_PROD), nan);
    cr_assert_eq(f32_of(-NAN, 1.0f, OP_SUM), nan);
    cr_assert_eq(f32_of(1.0f, -NAN, OP_MIN), nan);
    cr_assert_eq(f32_of(-NAN, 1.0f, OP_MAX), nan);
    cr_assert_eq(f32_of(NAN, -NAN, OP_PROD), nan);
}

Test(dtype, integers_wrap_around)
{
    int32_t a = INT32_MAX, one = 1, low = INT32_MIN, minus = -1;
    int64_t b = INT64_MIN, minus64 = -1;
    uint8_t c = 250, ten = 10, d = 200, three = 3;

    dtype_reduce(&a, &one, 1, DTYPE_I32, OP_SUM);
    cr_assert_eq(a, INT32_MIN);
    dtype_reduce(&low, &minus, 1, DTYPE_I32, OP_PROD);
    cr_assert_eq(low, INT32_MIN);
    dtype_reduce(&b, &minus64, 1, DTYPE_I64, OP_SUM);
    cr_assert_eq(b, INT64_MAX);
    dtype_reduce(&c, &ten, 1, DTYPE_U8, OP_SUM);
    cr_assert_eq(c, 4);
    dtype_reduce(&d, &three, 1, DTYPE_U8, OP_PROD);
    cr_assert_eq(d, 88);
}

Test(dtype, scale_divides_once)
{
    float x[3] = {1.0f, -0.0f, INFINITY};
    double y[2] = {10.0, -NAN};
    uint16_t h[3] = {0x3c00, 0x7c00, 0xfd01};
    const uint64_t nan = 0x7ff8000000000000;

    dtype_scale(x, 3, DTYPE_F32, 3);
    cr_assert(x[0] == 1.0f / 3.0f && x[1] == 0.0f && signbit(x[1]) && isinf(x[2]));
    dtype_scale(h, 3, DTYPE_F16, 3);
    cr_assert(h[0] == 0x3555 && h[1] == 0x7c00 && h[2] == 0x7e00); /* 1/3, infinity, no number */
    dtype_scale(y, 2, DTYPE_F64, 7);
    cr_assert_eq(y[0], 10.0 / 7.0);
    cr_assert_arr_eq(&y[1], &nan, sizeof nan);
}

/* ---- 16 bits ---- */

static const enum dtype halves[] = {DTYPE_F16, DTYPE_BF16};

/* Both loops, and the reference, say the same. */
static uint32_t widened(enum dtype dtype, uint16_t half)
{
    uint32_t bits, plain;

    dtype_to_f32((float *)(void *)&bits, &half, 1, dtype);
    dtype__to_f32((float *)(void *)&plain, &half, 1, dtype, false);
    cr_assert_eq(bits, plain);
    return bits;
}

static uint32_t f32_bits(double x)
{
    float rounded = (float)x;
    uint32_t bits;

    memcpy(&bits, &rounded, sizeof bits);
    return x != x ? 0x7fc00000 : bits;
}

Test(half, every_value_is_its_f32)
{
    for (size_t d = 0; d < COUNT(halves); d++)
        for (uint32_t half = 0; half <= UINT16_MAX; half++)
            cr_assert_eq(widened(halves[d], (uint16_t)half), f32_bits(value_of_half(halves[d], half)), "%s %#x",
                         dtype_name(halves[d]), half);
}

static void check_narrowed(enum dtype dtype, uint32_t bits)
{
    enum { MANY = 17 }; /* the body of a loop, and its tail */
    float in[MANY], x;
    uint16_t out[MANY], plain[MANY];

    memcpy(&x, &bits, sizeof x);
    for (int i = 0; i < MANY; i++) memcpy(&in[i], &bits, sizeof bits);
    dtype_from_f32(out, in, MANY, dtype);
    dtype__from_f32(plain, in, MANY, dtype, false);
    for (int i = 0; i < MANY; i += MANY - 1)
        cr_assert(out[i] == half_of_value(dtype, (double)x) && plain[i] == out[i],
                  "%s of %#x: %#x, plainly %#x, not %#x", dtype_name(dtype), bits, out[i], plain[i],
                  (unsigned)half_of_value(dtype, (double)x));
}

/* Each value comes back; and what is a bit beside it, half way to the next one, and a bit beside that. */
Test(half, every_value_and_what_is_around_it_is_rounded_to_nearest)
{
    for (size_t d = 0; d < COUNT(halves); d++)
        for (uint32_t half = 0; half <= UINT16_MAX; half++) {
            uint32_t bits = f32_bits(value_of_half(halves[d], half));
            uint32_t next = f32_bits(value_of_half(halves[d], (half + 1) & 0xffff)), between = bits / 2 + next / 2;
            for (uint32_t k = 0; k < 3; k++) {
                check_narrowed(halves[d], bits + k - 1);
                check_narrowed(halves[d], between + k - 1);
            }
        }
}

Test(half, any_f32_is_rounded_to_nearest)
{
    uint32_t bits = 1;

    for (int i = 0; i < 400000; i++, bits = bits * 1664525u + 1013904223u) {
        check_narrowed(DTYPE_F16, bits);
        check_narrowed(DTYPE_BF16, bits);
        check_narrowed(DTYPE_F16, (bits & 0x8fffffff) | 0x30000000); /* where f16 has numbers */
    }
}

Test(half, known_by_hand)
{
    const float in[] = {65519.0f, 65520.0f, 0x1p-25f, 0x1.8p-25f, -0x1p-26f, 1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f};
    const uint16_t f16[] = {0x7bff, 0x7c00, 0, 1, 0x8000, 0x3c00, 0x3c02};
    const float wide[] = {0x1.fffffep127f, 1.0f + 0x1p-8f, 1.0f + 0x1.8p-7f, 0x1p-134f, 0x1.8p-134f};
    const uint16_t bf16[] = {0x7f80, 0x3f80, 0x3f82, 0, 1};
    uint16_t out[8];

    dtype_from_f32(out, in, COUNT(in), DTYPE_F16);
    cr_assert_arr_eq(out, f16, sizeof f16);
    dtype_from_f32(out, wide, COUNT(wide), DTYPE_BF16);
    cr_assert_arr_eq(out, bf16, sizeof bf16);
}

/* Pairs: every value with one of every 97, from another beginning each time. */
Test(half, pairs)
{
    static const enum op ops[] = {OP_SUM, OP_PROD, OP_MIN, OP_MAX};
    static uint16_t left[1 << 16], right[1 << 16], out[1 << 16];

    for (uint32_t turn = 0; turn < 8; turn++)
        for (size_t d = 0; d < COUNT(halves); d++)
            for (size_t o = 0; o < COUNT(ops); o++) {
                for (uint32_t i = 0; i <= UINT16_MAX; i++) {
                    left[i] = (uint16_t)i;
                    right[i] = (uint16_t)(i * 97 + 8191 * turn);
                }
                dtype_combine(out, left, right, 1 << 16, halves[d], ops[o]);
                for (uint32_t i = 0; i <= UINT16_MAX; i++)
                    cr_assert(out[i] == value_combine(halves[d], ops[o], left[i], right[i]), "%s %s of %#x and %#x",
                              dtype_name(halves[d]), op_name(ops[o]), left[i], right[i]);
            }
}
