/* SPDX-License-Identifier: MIT */
// what: takes 1 and the rank from the count, which may be less
// expect: A size_t is never below 0
// expect: nothing is subtracted
#include "exercises/exercises.h"

void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch)
{
    uint64_t state = seed;
    state = my_random(&state) + epoch;

    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t left = count; left > 1; left--) { /* Fisher and Yates: the last of those left changes places with any */
        size_t other = (size_t)(my_random(&state) % left), last = order[left - 1];
        order[left - 1] = order[other];
        order[other] = last;
    }
}

size_t my_shard_size(size_t count, int ranks, int rank)
{
    size_t n = (size_t)ranks, r = (size_t)rank;

    return (count - 1 - r) / n + 1;
}

void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[])
{
    size_t used = 0;

    for (size_t at = (size_t)rank; at < count; at += (size_t)ranks) mine[used++] = order[at];
}
