/* SPDX-License-Identifier: MIT */
/* What ranks ask of the supervisor and tell it; what the supervisor tells them. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "p2p/job/hosts.h"

/* ---- Telling ranks ---- */

bool p2p__tell_rank(p2p_job *job, int rank, control_message message, int fd)
{
    bool sent = !job->ranks[rank].awaits && p2p__control_send(job->ranks[rank].control, message, fd);
    if (job->ranks[rank].awaits) errno = EAGAIN;
    if (sent)
        atomic_fetch_add(&job->scoreboard->rows[rank].told, 1); /* it need not ask the system whether there is one */
    return sent;
}

static void tell(p2p_job *job, p2p_rank_process *process, int type)
{
    if (job->watch.ended[process->rank] || process->control < 0) return;
    bool sent = p2p__tell_rank(job, process->rank, (control_message){type, -1, 0}, -1);
    process->untold = !sent && errno != EPIPE && errno != ECONNRESET;
}

void p2p__tell_all(p2p_job *job, int type)
{
    for (int i = 0; i < job->size; i++) tell(job, &job->ranks[i], type);
}

void p2p__nudge(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    while (process->nudges_owed > 0 && process->control >= 0 &&
           p2p__tell_rank(job, rank, (control_message){CONTROL_NUDGE, -1, 0}, -1))
        process->nudges_owed--;
}

void p2p__tell_again(p2p_job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) p2p__nudge(job, i);
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].untold) tell(job, &job->ranks[i], job->announced ? CONTROL_FAILED : CONTROL_ALL_DONE);
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].keeps) p2p__kept_asked(job, i);
}

/* ---- What a rank has found wrong itself ---- */

static int within(int number, int count)
{
    return number >= 0 && number < count ? number : 0;
}

/* Whatever the rank has written there: what is taken can be printed. */
void p2p__see_found(p2p_job *job, int rank)
{
    const scoreboard_row *row = &job->scoreboard->rows[rank];
    p2p_words error = {.used = 0};
    int count = atomic_load(&row->found_count);
    if (job->ranks[rank].heard || count <= 0) return;
    job->ranks[rank].heard = true;
    p2p__see_error(&job->watch, rank, &error);
    for (int i = 0; i < count && i < SCOREBOARD_FOUND; i++) {
        const p2p_diagnosis what = row->found[i].what;
        const int places = row->found[i].count;
        p2p_finding *f = p2p__report_add(&job->report, within(what.class, CLASS_COUNT),
                                         within(what.reason, REASON_COUNT), -1);
        f->what.argument = within(what.argument, ARGUMENT_COUNT);
        f->what.ranks = what.ranks;
        f->what.status = what.status;
        f->what.note = what.note != 0;
        job->ranks[rank].notes = job->ranks[rank].notes || what.note != 0;
        p2p__finding_say(f, &error);
        for (int k = 0; k < places && k < SCOREBOARD_PLACES; k++) {
            p2p_place place = row->found[i].places[k];
            place.call = p2p__call_copy(&place.call);
            place.state = p2p__state_of(place.state);
            place.role = within(place.role, ROLE_COUNT);
            place.chose[0] = '\0';
            if (place.rank < 0 || place.rank >= job->size) place.rank = rank;
            p2p__place_host(job->scoreboard, &place);
            *p2p__finding_add(f, place.role, place.rank, NULL) = place;
        }
    }
}

void p2p__tell_notes(p2p_job *job)
{
    for (int i = 0; i < job->size && p2p__judges(job); i++) {
        p2p_rank_set alike = {0};
        p2p_words w = {.used = 0}, note = {.used = 0};
        int count = 0;
        if (!job->ranks[i].notes) continue;
        p2p__see_error(&job->watch, i, &note);
        for (int k = i; k < job->size; k++) {
            p2p_words other = {.used = 0};
            if (!job->ranks[k].notes) continue;
            p2p__see_error(&job->watch, k, &other);
            if (strcmp(other.text, note.text) != 0) continue;
            p2p__set_add(&alike, k);
            job->ranks[k].notes = false;
            count++;
        }
        p2p__add_ranks(&w, count > 1 ? "note: ranks " : "note: rank ", &alike, job->size);
        p2p__say(job, "%s: %s", w.text, note.text);
    }
}

/* ---- Messages from ranks ---- */

void p2p__check_all_done(p2p_job *job)
{
    if (job->broken) return; /* those that have said goodbye will say it again */
    for (int i = 0; i < job->size; i++) {
        bool never_joined = atomic_load(&job->scoreboard->rows[i].state) == SCOREBOARD_ABSENT;
        if (!job->ranks[i].goodbye && !(job->watch.ended[i] && never_joined)) return;
    }
    if (!job->all_done) p2p__tell_all(job, CONTROL_ALL_DONE);
    job->all_done = true;
}

static void rank_aborts(p2p_job *job, p2p_rank_process *process, int status)
{
    p2p_words w = {.used = 0};
    p2p_place who = {.rank = process->rank};
    process->aborted = true;
    const scoreboard_call last = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    p2p__place_host(job->scoreboard, &who);
    p2p__add_rank(&w, &who);
    p2p__add(&w, " ended the job with status %d: ", status);
    p2p__add_call(&w, "", &last);
    if (!job->failed) {
        p2p_finding *f = p2p__report_add(&job->report, CLASS_DEATH, REASON_ABORT, process->rank);
        p2p__finding_add(f, ROLE_CALL, process->rank, &last);
        p2p__finding_hosts(job->scoreboard, f);
        f->what.status = status;
        p2p__report_tell(job, f, &w);
    }
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, process->rank, status, w.text);
}

