/* SPDX-License-Identifier: MIT */
/* ranks: what several benches do in their ranks. */
#ifndef PAIRWISE_BENCH_UTIL_RANKS_H
#define PAIRWISE_BENCH_UTIL_RANKS_H

#include "p2p/p2p.h"

/* Rank 0's number, on all ranks: for example how often to repeat something. */
size_t ranks_agree(p2p_comm *world, size_t number);

/* Is this the process that prints: the one that has started the ranks, or rank 0 of those that a launcher has? */
bool ranks_is_first(void);

/* For a bench that compares jobs of different settings, which a launcher's one job cannot have: if a launcher has started it,
 * says so and exits with 2. */
void ranks_need_own_jobs(const char *bench);

/* Memory as programs have it: aligned to a cache line, zeroed, and so mapped before the clock runs. NULL, and said so,
 * if there is none. Give it to free(). */
void *ranks_buffer(const char *bench, size_t bytes);

#endif
