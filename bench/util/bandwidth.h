/* SPDX-License-Identifier: MIT */
/*
 * bandwidth: what algbw and busbw are. The factor between them belongs to the operation, never to the algorithm, and
 * stands here and nowhere else (docs/benches.md derives it; tests/bench_all_reduce.c holds it).
 *
 *      algbw     bytes of the buffer / time: what the program sees
 *      busbw     algbw * factor: what the busiest link must carry at least, so that it can be compared with the
 *                hardware, whatever the number of ranks
 */
#ifndef PAIRWISE_BENCH_BANDWIDTH_H
#define PAIRWISE_BENCH_BANDWIDTH_H

#include <stddef.h>

/* All-reduce: of every element a rank must at least send away n-1 parts in n and receive n-1 in n: 2(n-1)/n. */
static inline double bandwidth_all_reduce_factor(int ranks)
{
    return 2.0 * (ranks - 1) / ranks;
}

/* GB/s, 1e9 bytes a second; 0 where there is nothing to divide by. */
static inline double bandwidth_GBps(size_t bytes, double us)
{
    return us > 0 ? (double)bytes / us * 1e-3 : 0;
}

#endif
