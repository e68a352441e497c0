/* SPDX-License-Identifier: MIT */
/*
 * Repair, in the supervisor. A generation is a scoreboard, with the memory file that it lies in, so nothing that ranks share
 * has to be set back: the next generation has a new one.
 *
 *      whole ── a member dies ──> broken ── all members that live have come ──> whole, the next generation
 *                                   └────── one ends by itself, or too many have died ──> the job fails
 *
 * Members are ranks that p2p_shrink has not gone on without. While a generation is broken nothing is judged but deaths.
 * On several hosts that of host 0 decides, and the others begin the generation that it has begun (hosts_generation.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/process.h"
#include "p2p/trace/notes.h"

#define REMIND_NS UINT64_C(1000000000)

static bool is_over(const p2p_job *job)
{
    return job->failed || job->interrupted || job->killed;
}

/* The job fails after all. */
static void give_up(p2p_job *job, int rank, p2p_words *why)
{
    p2p__say(job, "%s", why->text);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, rank, job->broken_status, why->text);
}

/* ---- Deaths ---- */

/* In a broken generation, and without being in its repair: it has left the others. */
static void leaves(p2p_job *job, p2p_rank_process *process)
{
    p2p_words w = {.used = 0};
    const scoreboard_call last = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    p2p__add(&w, "rank %d has ended with status %d, and %s, after the death of rank %d", process->rank, process->status,
             process->late ? "waited no longer in p2p_repair (PAIRWISE_TIMEOUT)" : "not called p2p_repair",
             job->broken_rank);
    if (p2p__is_mpi(last.name))
        p2p__add_advice(&w, "without --repair: a program of mpi.h does not go on after a death");
    else if (!process->late)
        p2p__add_advice(&w, "p2p_set_errors(world, P2P_ERRORS_RETURN), and p2p_repair(&world) where a call returns "
                            "P2P_ERR_PEER_DEAD");
    give_up(job, process->rank, &w);
}

static bool may_start(p2p_job *job, int count);
static void start_again(p2p_job *job, int rank);

/* Nobody has had to do with it, as far as one host knows: it can be started once more in the same generation. */
static bool never_joined(const p2p_job *job, const p2p_rank_process *process, const p2p_end *end)
{
    return !job->hosts && end->state == SCOREBOARD_ABSENT && !job->broken && !p2p__link_was_asked(job, process->rank);
}

static bool has_joined(const p2p_job *job, int rank)
{
    return atomic_load(&job->scoreboard->rows[rank].state) != SCOREBOARD_ABSENT;
}

static bool any_has_joined(const p2p_job *job)
{
    bool any = job->scoreboard->generation.number > 0;
    for (int i = 0; i < job->size && !any; i++) any = has_joined(job, i);
    return any;
}

/* It has ended by itself before any rank had joined, as a program that knows nothing of Pairwise does. */
static bool ends_early(p2p_job *job, p2p_rank_process *process, const p2p_end *end, p2p_finding *f)
{
    p2p_words w = {.used = 0};
    if (end->code != CLD_EXITED || any_has_joined(job)) return false;
    p2p__add_rank(&w, p2p__finding_first(f, ROLE_LAST));
    p2p__add(&w, " ");
    p2p__words_end(&w, &f->what);
    p2p__report_tell(job, f, &w);
    process->dead = true;
    return true;
}

static void breaks(p2p_job *job, const p2p_rank_process *process, const char *why)
{
    job->broken = true;
    job->broken_rank = process->rank;
    job->broken_status = process->status ? process->status : 1;
    job->reminded = false;
    job->broken_at = p2p__now();
    if (job->hosts)
        p2p__far_broken(job, process->rank, why);
    else
        p2p__announce(job, FAILED_GENERATION, P2P_ERR_PEER_DEAD, process->rank, why);
}

