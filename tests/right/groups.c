/* SPDX-License-Identifier: MIT */
/* groups: split by colour again and again; a sum in each group, while world messages are under way. */
#include "tests/right/right.h"

enum { ROUNDS = 10 };

static void sum_to_first(right_program *p, p2p_comm *group, uint64_t value)
{
    uint64_t other;

    if (p2p_rank(group) > 0) p2p_send(group, &value, sizeof value, 0, 1);
    for (int q = 1; p2p_rank(group) == 0 && q < p2p_size(group); q++) {
        p2p_recv(group, &other, sizeof other, P2P_ANY_SOURCE, 1, P2P_STATUS_IGNORE);
        value += other;
    }
    if (p2p_rank(group) == 0) right_add(p, value);
}

static void round_of_groups(right_program *p, int round)
{
    int right = (p->rank + 1) % p->size, left = (p->rank + p->size - 1) % p->size;
    uint64_t mine = (uint64_t)(p->rank + round), theirs;
    p2p_request requests[2];
    p2p_comm *group;

    p2p_irecv(p->world, &theirs, sizeof theirs, left, 1, &requests[0]);
    p2p_isend(p->world, &mine, sizeof mine, right, 1, &requests[1]);
    right_compute(p);
    p2p_split(p->world, p->rank % (round % 3 + 1), -p->rank, &group);
    right_compute(p);
    sum_to_first(p, group, mine * 10);
    p2p_free(group);
    p2p_wait_all(2, requests, P2P_STATUSES_IGNORE);
    right_add(p, theirs);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) round_of_groups(&p, round);
    return right_finish(&p);
}
