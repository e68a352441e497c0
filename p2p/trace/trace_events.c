/* SPDX-License-Identifier: MIT */
/* The events of one rank, written in the order in which they began. See trace_json.c for what becomes of each kind. */
#include <stdlib.h>
#include <string.h>

#include "p2p/trace/trace_json.h"

static void begin_event_args(const p2p_writer *w, int rank, const trace_event *event)
{
    p2p__json_begin_args(w, rank);
    fprintf(w->file, ",\"depth\":%d", event->depth);
}

static void put_peer(const p2p_writer *w, const char *key, int peer)
{
    if (peer < 0)
        fprintf(w->file, ",\"%s\":\"any\"", key);
    else
        fprintf(w->file, ",\"%s\":%d", key, peer);
}

static void put_place(const p2p_writer *w, const trace_event *event)
{
    if (event->number) p2p__json_number(w, "collective", event->number);
    if (event->context / 2) p2p__json_number(w, "comm", event->context / 2);
    if (event->file) p2p__json_field(w->file, "file", p2p__json_name_at(w, event->file));
    if (event->file) fprintf(w->file, ",\"line\":%d", event->line);
}

static void put_part(const p2p_writer *w, const trace_event *event)
{
    if (!(event->flags & TRACE_HAS_PART)) return;
    if (event->chunk >= 0) fprintf(w->file, ",\"chunk\":%d", event->chunk);
    p2p__json_number(w, "offset", event->offset);
    if (event->flags & TRACE_COMBINED) fputs(",\"combined\":true", w->file);
}

static void put_collective(const p2p_writer *w, const trace_event *event)
{
    if (event->bytes != UINT64_MAX) p2p__json_number(w, "count", event->bytes);
    p2p__json_field(w->file, "dtype", p2p__json_name_at(w, event->dtype));
    p2p__json_field(w->file, "op", p2p__json_name_at(w, event->op));
    p2p__json_field(w->file, "algorithm", p2p__json_name_at(w, event->algorithm));
    if (event->flags & TRACE_HAS_PEER) put_peer(w, "root", event->peer);
}

static void put_tag(const p2p_writer *w, const char *key, int tag)
{
    if (tag < 0)
        fprintf(w->file, ",\"%s\":\"any\"", key);
    else
        fprintf(w->file, ",\"%s\":%d", key, tag);
}

static void put_call(const p2p_writer *w, const trace_event *event)
{
    bool names_peer = event->flags & (TRACE_HAS_PEER | TRACE_HAS_SOURCE);
    if (event->flags & TRACE_COMBINED) p2p__json_number(w, "requests", event->bytes);
    if (!names_peer) return;
    put_peer(w, "peer", event->peer);
    put_tag(w, "tag", event->tag);
    p2p__json_number(w, "bytes", event->bytes);
    if (!(event->flags & TRACE_HAS_SOURCE)) return;
    put_peer(w, "source", event->from);
    put_tag(w, "source_tag", event->from_tag);
}

static void put_slice(p2p_writer *w, const trace_event *event, int rank, bool unfinished)
{
    static const char *const categories[] = {[TRACE_CALL] = "call",
                                             [TRACE_COLLECTIVE] = "collective",
                                             [TRACE_WAIT] = "wait",
                                             [TRACE_COMPUTE] = "compute",
                                             [TRACE_PHASE] = "phase"};
    uint64_t start = p2p__json_ns_of(w, event->start), end = unfinished ? w->end : p2p__json_ns_of(w, event->end);
    p2p__json_begin_event(w, "X", p2p__json_name_at(w, event->name), categories[event->kind],
                          p2p__json_thread_of(w, event, rank));
    p2p__json_time(w, "ts", start);
    p2p__json_time(w, "dur", end > start ? end - start : 0);
    begin_event_args(w, rank, event);
    if (event->kind == TRACE_COLLECTIVE) put_collective(w, event);
    if (event->kind == TRACE_CALL) put_call(w, event);
    if (event->kind == TRACE_COMPUTE) p2p__json_number(w, "bytes", event->bytes), put_part(w, event);
    if (event->flags & TRACE_POLLED) p2p__json_number(w, "looks", event->polls);
    if (event->flags & TRACE_FAILED) fputs(",\"failed\":true", w->file);
    if (unfinished) fputs(",\"unfinished\":true", w->file);
    put_place(w, event);
    p2p__json_end_event(w);
}

/* One number for a message on both sides: the sender's, and who that is. */
static void put_message_id(const p2p_writer *w, int sender, uint64_t id)
{
    p2p__json_number(w, "id", ((uint64_t)sender << 32) + (id & UINT32_MAX));
}

