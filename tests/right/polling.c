/* SPDX-License-Identifier: MIT */
/* polling: no rank ever blocks: all ranks exchange messages with p2p_test and p2p_iprobe only. */
#include "tests/right/right.h"

enum { ROUNDS = 10, WORDS = 10000 };

static uint64_t sent[WORDS], got[WORDS];

static void poll_until_done(right_program *p, p2p_request *request)
{
    bool done = false;

    while (!done) {
        right_compute(p);
        p2p_test(request, &done, P2P_STATUS_IGNORE);
    }
}

static void exchange(right_program *p, int round)
{
    int right = (p->rank + 1) % p->size, left = (p->rank + p->size - 1) % p->size;
    size_t words = round % 3 ? 5 : WORDS;
    p2p_request send, receive;
    bool found = false;

    for (size_t i = 0; i < words; i++) sent[i] = (uint64_t)(p->rank * ROUNDS + round) * WORDS + i;
    p2p_isend(p->world, sent, words * sizeof *sent, right, round, &send);
    while (!found) {
        right_compute(p);
        p2p_iprobe(p->world, left, round, &found, P2P_STATUS_IGNORE);
    }
    p2p_irecv(p->world, got, sizeof got, left, round, &receive);
    poll_until_done(p, &receive);
    poll_until_done(p, &send);
    for (size_t i = 0; i < words; i++) right_add(p, got[i]);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) exchange(&p, round);
    return right_finish(&p);
}
