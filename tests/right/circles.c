/* SPDX-License-Identifier: MIT */
/* circles: large isend and irecv round the ring, waited for in an order that the seed decides. */
#include "tests/right/right.h"

enum { ROUNDS = 8, WORDS = 50000 };

static uint64_t sent[WORDS], got[WORDS];

static void circle(right_program *p, int round)
{
    int right = (p->rank + 1) % p->size, left = (p->rank + p->size - 1) % p->size;
    p2p_request requests[2];

    for (size_t i = 0; i < WORDS; i++) sent[i] = (uint64_t)(p->rank * ROUNDS + round) * WORDS + i;
    right_compute(p);
    p2p_isend(p->world, sent, sizeof sent, right, 3, &requests[0]);
    right_compute(p);
    p2p_irecv(p->world, got, sizeof got, left, 3, &requests[1]);
    right_compute(p);
    uint32_t first = right_random(p) % 2;
    p2p_wait(&requests[first], P2P_STATUS_IGNORE);
    right_compute(p);
    p2p_wait(&requests[1 - first], P2P_STATUS_IGNORE);
    for (size_t i = 0; i < WORDS; i++) right_add(p, got[i]);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) circle(&p, round);
    return right_finish(&p);
}
