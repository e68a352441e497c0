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
    bool barriers; /* p2p_layer_barrier will be called, or there is an inline payload */
    const void *inline_payload; /* goes with it to the other ranks: see p2p_layer_inline */
    size_t inline_bytes;
} p2p_fingerprint;

/* Begin: takes the line of the outermost call, numbers the collective on this communicator and shows it to the
 * supervisor. May be nested: the outermost counts. On error nothing has begun. */
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

/* Up to P2P_LAYER_INLINE bytes travel with the fingerprint, at no cost: what a rank has sent that way. Up to
 * P2P_LAYER_INLINE_MOST can, where ranks share memory, all of them as many; that takes a piece of shared memory, as
 * p2p_layer_scratch does. Only after p2p_layer_agree or a barrier, and until this rank ends the collective. */
enum { P2P_LAYER_INLINE = 48, P2P_LAYER_INLINE_MOST = 4096 };
const void *p2p_layer_inline(const p2p_comm *comm, int rank);

/* ---- Shared memory, where the world has it (shm), without a virtual network. The same answer on every rank. ---- */

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

/* For others to read a buffer in place: where it lies (0: nowhere; not all of it is one buffer from p2p_alloc), and how
 * far this rank sees, which may differ from rank to rank. All ranks send theirs inline; then a buffer can be read by
 * every rank if it ends, place + bytes, within the shortest reach, and all come to the same conclusion. */
typedef struct {
    uint64_t place, reach;
} p2p_export;

p2p_export p2p_layer_export(const p2p_comm *comm, const void *buf, size_t bytes);

/* That memory as this rank sees it. It stays where it is until the job ends, but holds what it should only until its
 * owner leaves the collective. NULL if there is nothing, or it cannot be seen from here. */
const void *p2p_layer_attach(p2p_comm *comm, p2p_export exported, size_t bytes);

/* For p2p_stats: so many bytes have gone to a peer and come from it without a message; each counts as one. */
void p2p_layer_count(p2p_comm *comm, int peer, size_t sent, size_t received);

/* The number of the collective just begun on comm (from 1), and the same question without waiting, for a step function. */
uint64_t p2p_layer_number(const p2p_comm *comm);
p2p_err p2p_layer_test_agree(p2p_comm *comm, uint64_t number, bool *agreed);

/* Tell the virtual network that this rank has combined `bytes` bytes; costs nothing without one. */
void p2p_layer_compute(p2p_comm *comm, size_t bytes);

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
 * and never makes progress itself. */
p2p_err p2p_layer_done(p2p_request *request, bool *done);

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
