/* SPDX-License-Identifier: MIT */
/*
 * sizes: "16M" and back. K, M, G are powers of 1024, as everywhere in Pairwise; only GB/s is in powers of 1000.
 */
#ifndef PAIRWISE_BENCH_SIZES_H
#define PAIRWISE_BENCH_SIZES_H

#include <stdbool.h>
#include <stddef.h>

/* A byte count with an optional K, M or G; nothing before or behind it. */
bool size_parse(const char *text, size_t *bytes);

/* A number from low to high. */
bool count_parse(const char *text, long low, long high, long *count);

/* Split "a,b,c" in place at its commas; at most `room` parts. False if there are more, or an empty one. */
bool list_parse(char *text, const char *parts[], size_t room, size_t *count);

#endif
