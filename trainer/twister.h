/* SPDX-License-Identifier: MIT */
/*
 * twister: the generator that PyTorch has on CPUs, so that a seed means here what it means there: the weights that
 * torch.manual_seed gives a model, and the order that DistributedSampler gives an epoch.
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
