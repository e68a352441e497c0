/* SPDX-License-Identifier: MIT */
/*
 * record: the last calls of each rank, when all have ended (launch --record).
 *
 *      diverge.c     the first call in which ranks diverged
 *      record.c      the file
 */
#ifndef PAIRWISE_P2P_RECORD_H
#define PAIRWISE_P2P_RECORD_H

#include "p2p/trace/notes.h"

/* What is kept of a rank: its calls number first, first + 1, ... made - 1. */
typedef struct {
    const notes_record *notes;
    uint64_t made, first;
} kept_calls;

kept_calls p2p__kept_calls(const scoreboard *b, int rank);
const notes_call *p2p__kept_call(const kept_calls *from, uint64_t number);
/* The same with its texts, as the scoreboard has calls; peers are ranks of the world. */
scoreboard_call p2p__kept_as_shown(const kept_calls *from, uint64_t number);

enum { DIVERGE_GROUPS = 8 };

/* Ranks that did the same. */
typedef struct {
    p2p_rank_set ranks;
    scoreboard_call call;
    bool instead; /* of the collective, in which they are not */
} p2p_diverged;

typedef struct {
    bool is_line;           /* no collective, but a call after the last one of all */
    uint32_t context;       /* of the collective: its communicator, */
    uint64_t number, start; /* its number there, and when the first rank began it, ns; */
    uint32_t order;         /* so many collectives had ranks begun that are in it, at most */
    p2p_diverged groups[DIVERGE_GROUPS];
    int count;
} p2p_divergence;

/* False: they have not diverged, or it is not known where. */
bool p2p__find_divergence(const scoreboard *b, p2p_divergence *divergence);

#endif
