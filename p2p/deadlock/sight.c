/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor makes of the board. A rank can write anything there, by mistake or not; so whatever is said about
 * ranks is said of copies, taken once, in which numbers are in range and texts end.
 */
#include <string.h>

#include "p2p/deadlock/deadlock.h"

#define IMPOSSIBLE_LOOKS 3

static int sound_state(const board_row *row)
{
    int state = atomic_load(&row->state);
    return state >= BOARD_ABSENT && state <= BOARD_FINISHED ? state : BOARD_RUNNING;
}

void p2p__see(p2p_watch *watch)
{
    for (int i = 0; i < watch->size; i++) {
        const board_row *row = &watch->board->rows[i];
        p2p_sight *sight = &watch->seen[i];
        sight->state = sound_state(row);
        sight->call = p2p__call_copy(&row->call);
        sight->wait = p2p__wait_copy(&row->wait);
        sight->wait.need = p2p__still_needed(watch->board, &sight->wait, watch->size);
    }
}

bool p2p__is_over(const p2p_watch *watch, int rank)
{
    return watch->ended[rank] || watch->seen[rank].state >= BOARD_FINALIZING;
}

void p2p__see_error(const p2p_watch *watch, int rank, char text[SIGHT_ERROR])
{
    memcpy(text, watch->board->rows[rank].error, SIGHT_ERROR);
    text[SIGHT_ERROR - 1] = 0;
}

static bool states_are_sound(const p2p_watch *watch)
{
    for (int i = 0; i < watch->size; i++) {
        int state = atomic_load(&watch->board->rows[i].state);
        if (state < BOARD_ABSENT || state > BOARD_FINISHED) return false;
    }
    return true;
}

bool p2p__board_is_sound(const p2p_watch *watch, bool failed)
{
    const board *b = watch->board;
    return p2p__board_is_whole(b) && watch->impossible_looks < IMPOSSIBLE_LOOKS &&
           (atomic_load(&b->shared->failed) != 0) == failed && states_are_sound(watch);
}
