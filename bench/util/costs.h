/* SPDX-License-Identifier: MIT */
/*
 * costs: what one message and one combination cost here and now, by size: the numbers that the model (model.h) uses.
 * Measured by ping-pong, in rounds between those of the bench, so that both see the same machine:
 *
 *      message   half a round trip between two ranks with a core each: latency, and bytes / bandwidth
 *      work      the same with as many pairs as cores at once: how long a message keeps a core busy, both ends together,
 *                when all cores work and share the memory
 *      combine   dtype_combine, on all cores at once
 *      begin     an empty collective of all ranks after a barrier: ranks that share a core come late, and all must
 *                agree
 *
 * Between measured sizes the cost is interpolated. On a virtual network a message is half a virtual round trip, and
 * combining costs what the network's profile says; work and begin cost nothing, because every rank has a machine of its
 * own.
 */
#ifndef PAIRWISE_BENCH_COSTS_H
#define PAIRWISE_BENCH_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/util/stats.h"

enum { COSTS_SIZES = 6 };

/* Microseconds by size. */
typedef struct {
    samples us[COSTS_SIZES];
    double median[COSTS_SIZES];
} costs_curve;

typedef struct {
    int cores;
    bool is_virtual;
    costs_curve message, work, combine;
    samples begin_us;
    double begin; /* median */
} costs;

extern const size_t costs_sizes[COSTS_SIZES];

/* One round of measuring, about a quarter of a second, for jobs of so many ranks; world and network as in p2p_options.
 * False if a job failed. */
bool costs_round(costs *c, int ranks, const char *world, const char *network);

/* After the last round, and before costs_us. */
void costs_settle(costs *c);
void costs_free(costs *c);

/* What so many bytes cost, in microseconds. */
double costs_us(const costs_curve *curve, double bytes);

/* Cores this process may use. */
int costs_cores(void);

#endif
