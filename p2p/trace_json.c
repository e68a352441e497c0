/* SPDX-License-Identifier: MIT */
/*
 * The trace as a file: Chrome's Trace Event Format, JSON object form (Duca and Sinclair, "Trace Event Format", 2016),
 * one event a line; Perfetto reads it.
 *
 *      M        names: one process, the job; a thread for each rank
 *      X        calls, collectives, waits, combining, phases: slices, which nest
 *      s, f     a message: begins inside the slice that sent it, ends inside the slice that received it; the same id
 *      b, e     a non-blocking collective
 *      i        how it ended: what each rank was blocked in; the deadlock, the death
 *
 * Times are microseconds since the job began, of the machine's clock or of the virtual network. What the job was, and
 * what p2p_stats said at its end, is behind the events, under "pairwise".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_id.h"
#include "p2p/trace_job.h"

typedef struct {
    FILE *file;
    p2p_job *job;
    const p2p_config *config;
    bool is_virtual;
    uint64_t end; /* of calls that never returned */
    const char *comma;
} writer;

/* ---- Texts ---- */

/* Bytes of the UTF-8 sequence that begins here, 0 if there is none. */
static int utf8_length(const unsigned char *at)
{
    int length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (*at < 0xc2 || *at > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f)) return 0;
    return (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f) ? 0 : length;
}

static void put_text(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        int more = *at < 0x80 ? 1 : utf8_length(at);
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || more == 0)
            fprintf(file, "\\u%04x", more ? *at : 0xfffdu);
        else
            fwrite(at, 1, (size_t)more, file), at += more - 1;
    }
    putc('"', file);
}

static void put_field(FILE *file, const char *key, const char *text)
{
    if (!*text) return;
    fprintf(file, ",\"%s\":", key);
    put_text(file, text);
}

static const char *name_at(const trace_rank *rank, uint16_t place)
{
    return place < TRACE_POOL ? rank->pool + place : "";
}

/* A program that writes where it should not may have spoilt what it shares: nothing there is believed. */
static uint64_t count_of(const writer *w, const trace_rank *rank)
{
    uint64_t count = atomic_load(&rank->count),
             most = p2p__trace_room(w->job->size, w->config) + (uint64_t)w->job->size;
    return count < most ? count : most;
}

static uint64_t open_count_of(const trace_rank *rank)
{
    uint64_t count = atomic_load(&rank->open_count);
    return count < TRACE_OPEN ? count : TRACE_OPEN;
}

/* ---- Times ---- */

/* Whole nanoseconds, cut off, so that what nests still does. */
static uint64_t ns_of(const writer *w, uint64_t time)
{
    if (w->is_virtual) return time / 1000;
    return time > w->job->started ? time - w->job->started : 0;
}

static void put_time(const writer *w, const char *key, uint64_t ns)
{
    fprintf(w->file, ",\"%s\":%llu.%03llu", key, (unsigned long long)ns / 1000, (unsigned long long)ns % 1000);
}

/* ---- Events ---- */

static int thread_of(const writer *w, const trace_event *event, int rank)
{
    bool apart = w->is_virtual && event->flags & TRACE_IN_STEP; /* virtual time of its own: a track of its own */
    return rank + 1 + (apart ? P2P_MAX_RANKS * (1 + (int)(event->context / 2)) : 0);
}

static void begin_event(writer *w, const char *phase, const char *name, const char *category, int thread)
{
    fprintf(w->file, "%s\n{\"ph\":\"%s\",\"name\":", w->comma, phase);
    w->comma = ",";
    put_text(w->file, name);
    if (category) fprintf(w->file, ",\"cat\":\"%s\"", category);
    fprintf(w->file, ",\"pid\":1,\"tid\":%d", thread);
}

static void end_event(writer *w)
{
    fputs("}}", w->file);
}

static void begin_args(const writer *w, int rank)
{
    fprintf(w->file, ",\"args\":{\"rank\":%d", rank);
}

static void begin_event_args(const writer *w, int rank, const trace_event *event)
{
    begin_args(w, rank);
    fprintf(w->file, ",\"depth\":%d", event->depth);
}

