/* SPDX-License-Identifier: MIT */
/* The events of one rank, written in the order in which they began. See trace_json.c for what becomes of each kind. */
#include <stdlib.h>
#include <string.h>

#include "p2p/trace/trace_json.h"

#define MOST_TRACKS (INT_MAX / P2P_MAX_RANKS - 2)

/* Whole nanoseconds, cut off, so that what nests still does. */
uint64_t p2p__json_ns_of(const p2p_writer *w, uint64_t time)
{
    if (w->is_virtual) return time / 1000;
    return time > w->job->started ? time - w->job->started : 0;
}

void p2p__json_time(const p2p_writer *w, const char *key, uint64_t ns)
{
    fprintf(w->file, ",\"%s\":%llu.%03llu", key, (unsigned long long)ns / 1000, (unsigned long long)ns % 1000);
}

static const char *name_at(const p2p_writer *w, uint16_t place)
{
    return place < TRACE_POOL ? w->names + place : "";
}

/* A program that writes where it should not may have spoilt what it shares: nothing there is believed. */
p2p_traced_rank p2p__json_traced(const p2p_traced_job *job, int rank)
{
    const scoreboard *b = job->scoreboard;
    const trace_rank *shared = p2p__trace_of(b, rank);
    uint64_t count = atomic_load(&shared->count), most = p2p__trace_room(b->size, &b->config) + (uint64_t)b->size;
    uint64_t open = atomic_load(&shared->open_count);
    if (count > most) count = most;
    return (p2p_traced_rank){shared, count, count + (open < TRACE_OPEN ? open : TRACE_OPEN)};
}

int p2p__json_thread_of(const p2p_writer *w, const trace_event *event, int rank)
{
    bool apart = w->is_virtual && event->flags & TRACE_IN_STEP; /* virtual time of its own: a track of its own */
    uint32_t index = event->context / 2 % MOST_TRACKS;
    return rank + 1 + (apart ? P2P_MAX_RANKS * (1 + (int)index) : 0);
}

void p2p__json_begin_event(p2p_writer *w, const char *phase, const char *name, const char *category, int thread)
{
    fprintf(w->file, "%s\n{\"ph\":\"%s\",\"name\":", w->comma, phase);
    w->comma = ",";
    p2p__json_text(w->file, name);
    if (category) fprintf(w->file, ",\"cat\":\"%s\"", category);
    fprintf(w->file, ",\"pid\":1,\"tid\":%d", thread);
}

void p2p__json_begin_args(const p2p_writer *w, int rank, int depth)
{
    fprintf(w->file, ",\"args\":{\"rank\":%d", rank);
    if (depth >= 0) fprintf(w->file, ",\"depth\":%d", depth);
}

/* ---- An event's arguments ---- */

static void put_or_any(const p2p_writer *w, const char *key, int number)
{
    if (number < 0)
        fprintf(w->file, ",\"%s\":\"any\"", key);
    else
        fprintf(w->file, ",\"%s\":%d", key, number);
}

static void end_event(const p2p_writer *w, const trace_event *event)
{
    if (event->number) p2p__json_number(w->file, "collective", event->number);
    if (event->context / 2) p2p__json_number(w->file, "comm", event->context / 2);
    if (event->file) p2p__json_field(w->file, "file", name_at(w, event->file));
    if (event->file) fprintf(w->file, ",\"line\":%d", event->line);
    fputs("}}", w->file);
}

static void put_part(const p2p_writer *w, const trace_event *event)
{
    if (!(event->flags & TRACE_HAS_PART)) return;
    if (event->chunk >= 0) fprintf(w->file, ",\"chunk\":%d", event->chunk);
    p2p__json_number(w->file, "offset", event->offset);
    if (event->flags & TRACE_COMBINED) fputs(",\"combined\":true", w->file);
}

/* A slice from its beginning to its arguments. */
static void begin_slice(p2p_writer *w, const trace_event *event, int rank, const char *category, uint64_t start,
                        uint64_t end)
{
    p2p__json_begin_event(w, "X", name_at(w, event->name), category, p2p__json_thread_of(w, event, rank));
    p2p__json_time(w, "ts", start);
    p2p__json_time(w, "dur", end > start ? end - start : 0);
    p2p__json_begin_args(w, rank, event->depth);
}

/* What was taken, of what there was: ranks, or requests; of a poll that has found nothing, nothing was. */
static void put_choice(const p2p_writer *w, const trace_event *event)
{
    p2p_rank_set options = {{event->offset & ~(UINT64_C(1) << CHOICE_NOTHING)}};
    if (event->chunk >= 0 && event->chunk < CHOICE_NOTHING) p2p__json_number(w->file, "chosen", (uint64_t)event->chunk);
    p2p__json_ranks(w->file, "options", &options, CHOICE_NOTHING);
}

