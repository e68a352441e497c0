/* SPDX-License-Identifier: MIT */
/*
 * p2p: ranks, messages, requests, launch.
 *
 * A rank is a process. Ranks of a world send each other messages; a message has a source, a tag, a communicator
 * and bytes. A call whose prototype returns p2p_err gives 0 (P2P_OK) or a negative code, and sets its outputs on
 * success only, unless its comment says otherwise; p2p_rank, p2p_size, p2p_time, p2p_is_terminal, p2p_strerror and
 * p2p_error_message give the answer itself and never fail; p2p_abort does not return.
 * By default an error prints one message (rank, call, line, cause, what to try) and ends the job;
 * see p2p_set_errors. Byte counts are size_t and have no 2 GiB limit. One thread of a rank at a time may be in a
 * call. All public headers are C11 and C++11.
 *
 *      version           PAIRWISE_VERSION, PAIRWISE_VERSION_NUMBER
 *      launch            p2p_launch, p2p_launched, p2p_init, p2p_finalize, p2p_abort
 *      who am I          p2p_rank, p2p_size, p2p_host, p2p_hosts, p2p_time, p2p_is_terminal
 *      blocking          p2p_send, p2p_ssend, p2p_recv, p2p_sendrecv, p2p_probe
 *      requests          p2p_isend, p2p_irecv, p2p_wait, p2p_wait_all, p2p_wait_any, p2p_test, p2p_test_all, p2p_test_any,
 *                        p2p_cancel, p2p_iprobe
 *      memory            p2p_alloc, p2p_release, p2p_keep
 *      repair            p2p_repair, p2p_shrink, p2p_generation
 *      groups            p2p_split, p2p_dup, p2p_free
 *      what happened     p2p_stats, p2p_strerror, p2p_error_message, p2p_set_errors
 *
 * Order: messages from one rank to another with the same tag and communicator never overtake each other.
 * Errors: with P2P_ERRORS_RETURN a call says by its code what is left. Of this rank:
 *      as before          P2P_ERR_ARG, _RANK, _STATE: nothing has happened. P2P_ERR_TRUNCATE: the message is gone. P2P_ERR_SYS of
 *                         a message: there is no link to that rank, there are to others. P2P_ERR_NOMEM, where nothing waits.
 *                         P2P_ERR_TIMEOUT of p2p_probe, of a receive that nothing had come for (it is taken back), of p2p_wait
 *                         and its kin (what is under way can be waited for again). P2P_ERR_PEER_DEAD of a receive whose
 *                         message its sender gave up, as in the next line
 *      gives up           P2P_ERR_TIMEOUT of a send that waits, of a receive whose message had begun, and of a collective;
 *                         P2P_ERR_NOMEM and P2P_ERR_SYS in the middle of a collective; P2P_ERR_PROTO. From then on every call
 *                         of this rank returns this error at once, on every communicator, those of p2p_split as well; only
 *                         p2p_finalize does its work. Its buffers are its own again: a rank that receives from it later
 *                         gets P2P_ERR_PEER_DEAD, never their contents. Messages that had been sent still arrive
 *      the job has failed P2P_ERR_MISMATCH of a collective, P2P_ERR_DEADLOCK, and P2P_ERR_PEER_DEAD of any other kind. The same
 *                         on every rank, whatever its communicators: also in a group that the dead rank was not in. A rank
 *                         that has not ended a second later is killed. In a job that repairs itself P2P_ERR_PEER_DEAD ends
 *                         this generation only, and p2p_repair begins the next
 * Buffering: a send of up to 64 KiB (PAIRWISE_EAGER) may return before it is received; a larger one waits for
 * its receive. With PAIRWISE_STRICT=1 every send waits, so that a program that needs buffering is found out.
 */
#ifndef PAIRWISE_P2P_H
#define PAIRWISE_P2P_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version: what `build/launch --version` says first. As text, and as a number that grows: 10000 * major + 100 * minor +
 *      patch. ---- */

