/* SPDX-License-Identifier: MIT */
/* What ranks have found wrong themselves: copies of what they show, which can be printed whatever it is. */
#include <string.h>

#include "p2p/job/launch.h"

/* A place of a rank's own; whatever it holds can be printed. */
static void add_place(const p2p_job *job, p2p_finding *f, int rank, const p2p_place *shown)
{
    p2p_place place = *shown;
    bool known = place.rank >= 0 && place.rank < job->size;
    place.call = p2p__call_copy(&place.call);
    if (place.state < SCOREBOARD_ABSENT || place.state > SCOREBOARD_FINISHED) place.state = SCOREBOARD_RUNNING;
    if (place.role < 0 || place.role >= ROLE_COUNT) place.role = ROLE_CALL;
    if (!known) place.rank = rank;
    *p2p__finding_add(f, place.role, place.rank, NULL) = place;
}

static int within(int number, int count)
{
    return number >= 0 && number < count ? number : 0;
}

static void take(p2p_job *job, int rank, const scoreboard_found *shown, const char *text)
{
    const p2p_diagnosis what = shown->what;
    const int count = shown->count;
    p2p_finding *f = p2p__report_add(&job->report, within(what.class, CLASS_COUNT), within(what.reason, REASON_COUNT),
                                     -1);
    f->what.argument = within(what.argument, ARGUMENT_COUNT);
    f->what.ranks = what.ranks;
    f->what.status = what.status;
    f->text = strdup(text);
    for (int i = 0; i < count && i < SCOREBOARD_PLACES; i++) add_place(job, f, rank, &shown->places[i]);
}

void p2p__see_found(p2p_job *job, int rank)
{
    const scoreboard_row *row = &job->scoreboard->rows[rank];
    char text[SIGHT_ERROR];
    int count = atomic_load(&row->found_count);
    if (job->ranks[rank].heard || count <= 0) return;
    job->ranks[rank].heard = true;
    p2p__see_error(&job->watch, rank, text);
    for (int i = 0; i < count && i < SCOREBOARD_FOUND; i++) take(job, rank, &row->found[i], text);
}
