/* SPDX-License-Identifier: MIT */
/*
 * expected: what the tests of 09 to 17 share: what must come out, and in words what has come out instead.
 *
 *      both sides   expected_dtype, expected_log2_up, expected_log2_down, EXPECTED_REDUCE
 *      in learn     expected_reduced, expected_own, expected_from_root; expected_holds, expected_explain; expected_seconds
 */
#ifndef PAIRWISE_TESTS_EXERCISES_EXPECTED_H
#define PAIRWISE_TESTS_EXERCISES_EXPECTED_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/exercises/check.h"

/* ---- Both sides ---- */

/* A network on which combining costs nothing worth mentioning: "latency=10us,bandwidth=1G" EXPECTED_REDUCE. */
#define EXPECTED_REDUCE ",reduce=1e15"

/* Of a case with OP_MEAN the type must be a float: another one for the others. */
static inline enum dtype expected_dtype(enum op op, int turn)
{
    static const enum dtype floats[] = {DTYPE_F32, DTYPE_F64};
    static const enum dtype all[] = {DTYPE_F32, DTYPE_I32, DTYPE_F64, DTYPE_I64};
    return op == OP_MEAN ? floats[turn % 2] : all[turn % 4];
}

/* ceil(log2 n), floor(log2 n). */
static inline int expected_log2_up(int n)
{
    int log = 0;
    while (1 << log < n) log++;
    return log;
}

static inline int expected_log2_down(int n)
{
    int log = 0;
    while (2 << log <= n) log++;
    return log;
}

/* ---- In learn ---- */

/* From the start to the end of the last rank, in virtual seconds. */
static inline double expected_seconds(const check_case *c)
{
    double last = 0;
    for (int rank = 0; rank < c->ranks; rank++) last = fmax(last, check_seconds(c, rank));
    return last;
}

static inline double expected_own(const check_case *c, int rank, size_t index)
{
    return check_value(c, rank, index);
}

static inline double expected_from_root(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, c->root, index);
}

/* The combination of all ranks' parts. */
static inline double expected_reduced(const check_case *c, int rank, size_t index)
{
    double result = check_value(c, 0, index);
    (void)rank;
    for (int q = 1; q < c->ranks; q++) {
        double part = check_value(c, q, index);
        if (c->op == OP_MIN)
            result = fmin(result, part);
        else if (c->op == OP_MAX)
            result = fmax(result, part);
        else
            result += part;
    }
    return c->op == OP_MEAN ? result / c->ranks : result;
}

/* Equal, but for the last digits of a type. */
static inline bool expected_close(enum dtype dtype, double a, double b)
{
    double error = dtype == DTYPE_F32 ? 1e-5 : 1e-12;
    return fabs(a - b) <= error * fmax(1, fabs(b));
}

static inline bool expected_holds(const check_case *c, int rank, const char *name, size_t first, size_t length,
                                  check_want *want)
{
    for (size_t i = first; i < first + length; i++)
        if (!expected_close(c->dtype, check_element(c, rank, name, i), want(c, rank, i))) return false;
    return true;
}

/* "rank 2", "ranks 0, 1 and 3": those with a 1 in `set`. */
static inline const char *expected_ranks(char *text, size_t room, unsigned set)
{
    int count = 0, written = 0;
    for (unsigned rest = set; rest; rest &= rest - 1) count++;
    size_t used = (size_t)snprintf(text, room, count > 1 ? "ranks" : "rank");
    for (int q = 0; q < CHECK_MAX_RANKS && used < room; q++) {
        if (!(set & 1u << q)) continue;
        const char *before = written == 0 ? " " : written == count - 1 ? " and " : ", ";
        used += (size_t)snprintf(text + used, room - used, "%s%d", before, q);
        written++;
    }
    return text;
}

/* What a rank's result is made of: each rank's part so many times, the sum divided by `divisor`. */
typedef struct {
    int times[CHECK_MAX_RANKS];
    double divisor;
} expected_mix;

enum { EXPECTED_LOOK = 6, EXPECTED_LEAST = 3, EXPECTED_MOST_RANKS = 8 };

static inline bool expected_is_mix(const check_case *c, int rank, const char *name, size_t first, size_t length,
                                   const expected_mix *mix)
{
    size_t look = length < EXPECTED_LOOK ? length : EXPECTED_LOOK;
    for (size_t i = first; i < first + look; i++) {
        double sum = 0;
        for (int q = 0; q < c->ranks; q++)
            if (mix->times[q]) sum += mix->times[q] * check_value(c, q, i);
        if (!expected_close(c->dtype, check_element(c, rank, name, i), sum / mix->divisor)) return false;
    }
    return true;
}