#define PAIRWISE_VERSION_MAJOR 0
#define PAIRWISE_VERSION_MINOR 1
#define PAIRWISE_VERSION_PATCH 0
#define PAIRWISE_VERSION_NUMBER (10000 * PAIRWISE_VERSION_MAJOR + 100 * PAIRWISE_VERSION_MINOR + PAIRWISE_VERSION_PATCH)
#define PAIRWISE_VERSION P2P_DOTTED(PAIRWISE_VERSION_MAJOR, PAIRWISE_VERSION_MINOR, PAIRWISE_VERSION_PATCH)
#define P2P_DOTTED(major, minor, patch) P2P_DOTTED_TEXT(major, minor, patch) /* its arguments are replaced first */
#define P2P_DOTTED_TEXT(major, minor, patch) #major "." #minor "." #patch

/* ---- Errors: name, value, text. One list makes the enum and p2p_strerror. ---- */

#define P2P_ERROR_LIST(X)                                                                \
    X(P2P_OK, 0, "success")                                                              \
    X(P2P_ERR_ARG, -1, "invalid argument")                                               \
    X(P2P_ERR_RANK, -2, "rank out of range")                                             \
    X(P2P_ERR_STATE, -3, "called at the wrong time")                                     \
    X(P2P_ERR_TRUNCATE, -4, "message longer than the receive buffer")                    \
    X(P2P_ERR_MISMATCH, -5, "ranks disagree about a collective")                         \
    X(P2P_ERR_PEER_DEAD, -6, "a rank has died or left")                                  \
    X(P2P_ERR_TIMEOUT, -7, "timed out")                                                  \
    X(P2P_ERR_NOMEM, -8, "out of memory")                                                \
    X(P2P_ERR_SYS, -9, "system call failed")                                             \
    X(P2P_ERR_PROTO, -10, "invalid bytes on a link")                                     \
    X(P2P_ERR_LEAK, -11, "messages, requests, communicators or memory left at finalize") \
    X(P2P_ERR_RANK_FAILED, -12, "a rank of the launched job failed")                     \
    X(P2P_ERR_TODO, -13, "not written yet")                                              \
    X(P2P_ERR_DEADLOCK, -14, "deadlock: nothing can ever release this call")

typedef enum {
#define P2P_ERROR_ENUM(name, value, text) name = (value),
    P2P_ERROR_LIST(P2P_ERROR_ENUM)
#undef P2P_ERROR_ENUM
} p2p_err;

typedef enum { P2P_ERRORS_FATAL = 0, P2P_ERRORS_RETURN = 1 } p2p_errors;

/* ---- Types and constants ---- */

typedef struct p2p_comm p2p_comm;          /* one rank's handle on a group of ranks */
typedef struct p2p_operation *p2p_request; /* an operation under way; P2P_REQUEST_NULL when done */

typedef struct {
    int source; /* rank in the communicator the message was sent in */
    int tag;
    size_t bytes; /* length of the message, which may be less than the buffer */
} p2p_status;

typedef struct {
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
} p2p_traffic;

#define P2P_ANY_SOURCE (-1)
#define P2P_ANY_TAG (-1)
#define P2P_UNDEFINED (-2) /* a colour: this rank joins no group */
#define P2P_CANCELLED (-3) /* in a status, source and tag: the receive was cancelled */
#define P2P_REQUEST_NULL ((p2p_request)0)
#define P2P_STATUS_IGNORE ((p2p_status *)0)
#define P2P_STATUSES_IGNORE ((p2p_status *)0)
#define P2P_MAX_RANKS 1024

