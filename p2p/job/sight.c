/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor makes of the board. A rank can write anything there, by mistake or not; so whatever is said about
 * ranks is said of copies, taken once, in which numbers are in range and texts end.
 */
#include <string.h>

#include "p2p/job/launch.h"

#define IMPOSSIBLE_LOOKS 3

static int sound_state(const board_row *row)
{
    int state = atomic_load(&row->state);
    return state >= BOARD_ABSENT && state <= BOARD_FINISHED ? state : BOARD_RUNNING;
}

void p2p__see(p2p_job *job)
{
    for (int i = 0; i < job->size; i++) {
        const board_row *row = &job->board->rows[i];
        p2p_sight *sight = &job->seen[i];
        sight->state = sound_state(row);
        sight->call = p2p__call_copy(&row->call);
        sight->wait = p2p__wait_copy(&row->wait);
        sight->wait.need = p2p__still_needed(job->board, &sight->wait, job->size);
    }
}

bool p2p__is_over(const p2p_job *job, int rank)
{
    return job->ranks[rank].ended || job->seen[rank].state >= BOARD_FINALIZING;
}

void p2p__see_error(const p2p_job *job, int rank, char text[SIGHT_ERROR])
{
    memcpy(text, job->board->rows[rank].error, SIGHT_ERROR);
    text[SIGHT_ERROR - 1] = 0;
}

static bool states_are_sound(const p2p_job *job)
{
    for (int i = 0; i < job->size; i++) {
        int state = atomic_load(&job->board->rows[i].state);
        if (state < BOARD_ABSENT || state > BOARD_FINISHED) return false;
    }
    return true;
}

bool p2p__board_is_sound(const p2p_job *job)
{
    const board *b = job->board;
    return p2p__board_is_whole(b) && job->watch.impossible_looks < IMPOSSIBLE_LOOKS &&
           (atomic_load(&b->shared->failed) != 0) == job->failed && states_are_sound(job);
}
