/* SPDX-License-Identifier: MIT */
/*
 * formats: grades as JSON, and from that as programs that take grades want them. Each makes a whole file as a text; free it.
 *
 *      learn_all_grades  that JSON itself: docs/teaching.md. The grades of one submission stand together
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

/* A text for JSON: what is no character, or a control character other than tab and newline, becomes a question mark. */
json_t *learn_json_text(const char *bytes, size_t most);

/* Right; wrong; not compiled or not run; or not handed in or not started. */
enum learn_verdict { LEARN_RIGHT, LEARN_FAILURE, LEARN_ERROR, LEARN_SKIPPED };
enum learn_verdict learn_verdict_of(const json_t *grade);

const json_t *learn_grade_at(const json_t *grades, size_t i); /* NULL behind the last */

/* On standard output: the class at a glance. Nothing for one submission. */
void learn_print_matrix(const json_t *grades);

/* The first line of a text that others have written, without control characters: as many columns of it as most allows, and
 * blanks up to least. */
void learn_print_plain(const char *text, int least, int most);

char *learn_all_grades(const json_t *grades);
char *learn_csv(const json_t *grades);
char *learn_junit(const json_t *grades);
char *learn_exercism(const json_t *grades);
char *learn_gradescope(const json_t *grades);
char *learn_autolab(const json_t *grades);

#endif
