/* SPDX-License-Identifier: MIT */
/* busy: did other programs use the cores of this one while it measured? Then times are longer than on an idle machine. */
#ifndef PAIRWISE_BENCH_BUSY_H
#define PAIRWISE_BENCH_BUSY_H

#include <stdbool.h>
#include <stddef.h>

/* From now on. */
void busy_begin(void);

/* A sentence about it, if since busy_begin others have had more than a tenth of the cores; false: they have not, or it is
 * not known. What children that have ended computed is no other program's. */
bool busy_words(char *text, size_t bytes);

#endif