/* How to launch. All zero is the default; fields from exit_status on are results. */
typedef struct {
    const char *world;   /* "socket" or "shm"; NULL: PAIRWISE_WORLD, else socket */
    const char *network; /* virtual: "10GbE", "10GbE,hosts=4", "latency=2us,..."; NULL: PAIRWISE_NETWORK, else none */
    bool strict;         /* every send waits for its receive (also PAIRWISE_STRICT=1) */
    bool explain;        /* at the end: what collectives took, and why (also PAIRWISE_EXPLAIN=1) */
    bool tag_output;     /* prefix each line of output with "[rank] " */
    bool ordered_output; /* keep stdout until the end, then print it rank by rank */
    double timeout_s;    /* end the whole job after this many seconds; 0: never */
    int repair; /* processes that may be started for ranks that have died (see p2p_repair); 0: a death ends the job */
    double grace_s;      /* how long ranks may go on after the first SIGINT or SIGTERM, to end by themselves; 0: 1 s */
    const char *trace;   /* write a trace of the job to this file; NULL: PAIRWISE_TRACE, else none */
    const char *report;  /* write what was found wrong to this file, as JSON (docs/reports.md); NULL: none */
    const char *metrics; /* write numbers of the ranks to this file, every second, for Prometheus; NULL: none */
    const char *record;  /* write the last 2,000 calls of each rank to this file at the end, as JSON; NULL: none */
    size_t memory_each;  /* bytes that each rank will need, if known: a job too large for the machine is refused */
    int *rank_statuses;  /* NULL, or room for `size` ints, set on return: exit code, or 128 + signal */
    int exit_status;     /* result: what build/launch would exit with */
} p2p_options;

/* ---- Launch ---- */

/* Fork `size` ranks (1 to 1024), run rank_main(world, arg) in each, finalize, and wait for all; the caller
 * supervises meanwhile: it forwards output, finds deadlocks, notices deaths. options may be NULL. Returns
 * P2P_ERR_RANK_FAILED if any rank failed (statuses in options), P2P_ERR_ARG before anything is forked on bad
 * arguments or settings, P2P_ERR_STATE inside a rank. No rank is left when it returns. The ranks end with
 * _exit, after flushing stdout and stderr. Do not call it while other threads run. With options->repair, rank_main is called
 * once more in a process where it had returned 0 already when another rank died.
 *
 * In a program that build/launch has started, each process is a rank of its world already: p2p_launch runs rank_main there and
 * returns in every rank, any number of times (with launch --repair once: the world ends with it); the options for the job are
 * the launcher's. `size` must be that of the world, which p2p_launched tells. */
p2p_err p2p_launch(int size, int (*rank_main)(p2p_comm *world, void *arg), void *arg, p2p_options *options);

/* Ranks of the world, if build/launch has started this process; else 0. */
int p2p_launched(void);

/* Join the world that build/launch started; without a launcher, a world of one, with a note on stderr.
 * *world stays owned by the library. Makes stdout line-buffered. Twice is P2P_ERR_STATE; any other error ends the process,
 * for there is no communicator yet on which it could be told to return. */
p2p_err p2p_init(p2p_comm **world);

/* Wait until every rank has called it, then check: messages that were never received, requests never waited for, and
 * communicators and buffers never freed are P2P_ERR_LEAK, each named. All is released in any case but one (p2p_repair);
 * world remains valid as an argument, and a second finalize is harmless. */
p2p_err p2p_finalize(p2p_comm *world);

/* End the whole job now; build/launch exits with the low 8 bits of status, as exit does (1 if they are 0). Does not
 * return. */
void p2p_abort(p2p_comm *comm, int status);

/* ---- Who am I ---- */

int p2p_rank(const p2p_comm *comm); /* -1 on NULL or after finalize */
int p2p_size(const p2p_comm *comm); /* 0 on NULL or after finalize */

/* Where ranks live: the host of a rank of comm, 0 to p2p_hosts - 1, in order of the first rank on each (-1: there is no
 * such rank); and on how many hosts ranks of comm live (0 on NULL or after finalize). */
int p2p_host(const p2p_comm *comm, int rank);
int p2p_hosts(const p2p_comm *comm);

/* Seconds since some fixed moment, monotonic; only differences mean anything. On a virtual network: virtual seconds. */
double p2p_time(const p2p_comm *comm);

/* Is the job's real standard output (not the pipe to the supervisor) a terminal? */
bool p2p_is_terminal(const p2p_comm *comm);

