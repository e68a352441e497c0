/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's loop: messages from ranks, output, signals, ends, and every 50 ms a look at the scoreboard. It never waits
 * for any one rank, link or reader.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/job/launch.h"
#include "p2p/job/trace_job.h"
#include "p2p/shared/control.h"
#include "p2p/shared/process.h"
#include "p2p/shared/words.h"

#define TICK_NS UINT64_C(50000000)
#define GRACE_NS UINT64_C(1000000000)
#define LAST_WORDS_MS 1000
#define MESSAGES_A_TURN 64
#define LAST_MESSAGES 100000 /* more than a socket holds */

enum slot { SLOT_SIGNALS, SLOT_STDIN, SLOT_STDIN_PIPE, SLOT_OUT, SLOT_ERR, SLOT_RANKS };

/* ---- Telling ranks ---- */

bool p2p__tell_rank(p2p_job *job, int rank, control_message message, int fd)
{
    bool sent = p2p__control_send(job->ranks[rank].control, message, fd);
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

static void tell_all(p2p_job *job, int type)
{
    for (int i = 0; i < job->size; i++) tell(job, &job->ranks[i], type);
}

static void nudge(p2p_job *job, int rank);

static void tell_again(p2p_job *job)
{
    for (int i = 0; i < job->size; i++) nudge(job, i);
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].untold) tell(job, &job->ranks[i], job->failed ? CONTROL_FAILED : CONTROL_ALL_DONE);
}

static void kill_after(p2p_job *job, uint64_t ns)
{
    uint64_t at = p2p__now() + ns;
    if (!job->kill_at || at < job->kill_at) job->kill_at = at;
}

void p2p__job_fail(p2p_job *job, p2p_err err, int rank, int status, const char *text)
{
    scoreboard_failure *failure = &job->scoreboard->shared->failure;
    if (job->failed) return;
    job->failed = true;
    failure->err = err;
    failure->rank = rank;
    snprintf(failure->text, sizeof failure->text, "%s", text);
    p2p__trace_failed(job, err, rank, text);
    atomic_store(&job->scoreboard->shared->failed, 1);
    if (!job->exit_status) job->exit_status = status & 0xff ? status & 0xff : 1;
    kill_after(job, err == P2P_ERR_DEADLOCK ? GRACE_NS / 2 : GRACE_NS);
    tell_all(job, CONTROL_FAILED);
}

static void kill_ranks(p2p_job *job, int signal)
{
    for (int i = 0; i < job->size; i++)
        if (!job->watch.ended[i] && kill(-job->ranks[i].pid, signal) != 0) kill(job->ranks[i].pid, signal);
}

/* ---- Messages from ranks ---- */

/* A rank that ended well without ever calling p2p_init has nothing to say goodbye to. */
static bool needs_no_wait(p2p_job *job, const p2p_rank_process *process)
{
    bool stranger = atomic_load(&job->scoreboard->rows[process->rank].state) == SCOREBOARD_ABSENT;
    return process->goodbye || (job->watch.ended[process->rank] && stranger);
}

static void check_all_done(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (!needs_no_wait(job, &job->ranks[i])) return;
    if (!job->all_done) tell_all(job, CONTROL_ALL_DONE);
    job->all_done = true;
}

static void rank_aborts(p2p_job *job, p2p_rank_process *process, int status)
{
    char call[400], text[600];
    process->aborted = true;
    const scoreboard_call last = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    p2p__call_text(&last, call, sizeof call);
    snprintf(text, sizeof text, "rank %d ended the job with status %d: %s", process->rank, status, call);
    if (!job->failed) {
        p2p_finding *f = p2p__report_add(&job->report, CLASS_DEATH, REASON_ABORT, process->rank);
        p2p__finding_add(f, ROLE_CALL, process->rank, &last);
        f->what.status = status;
        p2p__report_tell(job, f, text);
    }
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, process->rank, status, text);
}

static void rank_has_error(p2p_job *job, p2p_rank_process *process)
{
    char text[1200], message[SIGHT_ERROR];
    p2p__see_error(&job->watch, process->rank, message);
    process->fatal = true;
    p2p__see_found(job, process->rank);
    if (process->goodbye) return; /* nobody is waiting for it any more */
    snprintf(text, sizeof text, "rank %d ended the job with an error: %.*s", process->rank, (int)strcspn(message, "\n"),
             message);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, process->rank, 1, text);
}

