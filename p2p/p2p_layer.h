/* SPDX-License-Identifier: MIT */
/*
 * p2p_layer: the second door of p2p, for those who write collectives (ours, and a learner's own).
 *
 * A collective is written between p2p_layer_begin and p2p_layer_end:
 *
 *      p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t bytes, int root)
 *      {
 *          p2p_fingerprint what = {.operation = "my_broadcast", .count = bytes, .root = root};
 *          p2p_err err = p2p_layer_begin(comm, &what);
 *          if (err) return err;
 *          ... p2p_layer_send(comm, ...), p2p_layer_recv(comm, ...) ...
 *          return p2p_layer_end(comm, err);
 *      }
 *
 * Its messages travel in a context of their own: no user tag, P2P_ANY_TAG included, matches them. They count in
 * p2p_stats. Inside, every diagnosis names the collective and the line of the program that called it.
 *
 * Ranks agree on what they are doing before anything is lost: each shows its fingerprint on the shared scoreboard, and
 * a difference is P2P_ERR_MISMATCH on every rank, naming both sides, with every user buffer untouched. By default
 * p2p_layer_begin waits for that. A collective whose first messages can travel meanwhile sets `late`, and calls
 * p2p_layer_agree just before it first writes into a user's buffer. No call returns before all agree.
 */
#ifndef PAIRWISE_P2P_LAYER_H
#define PAIRWISE_P2P_LAYER_H

#include "p2p/p2p.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank believes the collective to be; every rank of the communicator must believe the same. Names are string
 * literals ("" or NULL where they do not apply); -1 where a number does not apply. */
typedef struct {
    const char *operation; /* as the user wrote it: "coll_all_reduce" */
    const char *algorithm; /* "ring" */
    size_t count;          /* elements */
    const char *dtype, *op;
    int root;
    bool late;     /* begin need not wait: p2p_layer_agree will be called before a user buffer is written */
    bool returns;  /* with `late`: it becomes a request, and agrees in its steps (p2p_layer_test_agree) alone */
    bool barriers; /* p2p_layer_barrier will be called, or there is an inline payload */
    bool parts;    /* p2p_layer_next_part may be called */
    const void *inline_payload; /* goes with it to the other ranks: see p2p_layer_inline */
    size_t inline_bytes;
    uint16_t kind;         /* what its messages are made of, as in p2p_layer_call; not compared by p2p_layer_agree */
    const uint16_t *kinds; /* of blocks: those to each rank, behind them those from each. NULL: all are of `kind` */
} p2p_fingerprint;

/* Begin: takes the line of the outermost call, numbers the collective on this communicator and shows it to the
 * supervisor. May be nested: the outermost counts, and is the only one that ranks agree on, so one within (p2p_layer_is_inside says
 * so before it begins) has no barriers and no inline payload. On error nothing has begun. */
p2p_err p2p_layer_begin(p2p_comm *comm, const p2p_fingerprint *what);

/* Instead of begin, when this rank alone can see that its arguments are wrong; cause is a sentence. Nothing has
 * begun, no other rank is told, and the communicator is as before. Returns err. */
p2p_err p2p_layer_refuse(p2p_comm *comm, const p2p_fingerprint *what, p2p_err err, const char *cause);

/* Which argument is wrong, for reports (docs/reports.md); P2P_ARGUMENT_OVERLAP: two buffers that overlap. */
#define P2P_ARGUMENT_LIST(X)                     \
    X(P2P_ARGUMENT_NONE, "")                     \
    X(P2P_ARGUMENT_COMMUNICATOR, "communicator") \
    X(P2P_ARGUMENT_TYPE, "type")                 \
    X(P2P_ARGUMENT_OPERATOR, "operator")         \
    X(P2P_ARGUMENT_RANK, "rank")                 \
    X(P2P_ARGUMENT_TAG, "tag")                   \
    X(P2P_ARGUMENT_ROOT, "root")                 \
    X(P2P_ARGUMENT_COUNT, "count")               \
    X(P2P_ARGUMENT_BUFFER, "buffer")             \
    X(P2P_ARGUMENT_REQUEST, "request")           \
    X(P2P_ARGUMENT_OTHER, "other")               \
    X(P2P_ARGUMENT_OVERLAP, "overlap")

