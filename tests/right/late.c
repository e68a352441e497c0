/* SPDX-License-Identifier: MIT */
/* late: receivers that come late, by tag and in another order than was sent, or not before a probe. */
#include "tests/right/right.h"

enum { ROUNDS = 6, EACH = 8, MOST = 16 };

static void send_all(right_program *p, uint64_t values[], p2p_request requests[])
{
    for (int dest = 0; dest < p->size; dest++)
        for (int tag = 0; tag < EACH; tag++) {
            int i = dest * EACH + tag;
            values[i] = (uint64_t)(p->rank * 100 + tag);
            p2p_isend(p->world, &values[i], sizeof values[i], dest, tag, &requests[i]);
        }
}

static void receive_all(right_program *p)
{
    uint64_t value;

    for (int tag = EACH; tag-- > 0;)
        for (int i = 0; i < p->size; i++) {
            int source = (p->rank + i) % p->size;
            right_compute(p);
            if (tag % 2) p2p_probe(p->world, source, tag, P2P_STATUS_IGNORE);
            p2p_recv(p->world, &value, sizeof value, source, tag, P2P_STATUS_IGNORE);
            right_add(p, value);
        }
}

static void round_of_messages(right_program *p)
{
    uint64_t values[MOST * EACH];
    p2p_request requests[MOST * EACH];

    send_all(p, values, requests);
    receive_all(p);
    p2p_wait_all((size_t)(p->size * EACH), requests, P2P_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    right_program p;

    right_start(&p, argc, argv);
    for (int round = 0; round < ROUNDS; round++) round_of_messages(&p);
    return right_finish(&p);
}
