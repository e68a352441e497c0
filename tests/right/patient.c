/* SPDX-License-Identifier: MIT */
/* patient: all wait or poll for more than a second, but for one rank that computes: no reason to warn. */
#include "tests/right/right.h"

/* Odd ranks block, even ones poll, rank 0 keeps them waiting. */
static void wait_long(right_program *p)
{
    p2p_request receive;
    bool done = p->rank % 2;
    uint64_t value;

    p2p_irecv(p->world, &value, sizeof value, 0, 1, &receive);
    while (!done) p2p_test(&receive, &done, P2P_STATUS_IGNORE);
    if (receive) p2p_wait(&receive, P2P_STATUS_IGNORE);
    right_add(p, value);
}

static void keep_waiting(right_program *p)
{
    double until = p2p_time(p->world) + 1.5;

    while (p2p_time(p->world) < until) usleep(1000);
    for (int q = 1; q < p->size; q++) {
        uint64_t value = (uint64_t)q;
        p2p_send(p->world, &value, sizeof value, q, 1);
    }
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    if (p.rank == 0)
        keep_waiting(&p);
    else
        wait_long(&p);
    return right_finish(&p);
}
