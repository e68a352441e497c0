/* SPDX-License-Identifier: MIT */
/*
 * pattern: message contents that say who sent them. Every eight bytes are a function of a key (made of source,
 * destination and tag) and of their place, so that a message from the wrong rank, a shifted or stale one is noticed.
 */
#ifndef PAIRWISE_TESTS_PATTERN_H
#define PAIRWISE_TESTS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

uint64_t pattern_key(int source, int dest, int tag);

void pattern_fill(void *buf, size_t bytes, uint64_t key);

/* The first byte that is not what pattern_fill wrote, or `bytes` if all are. */
size_t pattern_wrong(const void *buf, size_t bytes, uint64_t key);

/* The next number of a small generator; the same sequence everywhere for the same seed. */
uint32_t pattern_random(uint64_t *state);

#endif
