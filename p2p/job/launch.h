/* SPDX-License-Identifier: MIT */
/* launch: what the files of the supervisor share. A job is its ranks, seen from the process that started them. */
#ifndef PAIRWISE_P2P_LAUNCH_H
#define PAIRWISE_P2P_LAUNCH_H

#define P2P_NO_LINES 1

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include "p2p/deadlock/deadlock.h"
#include "p2p/shared/clock.h"
#include "p2p/shared/control.h"
#include "p2p/shared/memory.h"
#include "p2p/trace/trace_json.h"

typedef struct p2p_cluster p2p_cluster;
typedef struct p2p_ports p2p_ports;
typedef struct p2p_orders p2p_orders;

/* ---- What ranks print, forwarded line by line, without ever waiting for the reader (output.c) ---- */

#define SPILL_MOST ((size_t)1 << 30) /* of all ranks together; each has the same share */

/* Output that is kept until the job ends, so that memory stays small: a temporary file without a name, with holes. A
 * part of it for each rank; on host 0 one for each other host. */
typedef struct {
    int fd;       /* -1: not needed so far */
    size_t share; /* bytes that a part may keep: from its number * share on */
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

#define SAID ((size_t)200) /* bytes of a rank's last line */

/* What comes from a rank: our end of a socketpair. */
typedef struct {
    int fd; /* -1: at its end */
    int rank;
    bool tag;              /* prefix lines */
    p2p_spill *keep;       /* until the job has ended; NULL: forward lines as they come */
    size_t kept, replayed; /* bytes there */
    int lost;              /* errno: what came later could not be kept, and was dropped */
    bool at_line_start;
    char *said; /* NULL, or where the last line goes as well */
    p2p_sink *sink;
    char *line; /* what has come and was not forwarded */
    size_t length, room;
} p2p_stream;

/* What to launch. */
typedef struct {
    int size;           /* of the world */
    p2p_cluster *hosts; /* NULL: all ranks are here (hosts.h) */
    p2p_options options;
    p2p_config config;
    /* Runs in the forked rank and returns its exit status. */
    int (*child)(void *arg, int rank, int control, int scoreboard_fd, scoreboard *b);
    void *arg;
    const char *program; /* for messages; NULL: p2p_launch */
    int debug_rank;      /* gets the terminal to itself; -1: none */
    int relay;           /* a socket: the process at its other end carries all messages; -1: links are direct */
    p2p_orders *orders;  /* decides what the standard leaves open (orders.h); NULL: what comes first is first */
    const int *sinks;    /* where lines go instead of standard output and errors; NULL: there */
    int report_to;       /* a socket for the report, beside the file; -1: none */
    int patience; /* how many times as long a job may take whose ranks compute on a busy machine; 0, 1: no longer */
} p2p_plan;

/* What has ended a rank. */
typedef struct {
    int code, status, state;
    int starved, all_done; /* its launcher knew that all ranks had said goodbye */
    int is_rank;           /* what was started, not a child of it (--wrap) */
    uint64_t computed;     /* for so long, ns */
} p2p_end;

typedef struct {
    int rank;
    pid_t pid;
    int control;
    p2p_stream out, err;
    bool goodbye, aborted, fatal;
    bool returned;       /* with 0, before its goodbye: it has nothing more to do */
    bool heard;          /* what it has found wrong is in the report */
    bool notes;          /* and is a note, which p2p__tell_notes tells */
    int status;          /* exit code or 128 + signal, once ended */
    p2p_end end;         /* on its own host */
    int gave_up;         /* that other hosts know of: scoreboard_row */
    int links_in_flight; /* ends of links sent and not yet acknowledged */
    int nudges_owed;
    uint64_t activity, since; /* what its row showed, and since when (ns): status.c */
    bool untold;              /* FAILED or ALL_DONE could not be sent yet */

    /* generation.c: */
    bool left;                       /* p2p_shrink has gone on without it */
    bool dead;                       /* in this generation: when it is repaired, another process is started */
    bool repairs, shrinks;           /* it is in p2p_repair, p2p_shrink; */
    bool late;                       /* or it was, for longer than PAIRWISE_TIMEOUT allows */
    bool awaits;                     /* it could not be sent the next scoreboard yet, and is told nothing before */
    uint64_t started;                /* this process */
    uint64_t place, computed_before; /* where its last process has died, and for how long (ns) it had computed */
    int replaced, at_once; /* processes started after the first; the last so many have died at once, at one place */
    char said[SAID];       /* the last line of it, for a job that repairs itself */

    bool keeps; /* kept.c: it could not be sent the memory that it has asked for */
    struct p2p_kept_memory *kept;
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
    p2p_cluster *hosts; /* NULL: one host */
    int first, count;   /* ranks of this host: first, first + 1, ... */
    scoreboard *scoreboard;
    int scoreboard_fd;
    p2p_rank_process *ranks;
    int alive;
    p2p_sink out, err;
    p2p_spill spill;
    int stdin_pipe; /* to rank 0 when stdin is a terminal; -1: not forwarded */
    char stdin_text[1024];
    size_t stdin_from, stdin_to;

    int signals;       /* signalfd */
    int status, asker; /* sockets: where launch --status asks; who waits for an answer; -1: none */
    sigset_t old_mask;
    struct sigaction old_child;
    uint64_t old_limit; /* on descriptors */
    int old_dumpable;
    pid_t self;
    pid_t guard, *groups; /* guard.c: the process; the ranks' groups, in memory that it shares, NULL: none */

    p2p_link_request *link_requests; /* room for one of each pair */
    size_t link_request_count;
    struct pollfd *polled;
    size_t polled_room;
    unsigned turns;   /* of the loop, while messages come one after the other */
    uint64_t *linked; /* bit a * size + b */
    memory_gap *gaps; /* in the memory file: what could not be had for a link */
    int links_in_flight, links_max, links_max_each;
    int ends_kept; /* second ends that could not be sent yet */

    p2p_watch watch;
    p2p_ports *ports; /* NULL: no virtual network with hosts */
    uint64_t started, kill_at;
    uint64_t began; /* of what is noted and traced: no later than the first of it */
    bool all_done, interrupted, killed, failed;
    bool signalled; /* it was this launcher that was interrupted */
    bool announced; /* ranks know that it has failed */
    bool broken;    /* this generation has: its ranks are to repair it */
    bool awaited;   /* a rank could not be sent the next scoreboard yet */
    bool reminded;  /* it was said which of them have not come yet */
    uint64_t broken_at;
    int replaced, broken_status, broken_rank;
    bool told_lost; /* that output is dropped */
    int exit_status;
    uint64_t oom_kills;
    p2p_traced_job *trace; /* NULL: not traced */
    uint64_t metrics_at;   /* when they are written next */
    bool metrics_failed;
    p2p_report report;
} p2p_job;

/* Does this launcher judge, or that of host 0? */
static inline bool p2p__judges(const p2p_job *job)
{
    return !job->hosts || job->first == 0;
}

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
/* The job fails if a rank has written over what all share. */
void p2p__check_scoreboard(p2p_job *job);
/* A rank has written where it should not: the end of the job. */
void p2p__overwritten(p2p_job *job);

/* ---- messages.c ---- */

/* Send a control message, with descriptor fd beside it (-1: none). False and errno on failure; EAGAIN: try later. */
bool p2p__tell_rank(p2p_job *job, int rank, control_message message, int fd);
void p2p__tell_all(p2p_job *job, int type);
/* That something it waits for may be there: nudges_owed times. */
void p2p__nudge(p2p_job *job, int rank);
/* What could not be sent before. */
void p2p__tell_again(p2p_job *job);

#define P2P_ALL_MESSAGES 100000 /* more than a socket holds */

/* Obey up to `most` messages of a rank: other ranks have their turn after them. */
void p2p__listen(p2p_job *job, p2p_rank_process *process, int most);
/* What a rank tells, on the host that judges. */
void p2p__obey_rank(p2p_job *job, p2p_rank_process *process, const control_message *message);
/* All ranks have said goodbye, or ended without ever calling p2p_init? Then they are told. */
void p2p__check_all_done(p2p_job *job);
/* What a rank has found wrong: into the report, once. */
void p2p__see_found(p2p_job *job, int rank);
/* At the end: what ranks have left as notes, once for all that have left the same. */
void p2p__tell_notes(p2p_job *job);

/* ---- ends.c ---- */

/* The job has failed: ranks are told why, and get a second to end. Only the first failure counts. */
void p2p__job_fail(p2p_job *job, p2p_err err, int rank, int status, const char *text);
void p2p__judge_end(p2p_job *job, p2p_rank_process *process, const p2p_end *end);
/* Ranks learn that the job has failed; or, with FAILED_GENERATION, that this generation has. Of the two only the first
 * cause is shown. */
void p2p__announce_failure(p2p_job *job, p2p_err err, int rank, const char *text, uint64_t grace_ns);
void p2p__announce(p2p_job *job, int failed, p2p_err err, int rank, const char *text);
void p2p__kill_after(p2p_job *job, uint64_t ns);
void p2p__check_kill(p2p_job *job);
void p2p__reap_all(p2p_job *job);

void p2p__block_signals(p2p_job *job);
void p2p__take_signals(p2p_job *job);
/* End all ranks of this host, as this signal asks. */
void p2p__interrupt(p2p_job *job, int signal);
void p2p__restore_signals(p2p_job *job);

/* ---- guard.c: should this process be killed, what ranks have forked ends as well ---- */

/* When the ranks are there; when one has another process, or has ended; at the end. */
void p2p__guard_begin(p2p_job *job);
void p2p__guard_rank(p2p_job *job, int rank);
void p2p__guard_end(p2p_job *job);

/* ---- generation.c: launch --repair ---- */

enum { P2P_REPAIR_USUAL = 10, P2P_REPAIR_MOST = 1000000 };

/* The next one, as host 0 begins it. */
typedef struct {
    scoreboard_generation scoreboard;
    p2p_rank_set dead; /* these get a new process */
} p2p_next_generation;

/* A rank has died, as its finding says. True: that has been dealt with; the job goes on, or has failed. */
bool p2p__generation_death(p2p_job *job, p2p_rank_process *process, const p2p_end *end, p2p_finding *f);
/* A rank has called p2p_repair, or p2p_shrink, or has left it. */
void p2p__generation_come(p2p_job *job, p2p_rank_process *process, const control_message *message);
/* Begin the next one, if all have come; outside of what goes through ranks. */
void p2p__generation_look(p2p_job *job);
/* On each host, when host 0 has. */
void p2p__generation_begin(p2p_job *job, const p2p_next_generation *next);
/* Ranks here have ended, and may be started again: those of other hosts have not. */
bool p2p__generation_waits(const p2p_job *job);
/* All ranks have ended: those that have died, and were not needed any more, count for the exit status. */
void p2p__generation_end(p2p_job *job);

/* ---- at_once.c ---- */

/* A new process of the rank has died: is it the third in a row that died at once, and alike? Then why says so, with what it
 * printed last. */
bool p2p__dies_at_once(p2p_job *job, p2p_rank_process *process, const p2p_end *end, const p2p_diagnosis *how,
                       p2p_words *why);

/* ---- kept.c: p2p_keep ---- */

void p2p__kept_asked(p2p_job *job, int rank);
/* The descriptors go; what is mapped stays. */
void p2p__kept_close(p2p_job *job);

/* ---- links.c ---- */

p2p_err p2p__links_init(p2p_job *job);
void p2p__links_free(p2p_job *job);
/* There are none, as at the start. */
void p2p__links_forget(p2p_job *job);
bool p2p__link_was_asked(const p2p_job *job, int rank);
void p2p__link_want(p2p_job *job, int from, int to);
/* The rank has taken an end that was sent to it. */
void p2p__link_got(p2p_job *job, int rank);
/* A rank can have no link, as the message says: it is told, if it is of another host through its launcher. */
void p2p__link_cannot(p2p_job *job, int rank, const control_message *message);
/* Open what can be opened now. */
void p2p__links_open(p2p_job *job);

/* ---- ports.c ---- */

p2p_ports *p2p__ports_new(void); /* free() it */
void p2p__port_asked(p2p_job *job);
/* Give ports out, if it is time to. True: ranks still wait for one, so look again at once. */
bool p2p__ports_look(p2p_job *job);

/* ---- choices.c ---- */

/* A job whose choices are the launcher's: if no rank can do anything but wait, decide one of them. */
void p2p__choices_look(p2p_job *job);
/* A message has come that a choice of that rank could have taken, had it been faster. */
void p2p__orders_late(p2p_orders *orders, int rank, uint32_t number);

/* ---- output.c ---- */

/* More bytes of a part, of which *kept are there: all of them, or errno, EDQUOT where its share is full. */
int p2p__spill_keep(p2p_spill *spill, int part, size_t *kept, const char *bytes, size_t count);
/* Some of those behind the first *taken; 0: there are no more, or they cannot be read. */
size_t p2p__spill_take(const p2p_spill *spill, int part, size_t *taken, size_t kept, char *bytes, size_t room);

void p2p__sink_init(p2p_sink *sink, int fd);
void p2p__sink_add(p2p_sink *sink, const char *bytes, size_t count);
bool p2p__sink_full(const p2p_sink *sink);
/* Write what can be written without waiting. */
void p2p__sink_flush(p2p_sink *sink);

/* Read what there is and forward complete lines; at the end of file close it. False if there was nothing. */
bool p2p__stream_read(p2p_stream *stream);
/* Forward some of what was kept; false when nothing is left of it. */
bool p2p__stream_replay(p2p_stream *stream);
/* Read all that its process, which has ended, has printed. */
void p2p__stream_end(p2p_stream *stream);
/* Forward what is left and release everything. */
void p2p__stream_finish(p2p_stream *stream);

/* ---- trace_job.c: the supervisor's part of a trace ---- */

/* For a job that is traced; without memory for it the trace does not say how the job ended. */
void p2p__trace_open(p2p_job *job);

/* When it fails: before any rank is told, so that what ranks show is what they were doing. */
void p2p__trace_deadlock(p2p_job *job, const p2p_finding *deadlock);
void p2p__trace_failed(p2p_job *job, p2p_err err, int rank, const char *text);

/* A new generation: what has been traced so far is gone with the one before. */
void p2p__trace_goes_on(p2p_job *job);

/* When all ranks have ended: write the file. False, and said why, if that failed. */
bool p2p__trace_close(p2p_job *job);

/* ---- metrics.c ---- */

/* The file that launch --metrics asks for, if it does. False, and said why, if it cannot be written. */
bool p2p__metrics_write(p2p_job *job);

/* ---- record.c ---- */

/* The file that launch --record asks for, if it does, when all ranks have ended. False, and said why, if it cannot be written. */
bool p2p__record_write(p2p_job *job);

/* ---- status.c ---- */

/* A socket for those who ask what this process's job is doing; -1: there can be none. They are answered in a tick. */
int p2p__status_open(void);
void p2p__status_tick(p2p_job *job);
/* Print what the job of a launcher is doing, or the processes of its ranks, or why that cannot be known. An exit status. */
int p2p__status_show(pid_t pid, bool processes);

/* ---- patience.c ---- */

/* Is the time limit over, and have ranks that compute had their part of the processors? */
bool p2p__had_its_time(p2p_job *job, double limit);

/* ---- machine.c ---- */

/* Print what this machine does with messages between two ranks. An exit status. */
int p2p__machine_show(void);

/* ---- report.c ---- */

/* Tell people. */
void p2p__say(p2p_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new finding, of one rank (-1: of others, or of none); never NULL. Give it its words; and tell them. */
p2p_finding *p2p__report_add(p2p_report *report, int class, int reason, int rank);
void p2p__finding_say(p2p_finding *finding, const p2p_words *w);
void p2p__report_tell(p2p_job *job, p2p_finding *finding, const p2p_words *w);

/* All of that: for what the machine would not give, before anything could begin; for bytes that no rank of Pairwise writes,
 * and then the job fails. */
void p2p__report_refused(p2p_report *report, const p2p_cluster *hosts, const p2p_words *why);
void p2p__report_fail(p2p_job *job, int class, int reason, int rank, const p2p_words *w);

void p2p__report_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act);
void p2p__report_death(p2p_job *job, p2p_finding *death, int status);
void p2p__report_polling(p2p_job *job);
void p2p__fail_polling(p2p_job *job);
/* Ends the job if that has been going on for too long (PAIRWISE_POLLING). */
void p2p__check_polling(p2p_job *job);
void p2p__report_timeout(p2p_job *job, double seconds);

/* A call, as in the report. */
void p2p__report_call(FILE *file, int size, const scoreboard_call *call);
/* The file that `launch --report` asks for: see docs/reports.md. False, and said why, if it cannot be written. */
bool p2p__report_write(const p2p_report *report, const p2p_plan *plan, int status);
void p2p__report_free(p2p_report *report);

#endif
