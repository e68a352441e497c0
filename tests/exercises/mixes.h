/* SPDX-License-Identifier: MIT */
/*
 * mixes: what wrong numbers are made of, where none of the known ways gives them: so many times each of a few rows of numbers, by
 * least squares. It is told only if every number comes out.
 *
 *      in learn     mixes_explain
 */
#ifndef PAIRWISE_TESTS_EXERCISES_MIXES_H
#define PAIRWISE_TESTS_EXERCISES_MIXES_H

#include "tests/exercises/made_of.h"

enum { MIXES_MOST = CHECK_MAX_RANKS, MIXES_TEXT = 600 };

/* Number i of a row; of row `rows` it is what the rank has. */
typedef double mixes_row(const check_case *c, int rank, size_t row, size_t i);

typedef struct {
    const char *what;         /* "y" */
    const char *const *names; /* of the rows: "b_bias" */
    const double *should;     /* how many times each should be in it */
    size_t rows, count;       /* count: numbers in a row */
    mixes_row *row;
} mixes;

static inline bool mixes_gives(const mixes *m, const check_case *c, int rank, const double *times)
{
    for (size_t i = 0; i < m->count; i++) {
        double sum = 0, size = 1;
        for (size_t k = 0; k < m->rows; k++) {
            double part = times[k] * m->row(c, rank, k, i);
            sum += part, size += fabs(part);
        }
        if (!(fabs(m->row(c, rank, m->rows, i) - sum) <= 1e-8 * size)) return false;
    }
    return true;
}

static inline bool mixes_fit(const mixes *m, const check_case *c, int rank, double times[MIXES_MOST])
{
    double a[MIXES_MOST][CHECK_MAX_RANKS + 1] = {{0}};
    if (m->rows > MIXES_MOST || m->count <= m->rows) return false;
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->rows; k++) {
            double part = m->row(c, rank, k, i);
            for (size_t other = 0; other < m->rows; other++) a[k][other] += part * m->row(c, rank, other, i);
            a[k][m->rows] += part * m->row(c, rank, m->rows, i);
        }
    if (!made_of_solve(a, (int)m->rows)) return false;
    for (size_t k = 0; k < m->rows; k++) times[k] = fabs(a[k][m->rows]) < 1e-7 ? 0 : a[k][m->rows];
    return mixes_gives(m, c, rank, times);
}

/* "y of rank 0 is 1 times the sum, where it should be 1, and 2 times b_bias, where it should be 1." False: it is no such mix. */
static inline bool mixes_explain(const mixes *m, const check_case *c, int rank, const char *key)
{
    double times[MIXES_MOST];
    char text[MIXES_TEXT] = "";
    size_t used = 0;
    if (!mixes_fit(m, c, rank, times)) return false;
    for (size_t k = 0; k < m->rows && used < sizeof text; k++) {
        if (times[k] == 0 && m->should[k] == 0) continue;
        bool right = fabs(times[k] - m->should[k]) < 1e-6;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.4g times %s", used ? ", and " : "", times[k],
                                 m->names[k]);
        if (!right && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " (it should be %.4g)", m->should[k]);
    }
    return !check_fail(c, key, "%s on rank %d is %s.", m->what, rank, text);
}

#endif