/* Others have joined after it: it is missed. */
static void look_at_early(p2p_job *job)
{
    p2p_words w = {.used = 0};
    int early = -1;
    for (int i = job->size - 1; i >= 0; i--)
        if (job->ranks[i].dead && !has_joined(job, i)) early = i;
    if (early < 0 || job->all_done || !any_has_joined(job)) return;
    p2p__add(&w, "rank %d exited with status %d before it had called p2p_init", early, job->ranks[early].status);
    breaks(job, &job->ranks[early], w.text);
}

/* Has it ended by itself? A shell that has run the rank exits with 128 and the signal that has killed it. */
static bool ends_by_itself(const p2p_end *end)
{
    return end->code == CLD_EXITED && (end->is_rank || end->status <= 128 || end->status > 128 + SIGRTMAX);
}

bool p2p__generation_death(p2p_job *job, p2p_rank_process *process, const p2p_end *end, p2p_finding *f)
{
    p2p_words w = {.used = 0}, again = {.used = 0};
    if (!job->plan->options.repair || is_over(job) || process->left) return false;
    if (ends_early(job, process, end, f)) return true;
    if (!job->broken) job->broken_status = process->status ? process->status : 1;
    p2p__words_death(&w, f, false);
    if (job->broken && ends_by_itself(end) && end->state != SCOREBOARD_ABSENT && !process->repairs &&
        !process->shrinks) {
        p2p__finding_say(f, &w);
        leaves(job, process);
        return true;
    }
    p2p__report_tell(job, f, &w);
    if (process->goodbye && !job->broken) { /* the others have all they need of it, unless one more dies */
        process->dead = true;
        return true;
    }
    if (p2p__dies_at_once(job, process, end, &f->what, &again)) {
        give_up(job, process->rank, &again);
        return true;
    }
    if (never_joined(job, process, end)) {
        atomic_store(&job->scoreboard->rows[process->rank].pid, 0);
        if (may_start(job, 1)) start_again(job, process->rank);
        return true;
    }
    process->dead = true;
    if (!job->broken) breaks(job, process, w.text);
    return true;
}

void p2p__generation_end(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].dead && !job->ranks[i].returned && !job->exit_status)
            job->exit_status = job->ranks[i].status ? job->ranks[i].status : 1;
}

/* ---- The next generation ---- */

/* Does --repair allow so many more? */
static bool may_start(p2p_job *job, int count)
{
    int most = job->plan->options.repair;
    p2p_words w = {.used = 0};
    if (count <= most - job->replaced) return true;
    p2p__add(&w, "%d new process%s needed, %d of at most %d %s been started already (--repair %d)", count,
             count == 1 ? " is" : "es are", job->replaced, most, job->replaced == 1 ? "has" : "have", most);
    p2p__add_advice(&w, "a higher number (--repair N)");
    give_up(job, -1, &w);
    return false;
}

/* Of a rank of another host only what is known of it. */
static void start_again(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    p2p__stream_end(&process->out);
    p2p__stream_end(&process->err);
    process->said[0] = '\0';
    if (process->control >= 0) close(process->control);
    process->control = -1;
    if (rank == 0 && job->stdin_pipe >= 0) close(job->stdin_pipe);
    if (rank == 0) job->stdin_pipe = -1;
    process->dead = process->heard = process->notes = process->awaits = process->untold = process->keeps = false;
    process->nudges_owed = process->status = 0;
    process->started = p2p__now();
    process->replaced++;
    job->replaced++;
    job->oom_kills = p2p__oom_kills();
    job->watch.ended[rank] = false;
    if (!p2p__is_local(job->scoreboard, rank) || p2p__start_rank(job, rank)) {
        if (p2p__judges(job))
            p2p__say(job, "generation %d: rank %d has a new process (%d of at most %d)",
                     job->scoreboard->generation.number, rank, job->replaced, job->plan->options.repair);
        return;
    }
    if (!p2p__judges(job)) p2p__job_fail(job, P2P_ERR_SYS, rank, 1, "a rank could not be started again");
    if (!job->exit_status) job->exit_status = 1;
    p2p__kill_after(job, 0);
}

