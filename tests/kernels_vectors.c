/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * kernels_vectors: the optimisers against PyTorch's formulas in double; that an element's bits do not depend on the
 * slice it is updated in; the sum of two buffers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/kernels/tensor.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* cppcheck-suppress unknownMacro */
TestSuite(kernels, .fini = tensor_release, .timeout = 120);

/* ---- Optimisers ---- */

enum { PARAMETERS = 4133, STEPS = 10 };

static const kernel_optimizer optimizers[] = {
    {KERNEL_SGD, 0.1, 0, 0, 0, 0, 0, 0},
    {KERNEL_SGD, 0.05, 1e-2, 0.9, 0, 0, 0, 0},
    {KERNEL_ADAM, 1e-3, 0, 0, 0.9, 0.999, 0, 1e-8},
    {KERNEL_ADAM, 1e-2, 1e-2, 0, 0.8, 0.99, 0, 1e-6},
    {KERNEL_ADAMW, 1e-3, 1e-2, 0, 0.9, 0.999, 0, 1e-8},
    {KERNEL_RMSPROP, 1e-3, 0, 0, 0, 0, 0.99, 1e-8},
    {KERNEL_RMSPROP, 1e-2, 1e-2, 0.9, 0, 0, 0.9, 1e-5},
    {KERNEL_NESTEROV, 0.05, 1e-2, 0.9, 0, 0, 0, 0},
};

static void about_optimizer(size_t i, const kernel_optimizer *o)
{
    snprintf(tensor_about, sizeof tensor_about, "optimiser %zu: rule %d, lr %g, decay %g, momentum %g", i, (int)o->rule,
             o->lr, o->weight_decay, o->momentum);
}

typedef struct {
    kernel_slice parameters, gradients, state[2];
} place;

static place make_place(void)
{
    double *zero = tensor_memory(PARAMETERS * sizeof *zero);

    return (place){tensor_vector(PARAMETERS, tensor_numbers(PARAMETERS, 1)),
                   tensor_vector(PARAMETERS, tensor_numbers(PARAMETERS, 2)),
                   {tensor_vector(PARAMETERS, zero), tensor_vector(PARAMETERS, zero)}};
}

static kernel_slice from(kernel_slice slice, size_t first)
{
    return kernel_at(slice.buffer, slice.first + first);
}

/* Steps first, first + 1, ... over [begin, end), gradients turned about their sign each time. */
static void update(const kernel_optimizer *o, place *p, uint64_t step, size_t begin, size_t end)
{
    kernel_slice state[2] = {from(p->state[0], begin), from(p->state[1], begin)};

    ASSERT_KERNEL(
        kernel_update(device(), o, step, end - begin, from(p->parameters, begin), from(p->gradients, begin), state));
}

Test(kernels, update)
{
    for (size_t i = 0; i < COUNT(optimizers); i++) {
        const kernel_optimizer *o = &optimizers[i];
        place p = make_place();
        double *want = tensor_numbers(PARAMETERS, 1), *gradient = tensor_numbers(PARAMETERS, 2), *got;
        double(*state)[2] = tensor_memory(PARAMETERS * sizeof *state);
        about_optimizer(i, o);
        for (uint64_t step = 1; step <= STEPS; step++) {
            update(o, &p, step, 0, PARAMETERS);
            for (size_t j = 0; j < PARAMETERS; j++)
                want[j] = kernel_oracle_update(o, step, want[j], gradient[j], state[j]);
        }
        got = tensor_read(p.parameters, PARAMETERS);
        ASSERT_CLOSE(got, want, PARAMETERS, 1e-6);
        for (int k = 0; k < kernel_optimizer_states(o); k++) {
            for (size_t j = 0; j < PARAMETERS; j++) want[j] = state[j][k];
            got = tensor_read(p.state[k], PARAMETERS);
            ASSERT_CLOSE(got, want, PARAMETERS, 2e-6);
        }
    }
}

/* Three steps of torch.optim.SGD(lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True), PyTorch 1.13. */
Test(kernels, nesterov_is_pytorchs)
{
    static const double begin[] = {1, -2, 0.5}, gradient[] = {0.5, -0.25, 2};
    static const double want[][3] = {{0.903100014, -1.94869995, 0.119049974},
                                     {0.670074105, -1.82812738, -0.803581297},
                                     {0.264890462, -1.62039244, -2.41231537}};
    const kernel_optimizer o = {KERNEL_NESTEROV, 0.1, 0.01, 0.9, 0, 0, 0, 0};
    const kernel_slice state[2] = {tensor_vector(3, (const double[3]){0}), KERNEL_NONE};
    kernel_slice parameters = tensor_vector(3, begin);

    for (int step = 1; step <= 3; step++) {
        double now[3];
        for (int i = 0; i < 3; i++) now[i] = step * gradient[i];
        ASSERT_KERNEL(kernel_update(device(), &o, (uint64_t)step, 3, parameters, tensor_vector(3, now), state));
        ASSERT_CLOSE(tensor_read(parameters, 3), want[step - 1], 3, 1e-6);
    }
}

