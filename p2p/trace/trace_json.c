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
#include <string.h>

#include "p2p/shared/clock.h"
#include "p2p/shared/words.h"
#include "p2p/trace/trace_json.h"

/* When the job failed, or else the last thing that a rank did; open calls never ended. */
static uint64_t end_of(const p2p_writer *w)
{
    uint64_t failed_at = w->job->failed_at, last = 0;
    if (!w->is_virtual) last = p2p__json_ns_of(w, failed_at ? failed_at : p2p__now());
    for (int rank = 0; rank < w->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(w->job, rank);
        for (uint64_t i = 0; i < from.all; i++) {
            const trace_event *event = p2p__json_event(&from, i);
            uint64_t at = p2p__json_ns_of(w, i < from.count ? event->end : event->start);
            if (event->kind != TRACE_STATS && at > last) last = at;
        }
    }
    return last;
}

/* ---- Names ---- */

static void put_name(p2p_writer *w, const char *what, int thread, const char *name)
{
    p2p__json_begin_event(w, "M", what, NULL, thread);
    fputs(",\"args\":{\"name\":", w->file);
    p2p__json_text(w->file, name);
    fputs("}}", w->file);
}

/* Of a thread, with its place among them. */
static void put_thread(p2p_writer *w, int thread, int place, const char *name)
{
    put_name(w, "thread_name", thread, name);
    p2p__json_begin_event(w, "M", "thread_sort_index", NULL, thread);
    fprintf(w->file, ",\"args\":{\"sort_index\":%d}}", place);
}

static void put_names(p2p_writer *w)
{
    char name[60];
    snprintf(name, sizeof name, "pairwise: %d rank%s", w->size, w->size == 1 ? "" : "s");
    put_name(w, "process_name", 0, name);
    for (int rank = 0; rank < w->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(w->job, rank);
        uint32_t named[8], used = 0; /* communicators whose background has a name */
        snprintf(name, sizeof name, "rank %d", rank);
        put_thread(w, rank + 1, 2 * rank, name);
        for (uint64_t i = 0; w->is_virtual && i < from.count && used < 8; i++) {
            uint32_t context = from.shared->events[i].context / 2, seen = 0;
            int thread = p2p__json_thread_of(w, &from.shared->events[i], rank);
            if (thread == rank + 1) continue;
            while (seen < used && named[seen] != context) seen++;
            if (seen < used) continue;
            named[used++] = context;
            snprintf(name, sizeof name, "rank %d, in the background", rank);
            put_thread(w, thread, 2 * rank + 1, name);
        }
    }
}

static void put_end(p2p_writer *w)
{
    const p2p_traced_job *job = w->job;
    p2p_rank_set knot = {{0}};
    if (!job->failed_at) return;
    for (int rank = 0; rank < w->size; rank++) {
        const p2p_place *place = &job->ranks[rank];
        const scoreboard_call *call = &place->call;
        p2p_words text = {.used = 0};
        if (call->name[0]) p2p__add_arguments(&text, "", call);
        const char *state = place->role != ROLE_DOING               ? "stuck"
                            : place->state == SCOREBOARD_BLOCKED    ? "blocked"
                            : place->state >= SCOREBOARD_FINALIZING ? "over"
                                                                    : "running";
        p2p__json_begin_event(w, "i", state, "end", rank + 1);
        fputs(",\"s\":\"t\"", w->file);
        p2p__json_time(w, "ts", w->end);
        p2p__json_begin_args(w, rank, -1);
        p2p__json_field(w->file, "call", text.text);
        p2p__json_field(w->file, "function", call->name);
        p2p__json_field(w->file, "file", call->file);
        if (call->line > 0) p2p__json_number(w->file, "line", (uint64_t)call->line);
        if (place->role == ROLE_WAITS) fputs(",\"in_cycle\":true", w->file);
        if (place->role == ROLE_WAITS) p2p__set_add(&knot, rank);
        p2p__json_ranks(w->file, "waits_for", &place->awaited, w->size);
        fputs("}}", w->file);
    }
    p2p__json_begin_event(w, "i", job->outcome, "end", job->first >= 0 ? job->first + 1 : 1);
    fputs(",\"s\":\"g\"", w->file);
    p2p__json_time(w, "ts", w->end);
    fputs(",\"args\":{\"text\":", w->file);
    p2p__json_text(w->file, job->text);
    if (strcmp(job->outcome, "deadlock") == 0)
        p2p__json_ranks(w->file, job->is_cycle ? "cycle" : "stuck", &knot, w->size);
    fputs("}}", w->file);
}

static void put_job(const p2p_writer *w)
{
    const p2p_network *n = &w->config->network;
    const char *comma = "";
    fprintf(w->file, "\n],\n\"pairwise\":{\"format\":1,\"ranks\":%d,\"clock\":\"%s\",\"world\":", w->size,
            w->is_virtual ? "virtual" : "real");
    p2p__json_text(w->file, w->config->world);
    if (n->on)
        fprintf(w->file, ",\"network\":{\"latency_us\":%.6g,\"bandwidth\":%.9g,\"combining\":%.9g}", n->latency_s * 1e6,
                n->bandwidth, n->reduce);
    p2p__json_field(w->file, "program", w->job->program);
    p2p__json_field(w->file, "outcome", w->job->outcome);
    fprintf(w->file, ",\"status\":%d", w->job->status);
    p2p__json_number(w->file, "dropped", w->job->dropped);
    fputs(",\"stats\":[", w->file);
    for (int rank = 0; rank < w->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(w->job, rank);
        for (uint64_t i = 0; i < from.count; i++) {
            const trace_event *e = &from.shared->events[i];
            if (e->kind != TRACE_STATS) continue;
            fprintf(w->file, "%s\n[%u,%d,%d,%u,%llu,%llu,%llu]", comma, e->context / 2, rank, e->peer, e->polls,
                    (unsigned long long)e->bytes, (unsigned long long)e->offset, (unsigned long long)e->id);
            comma = ",";
        }
    }
    fputs("],\n\"stats_columns\":[\"comm\",\"rank\",\"peer\",\"messages_sent\",\"bytes_sent\",\"messages_received\","
          "\"bytes_received\"]}}\n",
          w->file);
}

bool p2p__trace_write(const p2p_traced_job *job, FILE *file)
{
    const scoreboard *b = job->scoreboard;
    p2p_writer w = {.file = file,
                    .job = job,
                    .config = &b->config,
                    .size = b->size,
                    .is_virtual = b->config.network.on,
                    .comma = ""};
    bool fine = true;
    w.end = end_of(&w);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", w.file);
    put_names(&w);
    for (int i = 0; i < w.size && fine; i++) fine = p2p__json_rank(&w, i);
    put_end(&w);
    put_job(&w);
    return fine;
}
