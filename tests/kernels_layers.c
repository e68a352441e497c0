/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * kernels_layers: every layer, forward and backward, against its oracle: batches around a block's length, channels
 * around a tile's, images that a tap does not fit into. And the oracles' own backward, by differences of their forward.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/tensor.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SLICE_OF(shape, values) tensor_activation((shape), (values))

/* cppcheck-suppress unknownMacro */
TestSuite(kernels, .fini = tensor_release, .timeout = 120);

static size_t elements(kernel_shape shape)
{
    return kernel_oracle_elements(shape);
}

static double *room(size_t count)
{
    return tensor_memory(count * sizeof(double));
}

/* ---- Convolution ---- */

/* n, c, h, w; output channels, size, stride, padding. */
static const kernel_conv convolutions[] = {
    {{64, 16, 6, 6}, 16, 3, 1, 1},   {{64, 16, 6, 6}, 32, 3, 2, 1},  {{64, 16, 6, 6}, 32, 1, 2, 0},
    {{64, 32, 1, 1}, 32, 3, 1, 1},   {{64, 32, 2, 2}, 16, 3, 2, 1},  {{16, 3, 11, 9}, 8, 7, 2, 3},
    {{1, 1, 1, 1}, 1, 1, 1, 0},      {{5, 3, 5, 7}, 4, 3, 1, 1},     {{17, 5, 4, 3}, 9, 3, 1, 0},
    {{33, 17, 3, 5}, 10, 3, 2, 1},   {{15, 20, 2, 3}, 19, 1, 1, 0},  {{31, 7, 8, 8}, 8, 7, 1, 3},
    {{2, 4, 7, 5}, 24, 5, 3, 2},     {{40, 2, 4, 4}, 3, 2, 2, 0},    {{3, 9, 3, 3}, 5, 3, 1, 2},
    {{70, 8, 2, 2}, 8, 3, 1, 1},     {{16, 36, 3, 3}, 16, 3, 1, 1},  {{32, 64, 4, 4}, 8, 1, 2, 0},
    {{9, 3, 4, 6}, 16, 7, 2, 3},     {{64, 4, 16, 16}, 8, 3, 1, 1},  {{6, 4, 8, 3}, 8, 1, 20, 3},
    {{40, 24, 5, 6}, 16, 3, 1, 1},   {{9, 16, 7, 4}, 32, 3, 1, 0},   {{33, 16, 3, 8}, 16, 3, 1, 2},
    {{34, 32, 5, 6}, 32, 3, 1, 1},   {{40, 32, 2, 2}, 64, 3, 1, 1},  {{33, 32, 4, 4}, 160, 3, 1, 1},
    {{33, 32, 16, 12}, 32, 3, 1, 1}, {{33, 144, 4, 4}, 32, 3, 1, 1}, {{40, 9, 2, 2}, 8, 3, 1, 1},
    {{40, 8, 2, 2}, 9, 3, 1, 1},     {{3, 64, 5, 3}, 128, 3, 2, 1},  {{64, 16, 32, 32}, 32, 3, 2, 1},
};

static void about_conv(const kernel_conv *conv)
{
    snprintf(tensor_about, sizeof tensor_about, "(%d, %d, %d, %d) to %d channels, size %d, stride %d, padding %d",
             conv->in.n, conv->in.c, conv->in.h, conv->in.w, conv->out_channels, conv->size, conv->stride,
             conv->padding);
}

static size_t weights_of(const kernel_conv *conv)
{
    return (size_t)(conv->out_channels * conv->in.c * conv->size * conv->size);
}

/* On a simulated device (tests/all/oclgrind.sh) only what is small. */
static bool is_left_out(const kernel_conv *conv)
{
    return getenv("PAIRWISE_KERNEL_SAMPLES") && conv->in.n * kernel_oracle_conv_work(conv) > 1e5;
}

static void check_conv_forward(const kernel_conv *conv)
{
    kernel_shape out = kernel_conv_out(conv);
    double *x = tensor_numbers(elements(conv->in), 1), *weight = tensor_numbers(weights_of(conv), 2);
    double *want = room(elements(out)), *got;
    kernel_slice y = SLICE_OF(out, NULL);

    kernel_oracle_conv_forward(conv, NULL, x, weight, want);
    ASSERT_KERNEL(
        kernel_conv_forward(device(), conv, SLICE_OF(conv->in, x), tensor_vector(weights_of(conv), weight), y));
    got = tensor_activation_read(y, out);
    ASSERT_CLOSE(got, want, elements(out), 1e-5);
}