/* Pieces of every length around a vector's, in any order, and where they begin. */
Test(kernels, update_in_slices_gives_the_same_bits)
{
    static const size_t cuts[] = {0, 1, 2, 17, 18, 50, 81, 82, 1000, 1031, 4096, 4100, PARAMETERS};

    for (size_t i = 0; i < COUNT(optimizers); i++) {
        place whole = make_place(), pieces = make_place();
        about_optimizer(i, &optimizers[i]);
        for (uint64_t step = 1; step <= 3; step++) {
            update(&optimizers[i], &whole, step, 0, PARAMETERS);
            for (size_t c = COUNT(cuts) - 1; c > 0; c--) update(&optimizers[i], &pieces, step, cuts[c - 1], cuts[c]);
        }
        double *a = tensor_read(whole.parameters, PARAMETERS), *b = tensor_read(pieces.parameters, PARAMETERS);
        cr_assert_eq(memcmp(a, b, PARAMETERS * sizeof *a), 0, "%s", tensor_about);
    }
}

/* What lies beside the slice stays. */
Test(kernels, update_touches_nothing_else)
{
    for (size_t i = 0; i < COUNT(optimizers); i++) {
        place p = make_place();
        double *before = tensor_read(p.parameters, PARAMETERS), *after;
        about_optimizer(i, &optimizers[i]);
        update(&optimizers[i], &p, 1, 100, 133);
        after = tensor_read(p.parameters, PARAMETERS);
        for (size_t j = 0; j < PARAMETERS; j++)
            cr_assert((before[j] == after[j]) == (j < 100 || j >= 133), "element %zu (%s)", j, tensor_about);
    }
}

Test(kernels, update_refuses)
{
    kernel_optimizer o;
    place p = make_place();
    kernel_slice none[2] = {KERNEL_NONE, KERNEL_NONE};

    kernel_optimizer_defaults(&o, KERNEL_ADAMW);
    cr_assert_eq(kernel_optimizer_states(&o), 2);
    cr_assert_float_eq(o.beta2, 0.999, 0);
    ASSERT_REFUSED(kernel_update(device(), &o, 0, 1, p.parameters, p.gradients, p.state), KERNEL_ERR_ARG, "from 1");
    ASSERT_REFUSED(kernel_update(device(), &o, 1, 1, p.parameters, p.gradients, none), KERNEL_ERR_ARG, "state[0]");
    ASSERT_REFUSED(kernel_update(device(), &o, 1, PARAMETERS + 1, p.parameters, p.gradients, p.state), KERNEL_ERR_ARG,
                   "parameters needs floats");
    o.rule = (kernel_rule)9;
    ASSERT_REFUSED(kernel_update(device(), &o, 1, 1, p.parameters, p.gradients, p.state), KERNEL_ERR_ARG, "no such");
    kernel_optimizer_defaults(&o, KERNEL_SGD);
    cr_assert_eq(kernel_optimizer_states(&o), 0);
    ASSERT_KERNEL(kernel_update(device(), &o, 1, 1, p.parameters, p.gradients, none));
    ASSERT_KERNEL(kernel_update(device(), &o, 1, 0, p.parameters, p.gradients, none));
}

/* ---- Sum ---- */

Test(kernels, sum)
{
    static const size_t counts[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 20000};

    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t count = counts[i];
        double *a = tensor_numbers(count + 1, 1), *b = tensor_numbers(count + 1, 2), *got;
        kernel_slice into = tensor_vector(count + 1, a);
        snprintf(tensor_about, sizeof tensor_about, "%zu floats", count);
        ASSERT_KERNEL(kernel_sum(device(), into, tensor_vector(count + 1, b), count));
        for (size_t j = 0; j < count; j++) a[j] = (double)((float)a[j] + (float)b[j]);
        got = tensor_read(into, count + 1);
        ASSERT_CLOSE(got, a, count + 1, 0);
    }
}

Test(kernels, fill_and_copy)
{
    double *numbers = tensor_numbers(100, 1), *got;
    kernel_slice a = tensor_vector(100, numbers), b = tensor_vector(100, NULL);

    ASSERT_KERNEL(kernel_copy(device(), from(b, 10), from(a, 3), 50));
    ASSERT_KERNEL(kernel_fill(device(), from(b, 20), 7, 2.5f));
    got = tensor_read(b, 100);
    for (int i = 0; i < 100; i++) {
        bool copied = i >= 10 && i < 60, filled = i >= 20 && i < 27;
        cr_assert(filled ? got[i] == 2.5 : copied ? got[i] == numbers[i - 7] : isnan(got[i]), "element %d", i);
    }
    ASSERT_REFUSED(kernel_copy(device(), from(a, 1), a, 5), KERNEL_ERR_ARG, "overlap");
    ASSERT_REFUSED(kernel_fill(device(), a, 101, 0), KERNEL_ERR_ARG, "needs floats 3 to 104");
    ASSERT_REFUSED(kernel_fill(device(), kernel_at(a.buffer, (size_t)-1), 2, 0), KERNEL_ERR_ARG, "to needs floats");
}