typedef enum {
#define P2P_ARGUMENT_ENUM(name, text) name,
    P2P_ARGUMENT_LIST(P2P_ARGUMENT_ENUM)
#undef P2P_ARGUMENT_ENUM
} p2p_argument;

/* As p2p_layer_refuse, and says which argument it is. */
p2p_err p2p_layer_refuse_argument(p2p_comm *comm, const p2p_fingerprint *what, p2p_err err, p2p_argument argument,
                                  const char *cause);

/* Wait until every rank of the communicator is in this collective and means the same by it. Costs next to nothing when
 * they are there already. After an error nothing may be written; pass it to p2p_layer_end. */
p2p_err p2p_layer_agree(p2p_comm *comm);

/* A barrier within the collective: wait until every rank of the communicator is at this step of it (1, 2, ...). What a
 * rank has written into shared memory before, the others can read afterwards. The first barrier is an agreement as
 * well. After an error this rank is not at the step: ranks that have not yet seen it there get an error in turn. For
 * collectives that have set `barriers`. */
p2p_err p2p_layer_barrier(p2p_comm *comm, unsigned step);

/* The same for the ranks of this host alone, which need not agree with those of others yet. */
p2p_err p2p_layer_host_barrier(p2p_comm *comm, unsigned step);

/* Work in parts, for the ranks that have the time: where ranks take turns on a core, those that run do what others would have
 * to be switched to for. For collectives of two ranks or more, of one host, that have set `barriers` and `parts`, once in each,
 * after its first barrier:
 *
 *      while ((part = p2p_layer_next_part(comm, parts)) >= 0) {     0, 1, ... parts - 1, each to one rank; -1: no more
 *          ...
 *          p2p_layer_part_done(comm);                               what this rank has written for it, the others can read
 *      }
 *      err = p2p_layer_parts_barrier(comm, step, parts);            when all parts are done
 *
 * The barrier does not wait for ranks that have not come to it, as p2p_layer_barrier does, if all parts are done without
 * them. */
int p2p_layer_next_part(p2p_comm *comm, int parts);
void p2p_layer_part_done(p2p_comm *comm);
p2p_err p2p_layer_parts_barrier(p2p_comm *comm, unsigned step, int parts);

/* How many ranks take turns on a core, as far as this rank knows; 1: each has one of its own, or they wait in another way (the
 * socket world, PAIRWISE_WAIT). */
int p2p_layer_turns(const p2p_comm *comm);

/* Up to P2P_LAYER_INLINE bytes travel with the fingerprint, at no cost: what a rank has sent that way. Up to
 * P2P_LAYER_INLINE_MOST can, where p2p_layer_has_inline says so, all of them as many; that takes a piece of shared memory,
 * as p2p_layer_scratch does. Only after p2p_layer_agree or a barrier, and until this rank ends the collective. */
enum { P2P_LAYER_INLINE = 48, P2P_LAYER_INLINE_MOST = 4096 };
const void *p2p_layer_inline(const p2p_comm *comm, int rank);

/* Does what travels with the fingerprint reach every rank without a message? In the shm world, without a virtual network;
 * between hosts the launchers carry it. The same answer on every rank. */
bool p2p_layer_has_inline(const p2p_comm *comm);

/* memcpy, quick wherever in their pages both begin: they are the same place or do not overlap. Nothing happens for 0 bytes, where
 * pointers may be NULL. */
void p2p_layer_copy(void *to, const void *from, size_t bytes);

/* ---- Shared memory, where the world has it (shm) and all ranks of the communicator live on one host, without a virtual
 * network. The same answer on every rank. ---- */

bool p2p_layer_has_shared_memory(const p2p_comm *comm);

/* A piece of memory for each rank of the communicator, in which all of them read and write: that of rank q begins at
 * first + q * stride and has `bytes` bytes, a multiple of 64. */
typedef struct {
    unsigned char *first;
    size_t stride, bytes;
} p2p_scratch;

/* The next pieces, of as many of the `wanted` bytes as there is room for; all ranks must want the same. No byte is
 * given again in the next two calls. So with a barrier between two calls a rank may write at once to what it gets: the
 * slowest rank has left the piece of three calls ago. */
p2p_err p2p_layer_scratch(p2p_comm *comm, size_t wanted, p2p_scratch *scratch);

