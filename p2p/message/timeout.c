/* SPDX-License-Identifier: MIT */
/* A blocking call has waited for PAIRWISE_TIMEOUT: say for whom, and what those are doing. */
#include "p2p/message/internal.h"
#include "p2p/shared/process.h"
#include "p2p/shared/words.h"

p2p_err p2p__timeout_error(p2p_comm *comm, const scoreboard_wait *wait)
{
    p2p_engine *engine = comm->engine;
    p2p_rank_set all = wait->need, stopped = {{0}};
    p2p_words w = {.used = 0};
    p2p_finding f = {.what = {.class = CLASS_TIMEOUT, .reason = REASON_CALL}};
    f.what.seconds = (double)engine->config.timeout_ns * 1e-9;
    engine->timed_out = true;
    for (int i = 0; i < wait->any_count; i++) p2p__set_join(&all, &wait->any[i], engine->size);
    p2p__finding_add(&f, ROLE_CALL, engine->rank, &engine->row->call);
    for (int i = 0; i < engine->size; i++) {
        const scoreboard_row *row = &engine->scoreboard->rows[i];
        if (!p2p__set_has(&all, i)) continue;
        const scoreboard_call call = p2p__call_copy(&row->call);
        p2p_place *place = p2p__finding_add(&f, ROLE_DOING, i, &call);
        place->state = atomic_load(&row->state);
        place->process = p2p__process_letter(atomic_load(&row->pid));
        if (place->process != 'T' && place->process != 't') continue;
        f.what.class = CLASS_STOPPED; /* it can do nothing: then it is to blame */
        p2p__set_add(&stopped, i);
    }
    f.what.ranks = stopped;
    if (f.what.class == CLASS_TIMEOUT) p2p__set_add(&f.what.ranks, engine->rank);
    p2p__words_timeout(&w, &f);
    p2p__fail(comm, CAUSE_TIMEOUT, w.text);
    p2p__draft(engine, &f);
    return P2P_ERR_TIMEOUT;
}