static void put_peer(const writer *w, const char *key, int peer)
{
    if (peer < 0)
        fprintf(w->file, ",\"%s\":\"any\"", key);
    else
        fprintf(w->file, ",\"%s\":%d", key, peer);
}

static void put_number(const writer *w, const char *key, uint64_t number)
{
    fprintf(w->file, ",\"%s\":%llu", key, (unsigned long long)number);
}

static void put_place(const writer *w, const trace_event *event, const trace_rank *from)
{
    if (event->number) put_number(w, "collective", event->number);
    if (event->context / 2) put_number(w, "comm", event->context / 2);
    if (event->file) put_field(w->file, "file", name_at(from, event->file));
    if (event->file) fprintf(w->file, ",\"line\":%d", event->line);
}

static void put_part(const writer *w, const trace_event *event)
{
    if (!(event->flags & TRACE_HAS_PART)) return;
    if (event->chunk >= 0) fprintf(w->file, ",\"chunk\":%d", event->chunk);
    put_number(w, "offset", event->offset);
    if (event->flags & TRACE_COMBINED) fputs(",\"combined\":true", w->file);
}

static void put_collective(const writer *w, const trace_event *event, const trace_rank *from)
{
    if (event->bytes != UINT64_MAX) put_number(w, "count", event->bytes);
    put_field(w->file, "dtype", name_at(from, event->dtype));
    put_field(w->file, "op", name_at(from, event->op));
    put_field(w->file, "algorithm", name_at(from, event->algorithm));
    if (event->flags & TRACE_HAS_PEER) put_peer(w, "root", event->peer);
}

static void put_tag(const writer *w, const char *key, int tag)
{
    if (tag < 0)
        fprintf(w->file, ",\"%s\":\"any\"", key);
    else
        fprintf(w->file, ",\"%s\":%d", key, tag);
}

static void put_call(const writer *w, const trace_event *event)
{
    bool names_peer = event->flags & (TRACE_HAS_PEER | TRACE_HAS_SOURCE);
    if (event->flags & TRACE_COMBINED) put_number(w, "requests", event->bytes);
    if (!names_peer) return;
    put_peer(w, "peer", event->peer);
    put_tag(w, "tag", event->tag);
    put_number(w, "bytes", event->bytes);
    if (!(event->flags & TRACE_HAS_SOURCE)) return;
    put_peer(w, "source", event->from);
    put_tag(w, "source_tag", event->from_tag);
}

static void put_slice(writer *w, const trace_event *event, const trace_rank *from, int rank, bool unfinished)
{
    static const char *const categories[] = {[TRACE_CALL] = "call",
                                             [TRACE_COLLECTIVE] = "collective",
                                             [TRACE_WAIT] = "wait",
                                             [TRACE_COMPUTE] = "compute",
                                             [TRACE_PHASE] = "phase"};
    uint64_t start = ns_of(w, event->start), end = unfinished ? w->end : ns_of(w, event->end);
    begin_event(w, "X", name_at(from, event->name), categories[event->kind], thread_of(w, event, rank));
    put_time(w, "ts", start);
    put_time(w, "dur", end > start ? end - start : 0);
    begin_event_args(w, rank, event);
    if (event->kind == TRACE_COLLECTIVE) put_collective(w, event, from);
    if (event->kind == TRACE_CALL) put_call(w, event);
    if (event->kind == TRACE_COMPUTE) put_number(w, "bytes", event->bytes), put_part(w, event);
    if (event->flags & TRACE_POLLED) put_number(w, "looks", event->polls);
    if (event->flags & TRACE_FAILED) fputs(",\"failed\":true", w->file);
    if (unfinished) fputs(",\"unfinished\":true", w->file);
    put_place(w, event, from);
    end_event(w);
}

/* One number for a message on both sides: the sender's, and who that is. */
static void put_message_id(const writer *w, int sender, uint64_t id)
{
    put_number(w, "id", ((uint64_t)sender << 32) + (id & UINT32_MAX));
}