/* The bytes of the longest piece that there is. */
size_t p2p_layer_scratch_most(const p2p_comm *comm);

/* For others to read a buffer in place: where it lies (0: nowhere; not all of it is one buffer from p2p_alloc), and how
 * far this rank sees, which may differ from rank to rank. All ranks send theirs inline; then a buffer can be read by
 * every rank if it ends, place + bytes, within the shortest reach, and all come to the same conclusion. */
typedef struct {
    uint64_t place, reach; /* below 2^63: the highest bit is for the caller's own use, until it takes it back */
} p2p_export;

p2p_export p2p_layer_export(const p2p_comm *comm, const void *buf, size_t bytes);

/* That memory as this rank sees it. It stays where it is until the job ends, or p2p_repair, but holds what it should only until its
 * owner leaves the collective. NULL if there is nothing, or it cannot be seen from here. */
const void *p2p_layer_attach(p2p_comm *comm, p2p_export exported, size_t bytes);

/* For p2p_stats: so many bytes have gone to a peer and come from it without a message; each counts as one, but
 * P2P_LAYER_NOTHING as none. */
#define P2P_LAYER_NOTHING SIZE_MAX
void p2p_layer_count(p2p_comm *comm, int peer, size_t sent, size_t received);

/* The number of the collective just begun on comm (from 1), and the same question without waiting, for a step function. */
uint64_t p2p_layer_number(const p2p_comm *comm);
p2p_err p2p_layer_test_agree(p2p_comm *comm, uint64_t number, bool *agreed);

/* Tell the virtual network that this rank has combined `bytes` bytes; costs nothing without one. */
void p2p_layer_compute(p2p_comm *comm, size_t bytes);

/* ---- When the job is interrupted ---- */

/* After the first SIGINT or SIGTERM its launcher gives the ranks a second to end by themselves, or so many, if a rank has asked
 * for them: for what it has to save. Of each generation of a job that repairs itself; at most an hour. */
void p2p_layer_grace(p2p_comm *comm, int seconds);

/* ---- For metrics (launch --metrics): a number of the program's own, such as its loss. Without metrics a branch. ---- */

/* The file shows the last value of this rank, as pairwise_program_NAME. A name is of letters, digits and _, at most 39, and does
 * not begin with a digit; a rank may have 16. */
void p2p_layer_gauge(p2p_comm *comm, const char *name, double value);

/* ---- For traces (launch --trace); each costs a branch when nothing is traced ---- */

bool p2p_layer_is_traced(const p2p_comm *comm);

/* Which part of the buffer a message carries, and what becomes of it where it arrives. */
typedef struct {
    int chunk;     /* its number, from 0; -1: it has none */
    size_t offset; /* where the part begins, bytes */
    bool combined; /* with what the receiver has there; false: it takes its place */
} p2p_part;

/* Of the next message this rank sends, and of the next one it posts a receive for; either may be NULL. */
void p2p_layer_parts(p2p_comm *comm, const p2p_part *out, const p2p_part *in);

/* The buffer that is being worked on: messages from and to places in it need no p2p_layer_parts. Until the next one. */
void p2p_layer_watch(p2p_comm *comm, const void *buf, size_t bytes);

/* Two buffers are combined now, one of them the one that is watched, the other what came with the last message: that
 * message carried this part of it. For a layer that has not said so before, with p2p_layer_parts. */
void p2p_layer_combined(p2p_comm *comm, const void *one, const void *other, size_t bytes);

/* Something of the program's own that takes time: "forward", "load". name is a literal. Phases nest. */
void p2p_layer_phase_begin(p2p_comm *comm, const char *name);
void p2p_layer_phase_end(p2p_comm *comm, const char *name);

/* ---- For launch --explain, which costs a branch otherwise: tables of collectives at the end, by the first rank of each
 * communicator ---- */

bool p2p_layer_is_explained(const p2p_comm *comm);

/* Before a collective, or in it if nothing was said before: why it takes the algorithm that it takes (copied), and which that is
 * (a literal), if the fingerprint does not say it; NULL: nothing. */
void p2p_layer_explain(p2p_comm *comm, const char *algorithm, const char *why);

/* Before the outermost collective: bytes of this rank's block, where only it and the root know. */
void p2p_layer_block(p2p_comm *comm, size_t bytes);