/* Try every mixture with each rank's part up to twice. False if it is none of them, or too short to tell. */
static inline bool expected_find_mix(const check_case *c, int rank, const char *name, size_t first, size_t length,
                                     expected_mix *mix)
{
    double n = c->ranks, divisors[] = {c->op == OP_MEAN ? n : 1, 1, n * n};
    int tries = c->op == OP_MEAN ? 3 : 1, codes = 1;
    if (n > EXPECTED_MOST_RANKS || length < EXPECTED_LEAST || (c->op != OP_SUM && c->op != OP_MEAN)) return false;
    for (int q = 0; q < c->ranks; q++) codes *= 3, mix->times[q] = 1;
    for (int i = 0; i < tries; i++) { /* the likely ones first: with two ranks a sum is also twice the mean */
        mix->divisor = divisors[i];
        if (expected_is_mix(c, rank, name, first, length, mix)) return true;
    }
    for (int i = 0; i < tries; i++) {
        mix->divisor = divisors[i];
        for (int code = 0; code < codes; code++) {
            for (int q = 0, rest = code; q < c->ranks; q++, rest /= 3) mix->times[q] = rest % 3;
            if (expected_is_mix(c, rank, name, first, length, mix)) return true;
        }
    }
    return false;
}

static inline unsigned expected_set(const check_case *c, const expected_mix *mix, int times)
{
    unsigned set = 0;
    for (int q = 0; q < c->ranks; q++)
        if (mix->times[q] == times) set |= 1u << q;
    return set;
}

/* Say what a wrong result is made of; `of` is "" or words such as "in its chunk 2, ". Notes the failure if that helps;
 * returns false if there is nothing to say. */
static inline bool expected_tell_mix(const check_case *c, int rank, const char *of, const expected_mix *mix)
{
    char some[100], others[100];
    unsigned none = expected_set(c, mix, 0), once = expected_set(c, mix, 1), twice = expected_set(c, mix, 2);
    unsigned all = (1u << c->ranks) - 1;
    const char *who = *of ? "rank" : "Rank", *sum = c->op == OP_MEAN ? "mean" : "sum";
    if (twice)
        check_fail(c, "twice", "%s%s %d has what %s had in its %s twice%s%s%s.", of, who, rank,
                   expected_ranks(some, sizeof some, twice), sum, none ? ", and of " : "",
                   none ? expected_ranks(others, sizeof others, none) : "", none ? " nothing" : "");
    else if (none == all)
        check_fail(c, "zero", "%s%s %d has only zeros: nobody's part is in its %s.", of, who, rank, sum);
    else if (once == 1u << rank && c->ranks > 1)
        check_fail(c, "alone", "%s%s %d has only its own part: nothing of the other ranks is in its %s.", of, who, rank,
                   sum);
    else if (none)
        check_fail(c, "missing", "%s%s %d has the part%s of %s in its %s; what %s had is missing.", of, who, rank,
                   once & (once - 1) ? "s" : "", expected_ranks(some, sizeof some, once), sum,
                   expected_ranks(others, sizeof others, none));
    else if (c->op == OP_MEAN && mix->divisor < 1.5 && c->ranks > 1)
        check_fail(c, "not_divided", "%s%s %d has the sum of all parts, not the mean: it was not divided by n = %d.",
                   of, who, rank, c->ranks);
    else if (c->op == OP_MEAN && mix->divisor > c->ranks + 0.5)
        check_fail(c, "divided_twice",
                   "%s%s %d has a mean that was divided twice: it has the sum of all parts / %d, where sum / %d is the "
                   "mean. Divide once, where the sum is complete.",
                   of, who, rank, c->ranks * c->ranks, c->ranks);
    else
        return false;
    return true;
}

/* Are they equal to the last bit? Or only up to rounding, because each part was divided, and not the sum? */
static inline bool expected_is_exact(const check_case *c, int rank, const char *name, size_t first, size_t length)
{
    char stored[8];
    for (size_t i = first; i < first + length; i++) {
        check_put(stored, 0, c->dtype, expected_reduced(c, rank, i));
        if (check_element(c, rank, name, i) != check_get(stored, 0, c->dtype)) return false;
    }
    return true;
}

/* If elements [first, first + length) of a rank are not the combination of all parts: what they are. Notes the failure and
 * returns true if that can be told. */
static inline bool expected_explain(const check_case *c, int rank, const char *of, const char *name, size_t first,
                                    size_t length)
{
    expected_mix mix = {.divisor = 1};
    if (expected_is_exact(c, rank, name, first, length)) return false;
    if (!expected_holds(c, rank, name, first, length, expected_reduced))
        return expected_find_mix(c, rank, name, first, length, &mix) && expected_tell_mix(c, rank, of, &mix);
    check_fail(c, "rounding",
               "%s%s %d has nearly the %s, but the last digits differ. Each division rounds: add all parts first, and "
               "divide the sum, once.",
               of, *of ? "rank" : "Rank", rank, op_name(c->op));
    return true;
}

/* What the result of the first rank is made of that has a wrong one. */
static inline bool expected_explain_all(const check_case *c, const char *name)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_elements(c, rank, name) == c->count && expected_explain(c, rank, "", name, 0, c->count)) return true;
    return false;
}

#endif
