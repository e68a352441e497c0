/* SPDX-License-Identifier: MIT */
/*
 * twister: PyTorch's generator on CPUs, so that a seed gives the same numbers as in PyTorch: the weights of a model
 * after torch.manual_seed, and the order of an epoch by DistributedSampler.
 */
#ifndef PAIRWISE_TRAINER_TWISTER_H
#define PAIRWISE_TRAINER_TWISTER_H

#include <stddef.h>
#include <stdint.h>

enum { TWISTER_WORDS = 624 };

typedef struct {
    uint32_t state[TWISTER_WORDS];
    int used; /* words of the state that have been given out */
} train_twister;

/* As torch.manual_seed: the low 32 bits of the seed count. */
void train__twister(train_twister *twister, uint64_t seed);

/* The next 32 bits. */
uint32_t train__twister_bits(train_twister *twister);

/* The next number in [0, 1): a multiple of 2^-24. */
float train__twister_uniform(train_twister *twister);

#endif