/* In the outermost collective: what it should take. When it has ended, at[q] is the time at which rank q had come, in seconds,
 * and predict makes it the time at which rank q should leave; own[q] are the bytes of its block, as it has said, or less than 0.
 * The plan is copied. Only the first rank of a communicator needs to say so. */
typedef void p2p_layer_predicts(p2p_comm *comm, void *plan, const double own[], double at[]);
void p2p_layer_predict(p2p_comm *comm, p2p_layer_predicts *predict, const void *plan, size_t bytes);

/* On a virtual network: what a message takes between two ranks of comm, and combining on one, in seconds. False without one. */
bool p2p_layer_network_message(const p2p_comm *comm, int from, int to, size_t bytes, double *seconds);
bool p2p_layer_network_compute(const p2p_comm *comm, int rank, size_t bytes, double *seconds);

/* What a message of x bytes costs, latency + x / bandwidth, to a rank of the same host and to one of another; and combining x
 * bytes, x / combine. Kept here for the one who explains; all 0 until it is known. */
typedef struct {
    bool known;
    struct {
        double latency_s, bandwidth;
    } inside, outside;
    double combine;
    double *ports; /* of the one who explains; freed with the communicator; NULL: none */
} p2p_costs;

p2p_costs *p2p_layer_costs(p2p_comm *comm);

/* End the collective and return err, after dealing with it as the communicator's error mode asks. */
p2p_err p2p_layer_end(p2p_comm *comm, p2p_err err);

/* As their namesakes in p2p.h, in the communicator's private context. Call them between begin and end, or from the
 * step function of a request. */
p2p_err p2p_layer_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag);
p2p_err p2p_layer_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status);
p2p_err p2p_layer_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status);
p2p_err p2p_layer_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request);
p2p_err p2p_layer_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request);

/* Fail with a sentence of the layer's own. For use before p2p_layer_end. */
p2p_err p2p_layer_error(p2p_comm *comm, p2p_err err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Before p2p_layer_error and p2p_layer_refuse: what to try then. A literal, of less than 256 bytes; people see it in a line
 * "  try: ..." behind the sentence, and a report has it apart. NULL: nothing. */
void p2p_layer_advise(p2p_comm *comm, const char *advice);

/* After p2p_layer_error: this rank of the communicator is the other side of it, for reports. */
void p2p_layer_other(p2p_comm *comm, int rank);

/* A non-blocking collective: a request that moves on by calling step, inside p2p_wait, p2p_test and every other call
 * that makes progress. step must not block; it looks at its inner requests with p2p_layer_done and posts new ones. */
typedef struct {
    /* Move on as far as possible. Set *done when all is finished. An error ends the request with it. */
    p2p_err (*step)(p2p_comm *comm, void *state, bool *done);
    /* The inner requests that step is waiting for now; any one of them completing lets it move on. The array stays
     * the layer's. Needed for exact deadlock detection. */
    size_t (*waits_for)(void *state, const p2p_request **requests);
    /* Release state. Called exactly once, after the last step or at finalize. May be NULL. */
    void (*release)(void *state);
} p2p_layer_ops;

/* Make such a request; call between begin and end. On error state is not released. */
p2p_err p2p_layer_request(p2p_comm *comm, const p2p_layer_ops *ops, void *state, p2p_request *request);

/* For step: has this inner request ended? Then it is set to P2P_REQUEST_NULL and its error returned. Never waits,
 * and never makes progress itself. status, of a receive, may be NULL. */
p2p_err p2p_layer_done(p2p_request *request, bool *done);
p2p_err p2p_layer_done_status(p2p_request *request, bool *done, p2p_status *status);

/* ---- For libraries with an interface of their own on top of this one (mpi/): what they call is shown under their names ---- */

typedef enum { P2P_CALL_PLAIN, P2P_CALL_SEND, P2P_CALL_RECV, P2P_CALL_SENDRECV, P2P_CALL_WAIT } p2p_layer_shape;

/* A call of theirs, and which of the numbers below it has. */
typedef struct {
    const char *name; /* a literal */
    int shape;        /* p2p_layer_shape */
    int peer, tag;
    size_t bytes;       /* P2P_CALL_WAIT: how many requests */
    int from, from_tag; /* P2P_CALL_SENDRECV: of its receive */
    bool guards;   /* watch over buffers: those of its requests, until they end, and its own against those of others */
    uint16_t kind; /* what the messages that are sent in it are made of, for their receivers; 0: nothing is said */
} p2p_layer_call;

/* Between these two every diagnosis names that call, at the line that p2p__here has noted. No collective may begin there
 * but through p2p_layer_begin of another communicator. end deals with err as the communicator's error mode asks. */
p2p_err p2p_layer_call_begin(p2p_comm *comm, const p2p_layer_call *call);
p2p_err p2p_layer_call_end(p2p_comm *comm, p2p_err err);

/* Such a call that is one message of as->bytes to or from as->peer: begin, p2p_send (p2p_ssend, if wait_for_match) or
 * p2p_recv, and end, in one. begin_as: p2p_isend, p2p_issend or p2p_irecv. */
p2p_err p2p_layer_send_as(p2p_comm *comm, const p2p_layer_call *as, const void *buf, bool wait_for_match);
p2p_err p2p_layer_recv_as(p2p_comm *comm, const p2p_layer_call *as, void *buf, p2p_status *status);
p2p_err p2p_layer_begin_as(p2p_comm *comm, const p2p_layer_call *as, void *buf, bool wait_for_match,
                           p2p_request *request);

/* Is this rank in a call? */
bool p2p_layer_is_inside(const p2p_comm *comm);

/* A checksum of a buffer that takes less than its copy would; never 0. Of one longer than 8 KiB some lines are summed. */
uint32_t p2p_layer_sum(const void *buf, size_t bytes);

/* Has a request that is under way, and whose call guards, one of these bytes, and may this call not have them as well?
 * Inside a call; the cause then names that request. */
p2p_err p2p_layer_check_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes);

