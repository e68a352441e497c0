/* SPDX-License-Identifier: MIT */
// what: counts down from count - 1 where count is 0
// expect: divides by zero
// expect: Which number is 0 here
// expect: count - 1 of a size_t that is 0
#include "exercises/exercises.h"

void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch)
{
    uint64_t state = seed * 1000003 + epoch;
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = my_random(&state) % (i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

size_t my_shard_size(size_t count, int ranks, int rank)
{
    size_t each = count / (size_t)ranks;
    return (size_t)rank < count % (size_t)ranks ? each + 1 : each;
}

void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[])
{
    size_t k = 0;
    for (size_t i = (size_t)rank; i < count; i += (size_t)ranks) mine[k++] = order[i];
}
