/* SPDX-License-Identifier: MIT */
/* grading: submissions to grades, one exercise of one submission at a time. */
#ifndef PAIRWISE_LEARN_GRADING_H
#define PAIRWISE_LEARN_GRADING_H

#include "learn/grade/formats.h"
#include "learn/grade/sandbox.h"
#include "learn/grade/submission.h"

typedef struct {
    const char *folder; /* that they came from; or the one submission */
    learn_submission *submissions;
    size_t count;
    const bool *graded; /* of each exercise of the course; NULL: those that any of them holds */
    uint64_t seed;      /* what is printed */
    uint64_t secret;    /* what the data follow from */
    double points;      /* for one that is right */
    int jobs;           /* checks at the same time */
} learn_class;

enum { LEARN_MOST_JOBS = 64 };

/* Set the secret that belongs to the seed in this checkout. Where no key can be kept there, a message says so. */
void learn_secret(learn_class *class);

/* On standard output: which submissions are equal, if any are. */
void learn_print_alike(const learn_class *class, const json_t *grades);

/* Grade everything, printing each grade as it comes. The exit status: 0; 1 if something could not be graded; 128 + signal if
 * interrupted, and then grades are not whole. They are JSON; give them back with json_decref in any case. */
int learn_grade_all(const learn_class *class, learn_sandbox *box, json_t **grades);

#endif
