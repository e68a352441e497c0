/* SPDX-License-Identifier: MIT */
/* MT19937: Matsumoto and Nishimura, "Mersenne Twister", 1998, seeded as in their version of 2002. */
#include "trainer/twister.h"

enum { MIDDLE = 397 };

void train__twister(train_twister *twister, uint64_t seed)
{
    uint32_t *state = twister->state;
    state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < TWISTER_WORDS; i++) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    twister->used = TWISTER_WORDS;
}

/* The highest bit of one word and the rest of the next, a step of the shift register. */
static uint32_t twist(uint32_t high, uint32_t low)
{
    uint32_t joined = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (joined >> 1) ^ (low & 1 ? 0x9908b0dfu : 0);
}

static void renew(uint32_t state[TWISTER_WORDS])
{
    int i = 0;
    for (; i < TWISTER_WORDS - MIDDLE; i++) state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1]);
    for (; i < TWISTER_WORDS - 1; i++) state[i] = state[i + MIDDLE - TWISTER_WORDS] ^ twist(state[i], state[i + 1]);
    state[i] = state[MIDDLE - 1] ^ twist(state[i], state[0]);
}

uint32_t train__twister_bits(train_twister *twister)
{
    if (twister->used == TWISTER_WORDS) {
        renew(twister->state);
        twister->used = 0;
    }
    uint32_t bits = twister->state[twister->used++];
    bits ^= bits >> 11;
    bits ^= (bits << 7) & 0x9d2c5680u;
    bits ^= (bits << 15) & 0xefc60000u;
    return bits ^ (bits >> 18);
}

float train__twister_uniform(train_twister *twister)
{
    return (float)(train__twister_bits(twister) & 0xffffffu) * 0x1p-24f;
}