static void check_conv_backward_input(const kernel_conv *conv, bool add)
{
    kernel_shape out = kernel_conv_out(conv);
    double *dy = tensor_numbers(elements(out), 3), *weight = tensor_numbers(weights_of(conv), 2);
    double *want = room(elements(conv->in)), *there = tensor_numbers(elements(conv->in), 4), *got;
    kernel_slice dx = SLICE_OF(conv->in, add ? there : NULL);

    kernel_oracle_conv_backward_input(conv, NULL, dy, weight, want);
    for (size_t i = 0; i < elements(conv->in) && add; i++) want[i] += there[i];
    ASSERT_KERNEL(kernel_conv_backward_input(device(), conv, SLICE_OF(out, dy), tensor_vector(weights_of(conv), weight),
                                             dx, add));
    got = tensor_activation_read(dx, conv->in);
    ASSERT_CLOSE(got, want, elements(conv->in), 1e-5);
}

static void check_conv_backward_weight(const kernel_conv *conv)
{
    kernel_shape out = kernel_conv_out(conv);
    double *dy = tensor_numbers(elements(out), 3), *x = tensor_numbers(elements(conv->in), 1);
    double *want = room(weights_of(conv)), *got;
    kernel_slice dweight = tensor_vector(weights_of(conv), NULL);

    kernel_oracle_conv_backward_weight(conv, NULL, x, dy, want);
    ASSERT_KERNEL(kernel_conv_backward_weight(device(), conv, SLICE_OF(conv->in, x), SLICE_OF(out, dy), dweight));
    got = tensor_read(dweight, weights_of(conv));
    ASSERT_CLOSE(got, want, weights_of(conv), 1e-5);
}

Test(kernels, conv_forward)
{
    for (size_t i = 0; i < COUNT(convolutions); i++) {
        if (is_left_out(&convolutions[i])) continue;
        about_conv(&convolutions[i]);
        check_conv_forward(&convolutions[i]);
    }
}

Test(kernels, conv_backward_input)
{
    for (size_t i = 0; i < COUNT(convolutions); i++) {
        if (is_left_out(&convolutions[i])) continue;
        about_conv(&convolutions[i]);
        check_conv_backward_input(&convolutions[i], false);
        check_conv_backward_input(&convolutions[i], true);
    }
}

Test(kernels, conv_backward_weight)
{
    for (size_t i = 0; i < COUNT(convolutions); i++) {
        if (is_left_out(&convolutions[i])) continue;
        about_conv(&convolutions[i]);
        check_conv_backward_weight(&convolutions[i]);
    }
}

/* The same by the kernels that are written as convolution is defined. */
Test(kernels, conv_plain)
{
    setenv("PAIRWISE_KERNEL_PLAIN", "1", 1);
    for (size_t i = 0; i < COUNT(convolutions); i++) {
        if (is_left_out(&convolutions[i])) continue;
        about_conv(&convolutions[i]);
        check_conv_forward(&convolutions[i]);
        check_conv_backward_input(&convolutions[i], true);
        check_conv_backward_weight(&convolutions[i]);
    }
}

/* An image that is not there takes part in nothing, and the gradient of nothing is zero. */
Test(kernels, conv_without_images)
{
    kernel_conv conv = {{0, 16, 4, 4}, 16, 3, 1, 1};
    kernel_slice empty = tensor_vector(0, NULL), dweight = tensor_vector(weights_of(&conv), NULL);
    double *weight = tensor_numbers(weights_of(&conv), 1), *zero = room(weights_of(&conv)), *got;

    empty.first = 0;
    ASSERT_KERNEL(kernel_conv_forward(device(), &conv, empty, tensor_vector(weights_of(&conv), weight), empty));
    ASSERT_KERNEL(kernel_conv_backward_weight(device(), &conv, empty, empty, dweight));
    got = tensor_read(dweight, weights_of(&conv));
    ASSERT_CLOSE(got, zero, weights_of(&conv), 0);
}

