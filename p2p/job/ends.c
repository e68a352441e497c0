/* SPDX-License-Identifier: MIT */
/* How ranks end, and the job with them: deaths, signals, the exit status. A rank that has ended leaves no process behind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/process.h"

#define GRACE_NS UINT64_C(1000000000)

/* ---- The job fails ---- */

void p2p__kill_after(p2p_job *job, uint64_t ns)
{
    uint64_t at = p2p__now() + ns;
    if (job->hosts && p2p__judges(job) && !job->failed)
        p2p__record_put_all(job, &(record){.type = RECORD_KILL, .number = ns}, NULL);
    if (!job->kill_at || at < job->kill_at) job->kill_at = at;
}

void p2p__job_fail(p2p_job *job, p2p_err err, int rank, int status, const char *text)
{
    uint64_t grace = err == P2P_ERR_DEADLOCK ? GRACE_NS / 2 : GRACE_NS;
    if (job->failed) return;
    if (!job->exit_status && p2p__judges(job)) job->exit_status = status & 0xff ? status & 0xff : 1;
    if (!job->hosts)
        p2p__announce_failure(job, err, rank, text, grace);
    else
        p2p__far_failure(job, err, rank, status, text, grace);
}

void p2p__announce(p2p_job *job, int failed, p2p_err err, int rank, const char *text)
{
    scoreboard_failure *failure = &job->scoreboard->shared->failure;
    if (!job->announced) { /* ranks may be reading it otherwise */
        failure->err = err;
        failure->rank = rank;
        snprintf(failure->text, sizeof failure->text, "%s", text);
        p2p__trace_failed(job, err, rank, text);
    }
    job->announced = true;
    atomic_store(&job->scoreboard->shared->failed, (uint32_t)failed);
    p2p__tell_all(job, CONTROL_FAILED);
}

void p2p__announce_failure(p2p_job *job, p2p_err err, int rank, const char *text, uint64_t grace_ns)
{
    job->failed = true;
    p2p__kill_after(job, grace_ns);
    p2p__announce(job, FAILED_JOB, err, rank, text);
}

static void kill_ranks(p2p_job *job, int signal)
{
    for (int i = job->first; i < job->first + job->count; i++)
        if (!job->watch.ended[i] && kill(-job->ranks[i].pid, signal) != 0) kill(job->ranks[i].pid, signal);
}

void p2p__check_kill(p2p_job *job)
{
    if (!job->kill_at || p2p__now() < job->kill_at) return;
    job->killed = true;
    kill_ranks(job, SIGKILL);
    job->kill_at = p2p__now() + GRACE_NS;
}

/* ---- Ends of ranks ---- */

void p2p__judge_end(p2p_job *job, p2p_rank_process *process, const p2p_end *end)
{
    p2p_words w = {.used = 0};
    int state = end->state;
    bool over = state == SCOREBOARD_FINISHED && end->all_done;
    bool well = end->code == CLD_EXITED && end->status == 0;
    if (process->aborted || process->fatal || job->killed || job->interrupted || job->failed) {
        if (!job->exit_status && process->status) job->exit_status = process->status;
        return;
    }
    if (well && (state == SCOREBOARD_ABSENT || over)) {
        p2p__check_all_done(job);
        return;
    }
    if (job->exit_status == 127) return;

    p2p_finding *f = p2p__report_add(&job->report, CLASS_DEATH, REASON_EXIT, process->rank);
    const scoreboard_call last = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    p2p__finding_add(f, ROLE_LAST, process->rank, &last);
    p2p__finding_hosts(job->scoreboard, f);
    f->what.status = end->status;
    if (end->code != CLD_EXITED) {
        f->what.reason = REASON_SIGNAL;
        f->what.dumped = end->code == CLD_DUMPED;
        f->what.starved = end->starved;
    } else if (state == SCOREBOARD_FINISHED) {
        f->what.reason = over ? REASON_EXIT : REASON_GAVE_UP;
    } else if (state != SCOREBOARD_ABSENT && end->status == 0) {
        f->what.class = CLASS_CALL_ORDER;
        f->what.reason = REASON_NEVER_FINALIZED;
        f->what.early = true;
    } else {
        f->what.early = state != SCOREBOARD_ABSENT;
    }
    if (p2p__generation_death(job, process, end, f)) return;
    bool alone = state == SCOREBOARD_ABSENT; /* no rank has called p2p_init: their ends do not concern each other */
    for (int i = 0; i < job->size && alone; i++)
        alone = atomic_load(&job->scoreboard->rows[i].state) == SCOREBOARD_ABSENT;
    if (over || alone) {
        p2p__add_rank(&w, p2p__finding_first(f, ROLE_LAST));
        p2p__add(&w, " ");
        p2p__words_end(&w, &f->what);
        p2p__report_tell(job, f, &w);
        if (!job->exit_status) job->exit_status = process->status;
        return;
    }
    p2p__report_death(job, f, process->status ? process->status : 1);
}

