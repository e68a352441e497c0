/* SPDX-License-Identifier: MIT */
/*
 * ways: of 24 on, what a wrong result comes from, told by computing it in the wrong ways that are known. A way is named
 * only if every wrong number of every rank is what it gives.
 *
 *      in learn     ways_right, ways_find, ways_first, ways_is_float, ways_explain_rest; ways_one_all_reduce
 */
#ifndef PAIRWISE_TESTS_EXERCISES_WAYS_H
#define PAIRWISE_TESTS_EXERCISES_WAYS_H

#include <stdlib.h>

#include "tests/exercises/expected.h"

/* What is computed: `compute` sets numbers[] of a rank as they come out that way; way 0 is the right one. */
typedef struct {
    const char *name; /* of the report */
    check_count *count;
    int ways;
    void (*compute)(const check_case *c, int way, int rank, double *numbers);
} ways_result;

static struct {
    const double *right[CHECK_MAX_RANKS];
    size_t from; /* up to this number all are right where ways_find has found a way */
} ways_judged;

static inline double ways_want(const check_case *c, int rank, size_t index)
{
    (void)c;
    return ways_judged.right[rank][index];
}

static inline double *ways_computed(const ways_result *w, const check_case *c, int way, int rank)
{
    double *numbers = calloc(w->count(c, rank) + 1, sizeof *numbers);
    if (!numbers) abort();
    w->compute(c, way, rank, numbers);
    return numbers;
}

static inline bool ways_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* Does a rank have what that way gives, from some number on, and what is right before? *from becomes that number: the
 * count, if all are right. */
static inline bool ways_is_on(const ways_result *w, const check_case *c, int way, int rank, size_t *from)
{
    double *wrong = ways_computed(w, c, way, rank), *right = ways_computed(w, c, 0, rank);
    size_t count = w->count(c, rank), i = 0, all = 0;
    while (i < count && ways_near(check_element(c, rank, w->name, i), right[i])) i++;
    *from = i;
    while (all < count && ways_near(check_element(c, rank, w->name, all), wrong[all])) all++;
    while (i < count && ways_near(check_element(c, rank, w->name, i), wrong[i])) i++;
    free(wrong);
    free(right);
    if (all == count && *from < count) *from = 0;
    return i == count || all == count;
}

static inline bool ways_is(const ways_result *w, const check_case *c, int way, bool whole)
{
    ways_judged.from = SIZE_MAX;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t from;
        if (!ways_is_on(w, c, way, rank, &from)) return false;
        if (from == w->count(c, rank)) continue;
        if (from < ways_judged.from) ways_judged.from = from;
        if (whole && from) return false;
    }
    return true;
}

/* Where ways_right was false: the way it was computed in; -1 if it is none that is known. */
static inline int ways_find(const ways_result *w, const check_case *c)
{
    for (int whole = 1; whole >= 0; whole--)
        for (int way = 1; way < w->ways; way++)
            if (ways_is(w, c, way, whole)) return way;
    ways_judged.from = 0;
    return -1;
}

/* The first number that is wrong, and its rank. */
static inline size_t ways_first(const ways_result *w, const check_case *c, int *rank)
{
    for (*rank = 0; *rank < c->ranks; ++*rank) {
        double *right = ways_computed(w, c, 0, *rank);
        size_t i = 0, count = w->count(c, *rank);
        while (i < count && ways_near(check_element(c, *rank, w->name, i), right[i])) i++;
        free(right);
        if (i < count) return i;
    }
    *rank = 0;
    return 0;
}

/* Every rank's numbers, to nine digits. */
static inline bool ways_right(const ways_result *w, const check_case *c, const char *before)
{
    double *numbers[CHECK_MAX_RANKS] = {NULL};
    for (int rank = 0; rank < c->ranks; rank++) ways_judged.right[rank] = numbers[rank] = ways_computed(w, c, 0, rank);
    bool right = check_near(c, "values", w->name, before, w->count, ways_want);
    for (int rank = 0; rank < c->ranks; rank++) free(numbers[rank]);
    return right;
}

#define WAYS_FLOAT "The first seven digits are right: a float has no more. Sums, counts and gradients are doubles."

/* Where ways_right was false: are seven digits right everywhere? */
static inline bool ways_is_float(const ways_result *w, const check_case *c)
{
    bool near = true;
    for (int rank = 0; rank < c->ranks && near; rank++) {
        double *right = ways_computed(w, c, 0, rank);
        for (size_t i = 0; i < w->count(c, rank) && near; i++)
            near = fabs(check_element(c, rank, w->name, i) - right[i]) < 1e-6 * fmax(1, fabs(right[i]));
        free(right);
    }
    return near;
}

/* Behind what was said of a way: is the beginning right, or rank 0? */
static inline void ways_explain_rest(const ways_result *w, const check_case *c)
{
    int rank;
    ways_first(w, c, &rank);
    if (ways_judged.from)
        check_also(c,
                   "That is so from number %zu of %zu on; those before are right. Are so many sent, or computed, and "
                   "not all?",
                   ways_judged.from, w->count(c, rank));
    else if (rank)
        check_also(c,
                   "Rank 0 is right: has the sum come to rank 0 only? A reduce does that, an all-reduce brings it to "
                   "every rank.");
}

/* Where no way was found, with two ranks: fewer bytes than one all-reduce of so many doubles has. */
static inline void ways_explain_bytes(const check_case *c, size_t numbers)
{
    unsigned long long sent = check_sent(c, 0).bytes_sent, whole = numbers * sizeof(double);
    if (c->ranks == 2 && 2 * sent == whole)
        check_fail(c, "type",
                   "Rank 0 sent %llu bytes; an all-reduce of %zu doubles takes %llu, twice as many. A DTYPE_F32 has 4 "
                   "bytes, and a double has 8.",
                   sent, numbers, whole);
    else if (c->ranks == 2 && sent && sent < whole)
        check_also(c,
                   "Rank 0 sent %llu bytes; an all-reduce of %zu doubles takes %llu. Is it another type, or too short?",
                   sent, numbers, whole);
}

/* ---- What one all-reduce of so many numbers sends, by any algorithm: with two ranks no more than the numbers once, in
 *      two messages at most; with more of them at most the 2(n-1) messages of the ring ---- */

static inline bool ways_one_all_reduce(const check_case *c, size_t numbers, const char *what)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        unsigned long long most = 2 * ((unsigned long long)c->ranks - 1), bytes = numbers * sizeof(double);
        if (sent.messages_sent > most)
            return check_fail(c, "messages",
                              "Rank %d sent %llu messages; one all-reduce of %zu numbers takes %llu at most. %s", rank,
                              (unsigned long long)sent.messages_sent, numbers, most, what);
        if (c->ranks == 2 && sent.bytes_sent > bytes)
            return check_fail(c, "bytes", "Rank %d sent %llu bytes; one all-reduce of %zu numbers takes %llu. %s", rank,
                              (unsigned long long)sent.bytes_sent, numbers, bytes, what);
    }
    return true;
}

#endif