/* ---- Messages. buf may be NULL when bytes is 0; tags are 0 to INT_MAX; self-messages are allowed. ---- */

/* Returns when buf may be used again. Above 64 KiB (or strict) that is when the receive has matched. */
p2p_err p2p_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag);

/* As p2p_send, but always waits until the receive has matched, whatever the size. */
p2p_err p2p_ssend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag);

/* Receive one message from source (or P2P_ANY_SOURCE) with tag (or P2P_ANY_TAG). A shorter message is fine, its
 * length is in status. A longer one is P2P_ERR_TRUNCATE: it is consumed, and buf is untouched. After
 * P2P_ERR_PEER_DEAD or P2P_ERR_TIMEOUT the contents of buf are undefined. A message whose sender's call ended with an error
 * before all of it was received is P2P_ERR_PEER_DEAD. */
p2p_err p2p_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status);

/* Send and receive at the same time: never deadlocks with its mirror image. The buffers must not overlap. */
p2p_err p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                     size_t recvbytes, int source, int recvtag, p2p_status *status);

/* Wait until a matching message could be received, and leave it there; iprobe only looks. */
p2p_err p2p_probe(p2p_comm *comm, int source, int tag, p2p_status *status);
p2p_err p2p_iprobe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status);

/* The same, and take it out of the queue: no other receive, and no other probe, can meet it. It is received with
 * p2p_recv_taken or p2p_irecv_taken, once; *message is NULL then. */
typedef struct p2p_unexpected *p2p_message;
p2p_err p2p_take(p2p_comm *comm, int source, int tag, p2p_message *message, p2p_status *status);
p2p_err p2p_itake(p2p_comm *comm, int source, int tag, bool *found, p2p_message *message, p2p_status *status);
p2p_err p2p_recv_taken(p2p_comm *comm, void *buf, size_t bytes, p2p_message *message, p2p_status *status);

/* ---- Requests. The buffer belongs to the library from isend or irecv until wait or test says done; a request
 *      is set to P2P_REQUEST_NULL then. Requests move on inside any blocking call, p2p_test and its kin, and p2p_iprobe. ---- */

p2p_err p2p_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request);
/* As p2p_isend, but ends only when the receive has matched, whatever the size. */
p2p_err p2p_issend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request);
p2p_err p2p_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request);

p2p_err p2p_irecv_taken(p2p_comm *comm, void *buf, size_t bytes, p2p_message *message, p2p_request *request);

/* Wait for one request; P2P_REQUEST_NULL returns at once with an empty status. The error is the operation's. */
p2p_err p2p_wait(p2p_request *request, p2p_status *status);

/* Look without waiting; *done is true for P2P_REQUEST_NULL. */
p2p_err p2p_test(p2p_request *request, bool *done, p2p_status *status);

/* Wait for all; statuses may be NULL. Returns the first error (by index), and sets the statuses of the requests without
 * one; every request has ended, except after P2P_ERR_TIMEOUT or P2P_ERR_NOMEM, when those under way can be waited for
 * again; and after P2P_ERR_DEADLOCK in a world of one, where they can as well. */
p2p_err p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[]);

/* Wait for one of several and say which; *index is also set when that operation itself failed. If all are
 * P2P_REQUEST_NULL, *index is (size_t)P2P_UNDEFINED. */
p2p_err p2p_wait_any(size_t count, p2p_request requests[], size_t *index, p2p_status *status);

/* As p2p_wait_all and p2p_wait_any, without waiting. p2p_test_all: *done says whether all have ended; if not, no request and
 * no status is changed. p2p_test_any: *done says whether one has ended, or all are P2P_REQUEST_NULL; if not, *index and
 * *status are as before. *done is set on success only. */
p2p_err p2p_test_all(size_t count, p2p_request requests[], bool *done, p2p_status statuses[]);
p2p_err p2p_test_any(size_t count, p2p_request requests[], size_t *index, bool *done, p2p_status *status);

