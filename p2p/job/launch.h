/* SPDX-License-Identifier: MIT */
/* launch: what the files of the supervisor share. A job is its ranks, seen from the process that started them. */
#ifndef PAIRWISE_P2P_LAUNCH_H
#define PAIRWISE_P2P_LAUNCH_H

#define P2P_NO_LINES 1

#include <signal.h>
#include <sys/types.h>

#include "p2p/deadlock/deadlock.h"
#include "p2p/shared/clock.h"
#include "p2p/shared/control.h"
#include "p2p/shared/memory.h"
#include "p2p/trace/trace_json.h"

/* ---- What ranks print, forwarded line by line, without ever waiting for the reader (output.c) ---- */

#define SPILL_MOST ((size_t)1 << 30) /* of all ranks together; each has the same share */

/* Output that is kept until the job ends, so that memory stays small: a temporary file without a name, with holes. */
typedef struct {
    int fd;       /* -1: not needed so far */
    size_t share; /* bytes that a stream may keep, from rank * share on */
} p2p_spill;

/* Where lines go: bytes that could not be written yet wait here. */
typedef struct {
    int fd;
    char *bytes; /* those that wait begin at from and end before to */
    size_t from, to, room;
    size_t chunk; /* most that one write may try without risk of waiting */
    char last;    /* that was added */
    int error;    /* errno of the first write that failed; later bytes are dropped */
} p2p_sink;

/* What comes from a rank: our end of a socketpair. */
typedef struct {
    int fd; /* -1: at its end */
    int rank;
    bool tag;              /* prefix lines */
    p2p_spill *keep;       /* until the job has ended; NULL: forward lines as they come */
    size_t kept, replayed; /* bytes there */
    int lost;              /* errno: what came later could not be kept, and was dropped */
    bool at_line_start;
    p2p_sink *sink;
    char *line; /* what has come and was not forwarded */
    size_t length, room;
} p2p_stream;

/* What to launch. */
typedef struct {
    int size;
    p2p_options options;
    p2p_config config;
    /* Runs in the forked rank and returns its exit status. */
    int (*child)(void *arg, int rank, int control, int scoreboard_fd, scoreboard *b);
    void *arg;
    const char *program; /* for messages; NULL: p2p_launch */
    int debug_rank;      /* gets the terminal to itself; -1: none */
    int relay;           /* a socket: the process at its other end carries all messages; -1: links are direct */
    int report_to;       /* a socket for the report, beside the file; -1: none */
} p2p_plan;

typedef struct {
    int rank;
    pid_t pid;
    int control;
    p2p_stream out, err;
    bool goodbye, aborted, fatal;
    bool heard;          /* what it has found wrong is in the report */
    int status;          /* exit code or 128 + signal, once ended */
    int links_in_flight; /* ends of links sent and not yet acknowledged */
    int nudges_owed;
    bool untold; /* FAILED or ALL_DONE could not be sent yet */
} p2p_rank_process;

typedef struct {
    int a, b;
    int fd_for_b; /* a has its end, b could not be sent its own yet; else -1 */
    int place;    /* of its shared memory, if it needs any */
} p2p_link_request;

/* What was found wrong, in the order in which it was. */
typedef struct {
    p2p_finding *first;
    p2p_finding spare; /* where there is no memory for another one */
} p2p_report;

typedef struct {
    const p2p_plan *plan;
    int size;
    scoreboard *scoreboard;
    int scoreboard_fd;
    p2p_rank_process *ranks;
    int alive;
    p2p_sink out, err;
    p2p_spill spill;
    int stdin_pipe; /* to rank 0 when stdin is a terminal; -1: not forwarded */
    char stdin_text[1024];
    size_t stdin_from, stdin_to;

    int signals; /* signalfd */
    sigset_t old_mask;
    struct sigaction old_child;
    uint64_t old_limit; /* on descriptors */
    int old_dumpable;
    pid_t self;

    p2p_link_request *link_requests; /* room for one of each pair */
    size_t link_request_count;
    uint64_t *linked; /* bit a * size + b */
    memory_gap *gaps; /* in the memory file: what could not be had for a link */
    int links_in_flight, links_max, links_max_each;
    int ends_kept; /* second ends that could not be sent yet */

    p2p_watch watch;
    uint64_t started, kill_at;
    bool all_done, interrupted, killed, failed;
    bool told_lost; /* that output is dropped */
    int exit_status;
    uint64_t oom_kills;
    p2p_traced_job *trace; /* NULL: not traced */
    p2p_report report;
} p2p_job;

/* Launch, supervise, clean up. Returns the exit status; P2P_OK in *err unless nothing could be started. */
int p2p__run_job(const p2p_plan *plan, p2p_err *err);