/* Where one cannot be sent now, it is later. */
static void send_scoreboards(p2p_job *job)
{
    job->awaited = false;
    for (int i = 0; i < job->size; i++) {
        p2p_rank_process *process = &job->ranks[i];
        const control_message message = {CONTROL_GENERATION, i, job->scoreboard->generation.number};
        if (!process->awaits || process->control < 0) continue;
        bool sent = p2p__control_send(process->control, message, job->scoreboard_fd);
        if (sent || errno == EPIPE || errno == ECONNRESET) process->awaits = false;
        if (process->awaits) job->awaited = true;
    }
}

/* Nothing is known of them. */
static void forget_ranks(p2p_job *job)
{
    p2p_watch *watch = &job->watch;
    memset(watch->seen, 0, (size_t)job->size * sizeof *watch->seen);
    watch->scoreboard = job->scoreboard;
    watch->quiet_since = p2p__now();
    watch->unchanged = watch->only_polls = watch->warned = watch->impossible = false;
    watch->polls_for = 0;
    watch->impossible_polls = 0;
    for (int i = 0; i < job->size; i++) {
        p2p_rank_process *process = &job->ranks[i];
        process->left = p2p__set_has(&job->scoreboard->generation.gone, i);
        process->goodbye = process->left;
        process->returned = false;
        process->nudges_owed = process->gave_up = 0;
        process->awaits = !watch->ended[i];
        process->repairs = process->shrinks = process->late = false;
        process->untold = process->keeps = process->aborted = process->fatal = false;
        if (process->left) process->dead = false;
        if (process->left) atomic_store(&job->scoreboard->rows[i].state, SCOREBOARD_FINISHED);
    }
}

/* What has been counted for metrics goes on. */
static void copy_numbers(const scoreboard *from, const scoreboard *to)
{
    for (int i = 0; i < from->size; i++) {
        const notes_metrics *old = p2p__notes_metrics(from, i);
        notes_metrics *numbers = p2p__notes_metrics(to, i);
        if (!old || !numbers) continue;
        memcpy(numbers, old, sizeof *numbers);
        atomic_store(&numbers->kept, 0);
        atomic_store(&numbers->on_way, 0);
    }
}

static bool replace_scoreboard(p2p_job *job, const scoreboard_generation *generation)
{
    int fd;
    scoreboard *next = p2p__scoreboard_create(job->size, &job->plan->config, job->scoreboard->may_read, &fd);
    if (!next) {
        p2p_words w = {.used = 0};
        p2p__add(&w, "no shared memory for generation %d: %s", generation->number, strerror(errno));
        give_up(job, -1, &w);
        return false;
    }
    p2p__scoreboard_begin(next, generation);
    copy_numbers(job->scoreboard, next);
    p2p__scoreboard_close(job->scoreboard, true);
    close(job->scoreboard_fd);
    job->scoreboard = next;
    job->scoreboard_fd = fd;
    p2p__trace_goes_on(job);
    return true;
}

void p2p__generation_begin(p2p_job *job, const p2p_next_generation *next)
{
    if (!replace_scoreboard(job, &next->scoreboard)) return;
    p2p__links_forget(job);
    forget_ranks(job);
    job->broken = job->announced = false;
    if (job->hosts) p2p__far_generation(job, next);
    for (int i = 0; i < job->size && !job->failed && !job->kill_at; i++)
        if (p2p__set_has(&next->dead, i) && job->watch.ended[i]) start_again(job, i);
    send_scoreboards(job); /* p2p_repair returns when the new processes have been started */
}

