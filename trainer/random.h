/* SPDX-License-Identifier: MIT */
/*
 * random: numbers that depend on what they are for and on nothing else. There is no generator with a state: number i of
 * a stream is a function of (seed, stream, key, i), so any rank can ask for any of them, in any order, and a resumed
 * run needs no state but its seed.
 */
#ifndef PAIRWISE_TRAINER_RANDOM_H
#define PAIRWISE_TRAINER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What a number is for. The keys: an epoch, a class, an image, a tensor. The values are part of what the numbers depend
 * on. */
enum train_stream { STREAM_AUGMENT = 2, STREAM_PATTERN, STREAM_IMAGE, STREAM_FACTOR };

typedef struct {
    uint64_t key;
} train_random;

/* The numbers for this purpose. */
train_random train__random(uint64_t seed, enum train_stream stream, uint64_t key);

/* Number i: 64 bits; below limit (limit > 0); in [0, 1). */
uint64_t train__bits(train_random from, uint64_t i);
size_t train__below(train_random from, uint64_t i, size_t limit);
double train__uniform(train_random from, uint64_t i);

#endif
