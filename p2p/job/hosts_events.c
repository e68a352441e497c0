/* SPDX-License-Identifier: MIT */
/*
 * What happens to ranks of other hosts, and to the job. Host 0 judges, as if all ranks were its own: it is told what ranks say to
 * their launchers, and how they end. What it decides goes to all:
 *
 *      host 0       "the job has failed, because ..."  ────>  all
 *      each host    "all that my ranks had sent is with you" ────>  all
 *
 * and a host that has heard that of all others tells its ranks: so what a rank had sent before it died is delivered first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/job/hosts.h"

#define FLUSH_NS UINT64_C(100000000) /* and no longer */

/* ---- What ranks say ---- */

typedef struct {
    record_event event;
    scoreboard_found found[SCOREBOARD_FOUND];
} event_text;

_Static_assert(sizeof(event_text) + sizeof(record) < CARRIER_SLOT, "an event fits into a slot");

void p2p__far_event(p2p_job *job, p2p_rank_process *process, const control_message *message)
{
    static event_text text; /* too large for a stack */
    const scoreboard_row *row = &job->scoreboard->rows[process->rank];
    int count = atomic_load(&row->found_count);
    if (count < 0 || process->heard) count = 0;
    if (count > SCOREBOARD_FOUND) count = SCOREBOARD_FOUND;
    if (count) process->heard = true;
    memset(&text.event, 0, sizeof text.event);
    text.event = (record_event){.message = *message, .found_count = count};
    text.event.call = p2p__call_copy(&row->call);
    memcpy(text.event.error, row->error, sizeof text.event.error);
    memcpy(text.event.advice, row->advice, sizeof text.event.advice);
    memcpy(text.found, row->found, (size_t)count * sizeof *text.found);
    const record r = {.type = RECORD_EVENT,
                      .bytes = (uint32_t)(sizeof text.event + (size_t)count * sizeof *text.found),
                      .a = process->rank};
    p2p__record_put(job, 0, &r, &text);
}

void p2p__event_arrived(p2p_job *job, const record *r, const char *bytes)
{
    const record_event *event = (const void *)bytes;
    scoreboard_row *row = &job->scoreboard->rows[r->a];
    row->call = event->call;
    memcpy(row->error, event->error, sizeof row->error);
    memcpy(row->advice, event->advice, sizeof row->advice);
    if (event->found_count) {
        memcpy(row->found, bytes + sizeof *event, (size_t)event->found_count * sizeof *row->found);
        atomic_store(&row->found_count, event->found_count);
    }
    if (event->message.type)
        p2p__obey_rank(job, &job->ranks[r->a], &event->message);
    else
        p2p__see_found(job, r->a);
}

void p2p__far_goodbye(p2p_job *job, int rank)
{
    record_count counts[P2P_MAX_RANKS];
    size_t count = p2p__counts_of(job, rank, counts);
    const record r = {
        .type = RECORD_GOODBYE, .bytes = (uint32_t)(count * sizeof *counts), .a = rank, .b = job->ranks[rank].returned};
    p2p__record_put_all(job, &r, counts);
}

/* ---- What launchers find ---- */

void p2p__far_finding(p2p_job *job, const p2p_finding *finding, const p2p_words *w)
{
    record_finding found;
    memset(&found, 0, sizeof found);
    found.what = finding->what;
    for (size_t i = 0; i < finding->count && i < SCOREBOARD_PLACES; i++)
        found.places[found.count++] = finding->places[i];
    snprintf(found.text, sizeof found.text, "%.*s", (int)sizeof found.text - 1, w->text);
    memcpy(found.advice, w->advice, sizeof found.advice);
    p2p__record_put(job, 0, &(record){.type = RECORD_FINDING, .bytes = sizeof found}, &found);
}

/* Of a job that has failed already, for another reason, it is not told. */
void p2p__finding_arrived(p2p_job *job, const record_finding *found)
{
    p2p_words w = {.used = 0};
    if (job->failed) return;
    p2p_finding *f = p2p__report_add(&job->report, found->what.class, found->what.reason, -1);
    f->what.argument = found->what.argument;
    f->what.ranks = found->what.ranks;
    f->what.status = found->what.status;
    for (int i = 0; i < found->count; i++) {
        p2p_place *place = p2p__finding_add(f, found->places[i].role, found->places[i].rank, NULL);
        *place = found->places[i];
        place->call = p2p__call_copy(&place->call);
        p2p__place_host(job->scoreboard, place);
    }
    p2p__add(&w, "%s", found->text);
    memcpy(w.advice, found->advice, sizeof w.advice);
    p2p__report_tell(job, f, &w);
}

/* ---- How they end ---- */

typedef struct {
    record_end end;
    record_count counts[P2P_MAX_RANKS];
} end_text;