static void begin(p2p_job *job, bool shrinks)
{
    p2p_next_generation next = {.scoreboard = job->scoreboard->generation};
    scoreboard_generation *b = &next.scoreboard;
    int dead = 0;
    for (int i = 0; i < job->size; i++) dead += job->ranks[i].dead;
    if (!shrinks && !may_start(job, dead)) return;
    b->number++;
    if (shrinks) b->members -= dead;
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].dead) p2p__set_add(shrinks ? &b->gone : &next.dead, i);
    p2p__generation_begin(job, &next);
    if (shrinks && !job->failed)
        p2p__say(job, "generation %d: %d rank%s left", b->number, b->members, b->members == 1 ? " is" : "s are");
}

/* ---- Those that are left ---- */

void p2p__generation_come(p2p_job *job, p2p_rank_process *process, const control_message *message)
{
    if (!job->broken || message->rank != job->scoreboard->generation.number) return;
    process->repairs = message->value == REPAIR_WHOLE;
    process->shrinks = message->value == REPAIR_FEWER;
    process->late = message->value == REPAIR_LATE;
}

static void remind(p2p_job *job, const p2p_rank_set *missing, const p2p_rank_set *come)
{
    p2p_words w = {.used = 0};
    p2p__see(&job->watch);
    p2p__add(&w, "note: ");
    p2p__add_ranks(&w, "p2p_repair waits for a second, in rank ", come, job->size);
    for (int i = 0; i < job->size; i++) {
        if (!p2p__set_has(missing, i)) continue;
        char letter = p2p__process_of(job->scoreboard, i);
        p2p__add(&w, "\n  rank %d has not called it%s", i, letter == 'T' || letter == 't' ? ": it is stopped" : "");
        if (job->watch.seen[i].call.name[0]) p2p__add_call(&w, "; its last call was ", &job->watch.seen[i].call);
    }
    p2p__say(job, "%s", w.text);
    job->reminded = true;
}

void p2p__generation_look(p2p_job *job)
{
    static const p2p_rank_set none = {{0}};
    p2p_rank_set missing = none, repair = none, shrink = none;
    if (job->awaited) send_scoreboards(job);
    if (!p2p__judges(job)) return;
    if (job->broken && job->interrupted) /* those that wait in p2p_repair are to end as well */
        p2p__job_fail(job, P2P_ERR_PEER_DEAD, -1, job->broken_status, "interrupted");
    if (!job->broken && !is_over(job)) look_at_early(job);
    if (!job->broken || is_over(job)) return;
    for (int i = 0; i < job->size; i++) {
        const p2p_rank_process *process = &job->ranks[i];
        if (job->watch.ended[i]) continue;
        p2p__set_add(process->repairs ? &repair : process->shrinks ? &shrink : &missing, i);
    }
    bool repairs = p2p__set_intersects(&repair, &repair, job->size),
         shrinks = p2p__set_intersects(&shrink, &shrink, job->size);
    if (repairs && shrinks) {
        p2p_words w = {.used = 0};
        p2p__add_ranks(&w, "p2p_repair is called by rank ", &repair, job->size);
        p2p__add_ranks(&w, ", and p2p_shrink by rank ", &shrink, job->size);
        p2p__add_advice(&w, "let all ranks that are left call the same");
        give_up(job, -1, &w);
    } else if (!p2p__set_intersects(&missing, &missing, job->size)) {
        p2p__check_scoreboard(job); /* what a dead rank has written over, others may have read */
        if (!job->failed) begin(job, shrinks);
    } else if (!job->reminded && p2p__now() - job->broken_at > REMIND_NS && (repairs || shrinks)) {
        p2p__set_join(&repair, &shrink, job->size);
        remind(job, &missing, &repair);
    }
}

bool p2p__generation_waits(const p2p_job *job)
{
    if (!job->plan->options.repair || !job->hosts || is_over(job)) return false;
    if (!p2p__judges(job)) return !job->hosts->hosts[0].done;
    bool all = true;
    for (int i = 0; i < job->size; i++) all = all && job->watch.ended[i];
    return !all || job->broken;
}