Test(kernels, conv_refuses_what_does_not_fit)
{
    kernel_conv conv = {{4, 3, 8, 8}, 8, 3, 1, 1}, none = conv;
    kernel_slice x = SLICE_OF(conv.in, NULL), y = SLICE_OF(kernel_conv_out(&conv), NULL),
                 weight = tensor_vector(216, NULL);
    kernel_slice shifted = {y.buffer, 8};

    none.size = 11;
    ASSERT_REFUSED(kernel_conv_forward(device(), &none, x, weight, y), KERNEL_ERR_ARG,
                   "no output: image 8 x 8, 11 x 11");
    none = conv, none.stride = 0;
    ASSERT_REFUSED(kernel_conv_forward(device(), &none, x, weight, y), KERNEL_ERR_ARG, "stride 0");
    none = conv, none.in.n = -1;
    ASSERT_REFUSED(kernel_conv_forward(device(), &none, x, weight, y), KERNEL_ERR_ARG, "(-1, 3, 8, 8)");
    none = conv, none.in.n = 2147483647;
    ASSERT_REFUSED(kernel_conv_forward(device(), &none, x, weight, y), KERNEL_ERR_ARG, "fewer than 2^31");
    ASSERT_REFUSED(kernel_conv_forward(device(), &conv, x, kernel_at(weight.buffer, 4), y), KERNEL_ERR_ARG,
                   "weight needs floats 4 to 220, but buffer test has 219");
    ASSERT_REFUSED(kernel_conv_forward(device(), &conv, x, KERNEL_NONE, y), KERNEL_ERR_ARG, "weight has no buffer");
    ASSERT_REFUSED(kernel_conv_forward(device(), &conv, y, weight, x), KERNEL_ERR_ARG, "y needs floats 0 to");
    conv.in.h = 4;
    ASSERT_REFUSED(kernel_conv_forward(device(), &conv, x, weight, shifted), KERNEL_ERR_ARG, "multiple of 16");
    ASSERT_REFUSED(kernel_conv_forward(device(), NULL, x, weight, y), KERNEL_ERR_ARG, "no convolution");
    ASSERT_KERNEL(kernel_conv_forward(device(), &conv, x, weight, y));
}

/* d(sum of y * dy) / d(element), by differences: exact but for rounding, for y depends linearly on either. */
static double slope(const kernel_conv *conv, double *x, double *weight, const double *dy, double *element)
{
    kernel_shape out = kernel_conv_out(conv);
    double *y = room(elements(out)), sum = 0, at = *element;

    for (int side = -1; side <= 1; side += 2) {
        *element = at + side * 0.5;
        kernel_oracle_conv_forward(conv, NULL, x, weight, y);
        for (size_t i = 0; i < elements(out); i++) sum += side * y[i] * dy[i];
    }
    *element = at;
    return sum;
}

Test(kernels, conv_oracle_against_differences)
{
    kernel_conv conv = {{2, 3, 5, 4}, 3, 3, 2, 1};
    size_t x_count = elements(conv.in), weight_count = weights_of(&conv), y_count = elements(kernel_conv_out(&conv));
    double *x = tensor_numbers(x_count, 1), *weight = tensor_numbers(weight_count, 2), *dy = tensor_numbers(y_count, 3);
    double *dx = room(x_count), *dweight = room(weight_count), *by_x = room(x_count), *by_weight = room(weight_count);

    for (size_t i = 0; i < x_count; i++) by_x[i] = slope(&conv, x, weight, dy, &x[i]);
    for (size_t i = 0; i < weight_count; i++) by_weight[i] = slope(&conv, x, weight, dy, &weight[i]);
    kernel_oracle_conv_backward_input(&conv, NULL, dy, weight, dx);
    kernel_oracle_conv_backward_weight(&conv, NULL, x, dy, dweight);
    ASSERT_CLOSE(dx, by_x, x_count, 1e-12);
    ASSERT_CLOSE(dweight, by_weight, weight_count, 1e-12);
}

/* ---- Batch norm ---- */

typedef struct {
    kernel_shape shape;
    bool frozen, relu, residual;
    double mean, spread; /* of x */
} norm_case;

static const norm_case norms[] = {
    {{64, 16, 4, 4}, false, false, false, 0, 1},  {{64, 16, 4, 4}, false, true, false, 0, 1},
    {{64, 16, 4, 4}, false, true, true, 0, 1},    {{64, 16, 4, 4}, true, true, true, 0, 1},
    {{33, 5, 3, 2}, false, true, false, 2, 3},    {{5, 9, 1, 1}, false, false, true, 0, 1},
    {{17, 1, 7, 1}, true, true, false, 0, 1},     {{2, 20, 1, 1}, false, true, false, 0, 1},
    {{40, 8, 5, 5}, false, false, true, 1000, 1}, {{16, 3, 9, 9}, true, false, false, -5, 0.1},
    {{1, 7, 1, 1}, true, false, false, 0, 1},     {{34, 100, 2, 3}, false, true, true, 0, 1},
    {{20, 130, 1, 2}, false, true, false, 0, 1},  {{1, 7, 1, 1}, false, false, false, 3, 1},
};