/* The call that is open, or comes next, accesses these bytes of the program's: if they are no memory, that is told of this buffer
 * and not of a death. */
void p2p_layer_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes);

/* No longer watch over the buffer of this request: the program does not say when it ends. */
void p2p_layer_unguard(p2p_request request);

/* The kind of the message that this rank has received last. And where p2p_wait_all and p2p_test_all put the kinds of all
 * that they end, by the index of the request; NULL: nowhere. */
uint16_t p2p_layer_kind(const p2p_comm *comm);
/* How that differs from what this rank sends in this call, for a sentence ("": nothing more is known); NULL: it does not, or
 * one of them is not known. */
const char *p2p_layer_kind_differs(const p2p_comm *comm);
void p2p_layer_kinds(p2p_comm *comm, uint16_t kinds[]);
/* Where they put the errors of all that they end, in the same way: they return the first. */
void p2p_layer_errors(p2p_comm *comm, p2p_err errors[]);
/* From now on messages are sent as this kind, whatever the call has said. Returns what it was. */
uint16_t p2p_layer_send_kind(p2p_comm *comm, uint16_t kind);
/* What receives of this call expect, if it is not the kind that the call has said. */
void p2p_layer_expect_kind(p2p_comm *comm, uint16_t kind);
/* The kinds of blocks of the collective that is open (p2p_fingerprint), until the last of its messages; NULL: there are none. */
const uint16_t *p2p_layer_block_kinds(const p2p_comm *comm);
/* How two kinds differ, for a sentence; NULL: they do not. Where a message does not fit that is of another kind than its
 * receive expects, that is the mistake. */
void p2p_layer_compare_kinds(p2p_comm *comm, const char *(*differ)(uint16_t expected, uint16_t came));

/* Such a call cannot be made yet: p2p_init has not been called. Says so, by name and line; returns P2P_ERR_STATE. */
p2p_err p2p_layer_too_early(const char *name, const char *cause);

/* Between begin and end: the cause of an error, as p2p_layer_error; class_name: as reports name it ("type_mismatch"). */
p2p_err p2p_layer_fail(p2p_comm *comm, p2p_err err, const char *class_name, p2p_argument argument, const char *format,
                       ...) __attribute__((format(printf, 5, 6)));

/* After that: the other side is a message that was sent so; or a call at another line of this rank. */
void p2p_layer_other_message(p2p_comm *comm, const p2p_status *message);
void p2p_layer_other_line(p2p_comm *comm, const char *name, const char *file, int line);

