/* SPDX-License-Identifier: MIT */
// worlds: none; alone; plain
/*
 * kernels_ladder: every rung of the ladder, forward, by input and by weight, against the oracle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ladder.h"
#include "tests/kernels/tensor.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* cppcheck-suppress unknownMacro */
TestSuite(kernels_ladder, .fini = tensor_release, .timeout = 120);

/* n, c, h, w; output channels, size, stride, padding. What fits whole tiles, and what does not. */
static const kernel_conv convolutions[] = {
    {{64, 16, 6, 6}, 16, 3, 1, 1}, {{33, 16, 5, 7}, 32, 3, 1, 1}, {{20, 16, 4, 4}, 16, 3, 2, 1},
    {{5, 16, 2, 2}, 16, 3, 1, 1},  {{40, 16, 1, 1}, 16, 3, 1, 1}, {{7, 3, 5, 4}, 5, 3, 1, 0},
    {{16, 16, 5, 5}, 16, 5, 1, 2}, {{64, 16, 6, 6}, 32, 1, 2, 0}, {{34, 6, 4, 7}, 12, 3, 1, 2},
};

static const char *const pass_names[] = {"forward", "by input", "by weight"};

/* What a pass reads and writes: shapes of a, b and c; n == 0 marks the weights, which are a plain vector. */
typedef struct {
    kernel_shape of[3];
    size_t counts[3];
} operands;

static operands operands_of(const kernel_conv *conv, kernel_pass pass)
{
    kernel_shape x = conv->in, y = kernel_conv_out(conv), w = {0};
    size_t weights = (size_t)(conv->out_channels * x.c * conv->size * conv->size);
    size_t xs = kernel_oracle_elements(x), ys = kernel_oracle_elements(y);

    if (pass == KERNEL_FORWARD) return (operands){{x, w, y}, {xs, weights, ys}};
    if (pass == KERNEL_BY_INPUT) return (operands){{y, w, x}, {ys, weights, xs}};
    return (operands){{x, y, w}, {xs, ys, weights}};
}

static kernel_slice put(const operands *o, int i, bool plain, const double *values)
{
    return o->of[i].n && !plain ? tensor_activation(o->of[i], values) : tensor_vector(o->counts[i], values);
}

static double *get(const operands *o, int i, bool plain, kernel_slice slice)
{
    return o->of[i].n && !plain ? tensor_activation_read(slice, o->of[i]) : tensor_read(slice, o->counts[i]);
}

static void work_out(const kernel_conv *conv, kernel_pass pass, const double *a, const double *b, double *want)
{
    if (pass == KERNEL_FORWARD) kernel_oracle_conv_forward(conv, NULL, a, b, want);
    if (pass == KERNEL_BY_INPUT) kernel_oracle_conv_backward_input(conv, NULL, a, b, want);
    if (pass == KERNEL_BY_WEIGHT) kernel_oracle_conv_backward_weight(conv, NULL, a, b, want);
}

static void check(const kernel_rung *rungs, size_t rung, kernel_pass pass, const kernel_conv *conv)
{
    operands o = operands_of(conv, pass);
    bool plain = rungs[rung].plain;
    double *a = tensor_numbers(o.counts[0], 1), *b = tensor_numbers(o.counts[1], 2);
    double *want = tensor_memory(o.counts[2] * sizeof *want), *got;
    kernel_slice c = put(&o, 2, plain, NULL);

    snprintf(tensor_about, sizeof tensor_about, "rung %s %s, (%d, %d, %d, %d) to %d, size %d, stride %d, padding %d",
             rungs[rung].name, pass_names[pass], conv->in.n, conv->in.c, conv->in.h, conv->in.w, conv->out_channels,
             conv->size, conv->stride, conv->padding);
    work_out(conv, pass, a, b, want);
    ASSERT_KERNEL(kernel_climb(device(), rung, pass, conv, put(&o, 0, plain, a), put(&o, 1, plain, b), c));
    got = get(&o, 2, plain, c);
    ASSERT_CLOSE(got, want, o.counts[2], 1e-5);
}