/* A layer on both sides: its parameters, its input, what comes back. */
typedef struct {
    kernel_oracle_norm oracle;
    kernel_norm norm;
    double *x, *residual, *dy, *y, *dx, *dgamma, *dbeta, *dresidual; /* the last five as the oracle has them */
    kernel_slice at_x, at_y, at_residual;
    double limit; /* a mean far from 0 costs digits of x - mean */
} norm_layer;

static double *in_range(size_t count, unsigned seed, double mean, double spread)
{
    double *numbers = tensor_numbers(count, seed);

    for (size_t i = 0; i < count; i++) numbers[i] = (double)(float)(mean + spread * numbers[i]);
    return numbers;
}

static void make_numbers(norm_layer *l, const norm_case *c)
{
    size_t count = elements(c->shape), channels = (size_t)c->shape.c;

    l->x = in_range(count, 1, c->mean, c->spread);
    l->residual = c->residual ? tensor_numbers(count, 2) : NULL;
    l->dy = tensor_numbers(count, 3);
    l->y = room(count), l->dx = room(count), l->dresidual = c->residual ? room(count) : NULL;
    l->dgamma = room(channels), l->dbeta = room(channels);
    l->oracle = (kernel_oracle_norm){.shape = c->shape,
                                     .frozen = c->frozen,
                                     .relu = c->relu,
                                     .momentum = 0.1,
                                     .eps = 1e-5,
                                     .gamma = in_range(channels, 4, 1, 0.5),
                                     .beta = tensor_numbers(channels, 5),
                                     .running_mean = tensor_numbers(channels, 6),
                                     .running_var = in_range(channels, 7, 1.5, 1),
                                     .mean = room(channels),
                                     .variance = room(channels)};
}

static norm_layer make_layer(const norm_case *c)
{
    size_t channels = (size_t)c->shape.c, saved = kernel_norm_floats(device(), c->shape);
    norm_layer l;

    snprintf(tensor_about, sizeof tensor_about, "norm (%d, %d, %d, %d)%s%s%s, mean %g", c->shape.n, c->shape.c,
             c->shape.h, c->shape.w, c->frozen ? ", frozen" : "", c->relu ? ", relu" : "",
             c->residual ? ", residual" : "", c->mean);
    make_numbers(&l, c);
    l.limit = 1e-4 + 1e-6 * fabs(c->mean) / c->spread;
    l.norm = (kernel_norm){.shape = c->shape,
                           .frozen = c->frozen,
                           .relu = c->relu,
                           .momentum = 0.1f,
                           .eps = 1e-5f,
                           .gamma = tensor_vector(channels, l.oracle.gamma),
                           .beta = tensor_vector(channels, l.oracle.beta),
                           .running_mean = tensor_vector(channels, l.oracle.running_mean),
                           .running_var = tensor_vector(channels, l.oracle.running_var),
                           .saved = tensor_vector(saved, NULL)};
    l.at_x = SLICE_OF(c->shape, l.x);
    l.at_y = SLICE_OF(c->shape, NULL);
    l.at_residual = c->residual ? SLICE_OF(c->shape, l.residual) : KERNEL_NONE;
    return l;
}

static void check_norm_forward(norm_layer *l)
{
    size_t count = elements(l->norm.shape), channels = (size_t)l->norm.shape.c;
    double *y, *mean, *variance;

    kernel_oracle_norm_forward(&l->oracle, l->x, l->residual, l->y);
    ASSERT_KERNEL(kernel_norm_forward(device(), &l->norm, l->at_x, l->at_residual, l->at_y));
    y = tensor_activation_read(l->at_y, l->norm.shape);
    ASSERT_CLOSE(y, l->y, count, l->limit);
    mean = tensor_read(l->norm.running_mean, channels), variance = tensor_read(l->norm.running_var, channels);
    ASSERT_CLOSE(mean, l->oracle.running_mean, channels, 1e-5);
    ASSERT_CLOSE(variance, l->oracle.running_var, channels, 1e-5);
}

