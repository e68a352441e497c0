/* SPDX-License-Identifier: MIT */
/*
 * pages: an array of floats of which parts can be given back to the system while all addresses stay. A page that has
 * never been written, or has been dropped, takes no memory; the next write brings it back, full of zeros.
 *
 *      written     | own part | dropped                  |
 *      memory      |##########|                          |
 */
#ifndef PAIRWISE_TRAINER_PAGES_H
#define PAIRWISE_TRAINER_PAGES_H

#include <stddef.h>

/* NULL: no memory. Free it with train__pages_free. */
void *train__pages_new(size_t bytes);
void train__pages_free(void *pages, size_t bytes);

/* Give back elements [first, first + count), as far as they fill pages. What was in them is lost. */
void train__pages_drop(float *array, size_t first, size_t count);

/* Bytes of an array that are in memory, as the system says. */
size_t train__pages_held(const void *array, size_t bytes);

#endif
