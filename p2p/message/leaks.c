/* SPDX-License-Identifier: MIT */
/* What a program leaves behind at p2p_finalize: messages, requests, communicators, memory. */
#include "p2p/message/internal.h"
#include "p2p/shared/words.h"

/* One that a non-blocking collective is made of: the collective is named instead. */
static bool is_inner(const p2p_engine *engine, p2p_request request)
{
    for (p2p_request at = engine->layers.head; at; at = at->next) {
        const p2p_request *inner;
        size_t count = at->layer->waits_for(at->layer_state, &inner);
        for (size_t i = 0; i < count; i++)
            if (inner[i] == request) return true;
    }
    return false;
}

/* Of more than there is room for, the last one takes the place of the one before. */
static void add_made(p2p_finding *f, int rank, const char *by, const char *file, int line, size_t bytes)
{
    scoreboard_call call = {.shape = SHAPE_PLAIN, .line = line, .bytes = bytes};
    p2p__copy_text(call.name, sizeof call.name, by);
    p2p__copy_text(call.file, sizeof call.file, file);
    if (f->count == SCOREBOARD_PLACES) f->count--;
    p2p__finding_add(f, ROLE_MADE, rank, &call);
    f->what.count++;
}

p2p_err p2p__report_leaks(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    enum { MESSAGES, REQUESTS, COMMUNICATORS, MEMORY, KINDS };
    p2p_finding left[] = {[MESSAGES] = {.what = {.class = CLASS_LOST_MESSAGE, .count = engine->unexpected_count}},
                          [REQUESTS] = {.what = {.class = CLASS_REQUEST_LEAK}},
                          [COMMUNICATORS] = {.what = {.class = CLASS_RESOURCE_LEAK, .reason = REASON_COMMUNICATOR}},
                          [MEMORY] = {.what = {.class = CLASS_RESOURCE_LEAK, .reason = REASON_MEMORY}}};
    for (int kind = 0; kind < KINDS; kind++) {
        p2p__set_add(&left[kind].what.ranks, engine->rank);
        p2p__finding_add(&left[kind], ROLE_CALL, engine->rank, &engine->row->call);
    }
    p2p_finding *f = &left[MESSAGES];
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && f->count < SCOREBOARD_PLACES; at = at->next) {
            const scoreboard_call message = {.shape = SHAPE_RECV,
                                             .peer = i,
                                             .world_peer = i,
                                             .tag = at->header.tag,
                                             .context = at->header.context,
                                             .bytes = at->header.bytes};
            p2p__finding_add(f, ROLE_MESSAGE, engine->rank, &message);
        }
    f = &left[REQUESTS];
    for (p2p_request at = engine->requests; at; at = at->all_next) {
        if (is_inner(engine, at)) continue;
        f->what.count++;
        if (f->count < SCOREBOARD_PLACES)
            *p2p__finding_add(f, ROLE_PENDING, engine->rank, NULL) = p2p__place_of(at, engine->rank);
    }
    for (const p2p_comm *at = engine->comms; at; at = at->next)
        if (at->context) add_made(&left[COMMUNICATORS], engine->rank, "", at->file, at->line, 0);
    for (const p2p_block *at = engine->blocks; at; at = at->next)
        add_made(&left[MEMORY], engine->rank, "p2p_alloc", at->file, at->line, at->asked);

    p2p_words w = {.used = 0};
    for (int kind = 0; kind < KINDS; kind++)
        if (left[kind].what.count) p2p__words_left(&w, &left[kind]);
    if (w.used) p2p__fail(world, CAUSE_LEFT, w.text);
    for (int kind = 0; kind < KINDS; kind++)
        if (left[kind].what.count)
            p2p__draft(engine, &left[kind]);
        else
            p2p__finding_free(&left[kind]);
    return w.used ? P2P_ERR_LEAK : P2P_OK;
}
