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
    // TODO: how often must 1 be doubled until it is at least `ranks`?
    // stub: (void)ranks;
    // stub: return -1;
    int rounds = 0;
    while (1 << rounds < ranks) rounds++;
    return rounds;
    // END TODO
}

/* Everyone sends its buffer to rank 0, one after the other; rank 0 sends the result to everyone, one after the other. */
my_cost my_naive_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: messages and bytes that rank 0 sends; the seconds of all that follows each other.
    // stub: (void)ranks, (void)bytes, (void)latency, (void)bandwidth;
    // stub: return (my_cost){-1, -1, -1};
    double others = ranks - 1;
    return (my_cost){others, others * bytes, 2 * others * (latency + bytes / bandwidth)};
    // END TODO
}

/* A binomial tree up to rank 0, and down again. */
my_cost my_tree_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: the same, in rounds_of(ranks) rounds up and as many down; rank 0 sends on the way down only.
    // stub: (void)rounds_of(ranks), (void)bytes, (void)latency, (void)bandwidth;
    // stub: return (my_cost){-1, -1, -1};
    double rounds = rounds_of(ranks);
    return (my_cost){rounds, rounds * bytes, 2 * rounds * (latency + bytes / bandwidth)};
    // END TODO
}

/* Reduce-scatter and all-gather; `bytes` is a multiple of `ranks`. */
my_cost my_ring_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: how many steps, and what does a rank send in each?
    // stub: (void)ranks, (void)bytes, (void)latency, (void)bandwidth;
    // stub: return (my_cost){-1, -1, -1};
    double steps = 2 * (ranks - 1), chunk = bytes / ranks;
    return (my_cost){steps, steps * chunk, steps * (latency + chunk / bandwidth)};
    // END TODO
}

double my_break_even(int ranks, double latency, double bandwidth)
{
    // TODO: set the seconds of the tree and of the ring equal, and solve for bytes. Negative: then it is 0.
    // stub: (void)ranks, (void)latency, (void)bandwidth;
    // stub: return -1;
    double tree = 2 * rounds_of(ranks), ring = 2 * (ranks - 1); /* messages one after the other */
    double more_latency = (ring - tree) * latency;              /* the ring's, in seconds */
    double less_time_a_byte = (tree - ring / ranks) / bandwidth;
    return more_latency > 0 ? more_latency / less_time_a_byte : 0;
    // END TODO
}