/* A point exactly at the end of a slice counts as behind it: what came is shown the least time before. */
static void put_message(writer *w, const trace_event *event, int rank, uint64_t slice_start)
{
    bool sent = event->kind == TRACE_SENT;
    uint64_t at = ns_of(w, event->start);
    begin_event(w, sent ? "s" : "f", "message", "message", thread_of(w, event, rank));
    put_message_id(w, sent ? rank : event->peer, event->id);
    put_time(w, "ts", !sent && at > slice_start ? at - 1 : at);
    if (!sent) fputs(",\"bp\":\"e\"", w->file);
    begin_event_args(w, rank, event);
    put_peer(w, sent ? "to" : "from", event->peer);
    put_tag(w, "tag", event->tag);
    put_number(w, "bytes", event->bytes);
    put_part(w, event);
    if (w->is_virtual && sent && rank != event->peer) {
        uint64_t cost = p2p__network_message(&w->config->network, rank, event->peer, event->bytes);
        put_time(w, "leaves", ns_of(w, event->end > cost ? event->end - cost : 0));
    }
    if (w->is_virtual && !sent) put_time(w, "arrives", at);
    if (event->context % 2) fputs(",\"of_collective\":true", w->file);
    put_place(w, event, NULL);
    end_event(w);
}

/* With a track of its own it is a slice there, behind the one before it on its communicator. */
static void put_background_slice(writer *w, const trace_event *event, const trace_rank *from, int rank, uint64_t after)
{
    uint64_t start = ns_of(w, event->start), end = ns_of(w, event->end);
    if (start < after) start = after;
    begin_event(w, "X", name_at(from, event->name), "background", thread_of(w, event, rank));
    put_time(w, "ts", start);
    put_time(w, "dur", end > start ? end - start : 0);
    begin_event_args(w, rank, event);
    put_place(w, event, from);
    end_event(w);
}

static void put_background(writer *w, const trace_event *event, const trace_rank *from, int rank)
{
    for (int i = 0; i < 2; i++) {
        begin_event(w, i ? "e" : "b", name_at(from, event->name), "background", rank + 1);
        fprintf(w->file, ",\"id\":\"%d.%u.%u\"", rank, event->context, event->number);
        put_time(w, "ts", ns_of(w, i ? event->end : event->start));
        begin_event_args(w, rank, event);
        put_place(w, event, from);
        end_event(w);
    }
}

/* ---- A rank ---- */

typedef struct {
    const trace_event *event;
    int thread;
    bool unfinished;
} entry;

static int by_beginning(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->event->order < y->event->order ? -1 : x->event->order > y->event->order;
}

static size_t list_events(const writer *w, const trace_rank *from, int rank, entry *list)
{
    uint64_t count = count_of(w, from), open = open_count_of(from);
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++)
        list[used++] = (entry){&from->events[i], thread_of(w, &from->events[i], rank), false};
    for (uint64_t i = 0; i < open; i++)
        list[used++] = (entry){&from->open[i], thread_of(w, &from->open[i], rank), true};
    qsort(list, used, sizeof *list, by_beginning);
    return used;
}

/* Where we are on a track. */
typedef struct {
    int thread;
    uint64_t slice_start, background_end;
} position;

static void put_entry(writer *w, const trace_rank *from, int rank, const entry *e, position *at)
{
    bool apart = e->thread != rank + 1;
    if (at->thread != e->thread) *at = (position){.thread = e->thread};
    switch ((enum trace_kind)e->event->kind) {
    case TRACE_SENT:
    case TRACE_RECEIVED: put_message(w, e->event, rank, at->slice_start); break;
    case TRACE_BACKGROUND:
        if (apart)
            put_background_slice(w, e->event, from, rank, at->background_end);
        else
            put_background(w, e->event, from, rank);
        at->background_end = ns_of(w, e->event->end);
        break;
    case TRACE_CALL:
    case TRACE_COLLECTIVE:
    case TRACE_COMPUTE:
    case TRACE_PHASE: at->slice_start = ns_of(w, e->event->start); /* fall through */
    case TRACE_WAIT: put_slice(w, e->event, from, rank, e->unfinished); break;
    case TRACE_STATS: break;
    }
}

