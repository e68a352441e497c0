/* SPDX-License-Identifier: MIT */
/* wide: how wide a table for people may be. */
#ifndef PAIRWISE_BENCH_WIDE_H
#define PAIRWISE_BENCH_WIDE_H

/* Columns of the terminal; 80 where there is none (COLUMNS, if that is set). */
int wide_columns(void);

/* Print text, lines of notes ("# ...") that are longer than that in several. Rows of tables stay as they are. */
void wide_print(const char *text);

#endif
