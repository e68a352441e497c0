/* SPDX-License-Identifier: MIT */
/* Tracing, in the supervisor: how the job ended, what each rank was doing then, and the file. The ranks' events are read when
 * all of them have ended. */
#include "p2p/job/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/file.h"

void p2p__trace_open(p2p_job *job)
{
    if (!job->plan->config.trace_room || !p2p__judges(job)) return; /* host 0 writes it */
    p2p_traced_job *trace = calloc(1, sizeof *trace + (size_t)job->size * sizeof *trace->ranks);
    if (!trace) return;
    *trace = (p2p_traced_job){
        .scoreboard = job->scoreboard, .program = job->plan->program ? job->plan->program : "", .first = -1};
    job->trace = trace;
}

void p2p__trace_deadlock(p2p_job *job, const p2p_finding *deadlock)
{
    if (!job->trace) return;
    job->trace->outcome = "deadlock";
    job->trace->is_cycle = deadlock->what.is_cycle;
    for (size_t i = 0; i < deadlock->count; i++) {
        const p2p_place *place = &deadlock->places[i];
        if (place->role == ROLE_WAITS || place->role == ROLE_BEHIND || place->role == ROLE_STUCK)
            job->trace->ranks[place->rank] = *place;
    }
}

void p2p__trace_failed(p2p_job *job, p2p_err err, int rank, const char *text)
{
    p2p_traced_job *trace = job->trace;
    if (!trace) return;
    trace->failed_at = p2p__now();
    if (!trace->outcome)
        trace->outcome = err == P2P_ERR_DEADLOCK   ? "deadlock"
                         : err == P2P_ERR_TIMEOUT  ? "timeout"
                         : err == P2P_ERR_MISMATCH ? "mismatch"
                                                   : "death";
    trace->first = rank;
    snprintf(trace->text, sizeof trace->text, "%s", text);
    p2p__see(&job->watch);
    for (int i = 0; i < job->size; i++) {
        p2p_place *place = &trace->ranks[i];
        const p2p_sight *row = &job->watch.seen[i];
        if (place->role != ROLE_CALL) continue; /* in a deadlock */
        *place = (p2p_place){.role = ROLE_DOING, .rank = i, .state = row->state, .call = row->call};
        if (place->state != SCOREBOARD_BLOCKED) continue;
        place->awaited = row->wait.need;
        for (int k = 0; k < row->wait.any_count; k++) p2p__set_join(&place->awaited, &row->wait.any[k], job->size);
    }
}

void p2p__trace_goes_on(p2p_job *job)
{
    p2p_traced_job *trace = job->trace;
    if (!trace) return;
    trace->scoreboard = job->scoreboard;
    trace->outcome = NULL;
    trace->failed_at = 0;
    trace->first = -1;
    trace->text[0] = 0;
    memset(trace->ranks, 0, (size_t)job->size * sizeof *trace->ranks);
}

bool p2p__trace_close(p2p_job *job)
{
    p2p_traced_job *trace = job->trace;
    if (!trace) return true;
    const char *path = job->plan->options.trace;
    trace->started = job->began;
    trace->status = job->exit_status;
    if (!trace->outcome) trace->outcome = job->interrupted ? "interrupted" : job->exit_status ? "failed" : "finished";
    for (int i = 0; i < job->size; i++) trace->dropped += atomic_load(&p2p__trace_of(job->scoreboard, i)->dropped);
    p2p_file file;
    bool written = p2p__file_begin(&file, path) && p2p__file_end(&file, p2p__trace_write(trace, file.stream));
    if (!written) fprintf(stderr, "pairwise: the trace cannot be written to \"%s\": %s\n", path, strerror(errno));
    if (written && trace->dropped)
        fprintf(stderr,
                "pairwise: note: %s is only the beginning: there was no room for %llu events\n"
                "  try: PAIRWISE_TRACE_ROOM=%zuM\n",
                path, (unsigned long long)trace->dropped, 4 * (job->plan->config.trace_room >> 20));
    free(trace);
    job->trace = NULL;
    return written;
}