/* in_place: where the caller may save a buffer, it does. */
static void check_norm_backward(norm_layer *l, bool in_place)
{
    kernel_shape shape = l->norm.shape;
    size_t count = elements(shape), channels = (size_t)shape.c;
    kernel_slice dy = SLICE_OF(shape, l->dy), dgamma = tensor_vector(channels, NULL),
                 dbeta = tensor_vector(channels, NULL);
    kernel_slice dresidual = !l->residual ? KERNEL_NONE : in_place ? dy : SLICE_OF(shape, NULL);
    kernel_slice dx = in_place && !l->residual ? dy : SLICE_OF(shape, NULL);
    double *got;

    kernel_oracle_norm_backward(&l->oracle, l->dy, l->x, l->y, l->dx, l->dgamma, l->dbeta, l->dresidual);
    ASSERT_KERNEL(kernel_norm_backward(device(), &l->norm, dy, l->at_x, l->at_y, dx, dgamma, dbeta, dresidual));
    got = tensor_activation_read(dx, shape);
    ASSERT_CLOSE(got, l->dx, count, l->limit);
    got = tensor_read(dgamma, channels);
    ASSERT_CLOSE(got, l->dgamma, channels, l->limit);
    got = tensor_read(dbeta, channels);
    ASSERT_CLOSE(got, l->dbeta, channels, 1e-5);
    if (!l->residual) return;
    got = tensor_activation_read(dresidual, shape);
    ASSERT_CLOSE(got, l->dresidual, count, 0);
}

Test(kernels, norm)
{
    for (size_t i = 0; i < COUNT(norms); i++) {
        norm_layer l = make_layer(&norms[i]);
        check_norm_forward(&l);
        check_norm_backward(&l, false);
        check_norm_backward(&l, true);
    }
}

Test(kernels, norm_statistics_of_a_large_mean)
{
    norm_case c = {{64, 8, 8, 8}, false, false, false, 3000, 0.01};
    norm_layer l = make_layer(&c);
    double *saved, *inverse = room(8);

    kernel_oracle_norm_forward(&l.oracle, l.x, NULL, l.y);
    ASSERT_KERNEL(kernel_norm_forward(device(), &l.norm, l.at_x, KERNEL_NONE, l.at_y));
    saved = tensor_read(l.norm.saved, 16);
    for (int i = 0; i < 8; i++) inverse[i] = 1 / sqrt(l.oracle.variance[i] + l.oracle.eps);
    ASSERT_CLOSE(saved, l.oracle.mean, 8, 1e-6);
    ASSERT_CLOSE(saved + 8, inverse, 8,
                 1e-3); /* x itself has a digit and a half left: the oracle sees the same floats */
}

Test(kernels, norm_without_images)
{
    norm_case c = {{0, 4, 2, 2}, false, true, false, 0, 1};
    norm_layer l = make_layer(&c);
    kernel_slice dgamma = tensor_vector(4, NULL), dbeta = tensor_vector(4, NULL), x = l.at_x, y = l.at_y;
    double *zero = room(4), *got;

    ASSERT_KERNEL(kernel_norm_forward(device(), &l.norm, x, KERNEL_NONE, y));
    ASSERT_KERNEL(kernel_norm_backward(device(), &l.norm, y, x, y, y, dgamma, dbeta, KERNEL_NONE));
    got = tensor_read(l.norm.running_mean, 4);
    ASSERT_CLOSE(got, l.oracle.running_mean, 4, 0);
    got = tensor_read(dgamma, 4);
    ASSERT_CLOSE(got, zero, 4, 0);
    got = tensor_read(dbeta, 4);
    ASSERT_CLOSE(got, zero, 4, 0);
}

/* d(sum of y * dy) / d(element) by differences, running statistics held. */
static double norm_slope(norm_layer *l, double *element)
{
    size_t count = elements(l->oracle.shape);
    double *y = room(count), sum = 0, at = *element, step = 1e-6;

    for (int side = -1; side <= 1; side += 2) {
        *element = at + side * step;
        kernel_oracle_norm_forward(&l->oracle, l->x, l->residual, y);
        for (size_t i = 0; i < count; i++) sum += side * y[i] * l->dy[i];
    }
    *element = at;
    return sum / (2 * step);
}

Test(kernels, norm_oracle_against_differences)
{
    norm_case c = {{3, 2, 3, 2}, false, true, true, 0, 1};
    norm_layer l = make_layer(&c);
    size_t count = elements(c.shape);
    double *by_x = room(count), *by_gamma = room(2), *gamma = tensor_memory(2 * sizeof(double));

    memcpy(gamma, l.oracle.gamma, 2 * sizeof *gamma);
    l.oracle.gamma = gamma;
    for (size_t i = 0; i < count; i++) by_x[i] = norm_slope(&l, &l.x[i]);
    for (size_t i = 0; i < 2; i++) by_gamma[i] = norm_slope(&l, &gamma[i]);
    kernel_oracle_norm_forward(&l.oracle, l.x, l.residual, l.y);
    kernel_oracle_norm_backward(&l.oracle, l.dy, l.x, l.y, l.dx, l.dgamma, l.dbeta, l.dresidual);
    ASSERT_CLOSE(l.dx, by_x, count, 1e-7);
    ASSERT_CLOSE(l.dgamma, by_gamma, 2, 1e-7);
}

