/* SPDX-License-Identifier: MIT */
/* What a program leaves behind at p2p_finalize: messages, requests, communicators, memory. */
#include "p2p/message/internal.h"
#include "p2p/shared/words.h"

static p2p_finding begin(const p2p_engine *engine, int class, int reason, uint64_t count)
{
    p2p_finding f = {.what = {.class = class, .reason = reason, .count = count}};
    p2p__set_add(&f.what.ranks, engine->rank);
    p2p__finding_add(&f, ROLE_CALL, engine->rank, &engine->row->call);
    return f;
}

static p2p_finding messages(const p2p_engine *engine)
{
    p2p_finding f = begin(engine, CLASS_LOST_MESSAGE, REASON_NONE, engine->unexpected_count);
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && f.count < SCOREBOARD_PLACES; at = at->next) {
            const scoreboard_call message = {.shape = SHAPE_RECV,
                                             .peer = i,
                                             .world_peer = i,
                                             .tag = at->header.tag,
                                             .context = at->header.context,
                                             .bytes = at->header.bytes};
            p2p__finding_add(&f, ROLE_MESSAGE, engine->rank, &message);
        }
    return f;
}

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

static p2p_finding requests(const p2p_engine *engine)
{
    p2p_finding f = begin(engine, CLASS_REQUEST_LEAK, REASON_NONE, 0);
    for (p2p_request at = engine->requests; at; at = at->all_next) {
        if (is_inner(engine, at)) continue;
        f.what.count++;
        if (f.count < SCOREBOARD_PLACES)
            *p2p__finding_add(&f, ROLE_PENDING, engine->rank, NULL) = p2p__place_of(at, engine->rank);
    }
    return f;
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

static p2p_finding communicators(const p2p_engine *engine)
{
    p2p_finding f = begin(engine, CLASS_RESOURCE_LEAK, REASON_COMMUNICATOR, 0);
    for (const p2p_comm *at = engine->comms; at; at = at->next)
        if (at->context) add_made(&f, engine->rank, "", at->file, at->line, 0);
    return f;
}

static p2p_finding memory(const p2p_engine *engine)
{
    p2p_finding f = begin(engine, CLASS_RESOURCE_LEAK, REASON_MEMORY, 0);
    for (const p2p_block *at = engine->blocks; at; at = at->next)
        add_made(&f, engine->rank, "p2p_alloc", at->file, at->line, at->asked);
    return f;
}

p2p_err p2p__report_leaks(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    p2p_finding left[] = {messages(engine), requests(engine), communicators(engine), memory(engine)};
    p2p_words w = {.used = 0};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i].what.count) p2p__words_left(&w, &left[i]);
    if (w.used) p2p__fail(world, CAUSE_LEFT, w.text);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i].what.count)
            p2p__draft(engine, &left[i]);
        else
            p2p__finding_free(&left[i]);
    return w.used ? P2P_ERR_LEAK : P2P_OK;
}
