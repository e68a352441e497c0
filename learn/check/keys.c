/* SPDX-License-Identifier: MIT */
/*
 * Keys: what a rank's data follow from. Each rank of each world has one of its own, drawn from the secret by SipHash-2-4
 * (Aumasson, Bernstein 2012), which is not known how to invert: from one key neither the secret nor another key follows.
 * Without a secret all keys are 0, and every rank gets the same data.
 */
#include "learn/inside.h"

static uint64_t turn(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
    while (count--) {
        v[0] += v[1], v[2] += v[3];
        v[1] = turn(v[1], 13) ^ v[0], v[3] = turn(v[3], 16) ^ v[2];
        v[0] = turn(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = turn(v[1], 17) ^ v[2], v[3] = turn(v[3], 21) ^ v[0];
        v[2] = turn(v[2], 32);
    }
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

/* Of a message of two words, under the key (secret, 0). */
uint64_t learn_key(uint64_t secret, uint64_t world, uint64_t rank)
{
    if (!secret) return 0;
    uint64_t v[4] = {secret ^ UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d),
                     secret ^ UINT64_C(0x6c7967656e657261), UINT64_C(0x7465646279746573)};
    take(v, world);
    take(v, rank);
    take(v, UINT64_C(16) << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    uint64_t key = v[0] ^ v[1] ^ v[2] ^ v[3];
    return key ? key : 1;
}

uint64_t check_key(const check_case *c, int rank)
{
    return learn_key(c->secret, (uint64_t)c->world, (uint64_t)(unsigned)rank);
}
