/* SPDX-License-Identifier: MIT */
/*
 * formats: grades as JSON, and from that as programs that take grades want them. Each makes a whole file as a text; free it.
 *
 *      learn_all_grades  that JSON itself: docs/teaching.md
 *      learn_csv         for a spreadsheet: a row for each submission and exercise (RFC 4180)
 *      learn_junit       JUnit XML: a suite for each submission, a case for each exercise
 *      learn_exercism    results.json of exercism's test runners, version 3
 *      learn_gradescope  results.json of Gradescope's autograders
 *      learn_autolab     the line that an Autolab autograder prints last
 *
 * Exercism, Gradescope and Autolab grade one submission at a time. With several, each test is named SUBMISSION/EXERCISE.
 */
#ifndef PAIRWISE_LEARN_FORMATS_H
#define PAIRWISE_LEARN_FORMATS_H

#include <jansson.h>

#include "learn/learn.h"

enum learn_verdict { LEARN_RIGHT, LEARN_WRONG, LEARN_UNTOUCHED, LEARN_MISSING };

/* One exercise of one submission. */
typedef struct {
    const char *submission;
    const learn_exercise *e;
    enum learn_verdict verdict;
    double points, most;
    const char *kind;    /* the key of the failure; "" if there is none */
    const char *ran;     /* what ran; "" if nothing did */
    const char *reason;  /* one line; "" if it is right */
    const char *details; /* what the learner would be shown */
    double seconds;
} learn_grade;

typedef struct {
    const learn_grade *grades; /* those of one submission stand together */
    size_t count, submissions;
    uint64_t seed;
    const char *conditions; /* how it was run, in words */
} learn_grades;

const char *learn_verdict_word(enum learn_verdict verdict); /* "right", "wrong", "not started", "not handed in" */

/* On standard output: the class at a glance. Nothing for one submission. */
void learn_print_matrix(const learn_grades *grades);

json_t *learn_grades_json(const learn_grades *grades);

char *learn_all_grades(const json_t *grades);
char *learn_csv(const json_t *grades);
char *learn_junit(const json_t *grades);
char *learn_exercism(const json_t *grades);
char *learn_gradescope(const json_t *grades);
char *learn_autolab(const json_t *grades);

#endif
