/* SPDX-License-Identifier: MIT */
/*
 * exposition: is a text what Prometheus reads (text format 0.0.4), to the letter, and what its linter has nothing to say
 * about? And what does it say?
 */
#ifndef PAIRWISE_TESTS_EXPOSITION_H
#define PAIRWISE_TESTS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

/* NULL, or what is wrong with it (valid until the next call). */
const char *exposition_wrong(const char *text, size_t bytes);

/* The value of a sample, by its name and labels as they stand in the text; NAN if it is not there. */
double exposition_value(const char *text, const char *series);

/* The sum of all samples of this name. */
double exposition_sum(const char *text, const char *name);

#endif
