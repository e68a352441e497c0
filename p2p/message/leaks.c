/* SPDX-License-Identifier: MIT */
/* What a program leaves behind at p2p_finalize: messages, requests, communicators, memory. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

#define SHOWN 5

typedef struct {
    char text[800];
    size_t kinds, messages, requests, communicators, memory;
} report;

__attribute__((format(printf, 2, 3))) static void add(report *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    va_list args;
    va_start(args, format);
    vsnprintf(r->text + used, sizeof r->text - used, format, args);
    va_end(args);
}

static void begin_kind(report *r, size_t count, const char *one, const char *many)
{
    add(r, "%s%zu %s", r->kinds++ ? "; " : "", count, count == 1 ? one : many);
}

/* ---- For reports ---- */

static p2p_finding begin(const p2p_engine *engine, int class, int reason, uint64_t count)
{
    p2p_finding f = {.what = {.class = class, .reason = reason, .count = count}};
    p2p__set_add(&f.what.ranks, engine->rank);
    p2p__finding_add(&f, ROLE_CALL, engine->rank, &engine->row->call);
    return f;
}

static void draft_messages(p2p_engine *engine)
{
    p2p_finding f = begin(engine, CLASS_LOST_MESSAGE, REASON_NONE, engine->unexpected_count);
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && f.count < BOARD_PLACES; at = at->next) {
            const board_call message = {.shape = SHAPE_RECV,
                                        .peer = i,
                                        .world_peer = i,
                                        .tag = at->header.tag,
                                        .context = at->header.context,
                                        .bytes = at->header.bytes};
            p2p__finding_add(&f, ROLE_MESSAGE, engine->rank, &message);
        }
    p2p__draft(engine, &f);
}

static void draft_requests(p2p_engine *engine, size_t count)
{
    p2p_finding f = begin(engine, CLASS_REQUEST_LEAK, REASON_NONE, count);
    for (p2p_request at = engine->requests; at && f.count < BOARD_PLACES; at = at->all_next)
        *p2p__finding_add(&f, ROLE_PENDING, engine->rank, NULL) = p2p__place_of(at, engine->rank);
    p2p__draft(engine, &f);
}

static void add_made(p2p_finding *f, int rank, const char *by, const char *file, int line, size_t bytes)
{
    board_call call = {.shape = SHAPE_PLAIN, .line = line, .bytes = bytes};
    p2p__copy_text(call.name, sizeof call.name, by);
    p2p__copy_text(call.file, sizeof call.file, file);
    p2p__finding_add(f, ROLE_MADE, rank, &call);
}

static void draft_communicators(p2p_engine *engine, size_t count)
{
    p2p_finding f = begin(engine, CLASS_RESOURCE_LEAK, REASON_COMMUNICATOR, count);
    for (const p2p_comm *at = engine->comms; at && f.count < BOARD_PLACES; at = at->next)
        if (at->context) add_made(&f, engine->rank, "", at->file, at->line, 0);
    p2p__draft(engine, &f);
}

static void draft_memory(p2p_engine *engine, size_t count)
{
    p2p_finding f = begin(engine, CLASS_RESOURCE_LEAK, REASON_MEMORY, count);
    for (const p2p_block *at = engine->blocks; at && f.count < BOARD_PLACES; at = at->next)
        add_made(&f, engine->rank, "p2p_alloc", at->file, at->line, at->asked);
    p2p__draft(engine, &f);
}

static void draft_all(p2p_engine *engine, const report *r)
{
    if (r->messages) draft_messages(engine);
    if (r->requests) draft_requests(engine, r->requests);
    if (r->communicators) draft_communicators(engine, r->communicators);
    if (r->memory) draft_memory(engine, r->memory);
}

/* ---- For people ---- */

static void unreceived(const p2p_engine *engine, report *r)
{
    r->messages = engine->unexpected_count;
    if (!engine->unexpected_count) return;
    begin_kind(r, engine->unexpected_count, "unreceived message", "unreceived messages");
    size_t shown = 0;
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && shown < SHOWN; at = at->next)
            add(r, "%s from %d, tag %d, %llu bytes", shown++ ? ";" : ":", i, at->header.tag,
                (unsigned long long)at->header.bytes);
    if (shown < engine->unexpected_count) add(r, "; ...");
}

static void add_request(report *r, p2p_request request, bool first)
{
    static const char *const kinds[] = {"isend to", "irecv from", "collective"};
    add(r, "%s %s", first ? ":" : ";", kinds[request->kind]);
    if (request->kind != REQUEST_LAYER) {
        if (request->peer < 0)
            add(r, " any");
        else
            add(r, " %d", request->peer);
        if (request->tag < 0)
            add(r, ", any tag");
        else
            add(r, ", tag %d", request->tag);
        add(r, ", %zu bytes", request->bytes);
    }
    if (request->file) add(r, " at %s:%d", request->file, request->line);
}

static void unfinished(const p2p_engine *engine, report *r)
{
    size_t count = 0, shown = 0;
    for (p2p_request at = engine->requests; at; at = at->all_next) count++;
    r->requests = count;
    if (!count) return;
    begin_kind(r, count, "request never waited for", "requests never waited for");
    for (p2p_request at = engine->requests; at && shown < SHOWN; at = at->all_next) add_request(r, at, shown++ == 0);
    if (shown < count) add(r, "; ...");
}

static void unfreed(const p2p_engine *engine, report *r)
{
    size_t count = 0;
    const p2p_comm *last = NULL;
    for (const p2p_comm *at = engine->comms; at; at = at->next)
        if (at->context) count++, last = at;
    r->communicators = count;
    if (!count) return;
    begin_kind(r, count, "communicator never freed", "communicators never freed");
    if (last->file) add(r, ": made at %s:%d", last->file, last->line);
}

static void unreleased(const p2p_engine *engine, report *r)
{
    size_t count = 0, shown = 0;
    for (const p2p_block *at = engine->blocks; at; at = at->next) count++;
    r->memory = count;
    if (!count) return;
    begin_kind(r, count, "buffer never released", "buffers never released");
    for (const p2p_block *at = engine->blocks; at && shown < SHOWN; at = at->next) {
        add(r, "%s %zu bytes", shown++ ? ";" : ":", at->asked);
        if (at->file) add(r, " from %s:%d", at->file, at->line);
    }
    if (shown < count) add(r, "; ...");
}

p2p_err p2p__report_leaks(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    report r = {.kinds = 0};
    unreceived(engine, &r);
    unfinished(engine, &r);
    unfreed(engine, &r);
    unreleased(engine, &r);
    if (!r.kinds) return P2P_OK;
    p2p__fail(world, CAUSE_LEFT, r.text);
    draft_all(engine, &r);
    return P2P_ERR_LEAK;
}
