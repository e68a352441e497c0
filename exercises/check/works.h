/* SPDX-License-Identifier: MIT */
/*
 * works: what each kernel of the exercises is called with, and what must come out, in double: for their tests, and for
 * learn/check/rated.c, by which they are run on a real device.
 */
#ifndef PAIRWISE_CHECK_WORKS_H
#define PAIRWISE_CHECK_WORKS_H

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { WORK_ARGUMENTS = 8, WORK_SIZES = 4 };

typedef enum { WORK_NONE, WORK_IN, WORK_OUT, WORK_LOCAL, WORK_INT, WORK_FLOAT } work_kind;

typedef struct {
    const char *name;
    work_kind kind;
    size_t count; /* floats; an int is its value */
    float value;
} work_argument;

typedef struct work {
    const char *kernel;
    work_argument arguments[WORK_ARGUMENTS];
    size_t global[2], local[2];
    double operations, bytes; /* that it takes at least; one of them is 0: the other is what limits it */
    void (*oracle)(const struct work *w, const size_t n[WORK_SIZES], const float *const data[], double *want);
    bool by_parts; /* the sum of the output is what counts */
} work;

/* sizes, and a group's */
typedef work work_describe(const size_t n[WORK_SIZES], const size_t group[2]);

static inline size_t work_up(size_t n, size_t group)
{
    return (n + group - 1) / group * group;
}

static inline int work_output(const work *w)
{
    int i = 0;
    while (w->arguments[i].kind != WORK_OUT) i++;
    return i;
}

/* ---- K1: n ---- */

static inline void work_add(const work *w, const size_t n[], const float *const data[], double *want)
{
    (void)w;
    for (size_t i = 0; i < n[0]; i++) want[i] = (double)data[0][i] + data[1][i];
}

static inline work work_vector_add(const size_t n[WORK_SIZES], const size_t group[2])
{
    return (work){.kernel = "my_vector_add",
                  .arguments = {{"a", WORK_IN, n[0], 0},
                                {"b", WORK_IN, n[0], 0},
                                {"c", WORK_OUT, n[0], 0},
                                {"n", WORK_INT, n[0], 0}},
                  .global = {work_up(n[0], group[0]), 1},
                  .local = {group[0], 1},
                  .bytes = 12.0 * (double)n[0],
                  .oracle = work_add};
}

/* ---- K2: n, groups ---- */

static inline void work_total(const work *w, const size_t n[], const float *const data[], double *want)
{
    (void)w;
    want[0] = 0;
    for (size_t i = 0; i < n[0]; i++) want[0] += data[0][i];
}

static inline work work_sum(const size_t n[WORK_SIZES], const size_t group[2])
{
    return (work){.kernel = "my_sum",
                  .arguments = {{"x", WORK_IN, n[0], 0},
                                {"partial", WORK_OUT, n[1], 0},
                                {"scratch", WORK_LOCAL, group[0], 0},
                                {"n", WORK_INT, n[0], 0}},
                  .global = {n[1] * group[0], 1},
                  .local = {group[0], 1},
                  .bytes = 4.0 * (double)n[0],
                  .oracle = work_total,
                  .by_parts = true};
}

/* ---- K3: m, n, k ---- */

static inline void work_product(const work *w, const size_t n[], const float *const data[], double *want)
{
    (void)w;
    for (size_t i = 0; i < n[0] * n[1]; i++) {
        want[i] = 0;
        for (size_t p = 0; p < n[2]; p++)
            want[i] += (double)data[0][i / n[1] * n[2] + p] * data[1][p * n[1] + i % n[1]];
    }
}

static inline work work_matmul(const size_t n[WORK_SIZES], const size_t group[2])
{
    enum { TILE_OF = 4 };
    return (work){.kernel = "my_matmul",
                  .arguments = {{"a", WORK_IN, n[0] * n[2], 0},
                                {"b", WORK_IN, n[2] * n[1], 0},
                                {"c", WORK_OUT, n[0] * n[1], 0},
                                {"m", WORK_INT, n[0], 0},
                                {"n", WORK_INT, n[1], 0},
                                {"k", WORK_INT, n[2], 0}},
                  .global = {work_up(work_up(n[1], TILE_OF) / TILE_OF, group[0]),
                             work_up(work_up(n[0], TILE_OF) / TILE_OF, group[1])},
                  .local = {group[0], group[1]},
                  .operations = 2.0 * (double)n[0] * (double)n[1] * (double)n[2],
                  .oracle = work_product};
}

/* ---- K4: channels, outputs, height, width ---- */

static inline void work_convolution(const work *w, const size_t n[], const float *const data[], double *want)
{
    (void)w;
    for (size_t i = 0; i < n[1] * n[2] * n[3]; i++) {
        size_t o = i / (n[2] * n[3]), y = i / n[3] % n[2], x = i % n[3];
        want[i] = 0;
        for (size_t t = 0; t < n[0] * 9; t++) {
            size_t row = y + t / 3 % 3 - 1, column = x + t % 3 - 1; /* -1 is too large as well */
            if (row < n[2] && column < n[3])
                want[i] += (double)data[0][(t / 9 * n[2] + row) * n[3] + column] * data[1][o * n[0] * 9 + t];
        }
    }
}

static inline work work_conv(const size_t n[WORK_SIZES], const size_t group[2])
{
    enum { OUTPUTS_OF = 4 };
    return (work){
        .kernel = "my_conv",
        .arguments = {{"in", WORK_IN, n[0] * n[2] * n[3], 0},
                      {"weight", WORK_IN, n[1] * n[0] * 9, 0},
                      {"out", WORK_OUT, n[1] * n[2] * n[3], 0},
                      {"channels", WORK_INT, n[0], 0},
                      {"outputs", WORK_INT, n[1], 0},
                      {"height", WORK_INT, n[2], 0},
                      {"width", WORK_INT, n[3], 0}},
        .global = {work_up(n[3], group[0]), work_up(n[2] * (work_up(n[1], OUTPUTS_OF) / OUTPUTS_OF), group[1])},
        .local = {group[0], group[1]},
        .operations = 18.0 * (double)n[0] * (double)n[1] * (double)n[2] * (double)n[3],
        .oracle = work_convolution};
}

/* ---- K5: rows, width ---- */

static const float work_eps = 0.1f; /* so large that it is seen where it was added */

static inline void work_normalised(const work *w, const size_t n[], const float *const data[], double *want)
{
    (void)w;
    for (size_t row = 0; row < n[0]; row++) {
        const float *x = data[0] + row * n[1];
        double mean = 0, variance = 0;
        for (size_t i = 0; i < n[1]; i++) mean += x[i] / (double)n[1];
        for (size_t i = 0; i < n[1]; i++) variance += (x[i] - mean) * (x[i] - mean) / (double)n[1];
        for (size_t i = 0; i < n[1]; i++) want[row * n[1] + i] = (x[i] - mean) / sqrt(variance + work_eps);
    }
}

static inline work work_norm(const size_t n[WORK_SIZES], const size_t group[2])
{
    return (work){.kernel = "my_norm",
                  .arguments = {{"x", WORK_IN, n[0] * n[1], 0},
                                {"y", WORK_OUT, n[0] * n[1], 0},
                                {"scratch", WORK_LOCAL, 2 * group[0], 0},
                                {"width", WORK_INT, n[1], 0},
                                {"eps", WORK_FLOAT, 0, work_eps}},
                  .global = {n[0] * group[0], 1},
                  .local = {group[0], 1},
                  .bytes = 8.0 * (double)(n[0] * n[1]),
                  .oracle = work_normalised};
}

#endif
