/* SPDX-License-Identifier: MIT */
/* Exercise 19: who trains on which example. The page is README.md in this folder. */
#include "exercises/exercises.h"

void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch)
{
    // TODO: 0 to count - 1, mixed with numbers from my_random, whose state begins with seed and epoch.
    (void)order, (void)count, (void)seed, (void)epoch;
    // END TODO
}

size_t my_shard_size(size_t count, int ranks, int rank)
{
    // TODO: how many of r, r + n, r + 2n, ... are below count?
    (void)count, (void)ranks, (void)rank;
    return 0;
    // END TODO
}

void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[])
{
    // TODO: the examples at r, r + n, r + 2n, ... of the order.
    (void)order, (void)count, (void)ranks, (void)rank, (void)mine;
    // END TODO
}
