/* SPDX-License-Identifier: MIT */
/* all_to_all: every rank sends to every rank at once, itself included: every possible link is opened. */
#include "tests/right/right.h"

enum { WORDS = 20 };

static void post_all(right_program *p, uint64_t (*sent)[WORDS], uint64_t (*got)[WORDS], p2p_request requests[])
{
    for (int q = 0; q < p->size; q++) {
        for (int i = 0; i < WORDS; i++)
            sent[q][i] = ((uint64_t)p->rank * P2P_MAX_RANKS + (uint64_t)q) * WORDS + (uint64_t)i;
        p2p_irecv(p->world, got[q], sizeof got[q], q, 1, &requests[q]);
    }
    right_compute(p);
    for (int q = 0; q < p->size; q++) p2p_isend(p->world, sent[q], sizeof sent[q], q, 1, &requests[p->size + q]);
}

int main(int argc, char **argv)
{
    static uint64_t sent[P2P_MAX_RANKS][WORDS], got[P2P_MAX_RANKS][WORDS];
    static p2p_request requests[2 * P2P_MAX_RANKS];
    right_program p;

    right_start(&p, argc, argv);
    post_all(&p, sent, got, requests);
    p2p_wait_all(2 * (size_t)p.size, requests, P2P_STATUSES_IGNORE);
    for (int q = 0; q < p.size; q++)
        for (int i = 0; i < WORDS; i++) right_add(&p, got[q][i]);
    return right_finish(&p);
}
