/* SPDX-License-Identifier: MIT */
/* ranks: what several benches do in their ranks. */
#ifndef PAIRWISE_BENCH_UTIL_RANKS_H
#define PAIRWISE_BENCH_UTIL_RANKS_H

#include "p2p/p2p.h"

/* Rank 0's number, on all ranks: for example how often to repeat something. */
size_t ranks_agree(p2p_comm *world, size_t number);

/* Memory as programs have it: aligned to a cache line, zeroed, and so mapped before the clock runs. NULL, and said so,
 * if there is none. Give it to free(). */
void *ranks_buffer(const char *bench, size_t bytes);

#endif
