/* SPDX-License-Identifier: MIT */
/*
 * A job from its start to its end. The supervisor's loop serves messages of ranks, output, signals and ends, and every 50 ms
 * it looks at the scoreboard. It never waits for any one rank, link or reader.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/hosts.h"

#define TICK_NS UINT64_C(50000000)
#define LAST_WORDS_MS 1000
#define MESSAGES_A_TURN 64
#define TURNS_A_POLL 8

enum slot { SLOT_SIGNALS, SLOT_STDIN, SLOT_STDIN_PIPE, SLOT_OUT, SLOT_ERR, SLOT_RANKS };

/* ---- Every 50 ms ---- */

void p2p__overwritten(p2p_job *job)
{
    p2p_words w = {.used = 0};
    p2p__add(&w, "the memory that the ranks of this job share has been overwritten: a rank writes where it should not");
    p2p__add_advice(&w, "build the program with -fsanitize=address, or --wrap \"valgrind -q\"");
    p2p__report_fail(job, CLASS_CORRUPTION, REASON_MEMORY, -1, &w);
}

void p2p__check_scoreboard(p2p_job *job)
{
    if (!job->failed && !p2p__scoreboard_is_sound(&job->watch, job->announced)) p2p__overwritten(job);
}

static void tick(p2p_job *job)
{
    p2p_rank_set stuck, can_act;
    double limit = job->plan->options.timeout_s;
    p2p__reap_all(job);
    p2p__links_open(job);
    p2p__tell_again(job);
    p2p__check_scoreboard(job);
    if (job->hosts) p2p__hosts_tick(job);
    p2p__status_tick(job);
    if (p2p__now() >= job->metrics_at) p2p__metrics_write(job);
    if (limit > 0 && !job->failed && p2p__judges(job) && p2p__had_its_time(job, limit) &&
        (!job->hosts || p2p__hosts_look(job))) {
        job->exit_status = 124;
        p2p__report_timeout(job, limit);
        p2p__kill_after(job, 0);
    }
    if (job->failed || job->broken || job->interrupted || !p2p__judges(job) || job->plan->orders) return;
    bool is_deadlock = p2p__watch_look(&job->watch, &stuck, &can_act);
    if (job->watch.only_polls) p2p__report_polling(job);
    if (is_deadlock && job->hosts) is_deadlock = p2p__hosts_ask(job, &stuck, &can_act);
    if (!is_deadlock && job->watch.polls_for) p2p__check_polling(job);
    if (is_deadlock) p2p__report_deadlock(job, &stuck, &can_act);
}

/* ---- The loop ---- */

/* A stream is not read while its reader is behind, unless its output is kept. */
static int stream_fd(const p2p_stream *stream)
{
    return stream->fd >= 0 && !(stream->sink && p2p__sink_full(stream->sink) && !stream->keep) ? stream->fd : -1;
}

