/* SPDX-License-Identifier: MIT */
/*
 * all_reduce: what the tests of the three all-reduces (11, 13, 16) share: cases, and what must come out, to the bit.
 */
#ifndef PAIRWISE_TESTS_EXERCISES_ALL_REDUCE_H
#define PAIRWISE_TESTS_EXERCISES_ALL_REDUCE_H

#include "tests/exercises/made_of.h"

typedef p2p_err all_reduce_function(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

enum { ALL_REDUCE_FRACTIONS = 1 }; /* a variant: numbers whose sum depends on the order of adding */

/* ---- Both sides ---- */

static inline void all_reduce_add(check_plan *plan, size_t count, int turn)
{
    static const enum op ops[] = {OP_SUM, OP_MEAN, OP_MIN, OP_MAX};
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(ops[turn % 4], turn / 4),
                                 .op = ops[turn % 4],
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_OP});
}

static inline void all_reduce_add_fractions(check_plan *plan, size_t count)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = DTYPE_F32,
                                 .op = OP_SUM,
                                 .variant = ALL_REDUCE_FRACTIONS,
                                 .what = "numbers that do not add up exactly",
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_OP});
}

static inline void all_reduce_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {5 * n + 1, 0, 1, n - 1, n, n + 1, 2 * n - 1, 1000};
    for (int turn = 0; turn < 4; turn++) all_reduce_add(plan, 5 * n, turn);
    for (int i = 0; i < 8; i++) all_reduce_add(plan, counts[i], i + 4);
    all_reduce_add_fractions(plan, 100);
    if (ranks == 4) all_reduce_add(plan, 80000, 0); /* a part of it is too long to be buffered */
}

/* ---- In a rank ---- */

static inline void all_reduce_run(p2p_comm *comm, const check_case *c, all_reduce_function *function)
{
    int rank = p2p_rank(comm);
    void *buf = check_buffer(c, rank, c->count, c->dtype);
    for (size_t i = 0; i < c->count && c->variant == ALL_REDUCE_FRACTIONS; i++)
        check_put(buf, i, c->dtype, check_fraction(c, rank, i));
    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, function(comm, buf, c->count, c->dtype, c->op));
    check_report(c, "buf", buf, c->count, c->dtype);
}

/* ---- In learn ---- */

/* Rounding may differ with the order, but no more than that. */
static inline bool all_reduce_near(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < c->count; i++) {
            double sum = 0, size = 0, got = check_element(c, rank, "buf", i);
            for (int q = 0; q < c->ranks; q++) sum += check_fraction(c, q, i);
            for (int q = 0; q < c->ranks; q++) size += fabs(check_fraction(c, q, i));
            if (fabs(got - sum) > 1e-5 * size)
                return check_fail(c, "values", "Element %zu on rank %d is %.9g; the sum is about %.9g.", i, rank, got,
                                  sum);
        }
    return true;
}

static inline bool all_reduce_same(const check_case *c)
{
    if (check_same_bits(c, "bits", "buf")) return true;
    return check_fail(
        c, "bits",
        "The ranks do not have the same bits: each has added the same numbers in another order, and floating-point "
        "sums depend on it. In training, ranks whose weights differ in the last digit drift apart.");
}

/* Values, and in one of the cases bits. `explain` says why values are wrong, if it knows better than all the others do. */
static inline bool all_reduce_values(const check_case *c, bool (*explain)(const check_case *c))
{
    if (c->variant == ALL_REDUCE_FRACTIONS) return all_reduce_near(c) && all_reduce_same(c);
    if (check_values(c, "values", "buf", "before", NULL, expected_reduced)) return all_reduce_same(c);
    if (!explain || !explain(c)) expected_explain_all(c, "buf");
    return false;
}

#endif
