/* SPDX-License-Identifier: MIT */
// what: the ring's share in whole numbers: (n-1) / n is 0
// expect: That leaves out the ring's bytes
/* SPDX-License-Identifier: MIT */
/*
 * 17_predict: what an all-reduce costs, on paper, before it is measured.
 *
 *      make test EX=17
 */
#include "exercises/exercises.h"

/* ceil(log2 ranks): the rounds of a tree. */
static int rounds_of(int ranks)
{
    int rounds = 0;
    while (1 << rounds < ranks) rounds++;
    return rounds;
}

/* Everyone sends its buffer to rank 0, one after the other; rank 0 sends the result to everyone, one after the other. */
my_cost my_naive_cost(int ranks, double bytes, double latency, double bandwidth)
{
    double others = ranks - 1;
    return (my_cost){others, others * bytes, 2 * others * (latency + bytes / bandwidth)};
}

/* A binomial tree up to rank 0, and down again. */
my_cost my_tree_cost(int ranks, double bytes, double latency, double bandwidth)
{
    double rounds = rounds_of(ranks);
    return (my_cost){rounds, rounds * bytes, 2 * rounds * (latency + bytes / bandwidth)};
}

/* Reduce-scatter and all-gather; `bytes` is a multiple of `ranks`. */
my_cost my_ring_cost(int ranks, double bytes, double latency, double bandwidth)
{
    double steps = 2 * (ranks - 1), chunk = bytes / ranks;
    return (my_cost){steps, steps * chunk, steps * (latency + chunk / bandwidth)};
}

double my_break_even(int ranks, double latency, double bandwidth)
{
    double tree = 2 * rounds_of(ranks), ring = 2 * (ranks - 1); /* messages one after the other */
    double more_latency = (ring - tree) * latency;              /* the ring's, in seconds */
    double less_time_a_byte = (tree - (ranks - 1) / ranks) / bandwidth;
    return more_latency > 0 ? more_latency / less_time_a_byte : 0;
}
