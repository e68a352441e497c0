/* SPDX-License-Identifier: MIT */
/* master_worker: rank 0 hands out tasks to ranks that are free, and collects results from any rank. */
#include "tests/right/right.h"

enum { TASKS = 60, TASK = 1, STOP = 2, RESULT = 3 };

static void work(right_program *p)
{
    p2p_status status;
    int task;

    for (;;) {
        p2p_recv(p->world, &task, sizeof task, 0, P2P_ANY_TAG, &status);
        if (status.tag == STOP) return;
        right_compute(p);
        uint64_t result = (uint64_t)task * (uint64_t)task;
        p2p_send(p->world, &result, sizeof result, 0, RESULT);
    }
}

/* Give worker q the next task, or none: is it still at work? */
static bool hand_out(right_program *p, int q, int *next)
{
    bool more = *next < TASKS;

    p2p_send(p->world, next, sizeof *next, q, more ? TASK : STOP);
    if (more) ++*next;
    return more;
}

static void lead(right_program *p)
{
    int next = 0, at_work = 0;
    p2p_status status;
    uint64_t result;

    for (int q = 1; q < p->size; q++) at_work += hand_out(p, q, &next);
    while (at_work > 0) {
        p2p_recv(p->world, &result, sizeof result, P2P_ANY_SOURCE, RESULT, &status);
        right_add(p, result);
        at_work -= !hand_out(p, status.source, &next);
    }
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    if (p.rank == 0)
        lead(&p);
    else
        work(&p);
    return right_finish(&p);
}