static trace_rank *block_of(const writer *w, int rank)
{
    return p2p__trace_of(p2p__board_trace(w->job->board), w->job->size, w->config, rank);
}

static bool put_rank(writer *w, int rank)
{
    trace_rank *from = block_of(w, rank);
    entry *list = malloc((size_t)(count_of(w, from) + TRACE_OPEN) * sizeof *list);
    position at = {.thread = 0};
    if (!list) return false;
    from->pool[TRACE_POOL - 1] = 0;
    size_t count = list_events(w, from, rank, list);
    for (size_t i = 0; i < count; i++) put_entry(w, from, rank, &list[i], &at);
    free(list);
    return true;
}

static uint64_t last_moment_of(const writer *w, int rank)
{
    const trace_rank *from = block_of(w, rank);
    uint64_t count = count_of(w, from), last = 0;
    for (uint64_t i = 0; i < count; i++)
        if (from->events[i].kind != TRACE_STATS && ns_of(w, from->events[i].end) > last)
            last = ns_of(w, from->events[i].end);
    for (uint64_t i = 0; i < open_count_of(from); i++)
        if (ns_of(w, from->open[i].start) > last) last = ns_of(w, from->open[i].start);
    return last;
}

/* ---- Names ---- */

static void put_name(writer *w, const char *what, int thread, const char *name)
{
    begin_event(w, "M", what, NULL, thread);
    fputs(",\"args\":{\"name\":", w->file);
    put_text(w->file, name);
    end_event(w);
}

static void put_order(writer *w, int thread, int place)
{
    begin_event(w, "M", "thread_sort_index", NULL, thread);
    fprintf(w->file, ",\"args\":{\"sort_index\":%d", place);
    end_event(w);
}

static void put_background_names(writer *w, int rank)
{
    const trace_rank *from = block_of(w, rank);
    uint32_t named[8], used = 0;
    for (uint64_t i = 0; i < count_of(w, from); i++) {
        const trace_event *event = &from->events[i];
        uint32_t seen = 0;
        if (thread_of(w, event, rank) == rank + 1) continue;
        while (seen < used && named[seen] != event->context / 2) seen++;
        if (seen < used || used == 8) continue;
        char name[60];
        named[used++] = event->context / 2;
        snprintf(name, sizeof name, "rank %d, in the background", rank);
        put_name(w, "thread_name", thread_of(w, event, rank), name);
        put_order(w, thread_of(w, event, rank), 2 * rank + 1);
    }
}

static void put_names(writer *w)
{
    char name[60];
    snprintf(name, sizeof name, "pairwise: %d rank%s", w->job->size, w->job->size == 1 ? "" : "s");
    put_name(w, "process_name", 0, name);
    for (int i = 0; i < w->job->size; i++) {
        snprintf(name, sizeof name, "rank %d", i);
        put_name(w, "thread_name", i + 1, name);
        put_order(w, i + 1, 2 * i);
        if (w->is_virtual) put_background_names(w, i);
    }
}

/* ---- The end ---- */

static void put_set(const writer *w, const char *key, const p2p_rank_set *set)
{
    const char *comma = "";
    fprintf(w->file, ",\"%s\":[", key);
    for (int i = 0; i < w->job->size; i++) {
        if (!p2p__set_has(set, i)) continue;
        fprintf(w->file, "%s%d", comma, i);
        comma = ",";
    }
    putc(']', w->file);
}

static const char *what_happened(const p2p_last_moment *moment)
{
    if (moment->stuck) return "stuck";
    return moment->state == BOARD_BLOCKED ? "blocked" : moment->state >= BOARD_FINALIZING ? "over" : "running";
}

static void put_last_moment(writer *w, int rank)
{
    const p2p_last_moment *moment = &w->job->trace->ranks[rank];
    begin_event(w, "i", what_happened(moment), "end", rank + 1);
    fputs(",\"s\":\"t\"", w->file);
    put_time(w, "ts", w->end);
    begin_args(w, rank);
    put_field(w->file, "call", moment->call);
    if (moment->heart) fputs(",\"in_cycle\":true", w->file);
    put_set(w, "waits_for", &moment->waits_for);
    end_event(w);
}

