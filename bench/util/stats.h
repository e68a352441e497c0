/* SPDX-License-Identifier: MIT */
/*
 * stats: percentiles of many samples of the same thing.
 */
#ifndef PAIRWISE_BENCH_STATS_H
#define PAIRWISE_BENCH_STATS_H

#include <stddef.h>

/* A growing list of samples. All zero is an empty one. */
typedef struct {
    double *value;
    size_t count, room;
} samples;

/* Append; ends the program if there is no memory. */
void samples_add(samples *list, const double *values, size_t count);
void samples_free(samples *list);

/* Sort once, then ask: percentile from 0 (the least) to 100 (the greatest), nearest rank; 0 if there are none. */
void samples_sort(samples *list);
double samples_percentile(const samples *sorted, double percent);

#endif
