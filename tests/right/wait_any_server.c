/* SPDX-License-Identifier: MIT */
/* wait_any_server: rank 0 keeps one receive open for each client and serves them as they come. */
#include "tests/right/right.h"

enum { REQUESTS = 25, MOST = 64 };

static void ask(right_program *p)
{
    uint64_t question, answer;

    for (int i = 0; i < REQUESTS; i++) {
        question = (uint64_t)(p->rank * 100 + i);
        right_compute(p);
        p2p_sendrecv(p->world, &question, sizeof question, 0, 1, &answer, sizeof answer, 0, 2, P2P_STATUS_IGNORE);
        right_add(p, answer);
    }
}

static void serve(right_program *p)
{
    p2p_request open[MOST] = {P2P_REQUEST_NULL};
    int left[MOST];
    uint64_t questions[MOST];
    size_t i;

    for (int q = 1; q < p->size; q++) {
        left[q] = REQUESTS;
        p2p_irecv(p->world, &questions[q], sizeof questions[q], q, 1, &open[q]);
    }
    while (p2p_wait_any((size_t)p->size, open, &i, P2P_STATUS_IGNORE) == P2P_OK && i != (size_t)P2P_UNDEFINED) {
        uint64_t answer = questions[i] * 3;
        right_compute(p);
        p2p_send(p->world, &answer, sizeof answer, (int)i, 2);
        if (--left[i] > 0) p2p_irecv(p->world, &questions[i], sizeof questions[i], (int)i, 1, &open[i]);
    }
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    if (p.rank == 0)
        serve(&p);
    else
        ask(&p);
    return right_finish(&p);
}