/* Take back a receive, without waiting: one that no message has met ends with nothing received. p2p_wait, p2p_test or their
 * kin still have to end its request; their status then has source and tag P2P_CANCELLED and 0 bytes, and buf is untouched.
 * One that has met its message goes on as if nothing had been, and its status is the message's: what the status says counts.
 * P2P_REQUEST_NULL is fine; a send or a collective is P2P_ERR_ARG, and goes on. */
p2p_err p2p_cancel(p2p_request *request);

/* ---- Memory that ranks share. In the shm world the other ranks can read such a buffer in place, so a collective on it (from
 *      every rank) or a long message out of it is copied less often; in others it is memory like any other. ---- */

/* *buf: a zeroed buffer of `bytes` bytes, aligned to a page, this rank's own: it counts as memory in use at once, touched
 * or not. P2P_ERR_NOMEM if there is no more. Local: other ranks need not call it. */
p2p_err p2p_alloc(p2p_comm *comm, size_t bytes, void **buf);

/* Give it back; NULL is fine. While a request uses it that is P2P_ERR_STATE, and nothing happens. What is left at p2p_finalize is given back then,
 * and reported (P2P_ERR_LEAK). */
p2p_err p2p_release(p2p_comm *comm, void *buf);

/* Memory of this rank that outlives its process: *buf is the buffer of that name (1 to 63 characters), of `bytes` bytes. The
 * next process of this rank finds it again, with all that was written there until the moment the other one died: *found.
 * If there is none yet it is new and zeroed. A buffer of that name and another size is P2P_ERR_ARG. It lies where the process
 * likes, and stays there until p2p_finalize, through p2p_repair as well. Local: other ranks need not call it. At most 64 of
 * a rank. found may be NULL. */
p2p_err p2p_keep(p2p_comm *comm, const char *name, size_t bytes, void **buf, bool *found);

/* ---- Repair, in a job with `launch --repair` or p2p_options.repair (docs/repair.md). When a rank dies, the calls of all
 *      others return P2P_ERR_PEER_DEAD, p2p_finalize too, and nothing is released then. Each of them calls p2p_repair. ---- */

/* Every survivor calls it, with the world. Returns when all have, and a new process has been started for each rank that had
 * died: *world is fresh, of the same size and numbers. What was under way is gone, on all ranks alike, and so are
 * communicators of p2p_split and p2p_dup (give them to p2p_free). Requests that had not ended are P2P_ERR_STATE when they
 * are waited for. Buffers of p2p_alloc and p2p_keep stay where they are. A rank that dies meanwhile is started anew as well.
 * P2P_ERR_STATE if no rank has died, or the job does not repair itself. After any other error only p2p_finalize does its work. */
p2p_err p2p_repair(p2p_comm **world);

/* The same, but no process is started: the world is of those that are left, numbered in the same order. Every survivor calls
 * the same of the two. The launcher goes on to call ranks by the numbers they had. */
p2p_err p2p_shrink(p2p_comm **world);

/* How often either has happened in this job; 0 at first, and on NULL or after finalize. A new process has it after p2p_init:
 * that is how it knows that there is something to be had from the others. */
int p2p_generation(const p2p_comm *comm);

/* ---- Groups ---- */

/* Collective: ranks with the same colour (>= 0) form a new communicator, in the order of key, then of rank.
 * *sub is NULL for P2P_UNDEFINED. At most 4,095 at a time in a job, of both kinds. */
p2p_err p2p_split(p2p_comm *comm, int colour, int key, p2p_comm **sub);

/* Collective: *copy is a new communicator of the same ranks, whose messages and collectives never meet those of comm: for a
 * library that communicates beside its caller. It starts with comm's error mode, and counts its traffic from 0. */
p2p_err p2p_dup(p2p_comm *comm, p2p_comm **copy);

/* Free what p2p_split or p2p_dup has made. Local; refuses the world, and a communicator with pending requests. */
p2p_err p2p_free(p2p_comm *comm);

/* ---- What happened ---- */

/* by_peer has room for p2p_size rows: payload messages of this communicator so far, by peer. A send counts when
 * it is posted, a receive when it is done; the library's own frames never count. */
