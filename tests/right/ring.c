/* SPDX-License-Identifier: MIT */
/* ring: values travel round the ring with sendrecv, sizes on both sides of 64 KiB. */
#include "tests/right/right.h"

enum { ROUNDS = 20, WORDS = 10000 };

static uint64_t sent[WORDS], got[WORDS];

static void step(right_program *p, int round)
{
    int right = (p->rank + 1) % p->size, left = (p->rank + p->size - 1) % p->size;
    size_t bytes = (round % 4 ? 10 : WORDS) * sizeof *sent;

    for (size_t i = 0; i < bytes / sizeof *sent; i++) sent[i] = (uint64_t)(p->rank * ROUNDS + round) * WORDS + i;
    right_compute(p);
    p2p_sendrecv(p->world, sent, bytes, right, round, got, bytes, left, round, P2P_STATUS_IGNORE);
    for (size_t i = 0; i < bytes / sizeof *got; i++) right_add(p, got[i]);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) step(&p, round);
    return right_finish(&p);
}