static nfds_t fill_polled(p2p_job *job)
{
    struct pollfd *polled = job->polled;
    bool writing = job->stdin_from < job->stdin_to, reading = job->stdin_pipe >= 0 && !writing;
    polled[SLOT_SIGNALS] = (struct pollfd){.fd = job->signals, .events = POLLIN};
    polled[SLOT_STDIN] = (struct pollfd){.fd = reading ? STDIN_FILENO : -1, .events = POLLIN};
    polled[SLOT_STDIN_PIPE] = (struct pollfd){.fd = writing ? job->stdin_pipe : -1, .events = POLLOUT};
    polled[SLOT_OUT] = (struct pollfd){.fd = job->out.from < job->out.to ? job->out.fd : -1, .events = POLLOUT};
    polled[SLOT_ERR] = (struct pollfd){.fd = job->err.from < job->err.to ? job->err.fd : -1, .events = POLLOUT};
    nfds_t count = SLOT_RANKS;
    for (int i = job->first; i < job->first + job->count; i++) {
        const p2p_rank_process *process = &job->ranks[i];
        const int fds[] = {process->control, stream_fd(&process->out), stream_fd(&process->err)};
        for (int k = 0; k < 3; k++) polled[count++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
    }
    return job->hosts ? p2p__far_fill(job, polled, count) : count;
}

/* Output that is dropped is said once, and not called success. */
static bool read_output(p2p_job *job, p2p_stream *stream)
{
    bool any = p2p__stream_read(stream);
    int lost = stream->lost;
    if (!lost || job->told_lost) return any;
    job->told_lost = true;
    if (!job->exit_status) job->exit_status = 1;
    if (lost == EDQUOT)
        p2p__say(job,
                 "rank %d has printed more than %.4g MiB, the most that --ordered keeps of each of %d ranks: what goes "
                 "beyond is dropped",
                 stream->rank, (double)job->spill.share / (1 << 20), job->size);
    else
        p2p__say(job,
                 "what rank %d prints cannot be kept for --ordered: %s: the rest is dropped\n"
                 "  try: TMPDIR=DIR, a folder with room",
                 stream->rank, strerror(lost));
    return any;
}

/* Standard input, when it is a terminal: what is typed goes to rank 0, through a pipe. */
static void forward_input(p2p_job *job, bool reading)
{
    ssize_t moved = reading
                        ? read(STDIN_FILENO, job->stdin_text, sizeof job->stdin_text)
                        : write(job->stdin_pipe, job->stdin_text + job->stdin_from, job->stdin_to - job->stdin_from);
    if (reading && moved > 0) {
        job->stdin_from = 0;
        job->stdin_to = (size_t)moved;
    } else if (!reading && (moved >= 0 || errno == EAGAIN)) {
        if (moved > 0) job->stdin_from += (size_t)moved;
    } else {
        close(job->stdin_pipe);
        job->stdin_pipe = -1;
    }
}

/* What has come. A link that is opened for a rank may move the polled. */
static void serve(p2p_job *job)
{
    if (job->hosts) p2p__far_serve(job);
    for (int i = 0; i < job->count; i++) {
        const struct pollfd *slots = &job->polled[SLOT_RANKS + 3 * i];
        p2p_rank_process *process = &job->ranks[job->first + i];
        if (slots[1].revents) read_output(job, &process->out);
        if (slots[2].revents) read_output(job, &process->err);
        if (slots[0].revents) p2p__listen(job, process, MESSAGES_A_TURN);
    }
    if (job->polled[SLOT_STDIN].revents) forward_input(job, true);
    if (job->polled[SLOT_STDIN_PIPE].revents) forward_input(job, false);
    p2p__sink_flush(&job->out);
    p2p__sink_flush(&job->err);
    if (job->polled[SLOT_SIGNALS].revents) p2p__take_signals(job);
}

/* ---- All ranks have ended ---- */

/* Output that is printed rank by rank is printed by host 0. */
static bool goes_to_host_0(const p2p_job *job, const p2p_sink *sink)
{
    return job->plan->options.ordered_output && sink == &job->out && !p2p__judges(job) && !job->hosts->lost;
}

/* Write what is left, for as long as it takes; in a job that was interrupted, or had a limit, for a second. */
static void drain(p2p_job *job, p2p_sink *sink)
{
    if (goes_to_host_0(job, sink)) {
        p2p__hosts_print(job, sink->bytes + sink->from, sink->to - sink->from);
        sink->from = sink->to;
    }
    while (sink->from < sink->to) {
        struct pollfd polled[] = {{.fd = job->signals, .events = POLLIN}, {.fd = sink->fd, .events = POLLOUT}};
        bool hurried = job->interrupted || job->exit_status == 124;
        if (poll(polled, 2, hurried ? LAST_WORDS_MS : -1) == 0) return;
        if (polled[0].revents) p2p__take_signals(job);
        if (polled[1].revents) p2p__sink_flush(sink);
    }
}

static void finish_stream(p2p_job *job, p2p_stream *stream)
{
    if (stream->fd >= 0)
        shutdown(stream->fd, SHUT_RD); /* a process that still has the other end can add nothing more */
    while (read_output(job, stream))
        if (p2p__sink_full(stream->sink)) drain(job, stream->sink);
    while (p2p__stream_replay(stream))
        if (p2p__sink_full(stream->sink)) drain(job, stream->sink);
    p2p__stream_finish(stream);
    if (stream->sink) drain(job, stream->sink);
}

/* What the ranks printed last, in order of rank. */
static void finish_output(p2p_job *job)
{
    for (int i = 0; i < job->count; i++) finish_stream(job, &job->ranks[job->first + i].out);
    for (int i = 0; i < job->count; i++) finish_stream(job, &job->ranks[job->first + i].err);
    for (int h = 1; job->hosts && p2p__judges(job) && h < job->hosts->count; h++)
        while (p2p__hosts_printed(job, h)) drain(job, &job->out);
    drain(job, &job->out);
    if (job->out.error) {
        p2p__say(job, "the output could not be written: %s", strerror(job->out.error));
        if (!job->exit_status) job->exit_status = 1;
    }
    drain(job, &job->err);
}

/* ---- The whole ---- */

/* Wait for something, for so long at most (ns), and deal with it. A launcher that carries messages of ranks in shared memory
 * finds them without the system, which it asks now and then only, while they come one after the other. */
static void turn(p2p_job *job, uint64_t left)
{
    struct timespec wait = {.tv_sec = 0, .tv_nsec = (long)(left < TICK_NS ? left : TICK_NS)};
    if (!job->hosts) {
        if (ppoll(job->polled, fill_polled(job), &wait, NULL) > 0) serve(job);
        return;
    }
    if (!left && p2p__far_is_hot(job) && ++job->turns % TURNS_A_POLL) {
        p2p__far_serve(job);
    } else {
        nfds_t count = fill_polled(job);
        if (left) p2p__far_asleep(job, true);
        if (left && (p2p__lines_serve(job) || p2p__far_waiting(job))) wait.tv_nsec = 0;
        ppoll(job->polled, count, &wait, NULL);
        p2p__far_asleep(job, false);
        serve(job);
    }
    p2p__hosts_move(job);
    if (!left) sched_yield(); /* a rank may be waiting for this core, and for what has just come */
}

static void loop(p2p_job *job)
{
    uint64_t next_tick = p2p__now() + TICK_NS;
    for (;;) {
        bool over = !job->alive && !p2p__generation_waits(job);
        if (over && job->hosts && !job->hosts->done && goes_to_host_0(job, &job->out)) finish_output(job);
        if (over && !p2p__hosts_busy(job)) return;
        uint64_t now = p2p__now(), until = job->kill_at && job->kill_at < next_tick ? job->kill_at : next_tick;
        uint64_t left = until > now ? until - now : 0, pause = job->hosts ? p2p__hosts_pause(job) : left;
        if (p2p__ports_look(job)) pause = 0;
        if (job->plan->orders) p2p__choices_look(job);
        turn(job, pause < left ? pause : left);
        if (p2p__now() >= next_tick) {
            tick(job);
            next_tick = p2p__now() + TICK_NS;
        }
        p2p__check_kill(job);
        if (job->plan->options.repair) p2p__generation_look(job);
    }
}

int p2p__supervise(p2p_job *job)
{
    job->polled_room = (size_t)(SLOT_RANKS + 3 * job->count + (job->hosts ? job->hosts->count : 0));
    job->polled = calloc(job->polled_room, sizeof *job->polled);
    if (!job->polled) return 1;
    p2p__block_signals(job);
    job->started = p2p__now();
    int started = 0;
    while (started < job->count && p2p__start_rank(job, job->first + started)) started++;
    if (started < job->count) {
        job->exit_status = 1;
        p2p__kill_after(job, 0);
        p2p__check_kill(job);
    }
    p2p__guard_begin(job);
    if (job->hosts) p2p__clocks_ask(job);
    loop(job);
    p2p__guard_end(job);
    p2p__generation_end(job);
    p2p__check_scoreboard(job);
    p2p__tell_notes(job);
    if (!p2p__metrics_write(job) && !job->exit_status) job->exit_status = 1;
    finish_output(job);
    p2p__restore_signals(job);
    free(job->polled);
    return job->exit_status;
}