static void ranks_differ(p2p_job *job, p2p_rank_process *process)
{
    char message[SIGHT_ERROR];
    p2p__see_error(&job->watch, process->rank, message);
    if (!job->failed) {
        p2p__see_found(job, process->rank);
        p2p__say(job, "%s", message);
    }
    process->heard = true; /* another rank has said so */
    p2p__job_fail(job, P2P_ERR_MISMATCH, process->rank, 1, message);
}

static void nudge(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    while (process->nudges_owed > 0 && process->control >= 0 &&
           p2p__tell_rank(job, rank, (control_message){CONTROL_NUDGE, -1, 0}, -1))
        process->nudges_owed--;
}

static void wake(p2p_job *job, int rank)
{
    if (rank < 0 || rank >= job->size || job->ranks[rank].nudges_owed == INT_MAX) return;
    job->ranks[rank].nudges_owed++;
    nudge(job, rank);
}

static void rank_cannot_start(p2p_job *job, int error)
{
    p2p_words w = {.used = 0};
    p2p__add(&w, "cannot start %s: %s", job->plan->program, strerror(error));
    if (job->exit_status != 127)
        p2p__report_tell(job, p2p__report_add(&job->report, CLASS_REFUSED, REASON_NONE, -1), w.text);
    job->exit_status = 127;
    kill_after(job, 0);
}

static void rank_babbles(p2p_job *job, p2p_rank_process *process)
{
    char text[200];
    snprintf(text, sizeof text,
             "rank %d sent its launcher what is no message of Pairwise: it writes to a descriptor that is not its own",
             process->rank);
    if (!job->failed)
        p2p__report_tell(job, p2p__report_add(&job->report, CLASS_CORRUPTION, REASON_NONE, process->rank), text);
    p2p__job_fail(job, P2P_ERR_PROTO, process->rank, 1, text);
}

static void obey(p2p_job *job, p2p_rank_process *process, const control_message *message)
{
    switch (message->type) {
    case CONTROL_WANT: p2p__link_want(job, process->rank, message->rank); break;
    case CONTROL_GOT: p2p__link_got(job, process->rank); break;
    case CONTROL_LOST: p2p__link_lost(job, process->rank, message->rank, message->value); break;
    case CONTROL_GOODBYE:
        process->goodbye = true;
        check_all_done(job);
        break;
    case CONTROL_ABORT: rank_aborts(job, process, message->value); break;
    case CONTROL_FATAL: rank_has_error(job, process); break;
    case CONTROL_MISMATCH: ranks_differ(job, process); break;
    case CONTROL_WAKE: wake(job, message->rank); break;
    case CONTROL_NOEXEC: rank_cannot_start(job, message->value); break;
    default: rank_babbles(job, process);
    }
}

/* Others have their turn after so many messages. */
static void listen_to(p2p_job *job, p2p_rank_process *process, int most)
{
    control_message message;
    int got = 0;
    bool lost;
    while (process->control >= 0 && most-- > 0 &&
           (got = p2p__control_receive(process->control, &message, NULL, &lost)) == 1)
        obey(job, process, &message);
    if (got >= 0) return;
    close(process->control);
    process->control = -1;
}

/* ---- Ends of ranks ---- */

static void describe_end(const p2p_job *job, int state, bool over, const siginfo_t *end, p2p_diagnosis *what)
{
    what->class = CLASS_DEATH;
    what->status = end->si_status;
    if (end->si_code != CLD_EXITED) {
        what->reason = REASON_SIGNAL;
        what->dumped = end->si_code == CLD_DUMPED;
        what->starved = end->si_status == SIGKILL && p2p__oom_kills() != job->oom_kills;
        return;
    }
    what->early = state != SCOREBOARD_ABSENT && state != SCOREBOARD_FINISHED;
    what->reason = state == SCOREBOARD_FINISHED && !over ? REASON_GAVE_UP : REASON_EXIT;
    if (!what->early || end->si_status != 0) return;
    what->class = CLASS_CALL_ORDER;
    what->reason = REASON_NEVER_FINALIZED;
}

