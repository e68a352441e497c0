/* SPDX-License-Identifier: MIT */
/* Counter-based random numbers: the finaliser of SplitMix64 (Steele, Lea and Flood 2014) over a counter. */
#include "trainer/random.h"

static const uint64_t golden = 0x9e3779b97f4a7c15u;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

train_random train__random(uint64_t seed, enum train_stream stream, uint64_t key)
{
    uint64_t state = mix(seed + golden);
    state = mix(state + golden * (1 + (uint64_t)stream));
    return (train_random){mix(state + golden * (1 + key))};
}

uint64_t train__bits(train_random from, uint64_t i)
{
    return mix(from.key + golden * (1 + i));
}

/* The high half of a 32.32 product: the bias is below limit / 2^32. */
size_t train__below(train_random from, uint64_t i, size_t limit)
{
    return (size_t)(((train__bits(from, i) >> 32) * (uint64_t)limit) >> 32);
}

double train__uniform(train_random from, uint64_t i)
{
    return (double)(train__bits(from, i) >> 11) * 0x1p-53;
}
