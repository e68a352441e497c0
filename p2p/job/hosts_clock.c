/* SPDX-License-Identifier: MIT */
/*
 * One clock for a trace of several hosts: that of host 0. When the ranks are started, and when its own have ended, host 0
 * asks each other host what time it is. The answer was true somewhere between the question and its arrival: taken to be in
 * the middle, it is wrong by half of that at most (Cristian, "Probabilistic clock synchronization", 1989). The shortest of
 * some exchanges counts. In between a clock is taken to have run evenly.
 *
 * What is left of the error must not turn cause and effect round: where a message would arrive before it was sent, the clock
 * of its host is moved until none does.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/job/hosts.h"
#include "p2p/trace/notes.h"

#define EXCHANGES 20
#define MOST_NS (INT64_C(1) << 60)
#define END_NS UINT64_C(1000000000) /* after its ranks have ended, host 0 waits no longer for answers */

static bool needed(const p2p_job *job)
{
    const p2p_config *config = &job->plan->config;
    return job->hosts && p2p__judges(job) && (config->record || (config->trace_room && !config->network.on));
}

/* ---- Asking ---- */

static void ask(p2p_job *job, int host)
{
    p2p__record_put(job, host, &(record){.type = RECORD_TIME, .number = p2p__now()}, NULL);
}

void p2p__clocks_ask(p2p_job *job)
{
    for (int h = 1; needed(job) && h < job->hosts->count; h++) {
        job->hosts->hosts[h].clock.asked = 0;
        ask(job, h);
    }
}

void p2p__clock_arrived(p2p_job *job, int from, const record *r, const char *bytes)
{
    uint64_t now = p2p__now(), there;
    if (!p2p__judges(job)) {
        p2p__record_put(job, from, &(record){.type = RECORD_TIME, .bytes = sizeof now, .number = r->number}, &now);
        return;
    }
    if (r->bytes != sizeof there || r->number > now) return;
    memcpy(&there, bytes, sizeof there);
    host_clock *clock = &job->hosts->hosts[from].clock;
    clock_sample *best = job->hosts->ending ? &clock->last : &clock->first;
    uint64_t within = (now - r->number) / 2 + 1;
    if (!best->within || within < best->within) *best = (clock_sample){there, r->number + within, within};
    if (++clock->asked < EXCHANGES) ask(job, from);
}

bool p2p__clocks_known(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    if (!needed(job) || job->interrupted || hosts->lost) return true;
    if (!hosts->ending) {
        hosts->ending = p2p__now();
        p2p__clocks_ask(job);
    }
    bool all = true;
    for (int h = 1; h < hosts->count; h++) all = all && hosts->hosts[h].clock.asked >= EXCHANGES;
    return all || p2p__now() - hosts->ending > END_NS;
}

/* ---- From one clock to the other ---- */

static uint64_t by_host_0(const host_clock *clock, uint64_t there)
{
    const clock_sample *first = &clock->first, *last = &clock->last;
    if (!first->within) first = last;
    int64_t since = (int64_t)(there - first->there);
    double rate = 1;
    if (since > MOST_NS || since < -MOST_NS) return there; /* no time of this job */
    if (clock->first.within && last->within && last->there > first->there && last->here > first->here)
        rate = (double)(last->here - first->here) / (double)(last->there - first->there);
    if (rate > 2) rate = 1; /* no clock is */
    return first->here + (uint64_t)(int64_t)((double)since * rate);
}

/* To each time that a rank has noted. */
typedef uint64_t convert(const void *how, uint64_t time);

static void convert_rank(const p2p_job *job, int rank, convert *to, const void *how)
{
    notes_record *notes = p2p__notes_record(job->scoreboard, rank);
    for (int i = 0; notes && i < NOTES_CALLS; i++) {
        notes_call *call = &notes->calls[i];
        if (call->start) call->start = to(how, call->start);
        if (call->end) call->end = to(how, call->end);
    }
    if (!job->trace || job->plan->config.network.on) return;
    const p2p_traced_rank from = p2p__json_traced(job->trace, rank);
    for (uint64_t i = 0; i < from.all; i++) {
        trace_event *event = (trace_event *)(uintptr_t)p2p__json_event(&from, i);
        if (event->kind == TRACE_STATS) continue;
        event->start = to(how, event->start);
        event->end = to(how, event->end);
    }
}