static bool anyone_joined(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (atomic_load(&job->scoreboard->rows[i].state) != SCOREBOARD_ABSENT) return true;
    return false;
}

static void judge_end(p2p_job *job, p2p_rank_process *process, const siginfo_t *end)
{
    p2p_words w = {.used = 0};
    int state = atomic_load(&job->scoreboard->rows[process->rank].state);
    bool over = state == SCOREBOARD_FINISHED && job->all_done;
    bool well = end->si_code == CLD_EXITED && end->si_status == 0;
    if (process->aborted || process->fatal || job->killed || job->interrupted || job->failed) {
        if (!job->exit_status && process->status) job->exit_status = process->status;
        return;
    }
    if (well && (state == SCOREBOARD_ABSENT || over)) {
        check_all_done(job);
        return;
    }
    if (job->exit_status == 127) return;

    p2p_finding *f = p2p__report_add(&job->report, CLASS_DEATH, REASON_EXIT, process->rank);
    const scoreboard_call last = p2p__call_copy(&job->scoreboard->rows[process->rank].call);
    p2p__finding_add(f, ROLE_LAST, process->rank, &last);
    describe_end(job, state, over, end, &f->what);
    if (over || (state == SCOREBOARD_ABSENT && !anyone_joined(job))) {
        p2p__add(&w, "rank %d ", process->rank);
        p2p__words_end(&w, &f->what);
        p2p__report_tell(job, f, w.text);
        if (!job->exit_status) job->exit_status = process->status;
        return;
    }
    p2p__report_death(job, f);
    p2p__words_death(&w, f);
    p2p__job_fail(job, P2P_ERR_PEER_DEAD, process->rank, process->status ? process->status : 1, w.text);
}

static void reap(p2p_job *job, p2p_rank_process *process)
{
    siginfo_t end = {.si_pid = 0};
    if (waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno != ECHILD) return;
        end.si_pid = process->pid; /* somebody else has taken its status: all we know is that it is gone */
        end.si_code = CLD_EXITED;
        end.si_status = 1;
    }
    if (end.si_pid == 0) return;
    kill(-process->pid, SIGKILL); /* what it forked; while it is a zombie its group cannot be another's */
    waitpid(process->pid, NULL, 0);
    job->watch.ended[process->rank] = true;
    process->status = end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
    job->alive--;
    listen_to(job, process, LAST_MESSAGES);
    p2p__see_found(job, process->rank);
    judge_end(job, process, &end);
}

static void reap_all(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (!job->watch.ended[i]) reap(job, &job->ranks[i]);
}

/* ---- Signals ---- */

static void interrupt(p2p_job *job, int signal)
{
    if (job->interrupted) {
        kill_after(job, 0);
        return;
    }
    job->interrupted = true;
    job->exit_status = 128 + signal;
    double grace = job->plan->options.grace_s;
    if (grace > 0)
        p2p__say(job, "%s: the ranks have %g s to end; once more ends them at once", strsignal(signal), grace);
    else
        p2p__say(job, "%s: ending all ranks", strsignal(signal));
    kill_ranks(job, signal);
    kill_ranks(job, SIGCONT);
    kill_after(job, grace > 0 ? (uint64_t)(grace * 1e9) : GRACE_NS);
}

