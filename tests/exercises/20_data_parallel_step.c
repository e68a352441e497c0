/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 20: n ranks, with shards of different lengths, train as one rank that has all examples would; the
 * first step and tensor that differ are named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/check.h"

#pragma weak my_share_parameters
#pragma weak my_data_parallel_step

enum { FEATURES = 3, NUMBERS = FEATURES + 1, STEPS = 4, MOST = 64 };
enum { EVEN, UNEVEN, ONE_EMPTY }; /* variants: how the examples are spread */

static const double rate = 0.02;
static const char *const spreads[] = {"shards of equal length", "shards of 1, 2, 3, ... examples",
                                      "the last rank has no example"};

static size_t length_of(const check_case *c, int rank)
{
    if (c->variant == EVEN) return 3;
    if (c->variant == ONE_EMPTY && rank == c->ranks - 1 && c->ranks > 1) return 0;
    return (size_t)rank + 1;
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2, NULL);
        for (int variant = EVEN; variant <= ONE_EMPTY; variant++)
            check_add(plan, (check_case){.variant = variant, .what = spreads[variant]});
    }
}

/* Rank's examples, behind one another in x and y; what is predicted is nearly linear. */
static size_t fill(const check_case *c, int rank, double *x, double *y)
{
    size_t count = length_of(c, rank);
    for (size_t i = 0; i < count; i++) {
        y[i] = 1;
        for (size_t f = 0; f < FEATURES; f++) {
            x[i * FEATURES + f] = check_value(c, rank, 10 + i * FEATURES + f) / 50;
            y[i] += (double)(f + 1) * x[i * FEATURES + f] + check_value(c, rank, i) / 200;
        }
    }
    return count;
}

static double first_parameter(const check_case *c, int rank, size_t i)
{
    return check_value(c, rank, 1000 + i) / 100;
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    double x[MOST * FEATURES], y[MOST], *parameters = check_buffer(c, -1, NUMBERS, DTYPE_F64), steps[STEPS * NUMBERS];
    my_examples mine = {.features = FEATURES, .x = x, .y = y, .count = fill(c, rank, x, y)};

    for (size_t i = 0; i < NUMBERS; i++) parameters[i] = first_parameter(c, rank, i);
    check_returned(c, my_share_parameters(comm, parameters, NUMBERS));
    check_report(c, "shared parameters", parameters, NUMBERS, DTYPE_F64);
    for (int step = 0; step < STEPS; step++) {
        check_returned(c, my_data_parallel_step(comm, parameters, &mine, rate));
        memcpy(steps + step * NUMBERS, parameters, NUMBERS * sizeof *parameters);
    }
    check_report(c, "parameters", steps, STEPS * NUMBERS, DTYPE_F64);
}

/* ---- In learn: one rank with all examples, and ways to go wrong ---- */

enum { RIGHT, MEAN_OF_MEANS, SUM_OF_MEANS, SUM, LOCAL };

static void add_weighted(double *sum, const double *part, double weight)
{
    for (size_t i = 0; i < NUMBERS; i++) sum[i] += weight * part[i];
}

static void one_step(const check_case *c, int rank, int way, double *parameters)
{
    double sum[NUMBERS] = {0}, gradient[NUMBERS], x[MOST * FEATURES], y[MOST], examples = 0;
    for (int q = 0; q < c->ranks; q++) {
        my_examples shard = {.features = FEATURES, .x = x, .y = y, .count = fill(c, q, x, y)};
        my_model_gradient(parameters, &shard, gradient);
        examples += (double)shard.count;
        double weight = way == RIGHT || way == SUM ? (double)shard.count : way == LOCAL ? q == rank : 1;
        add_weighted(sum, gradient, weight);
    }
    double divisor = way == RIGHT ? examples : way == MEAN_OF_MEANS ? c->ranks : 1;
    add_weighted(parameters, sum, -rate / divisor);
}

static double after(const check_case *c, int rank, int way, size_t step, size_t i)
{
    double parameters[NUMBERS];
    for (size_t k = 0; k < NUMBERS; k++) parameters[k] = first_parameter(c, 0, k);
    for (size_t s = 0; s <= step; s++) one_step(c, rank, way, parameters);
    return parameters[i];
}

static double want(const check_case *c, int rank, size_t index)
{
    return after(c, rank, RIGHT, index / NUMBERS, index % NUMBERS);
}

static double want_at_start(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return first_parameter(c, 0, index);
}

static size_t count_numbers(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return NUMBERS;
}

static size_t count_steps(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return STEPS * NUMBERS;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

static bool went(const check_case *c, int rank, int way)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (!close_to(check_element(c, rank, "parameters", i), after(c, rank, way, 0, i))) return false;
    return true;
}

static void explain(const check_case *c, int rank, size_t index)
{
    const char *tensor = index % NUMBERS < FEATURES ? "weight" : "bias";
    size_t step = index / NUMBERS;
    char where[100];
    snprintf(where, sizeof where, "First different: step %zu, tensor %s, on rank %d.", step + 1, tensor, rank);
    if (c->ranks > 1 && went(c, rank, LOCAL))
        check_fail(c, "local", "%s It followed the gradient of its own examples only; the other ranks' are not in it.",
                   where);
    else if (went(c, rank, MEAN_OF_MEANS))
        check_fail(
            c, "means",
            "%s The ranks' means were averaged as if all ranks had the same number of examples. They have not: so "
            "an example on a rank with few counts for more. Weight each mean by its number of examples.",
            where);
    else if (went(c, rank, SUM))
        check_fail(c, "sum", "%s The gradients of all examples were added up, and not divided by their number.", where);
    else if (went(c, rank, SUM_OF_MEANS))
        check_fail(c, "sum", "%s The ranks' means were added up, and not divided.", where);
    else
        check_fail(c, "values", "%s It is %.9g; one rank with all examples gets %.9g.", where,
                   check_element(c, rank, "parameters", index), want(c, rank, index));
}

static bool follows(const check_case *c)
{
    for (size_t i = 0; i < STEPS * NUMBERS; i++)
        for (int rank = 0; rank < c->ranks; rank++) {
            if (close_to(check_element(c, rank, "parameters", i), want(c, rank, i))) continue;
            if (!check_values(c, "values", "parameters", NULL, count_steps, want)) explain(c, rank, i);
            return false;
        }
    return true;
}

static void judge(const check_case *c)
{
    if (!check_values(c, "begin", "shared parameters", NULL, count_numbers, want_at_start)) {
        check_fail(
            c, "begin",
            "After my_share_parameters every rank must have rank 0's parameters: with different ones to begin with, "
            "the ranks train different models, and averaging their gradients means nothing.");
        return;
    }
    if (follows(c)) check_same_bits(c, "bits", "parameters");
}

static const char *const files[] = {"data_parallel_step.c", NULL};

const check_exercise check_20_data_parallel_step = {.name = "20_data_parallel_step",
                                                    .idea = "n ranks train as one rank would",
                                                    .call = "my_share_parameters, then four my_data_parallel_step",
                                                    .files = files,
                                                    .library = CHECK_LIBRARY_ALL,
                                                    .cases = cases,
                                                    .run = run,
                                                    .judge = judge};
