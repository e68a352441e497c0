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
    (void)ranks;
    return -1;
    // END TODO
}

/* Everyone sends its buffer to rank 0, one after the other; rank 0 sends the result to everyone, one after the other. */
my_cost my_naive_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: messages and bytes that rank 0 sends; the seconds of all that follows each other.
    (void)ranks, (void)bytes, (void)latency, (void)bandwidth;
    return (my_cost){-1, -1, -1};
    // END TODO
}

/* A binomial tree up to rank 0, and down again. */
my_cost my_tree_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: the same, in rounds_of(ranks) rounds up and as many down; rank 0 sends on the way down only.
    (void)rounds_of(ranks), (void)bytes, (void)latency, (void)bandwidth;
    return (my_cost){-1, -1, -1};
    // END TODO
}

/* Reduce-scatter and all-gather; `bytes` is a multiple of `ranks`. */
my_cost my_ring_cost(int ranks, double bytes, double latency, double bandwidth)
{
    // TODO: how many steps, and what does a rank send in each?
    (void)ranks, (void)bytes, (void)latency, (void)bandwidth;
    return (my_cost){-1, -1, -1};
    // END TODO
}

double my_break_even(int ranks, double latency, double bandwidth)
{
    // TODO: set the seconds of the tree and of the ring equal, and solve for bytes. Negative: then it is 0.
    (void)ranks, (void)latency, (void)bandwidth;
    return -1;
    // END TODO
}
