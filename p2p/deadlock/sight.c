/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor makes of the scoreboard. A rank can write anything there, by mistake or not; so whatever is said about
 * ranks is said of copies, taken once, in which numbers are in range and texts end.
 */
#include <stdio.h>

#include "p2p/deadlock/deadlock.h"

#define IMPOSSIBLE_POLLS 3

static bool is_state(int state)
{
    return state >= SCOREBOARD_ABSENT && state <= SCOREBOARD_FINISHED;
}

void p2p__see(p2p_watch *watch)
{
    for (int i = 0; i < watch->size; i++) {
        const scoreboard_row *row = &watch->scoreboard->rows[i];
        p2p_sight *sight = &watch->seen[i];
        int state = atomic_load(&row->state);
        sight->state = is_state(state) ? state : SCOREBOARD_RUNNING;
        sight->call = p2p__call_copy(&row->call);
        sight->wait = p2p__wait_copy(&row->wait);
        sight->wait.need = p2p__still_needed(watch->scoreboard, &sight->wait, watch->size);
    }
}

bool p2p__is_over(const p2p_watch *watch, int rank)
{
    return watch->ended[rank] || watch->seen[rank].state >= SCOREBOARD_FINALIZING;
}

void p2p__see_error(const p2p_watch *watch, int rank, p2p_words *w)
{
    const scoreboard_row *row = &watch->scoreboard->rows[rank];
    char advice[sizeof row->advice];
    snprintf(advice, sizeof advice, "%.*s", (int)sizeof advice - 1, row->advice);
    p2p__add(w, "%.*s", (int)sizeof row->error - 1, row->error);
    p2p__add_advice(w, advice[0] ? advice : NULL);
}

bool p2p__scoreboard_is_sound(const p2p_watch *watch, bool failed)
{
    const scoreboard *b = watch->scoreboard;
    for (int i = 0; i < watch->size; i++)
        if (!is_state(atomic_load(&b->rows[i].state))) return false;
    return p2p__scoreboard_is_whole(b) && watch->impossible_polls < IMPOSSIBLE_POLLS &&
           (atomic_load(&b->shared->failed) != 0) == failed;
}