static uint64_t by_exchange(const void *clock, uint64_t time)
{
    return by_host_0(clock, time);
}

static uint64_t by_shift(const void *shift, uint64_t time)
{
    return time + (uint64_t) * (const int64_t *)shift;
}

/* ---- Cause and effect ---- */

typedef struct {
    uint64_t id, time;
    int from; /* host */
} departure;

typedef struct {
    departure *list;
    size_t count, room;
} departures;

static int by_id(const void *a, const void *b)
{
    const departure *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static uint64_t id_of(int sender, const trace_event *event)
{
    return ((uint64_t)sender << 32) + (event->id & UINT32_MAX);
}

/* Does this event belong to a message between `host` and one with a lower number? The other one is its peer's. */
static bool crosses(const p2p_job *job, const trace_event *event, int rank, int host)
{
    if (event->peer < 0 || event->peer >= job->size) return false;
    int own = job->hosts->host_of[rank], other = job->hosts->host_of[event->peer];
    return own != other && (own > other ? own : other) == host;
}

static bool add_departures(const p2p_job *job, int host, departures *to)
{
    for (int rank = 0; rank < job->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(job->trace, rank);
        for (uint64_t i = 0; i < from.count; i++) {
            const trace_event *event = p2p__json_event(&from, i);
            if (event->kind != TRACE_SENT || !crosses(job, event, rank, host)) continue;
            if (to->count == to->room) {
                size_t room = to->room ? 2 * to->room : 1024;
                departure *grown = realloc(to->list, room * sizeof *grown);
                if (!grown) return false;
                to->list = grown;
                to->room = room;
            }
            to->list[to->count++] = (departure){id_of(rank, event), event->start, job->hosts->host_of[rank]};
        }
    }
    if (to->list) qsort(to->list, to->count, sizeof *to->list, by_id);
    return true;
}

/* By how much the clock of a host must be moved so that no message between it and those before it arrives too early: no
 * less than what comes to it asks for, no more than what it sends allows; if both cannot be, between them. A message takes
 * a nanosecond at least, by which the trace shows earlier what comes. */
static int64_t find_shift(const p2p_job *job, int host, const departures *sent)
{
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (int rank = 0; rank < job->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(job->trace, rank);
        for (uint64_t i = 0; i < from.count; i++) {
            const trace_event *event = p2p__json_event(&from, i);
            if (event->kind != TRACE_RECEIVED || !crosses(job, event, rank, host)) continue;
            const departure key = {.id = id_of(event->peer, event)},
                            *left = bsearch(&key, sent->list, sent->count, sizeof key, by_id);
            if (!left) continue;
            int64_t took = (int64_t)(event->start - left->time) - 1;
            if (took > MOST_NS || took < -MOST_NS) continue;
            if (left->from == host && took < most) most = took;
            if (left->from != host && -took > least) least = -took;
        }
    }
    if (least <= 0 && most >= 0) return 0;
    if (least <= most) return least > 0 ? least : most;
    return least == INT64_MIN ? most : most == INT64_MAX ? least : most + (least - most) / 2;
}

static void keep_order(p2p_job *job, int host)
{
    departures sent = {.list = NULL};
    int64_t shift = add_departures(job, host, &sent) && sent.count ? find_shift(job, host, &sent) : 0;
    free(sent.list);
    for (int rank = job->hosts->map.first[host]; shift && rank < job->hosts->map.first[host + 1]; rank++)
        convert_rank(job, rank, by_shift, &shift);
}

/* ---- The whole ---- */

uint64_t p2p__clocks_apply(p2p_job *job)
{
    uint64_t began = job->started;
    bool traced = job->trace && !job->plan->config.network.on;
    if (!needed(job)) return began;
    for (int h = 1; h < job->hosts->count; h++) {
        const host_clock *clock = &job->hosts->hosts[h].clock;
        if (!clock->first.within && !clock->last.within) continue;
        for (int rank = job->hosts->map.first[h]; rank < job->hosts->map.first[h + 1]; rank++)
            convert_rank(job, rank, by_exchange, clock);
        if (traced) keep_order(job, h);
    }
    for (int rank = 0; traced && rank < job->size; rank++) {
        const p2p_traced_rank from = p2p__json_traced(job->trace, rank);
        if (from.count && p2p__json_event(&from, 0)->start < began) began = p2p__json_event(&from, 0)->start;
    }
    return began;
}