/* Other hosts cannot see it. */
static void tell_stopped(p2p_job *job, const p2p_rank_process *process)
{
    siginfo_t change = {.si_pid = 0};
    if (waitid(P_PID, (id_t)process->pid, &change, WSTOPPED | WCONTINUED | WNOHANG) != 0 || !change.si_pid) return;
    int letter = change.si_code == CLD_CONTINUED ? 'S' : 'T';
    p2p__record_put_all(job, &(record){.type = RECORD_STOPPED, .a = process->rank, .b = letter}, NULL);
}

/* For how long it has computed (ns). */
static uint64_t bury(pid_t pid)
{
    struct rusage usage = {.ru_utime = {0}};
    wait4(pid, NULL, 0, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * UINT64_C(1000000000) +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static bool is_rank(const p2p_job *job, pid_t pid)
{
    bool found = false;
    for (int i = job->first; i < job->first + job->count; i++) found = found || job->ranks[i].pid == pid;
    return found;
}

/* The launcher is the first process of a container, to whom all processes fall whose parent has ended. A rank, whose end is not
 * known yet, is left for the next look. */
static void bury_orphans(const p2p_job *job)
{
    siginfo_t end = {.si_pid = 0};
    while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid) {
        if (end.si_pid == job->guard || is_rank(job, end.si_pid)) return;
        waitpid(end.si_pid, NULL, 0);
        end.si_pid = 0;
    }
}

void p2p__reap_all(p2p_job *job)
{
    for (int i = job->first; i < job->first + job->count; i++) {
        p2p_rank_process *process = &job->ranks[i];
        siginfo_t end = {.si_pid = 0};
        if (job->watch.ended[i]) continue;
        if (job->hosts) tell_stopped(job, process);
        if (waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0) {
            if (errno != ECHILD) continue;
            end.si_pid = process->pid; /* its status was taken by other code in this process: it is gone, that is all */
            end.si_code = CLD_EXITED;
            end.si_status = 1;
        }
        if (end.si_pid == 0) continue;
        kill(-process->pid, SIGKILL); /* what it forked; while it is a zombie its group cannot be another's */
        job->watch.ended[i] = true;
        p2p__guard_rank(job, i);
        uint64_t computed = bury(process->pid);
        process->status = end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
        job->alive--;
        p2p__listen(job, process, P2P_ALL_MESSAGES);
        const scoreboard_row *row = &job->scoreboard->rows[i];
        process->end = (p2p_end){.code = end.si_code,
                                 .status = end.si_status,
                                 .state = p2p__state_of(atomic_load(&row->state)),
                                 .all_done = job->all_done,
                                 .starved = end.si_code != CLD_EXITED && end.si_status == SIGKILL &&
                                            p2p__oom_kills() != job->oom_kills,
                                 .is_rank = atomic_load(&row->pid) == process->pid,
                                 .computed = computed};
        if (job->hosts) p2p__far_ended(job, process, &process->end);
        if (!p2p__judges(job)) continue;
        p2p__see_found(job, i);
        p2p__judge_end(job, process, &process->end);
    }
    if (job->self == 1 && job->plan->program) bury_orphans(job);
}

/* ---- Signals ---- */

/* Seconds: as the options say, or more if a rank here has asked for them. */
static double grace_of(const p2p_job *job)
{
    double grace = job->plan->options.grace_s;
    for (int i = job->first; i < job->first + job->count; i++) {
        int asked = atomic_load(&job->scoreboard->rows[i].grace);
        if (!job->watch.ended[i] && asked <= P2P_GRACE_MOST && asked > grace) grace = asked;
    }
    return grace;
}

void p2p__interrupt(p2p_job *job, int signal)
{
    double grace = grace_of(job);
    job->interrupted = true;
    job->exit_status = 128 + signal;
    if (job->hosts) p2p__record_put_all(job, &(record){.type = RECORD_INTERRUPT, .a = signal}, NULL);
    if (p2p__judges(job) && grace > 0)
        p2p__say(job, "%s: the ranks have %g s to end; once more ends them at once", strsignal(signal), grace);
    else if (p2p__judges(job))
        p2p__say(job, "%s: ending all ranks", strsignal(signal));
    kill_ranks(job, signal);
    kill_ranks(job, SIGCONT);
    p2p__kill_after(job, grace > 0 ? (uint64_t)(grace * 1e9) : GRACE_NS);
}

/* Ctrl-Z: ranks have groups of their own, so they are stopped here, and go on when this process does. Time does not count
 * meanwhile. */
static void suspend(p2p_job *job)
{
    uint64_t since = p2p__now();
    kill_ranks(job, SIGSTOP);
    kill(getpid(), SIGSTOP);
    uint64_t stopped = p2p__now() - since;
    job->started += stopped;
    if (job->kill_at) job->kill_at += stopped;
    kill_ranks(job, SIGCONT);
}

void p2p__take_signals(p2p_job *job)
{
    struct signalfd_siginfo info;
    while (read(job->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGCHLD || signal == SIGPIPE || signal == SIGXFSZ) continue;
        if (signal == SIGTSTP)
            suspend(job);
        else if (job->signalled)
            p2p__kill_after(job, 0);
        else if (!job->interrupted)
            p2p__interrupt(job, signal);
        job->signalled = job->signalled || signal != SIGTSTP;
    }
    p2p__reap_all(job);
}

/* A signal that the caller ignores (nohup, a background job) stays ignored. */
void p2p__block_signals(p2p_job *job)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    size_t count = sizeof ours / sizeof *ours - (job->hosts ? 1 : 0); /* other hosts cannot be stopped from here */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ); /* a limit on files (ulimit -f): the write fails, which is noticed */
    for (size_t i = 0; i < count; i++) {
        struct sigaction old;
        if (sigaction(ours[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaddset(&set, ours[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &job->old_mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &job->old_child);
    job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void p2p__restore_signals(p2p_job *job)
{
    sigset_t of_writing, set, old;
    if (job->plan->debug_rank >= 0 && isatty(STDIN_FILENO)) { /* the debugger of a rank was given the terminal */
        sigemptyset(&set);
        sigaddset(&set, SIGTTOU);
        sigprocmask(SIG_BLOCK, &set, &old);
        tcsetpgrp(STDIN_FILENO, getpgrp());
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    sigemptyset(&of_writing);
    sigaddset(&of_writing, SIGPIPE); /* from a reader of our output that went away */
    sigaddset(&of_writing, SIGXFSZ);
    while (sigtimedwait(&of_writing, NULL, &(struct timespec){0, 0}) > 0) continue;
    sigaction(SIGCHLD, &job->old_child, NULL);
    sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
}
