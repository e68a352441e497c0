/* SPDX-License-Identifier: MIT */
/*
 * model: how long an all-reduce should take, from what one message and one combination cost (costs.h).
 *
 *      path      the longest chain of messages and combinations that wait for each other, with a core for each rank
 *      work      what all ranks do together, divided by the cores there are
 *      time      the larger of the two, and what it takes until all have begun
 *
 * m, w, c: message, work, combine of so many bytes; S: the buffer; n: ranks; d = log2 n rounded up; n = p + e, p = 2^k.
 *
 *      algorithm   path                                 work * cores                          messages of all ranks
 *      naive       2(n-1) m(S) + (n-1) c(S)             2(n-1) w(S) + (n-1) c(S)              2(n-1)
 *      tree        2d m(S) + d c(S)                     2(n-1) w(S) + (n-1) c(S)              2(n-1)
 *      doubling    k (m(S) + c(S)), and if e > 0        (pk + 2e) w(S) + (pk + e) c(S)        pk + 2e
 *                  2 m(S) + c(S) more
 *      ring        2(n-1) m(S/n) + (n-1) c(S/n)         2n(n-1) w(S/n) + n(n-1) c(S/n)        2n(n-1)
 *
 * With no more ranks than cores, w is m: no two ranks share a core.
 *
 * On a virtual network a rank combines while the next message comes in, so that of the hub's combinations only the last
 * takes time: naive is 2(n-1) m(S) + c(S) there, if combining is quicker than receiving.
 */
#ifndef PAIRWISE_BENCH_MODEL_H
#define PAIRWISE_BENCH_MODEL_H

#include "bench/util/costs.h"

typedef struct {
    double path_us, work_us, us;
} model_time;

/* False if there is no model for the algorithm ("auto" is one of the others). */
bool model_all_reduce(const costs *c, const char *algorithm, int ranks, size_t bytes, model_time *time);

#endif
