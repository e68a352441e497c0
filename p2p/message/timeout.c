/* SPDX-License-Identifier: MIT */
/* A blocking call has waited for PAIRWISE_TIMEOUT: say for whom, and what those are doing. */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"
#include "p2p/shared/process.h"
#include "p2p/shared/words.h"

#define SHOWN 3

static void say_doing(const board_row *row, char *text, size_t bytes)
{
    char call[400];
    p2p__call_text(&row->call, call, sizeof call);
    switch (atomic_load(&row->state)) {
    case BOARD_ABSENT: snprintf(text, bytes, "it has not called p2p_init"); return;
    case BOARD_BLOCKED: snprintf(text, bytes, "it waits in %s", call); return;
    case BOARD_FINALIZING:
    case BOARD_FINISHED: snprintf(text, bytes, "it has finished, in %s", call); return;
    default: p2p__last_call_text(&row->call, text, bytes);
    }
}

static size_t describe_rank(p2p_engine *engine, int rank, double waited, char *text, size_t bytes)
{
    const board_row *row = &engine->board->rows[rank];
    char doing[440], state[64];
    say_doing(row, doing, sizeof doing);
    p2p__process_state(atomic_load(&row->pid), state, sizeof state);
    return (size_t)snprintf(text, bytes, "\n  rank %d is alive, no progress for %.1f s, %s; %s", rank, waited, state,
                            doing);
}

static void awaited(p2p_engine *engine, const board_wait *wait, p2p_rank_set *all)
{
    *all = wait->need;
    for (int i = 0; i < wait->any_count; i++) p2p__set_join(all, &wait->any[i], engine->size);
}

/* Of those that are waited for: who is stopped can do nothing. */
static void draft(p2p_engine *engine, const p2p_rank_set *all)
{
    p2p_finding f = {.what = {.class = CLASS_TIMEOUT, .reason = REASON_CALL}};
    p2p_rank_set stopped = {{0}};
    p2p__finding_add(&f, ROLE_CALL, engine->rank, &engine->row->call);
    for (int i = 0; i < engine->size; i++) {
        const board_row *row = &engine->board->rows[i];
        const board_call call = p2p__call_copy(&row->call);
        if (!p2p__set_has(all, i)) continue;
        p2p_place *place = p2p__finding_add(&f, ROLE_DOING, i, &call);
        place->state = atomic_load(&row->state);
        place->process = p2p__process_letter(atomic_load(&row->pid));
        if (place->process != 'T' && place->process != 't') continue;
        f.what.class = CLASS_STOPPED;
        p2p__set_add(&stopped, i);
    }
    f.what.ranks = stopped;
    if (f.what.class == CLASS_TIMEOUT) p2p__set_add(&f.what.ranks, engine->rank);
    p2p__draft(engine, &f);
}

p2p_err p2p__timeout_error(p2p_comm *comm, const board_wait *wait)
{
    p2p_engine *engine = comm->engine;
    engine->timed_out = true;
    double waited = (double)engine->config.timeout_ns * 1e-9;
    p2p_rank_set all;
    char text[900] = "";
    size_t used = 0;
    int shown = 0;
    awaited(engine, wait, &all);
    for (int i = 0; i < engine->size && shown < SHOWN; i++) {
        if (!p2p__set_has(&all, i) || used >= sizeof text) continue;
        used += describe_rank(engine, i, waited, text + used, sizeof text - used);
        shown++;
    }
    p2p__fail(comm, CAUSE_TIMEOUT, waited, text);
    draft(engine, &all);
    return P2P_ERR_TIMEOUT;
}