p2p_err p2p_stats(const p2p_comm *comm, p2p_traffic by_peer[]);

/* P2P_ERRORS_FATAL (the default) or P2P_ERRORS_RETURN: the call prints nothing, the code is returned. A communicator of
 * p2p_split or p2p_dup starts with its parent's mode; a call without one (NULL) has the world's. The launcher says all the same why a
 * job has failed, and p2p_launch what is wrong when it finalizes. */
p2p_err p2p_set_errors(p2p_comm *comm, p2p_errors mode);

const char *p2p_strerror(p2p_err err);

/* The last error on comm: rank, call, peer, tag, sizes, line, what to try. "" if none. Valid until the next error. */
const char *p2p_error_message(const p2p_comm *comm);

/* ---- Whose line: calls remember the file and line they were made on, for every diagnosis. Each macro stands
 *      before the real function of the same name; taking a function's address works, without the line. ---- */

void p2p__here(const char *file, int line);

#ifndef P2P_NO_LINES
#define P2P_HERE p2p__here(__FILE__, __LINE__)
#define p2p_finalize(...) (P2P_HERE, p2p_finalize(__VA_ARGS__))
#define p2p_abort(...) (P2P_HERE, p2p_abort(__VA_ARGS__))
#define p2p_send(...) (P2P_HERE, p2p_send(__VA_ARGS__))
#define p2p_ssend(...) (P2P_HERE, p2p_ssend(__VA_ARGS__))
#define p2p_recv(...) (P2P_HERE, p2p_recv(__VA_ARGS__))
#define p2p_sendrecv(...) (P2P_HERE, p2p_sendrecv(__VA_ARGS__))
#define p2p_probe(...) (P2P_HERE, p2p_probe(__VA_ARGS__))
#define p2p_iprobe(...) (P2P_HERE, p2p_iprobe(__VA_ARGS__))
#define p2p_isend(...) (P2P_HERE, p2p_isend(__VA_ARGS__))
#define p2p_issend(...) (P2P_HERE, p2p_issend(__VA_ARGS__))
#define p2p_take(...) (P2P_HERE, p2p_take(__VA_ARGS__))
#define p2p_itake(...) (P2P_HERE, p2p_itake(__VA_ARGS__))
#define p2p_recv_taken(...) (P2P_HERE, p2p_recv_taken(__VA_ARGS__))
#define p2p_irecv_taken(...) (P2P_HERE, p2p_irecv_taken(__VA_ARGS__))
#define p2p_irecv(...) (P2P_HERE, p2p_irecv(__VA_ARGS__))
#define p2p_wait(...) (P2P_HERE, p2p_wait(__VA_ARGS__))
#define p2p_test(...) (P2P_HERE, p2p_test(__VA_ARGS__))
#define p2p_test_all(...) (P2P_HERE, p2p_test_all(__VA_ARGS__))
#define p2p_test_any(...) (P2P_HERE, p2p_test_any(__VA_ARGS__))
#define p2p_wait_all(...) (P2P_HERE, p2p_wait_all(__VA_ARGS__))
#define p2p_wait_any(...) (P2P_HERE, p2p_wait_any(__VA_ARGS__))
#define p2p_cancel(...) (P2P_HERE, p2p_cancel(__VA_ARGS__))
#define p2p_alloc(...) (P2P_HERE, p2p_alloc(__VA_ARGS__))
#define p2p_release(...) (P2P_HERE, p2p_release(__VA_ARGS__))
#define p2p_keep(...) (P2P_HERE, p2p_keep(__VA_ARGS__))
#define p2p_repair(...) (P2P_HERE, p2p_repair(__VA_ARGS__))
#define p2p_shrink(...) (P2P_HERE, p2p_shrink(__VA_ARGS__))
#define p2p_split(...) (P2P_HERE, p2p_split(__VA_ARGS__))
#define p2p_dup(...) (P2P_HERE, p2p_dup(__VA_ARGS__))
#define p2p_free(...) (P2P_HERE, p2p_free(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