static void take_signals(p2p_job *job)
{
    struct signalfd_siginfo signal;
    while (read(job->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        if (signal.ssi_signo != SIGCHLD && signal.ssi_signo != SIGPIPE && signal.ssi_signo != SIGXFSZ)
            interrupt(job, (int)signal.ssi_signo);
    reap_all(job);
}

/* A signal that our caller ignores (nohup, a background job) is none of our business. */
static void block_signals(p2p_job *job)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ); /* a limit on files (ulimit -f): the write fails, which is noticed */
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction old;
        if (sigaction(ours[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaddset(&set, ours[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &job->old_mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &job->old_child);
    job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void restore_signals(p2p_job *job)
{
    sigset_t of_writing;
    sigemptyset(&of_writing);
    sigaddset(&of_writing, SIGPIPE); /* from a reader of our output that went away */
    sigaddset(&of_writing, SIGXFSZ);
    while (sigtimedwait(&of_writing, NULL, &(struct timespec){0, 0}) > 0) continue;
    sigaction(SIGCHLD, &job->old_child, NULL);
    sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
}

/* ---- Time ---- */

static void check_limit(p2p_job *job)
{
    double limit = job->plan->options.timeout_s;
    if (limit <= 0 || job->failed || (double)(p2p__now() - job->started) * 1e-9 < limit) return;
    job->exit_status = 124;
    p2p__report_timeout(job, limit);
    kill_after(job, 0);
}

static void check_deadlock(p2p_job *job)
{
    p2p_rank_set stuck, can_act;
    if (job->failed || job->interrupted) return;
    bool is_deadlock = p2p__watch_look(&job->watch, &stuck, &can_act);
    if (job->watch.only_polls) p2p__report_polling(job);
    if (is_deadlock) p2p__report_deadlock(job, &stuck, &can_act);
}

static void check_scoreboard(p2p_job *job)
{
    static const char text[] =
        "the memory that the ranks of this job share has been overwritten: a rank writes where it "
        "should not\n  try: build the program with -fsanitize=address, or --wrap \"valgrind -q\"";
    if (job->failed || p2p__scoreboard_is_sound(&job->watch, job->failed)) return;
    p2p__report_tell(job, p2p__report_add(&job->report, CLASS_CORRUPTION, REASON_MEMORY, -1), text);
    p2p__job_fail(job, P2P_ERR_PROTO, -1, 1, text);
}

static void tick(p2p_job *job)
{
    reap_all(job);
    p2p__links_open(job);
    tell_again(job);
    check_scoreboard(job);
    check_limit(job);
    check_deadlock(job);
}

static void check_kill(p2p_job *job)
{
    if (!job->kill_at || p2p__now() < job->kill_at) return;
    job->killed = true;
    kill_ranks(job, SIGKILL);
    job->kill_at = p2p__now() + GRACE_NS;
}

/* ---- The loop ---- */

static int stream_fd(const p2p_stream *stream)
{
    return stream->fd >= 0 && !(stream->sink && p2p__sink_full(stream->sink) && !stream->keep) ? stream->fd : -1;
}

static nfds_t fill_polled(const p2p_job *job, struct pollfd *polled)
{
    polled[SLOT_SIGNALS] = (struct pollfd){.fd = job->signals, .events = POLLIN};
    polled[SLOT_STDIN] = (struct pollfd){.fd = p2p__input_fd(job), .events = POLLIN};
    bool writing = job->stdin_from < job->stdin_to;
    polled[SLOT_STDIN_PIPE] = (struct pollfd){.fd = writing ? job->stdin_pipe : -1, .events = POLLOUT};
    polled[SLOT_OUT] = (struct pollfd){.fd = p2p__sink_waiting(&job->out) ? job->out.fd : -1, .events = POLLOUT};
    polled[SLOT_ERR] = (struct pollfd){.fd = p2p__sink_waiting(&job->err) ? job->err.fd : -1, .events = POLLOUT};
    nfds_t count = SLOT_RANKS;
    for (int i = 0; i < job->size; i++) {
        const p2p_rank_process *process = &job->ranks[i];
        polled[count++] = (struct pollfd){.fd = process->control, .events = POLLIN};
        polled[count++] = (struct pollfd){.fd = stream_fd(&process->out), .events = POLLIN};
        polled[count++] = (struct pollfd){.fd = stream_fd(&process->err), .events = POLLIN};
    }
    return count;
}

static bool read_output(p2p_job *job, p2p_rank_process *process)
{
    bool any = p2p__stream_read(&process->out);
    int lost = process->out.lost;
    if (!lost || job->told_lost) return any;
    job->told_lost = true;
    if (!job->exit_status) job->exit_status = 1; /* output that is lost is not called success */
    if (lost == EDQUOT)
        p2p__say(job,
                 "rank %d has printed more than %zu MiB, the most that --ordered keeps of each of %d ranks: what goes "
                 "beyond is dropped",
                 process->rank, job->spill.share >> 20, job->size);
    else
        p2p__say(job,
                 "what rank %d prints cannot be kept for --ordered: %s: the rest is dropped\n"
                 "  try: TMPDIR=DIR, a folder with room",
                 process->rank, strerror(lost));
    return any;
}

static void serve(p2p_job *job, const struct pollfd *polled)
{
    for (int i = 0; i < job->size; i++) {
        const struct pollfd *slots = &polled[SLOT_RANKS + 3 * i];
        if (slots[0].revents) listen_to(job, &job->ranks[i], MESSAGES_A_TURN);
        if (slots[1].revents) read_output(job, &job->ranks[i]);
        if (slots[2].revents) p2p__stream_read(&job->ranks[i].err);
    }
    if (polled[SLOT_STDIN].revents) p2p__input_read(job);
    if (polled[SLOT_STDIN_PIPE].revents) p2p__input_write(job);
    p2p__sink_flush(&job->out);
    p2p__sink_flush(&job->err);
    if (polled[SLOT_SIGNALS].revents) take_signals(job);
}

static void loop(p2p_job *job, struct pollfd *polled)
{
    uint64_t next_tick = p2p__now() + TICK_NS;
    while (job->alive > 0) {
        uint64_t now = p2p__now(), until = job->kill_at && job->kill_at < next_tick ? job->kill_at : next_tick;
        uint64_t left = until > now ? until - now : 0;
        struct timespec wait = {.tv_sec = 0, .tv_nsec = (long)(left < TICK_NS ? left : TICK_NS)};
        nfds_t count = fill_polled(job, polled);
        if (ppoll(polled, count, &wait, NULL) > 0) serve(job, polled);
        if (p2p__now() >= next_tick) {
            tick(job);
            next_tick = p2p__now() + TICK_NS;
        }
        check_kill(job);
    }
}

/* Write what is left, for as long as it takes: but who is to end, ends. */
static void drain(p2p_job *job, p2p_sink *sink)
{
    while (p2p__sink_waiting(sink)) {
        struct pollfd polled[] = {{.fd = job->signals, .events = POLLIN}, {.fd = sink->fd, .events = POLLOUT}};
        bool hurried = job->interrupted || job->exit_status == 124;
        if (poll(polled, 2, hurried ? LAST_WORDS_MS : -1) == 0) return;
        if (polled[0].revents) take_signals(job);
        if (polled[1].revents) p2p__sink_flush(sink);
    }
}

static void finish_stream(p2p_job *job, p2p_stream *stream)
{
    while (p2p__stream_replay(stream))
        if (p2p__sink_full(stream->sink)) drain(job, stream->sink);
    p2p__stream_finish(stream);
    if (stream->sink) drain(job, stream->sink);
}

static void finish_out(p2p_job *job, p2p_rank_process *process)
{
    p2p__stream_end(&process->out);
    while (read_output(job, process))
        if (p2p__sink_full(&job->out)) drain(job, &job->out);
    finish_stream(job, &process->out);
}

static void finish_err(p2p_job *job, p2p_rank_process *process)
{
    p2p__stream_end(&process->err);
    while (p2p__stream_read(&process->err))
        if (p2p__sink_full(&job->err)) drain(job, &job->err);
    finish_stream(job, &process->err);
}

/* All ranks have ended: what they printed last, in order of rank. */
static void finish_output(p2p_job *job)
{
    for (int i = 0; i < job->size; i++) finish_out(job, &job->ranks[i]);
    for (int i = 0; i < job->size; i++) finish_err(job, &job->ranks[i]);
    drain(job, &job->out);
    if (job->out.error) {
        p2p__say(job, "the output could not be written: %s", strerror(job->out.error));
        if (!job->exit_status) job->exit_status = 1;
    }
    drain(job, &job->err);
}

int p2p__supervise(p2p_job *job)
{
    struct pollfd *polled = calloc((size_t)(SLOT_RANKS + 3 * job->size), sizeof *polled);
    if (!polled) return 1;
    block_signals(job);
    job->started = p2p__now();
    if (!p2p__start_ranks(job)) {
        job->exit_status = 1;
        job->killed = true;
        kill_ranks(job, SIGKILL);
    }
    loop(job, polled);
    check_scoreboard(job);
    finish_output(job);
    p2p__take_terminal_back(job);
    restore_signals(job);
    free(polled);
    return job->exit_status;
}
