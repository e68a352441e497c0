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
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "p2p/shared/clock.h"
#include "p2p/trace/trace_json.h"

/* ---- Times ---- */

static uint64_t last_moment_of(const p2p_writer *w, int rank)
{
    const trace_rank *from = p2p__json_block_of(w, rank);
    uint64_t count = p2p__json_count_of(w, from), open = p2p__json_open_count_of(from), last = 0;
    for (uint64_t i = 0; i < count; i++)
        if (from->events[i].kind != TRACE_STATS && p2p__json_ns_of(w, from->events[i].end) > last)
            last = p2p__json_ns_of(w, from->events[i].end);
    for (uint64_t i = 0; i < open; i++)
        if (p2p__json_ns_of(w, from->open[i].start) > last) last = p2p__json_ns_of(w, from->open[i].start);
    return last;
}

/* ---- Names ---- */

static void put_name(p2p_writer *w, const char *what, int thread, const char *name)
{
    p2p__json_begin_event(w, "M", what, NULL, thread);
    fputs(",\"args\":{\"name\":", w->file);
    p2p__json_text(w->file, name);
    p2p__json_end_event(w);
}

static void put_order(p2p_writer *w, int thread, int place)
{
    p2p__json_begin_event(w, "M", "thread_sort_index", NULL, thread);
    fprintf(w->file, ",\"args\":{\"sort_index\":%d", place);
    p2p__json_end_event(w);
}

static void put_background_names(p2p_writer *w, int rank)
{
    const trace_rank *from = p2p__json_block_of(w, rank);
    uint32_t named[8], used = 0;
    uint64_t count = p2p__json_count_of(w, from);
    for (uint64_t i = 0; i < count; i++) {
        const trace_event *event = &from->events[i];
        uint32_t seen = 0;
        if (p2p__json_thread_of(w, event, rank) == rank + 1) continue;
        while (seen < used && named[seen] != event->context / 2) seen++;
        if (seen < used || used == 8) continue;
        char name[60];
        named[used++] = event->context / 2;
        snprintf(name, sizeof name, "rank %d, in the background", rank);
        put_name(w, "thread_name", p2p__json_thread_of(w, event, rank), name);
        put_order(w, p2p__json_thread_of(w, event, rank), 2 * rank + 1);
    }
}

static void put_names(p2p_writer *w)
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

static void put_set(const p2p_writer *w, const char *key, const p2p_rank_set *set)
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
    return moment->state == SCOREBOARD_BLOCKED      ? "blocked"
           : moment->state >= SCOREBOARD_FINALIZING ? "over"
                                                    : "running";
}

static void put_last_moment(p2p_writer *w, int rank)
{
    const p2p_last_moment *moment = &w->job->ranks[rank];
    p2p__json_begin_event(w, "i", what_happened(moment), "end", rank + 1);
    fputs(",\"s\":\"t\"", w->file);
    p2p__json_time(w, "ts", w->end);
    p2p__json_begin_args(w, rank);
    p2p__json_field(w->file, "call", moment->call);
    if (moment->knot) fputs(",\"in_cycle\":true", w->file);
    put_set(w, "waits_for", &moment->waits_for);
    p2p__json_end_event(w);
}

static void put_end(p2p_writer *w)
{
    const p2p_traced_job *trace = w->job;
    if (!trace->failed_at) return;
    for (int i = 0; i < w->job->size; i++) put_last_moment(w, i);
    p2p__json_begin_event(w, "i", trace->outcome, "end", trace->first >= 0 ? trace->first + 1 : 1);
    fputs(",\"s\":\"g\"", w->file);
    p2p__json_time(w, "ts", w->end);
    fputs(",\"args\":{\"text\":", w->file);
    p2p__json_text(w->file, trace->text);
    if (strcmp(trace->outcome, "deadlock") == 0) {
        p2p_rank_set knot = {{0}};
        for (int i = 0; i < w->job->size; i++)
            if (trace->ranks[i].knot) p2p__set_add(&knot, i);
        put_set(w, trace->is_cycle ? "cycle" : "stuck", &knot);
    }
    p2p__json_end_event(w);
}

/* ---- The whole ---- */

static void put_stats(const p2p_writer *w)
{
    const char *comma = "";
    fputs(",\"stats\":[", w->file);
    for (int rank = 0; rank < w->job->size; rank++) {
        const trace_rank *from = p2p__json_block_of(w, rank);
        uint64_t count = p2p__json_count_of(w, from);
        for (uint64_t i = 0; i < count; i++) {
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

static void put_network(const p2p_writer *w)
{
    const p2p_network *n = &w->config->network;
    if (!n->on) return;
    fprintf(w->file, ",\"network\":{\"latency_us\":%.6g,\"bandwidth\":%.9g,\"combining\":%.9g}", n->latency_s * 1e6,
            n->bandwidth, n->reduce);
}

static void put_job(const p2p_writer *w)
{
    uint64_t dropped = 0;
    for (int i = 0; i < w->job->size; i++) dropped += atomic_load(&p2p__json_block_of(w, i)->dropped);
    fprintf(w->file, "\n],\n\"pairwise\":{\"format\":1,\"ranks\":%d,\"clock\":\"%s\",\"world\":", w->job->size,
            w->is_virtual ? "virtual" : "real");
    p2p__json_text(w->file, w->config->world);
    put_network(w);
    p2p__json_field(w->file, "program", w->job->program);
    p2p__json_field(w->file, "outcome", w->job->outcome);
    fprintf(w->file, ",\"status\":%d", w->job->status);
    p2p__json_number(w, "dropped", dropped);
    put_stats(w);
    fputs("}}\n", w->file);
}

bool p2p__trace_write(const p2p_traced_job *job, FILE *file)
{
    const p2p_config *config = job->config;
    p2p_writer w = {.file = file, .job = job, .config = config, .is_virtual = config->network.on, .comma = ""};
    bool fine = true;
    if (!w.is_virtual) w.end = p2p__json_ns_of(&w, job->failed_at ? job->failed_at : p2p__now());
    for (int i = 0; i < job->size; i++) {
        uint64_t last = last_moment_of(&w, i);
        if (last > w.end) w.end = last;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", w.file);
    put_names(&w);
    for (int i = 0; i < job->size && fine; i++) fine = p2p__json_rank(&w, i);
    put_end(&w);
    put_job(&w);
    return fine;
}