static void put_end(writer *w)
{
    const p2p_trace_job *trace = w->job->trace;
    if (!trace->failed_at) return;
    for (int i = 0; i < w->job->size; i++) put_last_moment(w, i);
    begin_event(w, "i", trace->outcome, "end", trace->first >= 0 ? trace->first + 1 : 1);
    fputs(",\"s\":\"g\"", w->file);
    put_time(w, "ts", w->end);
    fputs(",\"args\":{\"text\":", w->file);
    put_text(w->file, trace->text);
    if (strcmp(trace->outcome, "deadlock") == 0) {
        p2p_rank_set heart = {{0}};
        for (int i = 0; i < w->job->size; i++)
            if (trace->ranks[i].heart) p2p__set_add(&heart, i);
        put_set(w, trace->is_cycle ? "cycle" : "stuck", &heart);
    }
    end_event(w);
}

/* ---- The whole ---- */

static void put_stats(const writer *w)
{
    const char *comma = "";
    fputs(",\"stats\":[", w->file);
    for (int rank = 0; rank < w->job->size; rank++) {
        const trace_rank *from = block_of(w, rank);
        for (uint64_t i = 0; i < count_of(w, from); i++) {
            const trace_event *e = &from->events[i];
            if (e->kind != TRACE_STATS) continue;
            fprintf(w->file, "%s\n[%u,%d,%d,%u,%llu,%llu,%llu]", comma, e->context / 2, rank, e->peer, e->polls,
                    (unsigned long long)e->bytes, (unsigned long long)e->offset, (unsigned long long)e->id);
            comma = ",";
        }
    }
    fputs("],\n\"stats_columns\":[\"comm\",\"rank\",\"peer\",\"messages_sent\",\"bytes_sent\",\"messages_received\","
          "\"bytes_received\"]",
          w->file);
}

static void put_network(const writer *w)
{
    const p2p_network *n = &w->config->network;
    if (!n->on) return;
    fprintf(w->file, ",\"network\":{\"latency_us\":%.6g,\"bandwidth\":%.9g,\"combining\":%.9g}", n->latency_s * 1e6,
            n->bandwidth, n->reduce);
}

static void put_job(const writer *w)
{
    uint64_t dropped = 0;
    for (int i = 0; i < w->job->size; i++) dropped += atomic_load(&block_of(w, i)->dropped);
    fprintf(w->file, "\n],\n\"pairwise\":{\"format\":1,\"ranks\":%d,\"clock\":\"%s\",\"world\":", w->job->size,
            w->is_virtual ? "virtual" : "real");
    put_text(w->file, w->config->world);
    put_network(w);
    put_field(w->file, "program", w->job->plan->program ? w->job->plan->program : "");
    put_field(w->file, "outcome", w->job->trace->outcome);
    fprintf(w->file, ",\"status\":%d", w->job->exit_status);
    put_number(w, "dropped", dropped);
    put_stats(w);
    fputs("}}\n", w->file);
}

bool p2p__trace_write(p2p_job *job, const char *path)
{
    const p2p_config *config = &job->board->config;
    writer w = {.file = fopen(path, "we"), .job = job, .config = config, .is_virtual = config->network.on, .comma = ""};
    if (!w.file) return false;
    bool fine = true;
    if (!w.is_virtual) w.end = ns_of(&w, job->trace->failed_at ? job->trace->failed_at : p2p__now());
    for (int i = 0; i < job->size; i++) {
        uint64_t last = last_moment_of(&w, i);
        if (last > w.end) w.end = last;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", w.file);
    put_names(&w);
    for (int i = 0; i < job->size && fine; i++) fine = put_rank(&w, i);
    put_end(&w);
    put_job(&w);
    fine = !ferror(w.file) && fine;
    return fclose(w.file) == 0 && fine;
}
