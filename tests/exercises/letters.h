/* SPDX-License-Identifier: MIT */
/*
 * letters: those who send in the test of 04_tags_and_probe. What is not asked for lies there first.
 *
 *      pick       a bystander's messages lie there already, with the same tags; the source sends its own in another order
 *      letter     before the letter that is asked for, one with another tag; letters of many lengths
 *      anyone     one letter from each other rank, the last rank's first, which is the longest; all lie there
 */
#ifndef PAIRWISE_TESTS_EXERCISES_LETTERS_H
#define PAIRWISE_TESTS_EXERCISES_LETTERS_H

#include "exercises/check/check.h"

enum { PICK, LETTER, ANYONE }; /* variants */
enum { GO = 3, DECOY = 5, MOST = 32 };

/* ---- What both sides know ---- */

/* The rank asked for, and one that only gets in the way (-1: there are but two ranks). */
static inline int source_of(const check_case *c)
{
    return (c->root + 1) % c->ranks;
}

static inline int bystander_of(const check_case *c)
{
    return c->ranks > 2 ? (c->root + 2) % c->ranks : -1;
}

static inline int tag_of(size_t i)
{
    return 10 + (int)(i * 7 % MOST); /* all different, neither rising nor falling */
}

/* Elements of a letter from rank; with ANYONE each has its own length. */
static inline size_t letter_length(const check_case *c, int rank)
{
    return c->variant == ANYONE ? c->count + 13 * (size_t)rank : c->count;
}

/* ---- In a rank: those who send ---- */

/* The letter that is sent k-th: neither the order of tags[] nor its reverse. */
static inline size_t sent_at(const check_case *c, size_t k)
{
    return c->count % 3 ? (k * 3 + 1) % c->count : (k + 1) % c->count;
}

static inline void send_picks(p2p_comm *comm, const check_case *c)
{
    p2p_request requests[MOST];
    int values[MOST];

    for (size_t k = 0; k < c->count; k++) {
        size_t i = sent_at(c, k);
        values[i] = (int)check_value(c, p2p_rank(comm), i);
        p2p_isend(comm, &values[i], sizeof values[i], c->root, tag_of(i), &requests[k]);
    }
    p2p_wait_all(c->count, requests, P2P_STATUSES_IGNORE);
}

static inline void send_letter(p2p_comm *comm, const check_case *c, int tag)
{
    size_t count = letter_length(c, p2p_rank(comm));
    void *letter = check_buffer(c, p2p_rank(comm), count, DTYPE_I32);

    p2p_send(comm, letter, count * sizeof(int32_t), c->root, tag);
}

static inline void run_sender(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    p2p_request decoy;

    if (c->variant == ANYONE) {
        p2p_recv(comm, NULL, 0, c->root, GO, P2P_STATUS_IGNORE);
        send_letter(comm, c, tag_of((size_t)rank));
        return;
    }
    if (rank == bystander_of(c) && c->variant == PICK) send_picks(comm, c);
    if (rank != source_of(c)) return;
    p2p_recv(comm, NULL, 0, c->root, GO, P2P_STATUS_IGNORE);
    if (c->variant == PICK) {
        send_picks(comm, c);
        return;
    }
    p2p_isend(comm, "decoy", DECOY, c->root, tag_of(1), &decoy);
    send_letter(comm, c, tag_of(0));
    p2p_wait(&decoy, P2P_STATUS_IGNORE);
}

#endif
