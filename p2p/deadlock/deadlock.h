/* SPDX-License-Identifier: MIT */
/* deadlock: from the picture of the board to a diagnosis. watch.c says who is stuck, heart.c whom to name, verdict.c what the
 * mistake was. */
#ifndef PAIRWISE_P2P_DEADLOCK_H
#define PAIRWISE_P2P_DEADLOCK_H

#include "p2p/job/launch.h"

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

/* The record of a deadlock. Its places: the heart in order, each rank's pending operations after it; the message that would
 * do but for one thing; those that have finished; those behind, or stuck as well, by rank. */
void p2p__diagnose(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_finding *finding);

/* What this place's call waits for, if it waits for several operations: as places after it. */
void p2p__add_pending(p2p_finding *finding, p2p_place *place, const p2p_sight *row);

#endif