static void put_slice(p2p_writer *w, const trace_event *event, int rank, bool unfinished)
{
    static const char *const categories[] = {[TRACE_CALL] = "call",
                                             [TRACE_COLLECTIVE] = "collective",
                                             [TRACE_WAIT] = "wait",
                                             [TRACE_COMPUTE] = "compute",
                                             [TRACE_PHASE] = "phase"};
    bool has_peer = event->flags & TRACE_HAS_PEER, has_source = event->flags & TRACE_HAS_SOURCE;
    begin_slice(w, event, rank, categories[event->kind], p2p__json_ns_of(w, event->start),
                unfinished ? w->end : p2p__json_ns_of(w, event->end));
    if (event->kind == TRACE_COLLECTIVE) {
        if (event->bytes != UINT64_MAX) p2p__json_number(w->file, "count", event->bytes);
        p2p__json_field(w->file, "dtype", name_at(w, event->dtype));
        p2p__json_field(w->file, "op", name_at(w, event->op));
        p2p__json_field(w->file, "algorithm", name_at(w, event->algorithm));
        if (has_peer) put_or_any(w, "root", event->peer);
    } else if (event->kind == TRACE_CALL) {
        if (event->flags & TRACE_COMBINED) p2p__json_number(w->file, "requests", event->bytes);
        if (has_peer || has_source) {
            put_or_any(w, "peer", event->peer);
            put_or_any(w, "tag", event->tag);
            p2p__json_number(w->file, "bytes", event->bytes);
        }
        if (has_source) put_or_any(w, "source", event->from);
        if (has_source) put_or_any(w, "source_tag", event->from_tag);
    } else if (event->kind == TRACE_COMPUTE) {
        p2p__json_number(w->file, "bytes", event->bytes);
        put_part(w, event);
    }
    if (event->flags & TRACE_POLLED) p2p__json_number(w->file, "polls", event->polls);
    if (event->flags & TRACE_CHOSEN) put_choice(w, event);
    if (event->flags & TRACE_FAILED) fputs(",\"failed\":true", w->file);
    if (unfinished) fputs(",\"unfinished\":true", w->file);
    end_event(w, event);
}

/* The id is the sender's rank and number for the message: the same on both sides. A point exactly at the end of a slice
 * counts as behind it: what came is shown the least time before. */
static void put_message(p2p_writer *w, const trace_event *event, int rank, uint64_t slice_start)
{
    bool sent = event->kind == TRACE_SENT;
    uint64_t at = p2p__json_ns_of(w, event->start);
    p2p__json_begin_event(w, sent ? "s" : "f", "message", "message", p2p__json_thread_of(w, event, rank));
    p2p__json_number(w->file, "id", ((uint64_t)(sent ? rank : event->peer) << 32) + (event->id & UINT32_MAX));
    p2p__json_time(w, "ts", !sent && at > slice_start ? at - 1 : at);
    if (!sent) fputs(",\"bp\":\"e\"", w->file);
    p2p__json_begin_args(w, rank, event->depth);
    put_or_any(w, sent ? "to" : "from", event->peer);
    put_or_any(w, "tag", event->tag);
    p2p__json_number(w->file, "bytes", event->bytes);
    put_part(w, event);
    if (w->is_virtual && sent && rank != event->peer) {
        uint64_t cost = p2p__network_message(&w->config->network, rank, event->peer, event->bytes);
        p2p__json_time(w, "leaves", p2p__json_ns_of(w, event->end > cost ? event->end - cost : 0));
    }
    if (w->is_virtual && !sent) p2p__json_time(w, "arrives", at);
    if (event->context % 2) fputs(",\"of_collective\":true", w->file);
    end_event(w, event);
}

static void put_background(p2p_writer *w, const trace_event *event, int rank)
{
    for (int i = 0; i < 2; i++) {
        p2p__json_begin_event(w, i ? "e" : "b", name_at(w, event->name), "background", rank + 1);
        fprintf(w->file, ",\"id\":\"%d.%u.%u\"", rank, event->context, event->number);
        p2p__json_time(w, "ts", p2p__json_ns_of(w, i ? event->end : event->start));
        p2p__json_begin_args(w, rank, event->depth);
        end_event(w, event);
    }
}

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

bool p2p__json_rank(p2p_writer *w, int rank)
{
    const p2p_traced_rank from = p2p__json_traced(w->job, rank);
    uint64_t slice_start = 0, background_end = 0; /* on the track of `thread` */
    int thread = 0;
    entry *list = malloc((from.all + 1) * sizeof *list);
    if (!list) return false;
    memcpy(w->names, from.shared->pool.at, sizeof w->names);
    w->names[sizeof w->names - 1] = 0;
    for (uint64_t i = 0; i < from.all; i++) {
        const trace_event *event = p2p__json_event(&from, i);
        list[i] = (entry){event, event->order, p2p__json_thread_of(w, event, rank), i >= from.count};
    }
    qsort(list, from.all, sizeof *list, by_beginning);
    for (uint64_t i = 0; i < from.all; i++) {
        const trace_event event = *list[i].event;
        if (thread != list[i].thread) slice_start = background_end = 0;
        thread = list[i].thread;
        switch ((enum trace_kind)event.kind) {
        case TRACE_SENT:
        case TRACE_RECEIVED: put_message(w, &event, rank, slice_start); break;
        case TRACE_BACKGROUND:
            if (thread == rank + 1) {
                put_background(w, &event, rank);
                break;
            }
            slice_start = p2p__json_ns_of(w, event.start); /* but behind the one before it on its communicator */
            if (slice_start < background_end) slice_start = background_end;
            background_end = p2p__json_ns_of(w, event.end);
            begin_slice(w, &event, rank, "background", slice_start, background_end);
            end_event(w, &event);
            break;
        case TRACE_CALL:
        case TRACE_COLLECTIVE:
        case TRACE_COMPUTE:
        case TRACE_PHASE: slice_start = p2p__json_ns_of(w, event.start); /* fall through */
        case TRACE_WAIT: put_slice(w, &event, rank, list[i].unfinished); break;
        case TRACE_STATS:
        default: break; /* nothing to draw; or nothing that a hook of ours has written */
        }
    }
    free(list);
    return true;
}
