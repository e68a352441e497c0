/* SPDX-License-Identifier: MIT */
// what: stores what comes from any source where the probed rank's belongs
// expect: Behind a probe rank 0 receives from any source
/*
 * Exercise 36: seven mistakes that show in some orders of messages only. The page is README.md in this folder. As handed
 * in, each function has one: find it, mend it, name it.
 */
#include "exercises/exercises.h"

enum { NUMBER = 36, GOODBYE = 37 }; /* tags; of rounds: NUMBER and the round */

const enum my_mistake my_names[7] = {
    MY_ARRIVAL, MY_NEXT_ROUND, MY_PROBED_ANOTHER, MY_ALREADY_TAKEN, MY_NOT_YET, MY_ROUNDED, MY_ANOTHER_KIND,
};

p2p_err my_collect(p2p_comm *comm, double mine, double all[])
{
    p2p_err err = P2P_OK;

    if (p2p_rank(comm)) return p2p_send(comm, &mine, sizeof mine, 0, NUMBER);
    all[0] = mine;
    for (int i = 1; i < p2p_size(comm) && !err; i++) {
        p2p_status from;
        err = p2p_probe(comm, P2P_ANY_SOURCE, NUMBER, &from);
        if (!err) err = p2p_recv(comm, &all[from.source], sizeof mine, P2P_ANY_SOURCE, NUMBER, P2P_STATUS_IGNORE);
    }
    return err;
}

p2p_err my_two_rounds(p2p_comm *comm, const double mine[2], double sums[2])
{
    p2p_err err = P2P_OK;

    for (int round = 0; round < 2 && !err; round++) {
        double part = 0;
        if (p2p_rank(comm)) {
            err = p2p_send(comm, &mine[round], sizeof part, 0, NUMBER + round);
            continue;
        }
        sums[round] = mine[round];
        for (int i = 1; i < p2p_size(comm) && !err; i++) {
            err = p2p_recv(comm, &part, sizeof part, P2P_ANY_SOURCE, NUMBER + round, P2P_STATUS_IGNORE);
            sums[round] += part;
        }
    }
    return err;
}

static double sum_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += numbers[i];
    return sum;
}

p2p_err my_add_letters(p2p_comm *comm, const double *mine, size_t count, double sums[])
{
    p2p_err err = P2P_OK;

    if (p2p_rank(comm)) return p2p_send(comm, mine, count * sizeof *mine, 0, NUMBER);
    sums[0] = sum_of(mine, count);
    for (int i = 1; i < p2p_size(comm) && !err; i++) {
        double letter[MY_LETTER];
        p2p_status from;
        err = p2p_probe(comm, P2P_ANY_SOURCE, NUMBER, &from);
        if (!err) err = p2p_recv(comm, letter, from.bytes, from.source, NUMBER, P2P_STATUS_IGNORE);
        if (!err) sums[from.source] = sum_of(letter, from.bytes / sizeof *letter);
    }
    return err;
}

p2p_err my_first_and_others(p2p_comm *comm, double mine, double *first, double *others)
{
    p2p_err err = P2P_OK;
    double part = 0;

    if (p2p_rank(comm)) return p2p_send(comm, &mine, sizeof mine, 0, NUMBER);
    *others = 0;
    err = p2p_recv(comm, first, sizeof *first, 1, NUMBER, P2P_STATUS_IGNORE);
    for (int i = 2; i < p2p_size(comm) && !err; i++) {
        err = p2p_recv(comm, &part, sizeof part, P2P_ANY_SOURCE, NUMBER, P2P_STATUS_IGNORE);
        *others += part;
    }
    return err;
}

p2p_err my_look_and_add(p2p_comm *comm, double mine, double *sum)
{
    p2p_err err = P2P_OK;
    double part = 0;
    p2p_status from;

    if (p2p_rank(comm)) return p2p_send(comm, &mine, sizeof mine, 0, NUMBER);
    *sum = mine;
    for (int i = 1; i < p2p_size(comm) && !err; i++) {
        err = p2p_probe(comm, P2P_ANY_SOURCE, NUMBER, &from);
        if (!err) err = p2p_recv(comm, &part, sizeof part, from.source, NUMBER, P2P_STATUS_IGNORE);
        *sum += part;
    }
    return err;
}

p2p_err my_exact_sum(p2p_comm *comm, double mine, double *sum)
{
    p2p_err err = P2P_OK;
    double part = 0;

    if (p2p_rank(comm)) return p2p_send(comm, &mine, sizeof mine, 0, NUMBER);
    *sum = mine;
    for (int q = 1; q < p2p_size(comm) && !err; q++) {
        err = p2p_recv(comm, &part, sizeof part, q, NUMBER, P2P_STATUS_IGNORE);
        *sum += part;
    }
    return err;
}

p2p_err my_sum_and_goodbye(p2p_comm *comm, double mine, double *sum)
{
    p2p_err err = P2P_OK;
    double part = 0;

    if (p2p_rank(comm)) {
        err = p2p_send(comm, &mine, sizeof mine, 0, NUMBER);
        return err ? err : p2p_send(comm, NULL, 0, 0, GOODBYE);
    }
    *sum = mine;
    for (int i = 1; i < p2p_size(comm) && !err; i++) {
        err = p2p_recv(comm, &part, sizeof part, P2P_ANY_SOURCE, NUMBER, P2P_STATUS_IGNORE);
        *sum += part;
    }
    for (int i = 1; i < p2p_size(comm) && !err; i++)
        err = p2p_recv(comm, NULL, 0, P2P_ANY_SOURCE, GOODBYE, P2P_STATUS_IGNORE);
    return err;
}