/* Does the launcher decide what comes first (launch --explore, --schedule)? Then what could have come first does, in some run. */
bool p2p_layer_orders(const p2p_comm *comm);

/* The cause of an error that was set on another communicator, for a call on comm. */
void p2p_layer_same_cause(p2p_comm *comm, const p2p_comm *as);

/* The next collective that this rank begins on comm is shown, and compared with the other ranks', under this name, and
 * with this count, type, operator and root. `as` must live until then, its texts as long as the process. */
void p2p_layer_alias(p2p_comm *comm, const p2p_fingerprint *as);

/* From now on what is left at p2p_finalize is no error if all that it costs is memory (communicators, what
 * p2p_layer_made names but requests, receives that were cancelled): a note is printed, once for all ranks that leave the
 * same. In strict mode only if `always`, or where orders are explored. */
void p2p_layer_leaks_are_notes(p2p_comm *comm, bool always);

/* Something that the program has to give back before p2p_finalize, which names what is left. */
typedef struct p2p_layer_thing {
    struct p2p_layer_thing *next, **link;
    const char *what;        /* as in reports: "type", "operator", "group", "buffer", "request", "persistent" */
    const char *name, *file; /* what made it, and where: set by p2p_layer_made, inside a call */
    int line;
} p2p_layer_thing;

void p2p_layer_made(p2p_comm *comm, const char *what, p2p_layer_thing *thing);
void p2p_layer_given_back(p2p_layer_thing *thing);

/* Has p2p__here noted a line that no call has taken yet? */
bool p2p_layer_line_is_noted(void);

/* Where the outermost call was made; *file is NULL if that is not known. */
void p2p_layer_line(const p2p_comm *comm, const char **file, int *line);

/* Its program has given it back, though a request still uses it: it is no leak. */
void p2p_layer_freed(p2p_comm *comm);

/* A communicator of this rank alone. Local. */
p2p_err p2p_layer_self(p2p_comm *comm, p2p_comm **self);

/* A collective without waiting: when the request has ended, *copy is a communicator of the same ranks. */
p2p_err p2p_layer_idup(p2p_comm *comm, p2p_comm **copy, p2p_request *request);

/* A communicator of some ranks of comm, in this order, which only these ranks call. tag: 0 to INT_MAX / 2; calls of
 * overlapping groups at the same time need different ones. */
p2p_err p2p_layer_subset(p2p_comm *comm, int count, const int ranks[], int tag, p2p_comm **sub);

/* The rank in the world of a rank of comm. */
int p2p_layer_world_rank(const p2p_comm *comm, int rank);

/* ---- Names of earlier versions ---- */

#define p2p_layer_meet p2p_layer_barrier
#define p2p_layer_carried p2p_layer_inline
#define P2P_LAYER_CARRIED P2P_LAYER_INLINE
#define P2P_LAYER_CARRIED_MOST P2P_LAYER_INLINE_MOST
#define p2p_layer_shares_memory p2p_layer_has_shared_memory
#define p2p_layer_stages p2p_layer_scratch
#define p2p_stages p2p_scratch
#define p2p_layer_expose p2p_layer_export
#define p2p_exposure p2p_export
#define p2p_layer_view p2p_layer_attach

/* ---- Whose line: of a collective's steps, for traces. Diagnoses name the line of the outermost call. ---- */

#ifndef P2P_NO_LAYER_LINES
#define P2P_LAYER_HERE p2p__here(__FILE__, __LINE__)
#define p2p_layer_compute(...) (P2P_LAYER_HERE, p2p_layer_compute(__VA_ARGS__))
#define p2p_layer_send(...) (P2P_LAYER_HERE, p2p_layer_send(__VA_ARGS__))
#define p2p_layer_recv(...) (P2P_LAYER_HERE, p2p_layer_recv(__VA_ARGS__))
#define p2p_layer_sendrecv(...) (P2P_LAYER_HERE, p2p_layer_sendrecv(__VA_ARGS__))
#define p2p_layer_isend(...) (P2P_LAYER_HERE, p2p_layer_isend(__VA_ARGS__))
#define p2p_layer_irecv(...) (P2P_LAYER_HERE, p2p_layer_irecv(__VA_ARGS__))
#define p2p_layer_phase_begin(...) (P2P_LAYER_HERE, p2p_layer_phase_begin(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
