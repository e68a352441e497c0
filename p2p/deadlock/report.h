/* SPDX-License-Identifier: MIT */
/* report: what the files that put a failure into words share. */
#ifndef PAIRWISE_P2P_REPORT_H
#define PAIRWISE_P2P_REPORT_H

#include "p2p/job/launch.h"

#define WAITERS_SHOWN 8

/* Text that grows and never overflows. */
typedef struct {
    char text[6000];
    size_t used;
} p2p_words;

__attribute__((format(printf, 2, 3))) void p2p__add(p2p_words *w, const char *format, ...);

/* "rank 3", "ranks 1 and 2", "ranks 0, 1 or 5" */
void p2p__add_ranks(p2p_words *w, const int *ranks, int count, const char *last);

int p2p__list_of(const p2p_rank_set *set, int size, int *ranks);

/* Finished, or waiting in p2p_finalize? */
bool p2p__is_over(p2p_job *job, int rank);

/* Does this call wait for several operations, listed in its row? */
bool p2p__has_items(const p2p_sight *row);

/* ---- heart.c ---- */

/* The heart of a deadlock: ranks that wait for each other and for nobody else who is stuck (a knot: Holt 1972), or one
 * rank that waits for somebody who has finished. Everyone who is stuck waits for such a group, directly or not. */
typedef struct {
    int ranks[P2P_MAX_RANKS], length;
    bool is_cycle;
    p2p_rank_set set, behind;
} p2p_heart;

void p2p__find_heart(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_heart *heart);

/* Whom a stuck rank waits for in vain. */
void p2p__lacking(p2p_job *job, int rank, const p2p_rank_set *can_act, p2p_rank_set *lack);

/* ---- verdict.c ---- */

/* What the mistake is, and what to try. May use `text`. */
typedef struct {
    const char *mistake, *advice;
} p2p_verdict;

p2p_verdict p2p__judge(p2p_job *job, const p2p_heart *heart, const p2p_rank_set *can_act, char *text, size_t bytes);

#endif