/* A point exactly at the end of a slice counts as behind it: what came is shown the least time before. */
static void put_message(p2p_writer *w, const trace_event *event, int rank, uint64_t slice_start)
{
    bool sent = event->kind == TRACE_SENT;
    uint64_t at = p2p__json_ns_of(w, event->start);
    p2p__json_begin_event(w, sent ? "s" : "f", "message", "message", p2p__json_thread_of(w, event, rank));
    put_message_id(w, sent ? rank : event->peer, event->id);
    p2p__json_time(w, "ts", !sent && at > slice_start ? at - 1 : at);
    if (!sent) fputs(",\"bp\":\"e\"", w->file);
    begin_event_args(w, rank, event);
    put_peer(w, sent ? "to" : "from", event->peer);
    put_tag(w, "tag", event->tag);
    p2p__json_number(w, "bytes", event->bytes);
    put_part(w, event);
    if (w->is_virtual && sent && rank != event->peer) {
        uint64_t cost = p2p__network_message(&w->config->network, rank, event->peer, event->bytes);
        p2p__json_time(w, "leaves", p2p__json_ns_of(w, event->end > cost ? event->end - cost : 0));
    }
    if (w->is_virtual && !sent) p2p__json_time(w, "arrives", at);
    if (event->context % 2) fputs(",\"of_collective\":true", w->file);
    put_place(w, event);
    p2p__json_end_event(w);
}

/* With a track of its own it is a slice there. */
static void put_background_slice(p2p_writer *w, const trace_event *event, int rank, uint64_t start)
{
    uint64_t end = p2p__json_ns_of(w, event->end);
    p2p__json_begin_event(w, "X", p2p__json_name_at(w, event->name), "background", p2p__json_thread_of(w, event, rank));
    p2p__json_time(w, "ts", start);
    p2p__json_time(w, "dur", end > start ? end - start : 0);
    begin_event_args(w, rank, event);
    put_place(w, event);
    p2p__json_end_event(w);
}

static void put_background(p2p_writer *w, const trace_event *event, int rank)
{
    for (int i = 0; i < 2; i++) {
        p2p__json_begin_event(w, i ? "e" : "b", p2p__json_name_at(w, event->name), "background", rank + 1);
        fprintf(w->file, ",\"id\":\"%d.%u.%u\"", rank, event->context, event->number);
        p2p__json_time(w, "ts", p2p__json_ns_of(w, i ? event->end : event->start));
        begin_event_args(w, rank, event);
        put_place(w, event);
        p2p__json_end_event(w);
    }
}

/* ---- A rank ---- */

typedef struct {
    const trace_event *event; /* still in memory that others can write */
    uint32_t order;
    int thread;
    bool unfinished;
} entry;

static int by_beginning(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static entry entry_of(const p2p_writer *w, const trace_event *event, int rank, bool unfinished)
{
    return (entry){event, event->order, p2p__json_thread_of(w, event, rank), unfinished};
}

/* Where we are on a track. */
typedef struct {
    int thread;
    uint64_t slice_start, background_end;
} position;

static void put_entry(p2p_writer *w, int rank, const entry *e, position *at)
{
    const trace_event event = *e->event;
    bool apart = e->thread != rank + 1;
    if (at->thread != e->thread) *at = (position){.thread = e->thread};
    switch ((enum trace_kind)event.kind) {
    case TRACE_SENT:
    case TRACE_RECEIVED: put_message(w, &event, rank, at->slice_start); break;
    case TRACE_BACKGROUND:
        if (!apart) {
            put_background(w, &event, rank);
            break;
        }
        at->slice_start = p2p__json_ns_of(w, event.start); /* but behind the one before it on its communicator */
        if (at->slice_start < at->background_end) at->slice_start = at->background_end;
        put_background_slice(w, &event, rank, at->slice_start);
        at->background_end = p2p__json_ns_of(w, event.end);
        break;
    case TRACE_CALL:
    case TRACE_COLLECTIVE:
    case TRACE_COMPUTE:
    case TRACE_PHASE: at->slice_start = p2p__json_ns_of(w, event.start); /* fall through */
    case TRACE_WAIT: put_slice(w, &event, rank, e->unfinished); break;
    case TRACE_STATS:
    default: break; /* nothing to draw; or nothing that a hook of ours has written */
    }
}

bool p2p__json_rank(p2p_writer *w, int rank)
{
    const trace_rank *from = p2p__json_block_of(w, rank);
    size_t count = (size_t)p2p__json_count_of(w, from), open = (size_t)p2p__json_open_count_of(from), used = 0;
    entry *list = malloc((count + open + 1) * sizeof *list);
    position at = {.thread = 0};
    if (!list) return false;
    memcpy(w->names, from->pool, sizeof w->names);
    w->names[sizeof w->names - 1] = 0;
    for (size_t i = 0; i < count; i++) list[used++] = entry_of(w, &from->events[i], rank, false);
    for (size_t i = 0; i < open; i++) list[used++] = entry_of(w, &from->open[i], rank, true);
    qsort(list, used, sizeof *list, by_beginning);
    for (size_t i = 0; i < used; i++) put_entry(w, rank, &list[i], &at);
    free(list);
    return true;
}
