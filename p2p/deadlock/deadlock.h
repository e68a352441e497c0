/* SPDX-License-Identifier: MIT */
/* deadlock: from the picture of the scoreboard to a diagnosis. watch.c says who is stuck, verdict.c whom to
 * name, and what the mistake was. */
#ifndef PAIRWISE_P2P_DEADLOCK_H
#define PAIRWISE_P2P_DEADLOCK_H

#include "p2p/shared/scoreboard.h"
#include "p2p/shared/words.h"

/* What was seen in a rank's row: a copy in which numbers are in range and texts end. */
typedef struct {
    int state; /* enum scoreboard_state */
    scoreboard_call call;
    scoreboard_wait wait;
    uint64_t activity, polls; /* at the last look for a deadlock */
    uint64_t polled_at;       /* the last of these looks at which it had polled since the one before; ns */
    int idle_polls;           /* such looks in a row at which it had polled, and nothing else had happened */
} p2p_sight;

/* A job, as far as its deadlocks go. */
typedef struct {
    int size;
    scoreboard *scoreboard;
    p2p_sight *seen;    /* [size]: when it was last looked at, to say something about it */
    bool *ended;        /* [size]: its process has, or has not been started; set by the supervisor */
    p2p_rank_set still; /* those that have waited since the look before */
    uint64_t quiet_since;
    bool unchanged;
    bool only_polls;      /* for a second nothing has happened but polling: true for one look */
    bool warned;          /* there was such a look */
    uint64_t polls_for;   /* ns for which nothing has happened but polling; 0: something else has */
    bool impossible;      /* at this look: more was received than was sent */
    int impossible_polls; /* in a row */
} p2p_watch;

/* ---- watch.c ---- */

/* Look at all rows: watch->seen. */
void p2p__see(p2p_watch *watch);
/* Ended, finished, or waiting in p2p_finalize, when it was last looked at? */
bool p2p__is_over(const p2p_watch *watch, int rank);
/* The error that a rank shows, and what to try. */
void p2p__see_error(const p2p_watch *watch, int rank, p2p_words *w);
/* False: what is on the scoreboard no rank and no supervisor has written there on purpose. `failed`: the job has. */
bool p2p__scoreboard_is_sound(const p2p_watch *watch, bool failed);

/* Ranks that can never be released, exactly; false if there are none. `can_act` are those that still can do something. */
bool p2p__watch_look(p2p_watch *watch, p2p_rank_set *stuck, p2p_rank_set *can_act);

/* Does every rank wait: for another one, or for a port of a virtual network (those are in *asking)? Then nothing happens until
 * a port is given out. */
bool p2p__watch_is_quiet(p2p_watch *watch, p2p_rank_set *asking);

/* ---- verdict.c ---- */

/* The record of a deadlock. Its places: the knot in order, each rank's pending operations after it; the message that would
 * do but for one thing; those that have finished; those behind, or stuck as well, by rank. */
void p2p__diagnose(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_finding *finding);

/* What this place's call waits for, if it waits for several operations: as places after it. */
void p2p__add_pending(p2p_finding *finding, p2p_place *place, const p2p_sight *row);

#endif
