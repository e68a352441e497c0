/* SPDX-License-Identifier: MIT */
/* What a program leaves behind at p2p_finalize: messages, requests, communicators, memory. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

#define SHOWN 5

typedef struct {
    char text[800];
    size_t kinds;
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

static void unreceived(const p2p_engine *engine, report *r)
{
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
    if (!count) return;
    begin_kind(r, count, "communicator never freed", "communicators never freed");
    if (last->file) add(r, ": made at %s:%d", last->file, last->line);
}

static void unreleased(const p2p_engine *engine, report *r)
{
    size_t count = 0, shown = 0;
    for (const p2p_block *at = engine->blocks; at; at = at->next) count++;
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
    const p2p_engine *engine = world->engine;
    report r = {.kinds = 0};
    unreceived(engine, &r);
    unfinished(engine, &r);
    unfreed(engine, &r);
    unreleased(engine, &r);
    if (!r.kinds) return P2P_OK;
    return p2p__fail(world, P2P_ERR_LEAK,
                     "%s\n  try: receive what is sent (p2p_recv), wait for every request (p2p_wait), free what "
                     "p2p_split and p2p_dup make (p2p_free), release what p2p_alloc gives (p2p_release)",
                     r.text);
}