void p2p__far_ended(p2p_job *job, p2p_rank_process *process, const p2p_end *end)
{
    static end_text text;
    const scoreboard_row *row = &job->scoreboard->rows[process->rank];
    p2p__lines_of(job, process->rank);
    p2p__far_drain(job, process->rank);
    if (job->plan->options.repair) {
        p2p__stream_end(&process->out);
        p2p__stream_end(&process->err);
    }
    if (!p2p__judges(job) && atomic_load(&row->found_count) > 0 && !process->heard)
        p2p__far_event(job, process, &(control_message){0, 0, 0});
    memset(&text.end, 0, sizeof text.end);
    text.end = (record_end){.end = *end, .gave_up = atomic_load(&row->gave_up), .call = p2p__call_copy(&row->call)};
    memcpy(text.end.said, process->said, sizeof text.end.said);
    size_t count = p2p__counts_of(job, process->rank, text.counts);
    const record r = {
        .type = RECORD_ENDED, .bytes = (uint32_t)(sizeof text.end + count * sizeof *text.counts), .a = process->rank};
    p2p__record_put_all(job, &r, &text);
    p2p__hosts_send(job);
}

void p2p__end_arrived(p2p_job *job, const record *r, const char *bytes)
{
    const record_end *ended = (const void *)bytes;
    p2p_rank_process *process = &job->ranks[r->a];
    scoreboard_row *row = &job->scoreboard->rows[r->a];
    p2p__counts_arrived(job, r->a, (const void *)(bytes + sizeof *ended),
                        (r->bytes - sizeof *ended) / sizeof(record_count));
    row->call = ended->call;
    p2p__rank_gave_up(job, r->a, ended->gave_up);
    atomic_store(&row->state, ended->end.state);
    atomic_store(&row->letter, 0);
    job->watch.ended[r->a] = true;
    process->status = ended->end.code == CLD_EXITED ? ended->end.status : 128 + ended->end.status;
    snprintf(process->said, sizeof process->said, "%.*s", (int)sizeof ended->said - 1, ended->said);
    if (p2p__judges(job))
        p2p__judge_end(job, process, &ended->end);
    else
        p2p__check_all_done(job);
}

/* ---- The job fails ---- */

/* failed: FAILED_GENERATION or FAILED_JOB; a job may fail while it repairs itself. */
static void begin_flush(p2p_job *job, const record_failure *failure, int failed)
{
    p2p_cluster *hosts = job->hosts;
    bool flushing = hosts->failing;
    if (job->failed) return;
    if (failed == FAILED_JOB)
        job->failed = true;
    else
        job->broken = true;
    hosts->failure = *failure;
    hosts->failing = failed;
    if (flushing) return;
    hosts->flush_until = job->announced ? 0 : p2p__now() + FLUSH_NS;
    for (int rank = job->first; rank < job->first + job->count; rank++)
        if (job->watch.ended[rank]) p2p__far_drain(job, rank);
    p2p__record_put_all(job, &(record){.type = RECORD_FLUSH}, NULL);
    p2p__check_flushed(job);
}

static record_failure failure_of(p2p_err err, int rank, int status, const char *text, uint64_t grace_ns)
{
    record_failure failure;
    memset(&failure, 0, sizeof failure);
    failure.err = err;
    failure.rank = rank;
    failure.status = status;
    failure.grace_ns = grace_ns;
    snprintf(failure.text, sizeof failure.text, "%s", text);
    return failure;
}

void p2p__far_failure(p2p_job *job, p2p_err err, int rank, int status, const char *text, uint64_t grace_ns)
{
    const record_failure failure = failure_of(err, rank, status, text, grace_ns);
    const record r = {.type = RECORD_FAILED, .bytes = sizeof failure};
    if (!p2p__judges(job) && !job->hosts->lost) {
        p2p__record_put(job, 0, &r, &failure); /* host 0 decides */
        return;
    }
    p2p__record_put_all(job, &r, &failure);
    begin_flush(job, &failure, FAILED_JOB);
}

void p2p__far_broken(p2p_job *job, int rank, const char *text)
{
    const record_failure failure = failure_of(P2P_ERR_PEER_DEAD, rank, 0, text, 0);
    p2p__record_put_all(job, &(record){.type = RECORD_BROKEN, .bytes = sizeof failure}, &failure);
    begin_flush(job, &failure, FAILED_GENERATION);
}

void p2p__failure_arrived(p2p_job *job, const record *r, const record_failure *failure)
{
    if (p2p__judges(job))
        p2p__job_fail(job, (p2p_err)failure->err, failure->rank, failure->status, failure->text);
    else
        begin_flush(job, failure, r->type == RECORD_BROKEN ? FAILED_GENERATION : FAILED_JOB);
}

void p2p__flush_arrived(p2p_job *job, int host)
{
    job->hosts->hosts[host].flushed = true;
    p2p__check_flushed(job);
}

void p2p__check_flushed(p2p_job *job)
{
    p2p_cluster *hosts = job->hosts;
    bool all = true;
    if (!hosts->failing) return;
    for (int h = 0; h < hosts->count; h++) all = all && (h == hosts->own || hosts->hosts[h].flushed);
    if (!all && p2p__now() < hosts->flush_until) return;
    const record_failure *f = &hosts->failure;
    int failed = hosts->failing;
    hosts->failing = 0;
    if (failed == FAILED_JOB)
        p2p__announce_failure(job, (p2p_err)f->err, f->rank, f->text, f->grace_ns);
    else
        p2p__announce(job, failed, (p2p_err)f->err, f->rank, f->text);
}
