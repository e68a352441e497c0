/* SPDX-License-Identifier: MIT */
/* pairs: in each round the ranks are paired anew; the lower one sends first, the higher one receives first. */
#include "tests/right/right.h"

enum { ROUNDS = 40 };

/* The same pairs for every seed: i meets (round - i) mod size. */
static void meet(right_program *p, int round)
{
    int other = ((round - p->rank) % p->size + p->size) % p->size;
    uint64_t mine = (uint64_t)(p->rank * 1000 + round), theirs;

    right_compute(p);
    if (other == p->rank) return;
    if (p->rank < other) p2p_send(p->world, &mine, sizeof mine, other, 0);
    p2p_recv(p->world, &theirs, sizeof theirs, other, 0, P2P_STATUS_IGNORE);
    if (p->rank > other) p2p_send(p->world, &mine, sizeof mine, other, 0);
    right_add(p, theirs);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) meet(&p, round);
    return right_finish(&p);
}
