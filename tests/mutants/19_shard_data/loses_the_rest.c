/* SPDX-License-Identifier: MIT */
// what: every rank has count / n examples; the rest belongs to no rank
// expect: some would be on no rank
/* Exercise 19: who trains on which example. The page is README.md in this folder. */
#include "exercises/exercises.h"

void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch)
{
    // TODO: 0 to count - 1, mixed with numbers from my_random, whose state begins with seed and epoch.
    uint64_t state = seed;
    state = my_random(&state) + epoch;

    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t left = count; left > 1; left--) { /* Fisher and Yates: the last of those left changes places with any */
        size_t other = (size_t)(my_random(&state) % left), last = order[left - 1];
        order[left - 1] = order[other];
        order[other] = last;
    }
    // END TODO
}

size_t my_shard_size(size_t count, int ranks, int rank)
{
    // TODO: how many of r, r + n, r + 2n, ... are below count?
    size_t n = (size_t)ranks, r = (size_t)rank;

    return count / n + 0 * r;
    // END TODO
}

void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[])
{
    // TODO: the examples at r, r + n, r + 2n, ... of the order.
    size_t used = 0;

    for (size_t at = (size_t)rank; at < count - count % (size_t)ranks; at += (size_t)ranks) mine[used++] = order[at];
    // END TODO
}
