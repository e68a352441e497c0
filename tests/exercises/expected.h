/* SPDX-License-Identifier: MIT */
/*
 * expected: what the tests of 09 to 17 share: what must come out. What has come out instead is told by made_of.h.
 *
 *      both sides   expected_dtype, expected_log2_up, expected_log2_down, EXPECTED_REDUCE
 *      in learn     expected_reduced, expected_own, expected_from_root; expected_holds; expected_seconds
 */
#ifndef PAIRWISE_TESTS_EXERCISES_EXPECTED_H
#define PAIRWISE_TESTS_EXERCISES_EXPECTED_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exercises/check/check.h"

/* ---- Both sides ---- */

/* A network on which combining costs nothing worth mentioning: "latency=10us,bandwidth=1G" EXPECTED_REDUCE. */
#define EXPECTED_REDUCE ",reduce=1e15"
#define EXPECTED_REDUCE_RATE 1e15 /* so p2p_layer_compute of so many bytes takes a second */

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

#endif
