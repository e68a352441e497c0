/* SPDX-License-Identifier: MIT */
/*
 * in_a_row: cases in which a learner's function is called twice and one rank is late: it waits until rank 1 has returned
 * from both calls and who is to be misled has read what it sent, so rank 1's message of the second call is taken before the
 * late rank's of the first is there.
 */
#ifndef PAIRWISE_TESTS_EXERCISES_IN_A_ROW_H
#define PAIRWISE_TESTS_EXERCISES_IN_A_ROW_H

#include "exercises/check/check.h"

#define IN_A_ROW_S 2.0 /* at most: in some ways to write it rank 1 waits for the late rank */

/* In the late rank. door: a communicator of the same ranks that the learner's function does not use. */
static inline void in_a_row_wait(p2p_comm *door, int misled)
{
    double until = p2p_time(door) + IN_A_ROW_S;
    bool there = false;
    while (!(there && check_has_read(door, misled, 1)) && p2p_time(door) < until)
        p2p_iprobe(door, 1, 0, &there, P2P_STATUS_IGNORE);
}

/* In all ranks, behind both calls. Frees the door. */
static inline void in_a_row_end(p2p_comm *door, int late)
{
    if (p2p_rank(door) == 1) p2p_send(door, NULL, 0, late, 0);
    if (p2p_rank(door) == late) p2p_recv(door, NULL, 0, 1, 0, P2P_STATUS_IGNORE);
    p2p_free(door);
}

/* Judges a root that received from any source; rank 2 is the late one. what: is sent to the root. */
static inline void in_a_row_judge_root(const check_case *c, const char *what)
{
    if (check_number_of(c, c->root, "any source") > 0)
        check_fail(
            c, "next_call",
            "Rank %d, the root, took a %s of the second call for one of the first: rank 1 had sent both when rank "
            "2, which was late, sent its first one.",
            c->root, what);
}

#endif