/* Convolution and norm in one call: the oracle's one after the other. */
Test(kernels, conv_norm)
{
    static const kernel_conv cases[] = {{{64, 16, 8, 8}, 16, 3, 1, 1},
                                        {{37, 3, 9, 9}, 20, 3, 2, 1},
                                        {{64, 32, 2, 2}, 64, 1, 2, 0},
                                        {{3, 5, 4, 4}, 7, 3, 1, 1},
                                        {{16, 3, 32, 32}, 16, 3, 1, 1}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const kernel_conv *conv = &cases[i];
        if (is_left_out(conv)) continue;
        norm_case c = {kernel_conv_out(conv), false, true, true, 0, 1};
        norm_layer l = make_layer(&c);
        double *x = tensor_numbers(elements(conv->in), 8), *weight = tensor_numbers(weights_of(conv), 9), *got;
        kernel_slice convolved = SLICE_OF(c.shape, NULL);
        about_conv(conv);
        kernel_oracle_conv_forward(conv, NULL, x, weight, l.x);
        kernel_oracle_norm_forward(&l.oracle, l.x, l.residual, l.y);
        ASSERT_KERNEL(kernel_conv_norm_forward(device(), conv, &l.norm, SLICE_OF(conv->in, x),
                                               tensor_vector(weights_of(conv), weight), convolved, l.at_residual,
                                               l.at_y));
        got = tensor_activation_read(convolved, c.shape);
        ASSERT_CLOSE(got, l.x, elements(c.shape), 1e-5);
        got = tensor_activation_read(l.at_y, c.shape);
        ASSERT_CLOSE(got, l.y, elements(c.shape), 1e-4);
        got = tensor_read(l.norm.running_var, (size_t)c.shape.c);
        ASSERT_CLOSE(got, l.oracle.running_var, (size_t)c.shape.c, 1e-5);
        l.at_x = convolved;
        check_norm_backward(&l, false);
    }
}

/* ---- Pools, ReLU ---- */

static const kernel_shape pooled[] = {{64, 16, 8, 8}, {5, 3, 7, 5}, {33, 2, 1, 1}, {17, 9, 2, 3}, {1, 1, 4, 1}};

static void about_shape(const char *what, kernel_shape s)
{
    snprintf(tensor_about, sizeof tensor_about, "%s (%d, %d, %d, %d)", what, s.n, s.c, s.h, s.w);
}

/* Few different numbers, so that many windows have several largest ones; and a NaN. */
static double *numbers_with_ties(kernel_shape in)
{
    double *x = tensor_numbers(elements(in), 1);

    for (size_t i = 0; i < elements(in); i++) x[i] = floor(x[i] * 3);
    x[elements(in) / 2] = NAN;
    return x;
}

Test(kernels, max_pool)
{
    for (size_t i = 0; i < COUNT(pooled); i++) {
        kernel_shape in = pooled[i], out = kernel_max_pool_out(in);
        double *x = numbers_with_ties(in), *dy = tensor_numbers(elements(out), 2), *got;
        double *want = room(elements(out)), *want_back = room(elements(in));
        int *chosen = tensor_memory(elements(out) * sizeof *chosen);
        kernel_slice y = SLICE_OF(out, NULL), which = SLICE_OF(out, NULL), dx = SLICE_OF(in, NULL);
        about_shape("max pool", in);
        kernel_oracle_max_pool_forward(in, x, want, chosen);
        kernel_oracle_max_pool_backward(in, dy, chosen, want_back);
        ASSERT_KERNEL(kernel_max_pool_forward(device(), in, SLICE_OF(in, x), y, which));
        got = tensor_activation_read(y, out);
        ASSERT_CLOSE(got, want, elements(out), 0);
        ASSERT_KERNEL(kernel_max_pool_backward(device(), in, SLICE_OF(out, dy), which, dx));
        got = tensor_activation_read(dx, in);
        ASSERT_CLOSE(got, want_back, elements(in), 1e-6);
    }
}

