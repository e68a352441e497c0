/* SPDX-License-Identifier: MIT */
/*
 * limits: the best that this machine can do, measured in the same run as what is compared with it.
 *
 *      line      a cache line to another core: half of a round trip between two processes that do nothing else
 *      copy      memcpy of so many bytes by one core, again and again, so from a cache if they fit into one
 *      sum       dtype_reduce of so many bytes of f32, the same way
 *
 * Nothing that moves a message can be faster than a line and a copy. Of an all-reduce of S bytes over n ranks, each
 * element must be combined n - 1 times, by any rank, and each result must reach n - 1 others:
 *
 *      limit = line + (n - 1) (sum(S) + copy(S)) / the smaller of n and the number of cores
 */
#ifndef PAIRWISE_BENCH_LIMITS_H
#define PAIRWISE_BENCH_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/util/stats.h"

typedef struct {
    samples line, copy, sum;
    double line_us, copy_us, sum_us; /* medians */
} limits;

/* One round of measuring for buffers of so many bytes, some milliseconds. False, and why on stderr, if there is no
 * memory or no process for it. */
bool limits_round(limits *l, size_t bytes);

/* After the last round, before the numbers are used. */
void limits_settle(limits *l);
void limits_free(limits *l);

double limits_message_us(const limits *l);
double limits_all_reduce_us(const limits *l, int ranks, int cores);

#endif
