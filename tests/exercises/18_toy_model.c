/* SPDX-License-Identifier: MIT */
/* The test of exercise 18: several steps, each rank with an example of its own; first the one worked out on the page. */
#include <math.h>
#include <stdio.h>

#include "exercises/exercises.h"
#include "tests/exercises/check.h"

#pragma weak my_toy_step

enum { PAGE, RANDOM }; /* variants: the example of the page; numbers that follow from the seed */
enum { STEPS = 3 };

static const double start = 2.0, rate_of_page = 0.1;

static double x_of(const check_case *c, int rank)
{
    return c->variant == PAGE ? 1 : check_value(c, rank, 0) / 50;
}

static double y_of(const check_case *c, int rank)
{
    return c->variant == PAGE ? rank : check_value(c, rank, 1) / 10;
}

static double rate_of(const check_case *c)
{
    return c->variant == PAGE ? rate_of_page : 0.01;
}

static int steps_of(const check_case *c)
{
    return c->variant == PAGE ? 1 : STEPS;
}

static void add(check_plan *plan, int variant, enum op op)
{
    check_add(plan, (check_case){.op = op,
                                 .variant = variant,
                                 .what = variant == PAGE ? "the example of the page" : "three steps",
                                 .shows = CHECK_SHOW_OP});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2, NULL);
        if (ranks[i] == 2) add(plan, PAGE, OP_SUM);
        if (ranks[i] == 2) add(plan, PAGE, OP_MEAN);
        add(plan, RANDOM, OP_SUM);
        add(plan, RANDOM, OP_MEAN);
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm), steps = steps_of(c);
    double w = start, after[STEPS];
    for (int i = 0; i < steps; i++) {
        check_returned(c, my_toy_step(comm, &w, x_of(c, rank), y_of(c, rank), rate_of(c), c->op));
        after[i] = w;
    }
    check_report(c, "w after each step", after, (size_t)steps, DTYPE_F64);
}

/* ---- In learn: the same on one rank, in several wrong ways too ---- */

enum { RIGHT, LOCAL, OTHER_OP, DIVIDED_TWICE, UPHILL, HALF };

static double gradient_of(const check_case *c, int rank, double w)
{
    return 2 * x_of(c, rank) * (w * x_of(c, rank) - y_of(c, rank));
}

static double combined(const check_case *c, double w, bool mean)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += gradient_of(c, q, w);
    return mean ? sum / c->ranks : sum;
}

static double step(const check_case *c, int rank, double w, int way)
{
    bool mean = c->op == OP_MEAN;
    switch (way) {
    case LOCAL: return w - rate_of(c) * gradient_of(c, rank, w);
    case OTHER_OP: return w - rate_of(c) * combined(c, w, !mean);
    case DIVIDED_TWICE: return w - rate_of(c) * combined(c, w, true) / c->ranks;
    case UPHILL: return w + rate_of(c) * combined(c, w, mean);
    case HALF: return w - rate_of(c) * combined(c, w, mean) / 2;
    default: return w - rate_of(c) * combined(c, w, mean);
    }
}

static size_t steps_count(const check_case *c, int rank)
{
    (void)rank;
    return (size_t)steps_of(c);
}

static double want(const check_case *c, int rank, size_t index)
{
    double w = start;
    for (size_t i = 0; i <= index; i++) w = step(c, rank, w, RIGHT);
    return w;
}

static bool is(const check_case *c, int rank, double got, int way)
{
    double expected = step(c, rank, start, way);
    return fabs(got - expected) <= 1e-9 * fmax(1, fabs(expected));
}

static bool close_enough(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        if (check_elements(c, rank, "w after each step") != (size_t)steps_of(c)) return false;
        for (size_t i = 0; i < (size_t)steps_of(c); i++)
            if (!(fabs(check_element(c, rank, "w after each step", i) - want(c, rank, i)) <= 1e-9)) return false;
    }
    return true;
}

static void explain(const check_case *c)
{
    bool mean = c->op == OP_MEAN;
    for (int rank = 0; rank < c->ranks; rank++) {
        double w = check_element(c, rank, "w after each step", 0);
        if (is(c, rank, w, RIGHT)) continue;
        if (is(c, rank, w, LOCAL))
            check_fail(c, "local",
                       "Rank %d followed its own gradient, %.4g; those of the other ranks are not in it. Combined with "
                       "%s it is %.4g.",
                       rank, gradient_of(c, rank, start), mean ? "mean" : "sum", combined(c, start, mean));
        else if (is(c, rank, w, DIVIDED_TWICE) && mean)
            check_fail(c, "divided_twice",
                       "Rank %d's step is 1/%d of what it should be: OP_MEAN divides already, do not divide again.",
                       rank, c->ranks);
        else if (is(c, rank, w, OTHER_OP))
            check_fail(c, "op", "Rank %d combined the gradients with %s, not with op, which is %s here.", rank,
                       mean ? "sum" : "mean", mean ? "OP_MEAN" : "OP_SUM");
        else if (is(c, rank, w, UPHILL))
            check_fail(c, "uphill", "Rank %d went uphill: the gradient is taken from w, not added to it.", rank);
        else if (is(c, rank, w, HALF))
            check_fail(c, "half",
                       "Rank %d's step is half of what it should be: the derivative of a square has a 2 in front.",
                       rank);
        else
            check_fail(c, "values",
                       "Rank %d's gradient is %.4g at the start; combined it should be %.4g, and w %.4g - %g x %.4g.",
                       rank, gradient_of(c, rank, start), combined(c, start, mean), start, rate_of(c),
                       combined(c, start, mean));
        return;
    }
}

static void judge(const check_case *c)
{
    if (!close_enough(c)) {
        if (!check_values(c, "values", "w after each step", NULL, steps_count, want)) explain(c);
        return;
    }
    check_same_bits(c, "bits", "w after each step");
}

static const char *const files[] = {"toy_model.c", NULL};

const check_exercise check_18_toy_model = {.name = "18_toy_model",
                                           .idea = "one parameter, one step: gradients summed or averaged",
                                           .call = "my_toy_step",
                                           .files = files,
                                           .library = CHECK_LIBRARY_ALL,
                                           .cases = cases,
                                           .run = run,
                                           .judge = judge};