Test(kernels, mean_pool)
{
    for (size_t i = 0; i < COUNT(pooled); i++) {
        kernel_shape in = pooled[i], out = {in.n, in.c, 1, 1};
        double *x = tensor_numbers(elements(in), 1), *dy = tensor_numbers(elements(out), 2), *got;
        double *want = room(elements(out)), *want_back = room(elements(in));
        kernel_slice y = SLICE_OF(out, NULL), dx = SLICE_OF(in, NULL);
        about_shape("mean pool", in);
        kernel_oracle_mean_pool_forward(in, x, want);
        kernel_oracle_mean_pool_backward(in, dy, want_back);
        ASSERT_KERNEL(kernel_mean_pool_forward(device(), in, SLICE_OF(in, x), y));
        got = tensor_activation_read(y, out);
        ASSERT_CLOSE(got, want, elements(out), 1e-6);
        ASSERT_KERNEL(kernel_mean_pool_backward(device(), in, SLICE_OF(out, dy), dx));
        got = tensor_activation_read(dx, in);
        ASSERT_CLOSE(got, want_back, elements(in), 1e-6);
    }
}

Test(kernels, relu)
{
    kernel_shape shape = {19, 3, 5, 3};
    size_t count = elements(shape);
    double *x = numbers_with_ties(shape), *dy = tensor_numbers(count, 2), *y = room(count), *dx = room(count), *got;
    kernel_slice at = SLICE_OF(shape, x), back = SLICE_OF(shape, dy);

    about_shape("relu", shape);
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] < 0 ? 0 : x[i];
        dx[i] = x[i] > 0 ? dy[i] : 0;
    }
    ASSERT_KERNEL(kernel_relu_forward(device(), shape, at, at));
    got = tensor_activation_read(at, shape);
    ASSERT_CLOSE(got, y, count, 0);
    ASSERT_KERNEL(kernel_relu_backward(device(), shape, back, at, back));
    got = tensor_activation_read(back, shape);
    ASSERT_CLOSE(got, dx, count, 0);
}

Test(kernels, plain_and_back)
{
    for (size_t i = 0; i < COUNT(pooled); i++) {
        double *x = tensor_numbers(elements(pooled[i]), 1),
               *got = tensor_activation_read(SLICE_OF(pooled[i], x), pooled[i]);
        about_shape("nchw", pooled[i]);
        ASSERT_CLOSE(got, x, elements(pooled[i]), 0);
    }
}

/* A batch of fewer images fits where more did. */
Test(kernels, floats_grow_with_the_batch)
{
    size_t last = 0;

    for (int n = 1; n <= 200; n++) {
        size_t floats = kernel_floats(device(), (kernel_shape){n, 3, 5, 5});
        cr_assert(floats >= last && floats % 16 == 0 && floats >= (size_t)n * 75, "%d images: %zu after %zu", n, floats,
                  last);
        last = floats;
    }
    cr_assert_eq(kernel_floats(device(), (kernel_shape){-1, 3, 5, 5}), 0u);
    cr_assert_eq(kernel_floats(device(), (kernel_shape){1, 0, 5, 5}), 0u);
    cr_assert_eq(kernel_floats(device(), (kernel_shape){1 << 20, 1 << 20, 5, 5}), 0u);
}

/* ---- Linear, loss ---- */

static void check_linear(int n, int c, int k)
{
    kernel_shape in = {n, c, 1, 1}, out = {n, k, 1, 1};
    size_t weights = (size_t)(k * c);
    double *x = tensor_numbers(elements(in), 1), *weight = tensor_numbers(weights, 2), *got;
    double *bias = tensor_numbers((size_t)k, 3), *dy = tensor_numbers(elements(out), 4);
    double *y = room(elements(out)), *dx = room(elements(in)), *dweight = room(weights), *dbias = room((size_t)k);
    kernel_slice at_weight = tensor_vector(weights, weight), at_y = SLICE_OF(out, NULL), at_dx = SLICE_OF(in, NULL);
    kernel_slice at_dweight = tensor_vector(weights, NULL), at_dbias = tensor_vector((size_t)k, NULL),
                 at_x = SLICE_OF(in, x);

    snprintf(tensor_about, sizeof tensor_about, "linear (%d, %d) to %d", n, c, k);
    kernel_oracle_linear_forward(n, c, k, x, weight, bias, y);
    kernel_oracle_linear_backward(n, c, k, x, weight, dy, dx, dweight, dbias);
    ASSERT_KERNEL(kernel_linear_forward(device(), in, k, at_x, at_weight, tensor_vector((size_t)k, bias), at_y));
    got = tensor_activation_read(at_y, out);
    ASSERT_CLOSE(got, y, elements(out), 1e-5);
    ASSERT_KERNEL(
        kernel_linear_backward(device(), in, k, at_x, at_weight, SLICE_OF(out, dy), at_dx, at_dweight, at_dbias));
    got = tensor_activation_read(at_dx, in);
    ASSERT_CLOSE(got, dx, elements(in), 1e-5);
    got = tensor_read(at_dweight, weights);
    ASSERT_CLOSE(got, dweight, weights, 1e-5);
    got = tensor_read(at_dbias, (size_t)k);
    ASSERT_CLOSE(got, dbias, (size_t)k, 1e-5);
}