/* ---- launch.c ---- */

#define P2P_INSIDE_JOB                                                       \
    "this process is a rank already: a launch inside a launch cannot work\n" \
    "  try: p2p_split, for a group of the ranks there are"

/* Fill plan->config from PAIRWISE_ variables and plan->options, which win; or say what is wrong. */
p2p_err p2p__plan_settings(p2p_plan *plan, char *why, size_t why_bytes);

/* Fork a rank. False, and an error printed, if that fails: those started must be ended. */
bool p2p__start_rank(p2p_job *job, int rank);

/* ---- supervisor.c ---- */

int p2p__supervise(p2p_job *job);

/* ---- messages.c ---- */

/* Send a control message, with descriptor fd beside it (-1: none). False and errno on failure; EAGAIN: try later. */
bool p2p__tell_rank(p2p_job *job, int rank, control_message message, int fd);
void p2p__tell_all(p2p_job *job, int type);
/* What could not be sent before. */
void p2p__tell_again(p2p_job *job);

/* Obey up to `most` messages of a rank: other ranks have their turn after them. */
void p2p__listen(p2p_job *job, p2p_rank_process *process, int most);
/* All ranks have said goodbye, or ended without ever calling p2p_init? Then they are told. */
void p2p__check_all_done(p2p_job *job);
/* What a rank has found wrong: into the report, once. */
void p2p__see_found(p2p_job *job, int rank);

/* ---- ends.c ---- */

/* The job has failed: ranks are told why, and get a second to end. Only the first failure counts. */
void p2p__job_fail(p2p_job *job, p2p_err err, int rank, int status, const char *text);
void p2p__kill_after(p2p_job *job, uint64_t ns);
void p2p__check_kill(p2p_job *job);
void p2p__reap_all(p2p_job *job);

void p2p__block_signals(p2p_job *job);
void p2p__take_signals(p2p_job *job);
void p2p__restore_signals(p2p_job *job);

/* ---- links.c ---- */

p2p_err p2p__links_init(p2p_job *job);
void p2p__links_free(p2p_job *job);
void p2p__link_want(p2p_job *job, int from, int to);
/* The rank has taken an end that was sent to it. */
void p2p__link_got(p2p_job *job, int rank);
/* Open what can be opened now. */
void p2p__links_open(p2p_job *job);

/* ---- output.c ---- */

void p2p__sink_init(p2p_sink *sink, int fd);
void p2p__sink_add(p2p_sink *sink, const char *bytes, size_t count);
bool p2p__sink_full(const p2p_sink *sink);
/* Write what can be written without waiting. */
void p2p__sink_flush(p2p_sink *sink);

/* Read what there is and forward complete lines; at the end of file close it. False if there was nothing. */
bool p2p__stream_read(p2p_stream *stream);
/* Forward some of what was kept; false when nothing is left of it. */
bool p2p__stream_replay(p2p_stream *stream);
/* Forward what is left and release everything. */
void p2p__stream_finish(p2p_stream *stream);

/* ---- trace_job.c: the supervisor's part of a trace ---- */

/* For a job that is traced; without memory for it the trace does not say how the job ended. */
void p2p__trace_open(p2p_job *job);

/* When it fails: before any rank is told, so that what ranks show is what they were doing. */
void p2p__trace_deadlock(p2p_job *job, const p2p_finding *deadlock);
void p2p__trace_failed(p2p_job *job, p2p_err err, int rank, const char *text);

/* When all ranks have ended: write the file. False, and said why, if that failed. */
bool p2p__trace_close(p2p_job *job);

/* ---- report.c ---- */

/* Tell people. */
void p2p__say(p2p_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new finding, of one rank (-1: of others, or of none); never NULL. Give it its words; and tell them. */
p2p_finding *p2p__report_add(p2p_report *report, int class, int reason, int rank);
void p2p__finding_say(p2p_finding *finding, const p2p_words *w);
void p2p__report_tell(p2p_job *job, p2p_finding *finding, const p2p_words *w);

/* All of that: for what the machine would not give, before anything could begin; for bytes that no rank of Pairwise writes,
 * and then the job fails. */
void p2p__report_refused(p2p_report *report, const p2p_words *why);
void p2p__report_fail(p2p_job *job, int class, int reason, int rank, const p2p_words *w);

void p2p__report_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act);
void p2p__report_death(p2p_job *job, p2p_finding *death, int status);
void p2p__report_polling(p2p_job *job);
void p2p__report_timeout(p2p_job *job, double seconds);

/* The file that `launch --report` asks for: see docs/reports.md. False, and said why, if it cannot be written. */
bool p2p__report_write(const p2p_report *report, const p2p_plan *plan, int status);
void p2p__report_free(p2p_report *report);

#endif
