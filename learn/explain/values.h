/* SPDX-License-Identifier: MIT */
/* values: what a check_values asks, shared by the file that decides and the one that draws the table. */
#ifndef PAIRWISE_LEARN_VALUES_H
#define PAIRWISE_LEARN_VALUES_H

#include "learn/inside.h"

enum { LEARN_WINDOW = 4 }; /* elements of a buffer that are shown */

/* One question: the same for all ranks. */
typedef struct {
    const check_case *c;
    const char *name, *before;
    check_count *count;
    check_want *want;
    size_t from; /* the first index that is shown */
    bool wrong[CHECK_MAX_RANKS];
    size_t first[CHECK_MAX_RANKS]; /* wrong index */
} learn_question;

/* ---- values.c ---- */

size_t learn_count_of(const learn_question *q, int rank);
double learn_wanted(const learn_question *q, int rank, size_t index);

/* ---- table.c ---- */

/* What each rank had, has and should have: a line each. Free it. */
char *learn_table(const learn_question *q);

#endif