static void check_all(kernel_pass pass)
{
    const kernel_rung *rungs;
    size_t count = kernel_ladder(&rungs), found = 0;

    for (size_t rung = 0; rung < count; rung++) {
        if (!rungs[rung].file[pass]) continue;
        found++;
        for (size_t i = 0; i < COUNT(convolutions); i++) {
            /* On a simulated device (tests/all/oclgrind.sh) only what is small. */
            double work = convolutions[i].in.n * kernel_oracle_conv_work(&convolutions[i]);
            if (getenv("PAIRWISE_KERNEL_SAMPLES") && work > 1e5) continue;
            check(rungs, rung, pass, &convolutions[i]);
        }
        tensor_release();
    }
    cr_assert(found >= 4, "only %zu rungs", found);
}

Test(kernels_ladder, forward)
{
    check_all(KERNEL_FORWARD);
}

Test(kernels_ladder, by_input)
{
    check_all(KERNEL_BY_INPUT);
}

Test(kernels_ladder, by_weight)
{
    check_all(KERNEL_BY_WEIGHT);
}

Test(kernels_ladder, files_are_there)
{
    const kernel_rung *rungs;
    size_t count = kernel_ladder(&rungs);
    char path[256];

    for (size_t rung = 0; rung < count; rung++)
        for (int pass = 0; pass < KERNEL_PASSES; pass++) {
            FILE *file;
            if (!rungs[rung].file[pass]) continue;
            snprintf(path, sizeof path, "kernels/%s", rungs[rung].file[pass]);
            file = fopen(path, "re");
            cr_assert(file, "rung %s: %s is not there", rungs[rung].name, path);
            fclose(file);
        }
}

Test(kernels_ladder, refuses_what_is_none)
{
    kernel_conv conv = {{4, 8, 4, 4}, 8, 3, 1, 1}, none = {{4, 8, 4, 4}, 8, 11, 1, 1};
    kernel_slice some = tensor_vector(4096, NULL);
    const kernel_rung *rungs;
    size_t count = kernel_ladder(&rungs);
    double operations;

    ASSERT_REFUSED(kernel_climb(device(), count, KERNEL_FORWARD, &conv, some, some, some), KERNEL_ERR_ARG,
                   "no such rung");
    ASSERT_REFUSED(kernel_climb(device(), 1, KERNEL_BY_WEIGHT, &conv, some, some, some), KERNEL_ERR_ARG, "this pass");
    ASSERT_REFUSED(kernel_climb(device(), 0, KERNEL_FORWARD, &none, some, some, some), KERNEL_ERR_ARG,
                   "no convolution");
    ASSERT_REFUSED(kernel_climb(device(), 0, KERNEL_FORWARD, &conv, some, KERNEL_NONE, some), KERNEL_ERR_ARG,
                   "b has no buffer");
    ASSERT_REFUSED(kernel_climb(device(), 0, KERNEL_FORWARD, &conv, some, tensor_vector(8, NULL), some), KERNEL_ERR_ARG,
                   "b needs floats");
    ASSERT_REFUSED(kernel_multiply_adds(device(), 4096 * 4, 1, some, &operations), KERNEL_ERR_ARG, "out needs");
}

/* The loop does what it says: a constant factor and a constant more come to where x = 0.999 x + 0.001. */
Test(kernels_ladder, multiply_adds)
{
    kernel_slice out = tensor_vector(3, NULL);
    double operations = 0, *got;

    ASSERT_KERNEL(kernel_multiply_adds(device(), 3, 20000, out, &operations));
    got = tensor_read(out, 3);
    cr_assert(operations > 0);
    for (int i = 1; i < 3; i++) cr_assert(got[i] / got[0] > 0.999 && got[i] / got[0] < 1.001, "%g, %g", got[0], got[i]);
    cr_assert(got[0] > 11 && got[0] < 12.1 * 16, "%g", got[0]);
}