Test(kernels, linear)
{
    check_linear(64, 64, 10);
    check_linear(1, 1, 1);
    check_linear(17, 33, 7);
    check_linear(40, 512, 10);
    check_linear(5, 6, 24);
}

/* Labels are int32_t in a buffer of 4-byte elements. */
static kernel_slice labels_of(const int *labels, size_t count)
{
    kernel_slice at = tensor_vector(count, NULL);

    ASSERT_KERNEL(kernel_write(device(), at, labels, count));
    return at;
}

static void check_loss(int n, int k, double scale, double spread)
{
    kernel_shape shape = {n, k, 1, 1};
    double *logits = in_range(elements(shape), 1, 0, spread), *dlogits = room(elements(shape)), *got, loss;
    double *start = room(2);
    int *labels = tensor_memory((size_t)n * sizeof *labels), correct;
    kernel_slice at = SLICE_OF(shape, logits), back = SLICE_OF(shape, NULL), result;

    snprintf(tensor_about, sizeof tensor_about, "loss (%d, %d), spread %g", n, k, spread);
    for (int i = 0; i < n; i++) labels[i] = i * 7 % k;
    start[0] = 3, start[1] = 4;
    result = tensor_vector(2, start);
    loss = kernel_oracle_cross_entropy(n, k, logits, labels, scale, dlogits, &correct);
    ASSERT_KERNEL(kernel_cross_entropy(device(), shape, at, labels_of(labels, (size_t)n), (float)scale, back, result));
    ASSERT_KERNEL(kernel_cross_entropy(device(), shape, at, labels_of(labels, (size_t)n), 0, KERNEL_NONE, result));
    got = tensor_read(result, 2);
    cr_assert_float_eq(got[0], 3 + 2 * loss, 1e-5 * (3 + 2 * loss), "loss %g, expected %g (%s)", got[0], 3 + 2 * loss,
                       tensor_about);
    cr_assert_eq(got[1], 4 + 2 * correct);
    got = tensor_activation_read(back, shape);
    ASSERT_CLOSE(got, dlogits, elements(shape), 2e-6);
}

Test(kernels, cross_entropy)
{
    check_loss(64, 10, 1.0 / 64, 3);
    check_loss(1, 1, 1, 1);
    check_loss(37, 5, 1.0 / 100, 1);
    check_loss(16, 100, 0.5, 50);
    check_loss(130, 3, 1, 0);
}

/* torch.nn.functional.cross_entropy(label_smoothing=0.1, reduction="sum"), PyTorch 1.13. */
Test(kernels, smoothed_cross_entropy_is_pytorchs)
{
    static const double want[] = {0.129234791, 0.00941443443, -0.233767554,  0.0951181799,
                                  0.814024389, -0.883227408,  -0.0193466973, 0.0885495991};
    static const double logits[] = {0.5, -1, 2, 0.25, 3, 0, -2, 1};
    const kernel_shape shape = {2, 4, 1, 1};
    const int labels[] = {2, 1};
    kernel_slice result = tensor_vector(2, room(2)), back = SLICE_OF(shape, NULL);
    kernel_slice at = SLICE_OF(shape, logits), of = labels_of(labels, 2);

    ASSERT_KERNEL(kernel_cross_entropy_smoothed(device(), shape, at, of, 0.1f, 1, back, result));
    cr_assert_float_eq(tensor_read(result, 1)[0], 3.65104437, 1e-6);
    ASSERT_CLOSE(tensor_activation_read(back, shape), want, 8, 1e-6);
    ASSERT_REFUSED(kernel_cross_entropy_smoothed(device(), shape, at, of, 1.5f, 1, back, result), KERNEL_ERR_ARG,
                   "from 0 to 1");
}

Test(kernels, cross_entropy_of_a_label_that_is_none)
{
    kernel_shape shape = {3, 4, 1, 1};
    int labels[] = {0, 4, -1};
    double *zero = room(2), *got;
    kernel_slice result = tensor_vector(2, zero), back = SLICE_OF(shape, NULL);

    ASSERT_KERNEL(kernel_cross_entropy(device(), shape, SLICE_OF(shape, tensor_numbers(12, 1)), labels_of(labels, 3), 1,
                                       back, result));
    got = tensor_read(result, 2);
    cr_assert(isnan(got[0]));
    got = tensor_read(back, 3);
    cr_assert(!isnan(got[0]) && isnan(got[1]) && isnan(got[2]));
}
