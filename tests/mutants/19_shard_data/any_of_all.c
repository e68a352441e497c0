/* SPDX-License-Identifier: MIT */
// what: each place changes places with any of all, not of those that are left
// expect: should come up about 166 times
// expect: % left, not % count
#include "exercises/exercises.h"

void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch)
{
    uint64_t state = seed;
    state = my_random(&state) + epoch;

    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t left = count; left > 1; left--) { /* Fisher and Yates: the last of those left changes places with any */
        size_t other = (size_t)(my_random(&state) % count), last = order[left - 1];
        order[left - 1] = order[other];
        order[other] = last;
    }
}

size_t my_shard_size(size_t count, int ranks, int rank)
{
    size_t n = (size_t)ranks, r = (size_t)rank;

    return count / n + (r < count % n);
}

void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[])
{
    size_t used = 0;

    for (size_t at = (size_t)rank; at < count; at += (size_t)ranks) mine[used++] = order[at];
}
