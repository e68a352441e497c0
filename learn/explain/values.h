/* SPDX-License-Identifier: MIT */
/* values: what a check_values asks, shared by the files that decide, look for a cause and draw the table. */
#ifndef PAIRWISE_LEARN_VALUES_H
#define PAIRWISE_LEARN_VALUES_H

#include "learn/inside.h"

enum { LEARN_WINDOW = 4 }; /* elements of a buffer that are shown */

/* One question: the same for all ranks. */
typedef struct {
    const check_case *c;
    const char *name, *before;
    bool near; /* nine digits are enough */
    check_count *count;
    check_want *want;
    size_t from; /* the first index that is shown */
    bool wrong[CHECK_MAX_RANKS];
    size_t first[CHECK_MAX_RANKS]; /* wrong index */
} learn_question;

/* ---- values.c ---- */

size_t learn_count_of(const learn_question *q, int rank);
double learn_wanted(const learn_question *q, int rank, size_t index);
bool learn_equal(double a, double b); /* NAN equals NAN */

/* ---- looks.c ---- */

/* Add a sentence for each way in which ranks are wrong, two at most. Returns the kind of failure if one of them is sure,
 * whatever the exercise: "unfilled" (memory from malloc), "unset" (a variable); else NULL. */
const char *learn_look(const learn_question *q, learn_text *t);

#endif