/* An error that ends the rank; or, of a mismatch, the first rank to notice it, which says it for all. */
static void rank_has_error(p2p_job *job, p2p_rank_process *process, bool mismatch)
{
    p2p_words w = {.used = 0}, error = {.used = 0};
    p2p__see_error(&job->watch, process->rank, &error);
    if (!mismatch || !job->failed) p2p__see_found(job, process->rank);
    if (mismatch) {
        if (!job->failed) p2p__say(job, "%s", error.text);
        process->heard = true; /* another rank has said so */
        p2p__job_fail(job, P2P_ERR_MISMATCH, process->rank, 1, error.text);
        return;
    }
    process->fatal = true;
    if (process->goodbye) return; /* no other rank waits for it any more */
    p2p__add(&w, "rank %d ended the job with an error: %.*s", process->rank, (int)strcspn(error.text, "\n"),
             error.text);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, process->rank, 1, w.text);
}

/* The host that gave this context to a communicator gives it to others again. How many collectives its ranks here had begun goes
 * with the first of them. */
static void context_freed(p2p_job *job, int context)
{
    if (context < 1 || context >= SCOREBOARD_CONTEXTS) return;
    int host = p2p__context_host(job->scoreboard, (uint32_t)context);
    if (host == job->hosts->own) return;
    uint64_t begun = atomic_exchange(&job->scoreboard->shared->context_used[context], 0);
    const record freed = {.type = RECORD_FREED, .a = context, .number = begun};
    p2p__record_put(job, host, &freed, NULL);
}

static void wake(p2p_job *job, int rank)
{
    if (rank < job->first || rank >= job->first + job->count || job->ranks[rank].nudges_owed == INT_MAX) return;
    job->ranks[rank].nudges_owed++;
    p2p__nudge(job, rank);
}

static void cannot_start(p2p_job *job, int rank, int error)
{
    p2p_words w = {.used = 0};
    p2p_place place = {.rank = rank};
    p2p__place_host(job->scoreboard, &place);
    if (place.host > 0) p2p__add(&w, P2P_HOST ": ", place.host - 1, place.host_name);
    p2p__add(&w, "cannot start %s: %s", job->plan->program, strerror(error));
    if (job->exit_status != 127)
        p2p__report_tell(job, p2p__report_add(&job->report, CLASS_REFUSED, REASON_NONE, -1), &w);
    job->exit_status = 127;
    p2p__kill_after(job, 0);
}

void p2p__obey_rank(p2p_job *job, p2p_rank_process *process, const control_message *message)
{
    p2p_words w = {.used = 0};
    bool for_judge = message->type == CONTROL_ABORT || message->type == CONTROL_FATAL ||
                     message->type == CONTROL_MISMATCH || message->type == CONTROL_NOEXEC;
    if (for_judge && !p2p__judges(job)) {
        p2p__far_event(job, process, message);
        return;
    }
    switch (message->type) {
    case CONTROL_WANT: p2p__link_want(job, process->rank, message->rank); break;
    case CONTROL_GOT: p2p__link_got(job, process->rank); break;
    case CONTROL_LOST:
        p2p__link_cannot(job, message->rank, &(control_message){CONTROL_NOLINK, process->rank, message->value});
        p2p__link_got(job, process->rank);
        break;
    case CONTROL_GOODBYE:
        process->goodbye = true;
        process->returned = message->value == 1;
        if (job->hosts) p2p__far_goodbye(job, process->rank);
        p2p__check_all_done(job);
        break;
    case CONTROL_ABORT: rank_aborts(job, process, message->value); break;
    case CONTROL_FATAL: rank_has_error(job, process, false); break;
    case CONTROL_MISMATCH: rank_has_error(job, process, true); break;
    case CONTROL_CAME: break; /* its lines have gone */
    case CONTROL_FREED:
        if (job->hosts) context_freed(job, message->rank);
        break;
    case CONTROL_WAKE: wake(job, message->rank); break;
    case CONTROL_PORT: p2p__port_asked(job); break;
    case CONTROL_REPAIR:
        if (job->hosts) p2p__far_repair(job, process->rank, message);
        p2p__generation_come(job, process, message);
        break;
    case CONTROL_KEEP: p2p__kept_asked(job, process->rank); break;
    case CONTROL_CHOICE: break; /* the loop looks after every message */
    case CONTROL_LATE:
        if (job->plan->orders) p2p__orders_late(job->plan->orders, process->rank, (uint32_t)message->value);
        break;
    case CONTROL_NOEXEC: cannot_start(job, process->rank, message->value); break;
    default:
        p2p__add(&w,
                 "rank %d sent its launcher what is no message of Pairwise: it writes to a descriptor that is not its "
                 "own",
                 process->rank);
        p2p__report_fail(job, CLASS_CORRUPTION, REASON_NONE, process->rank, &w);
    }
}

void p2p__listen(p2p_job *job, p2p_rank_process *process, int most)
{
    control_message message;
    int got = 0;
    bool lost;
    while (process->control >= 0 && most-- > 0 &&
           (got = p2p__control_receive(process->control, &message, NULL, &lost)) == 1) {
        if (job->hosts) p2p__lines_of(job, process->rank); /* written before it said this */
        p2p__obey_rank(job, process, &message);
    }
    if (got >= 0) return;
    close(process->control);
    process->control = -1;
}
