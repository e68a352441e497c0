/* SPDX-License-Identifier: MIT */
/*
 * frame: what every collective of ring/ and collectives/ begins and ends with: arguments, agreement, memory, end.
 *
 *      frame__call call = {.comm = comm, .operation = "coll_...", .count = count, ...};
 *      p2p_err err = frame__begin(&call, reads, writes);    check the arguments; show what is called
 *      if (err) return err;
 *      err = frame__memory(&call, bytes);                   call.work to write to, call.scratch beside it
 *      if (!err) err = ... messages, frame__combine ...
 *      return frame__end(&call, err, result);               agree; copy the result into the caller's buffer
 *
 * Nothing is written to the caller's buffer before all ranks agree. With a long buffer (over FRAME_SHORT) frame__memory
 * waits for that, and call.work is the caller's buffer itself; a rank that only reads its buffer (only_reads: the root
 * of a broadcast) sends meanwhile. A short buffer is worked on in memory of its own: its messages take no longer than
 * the agreement, which is usually complete when they have arrived.
 *
 * One that returns a request is a list of steps, made between begin and end: schedule.h.
 */
#ifndef PAIRWISE_RING_FRAME_H
#define PAIRWISE_RING_FRAME_H

#ifndef P2P_NO_LINES
#define P2P_NO_LINES 1
#endif

#include "dtype/dtype.h"
#include "p2p/p2p_layer.h"

enum { FRAME_SHORT = 64 * 1024 }; /* bytes */
enum { FRAME_TAG = 0 };           /* of all blocking collectives: they do not overlap, and messages keep their order */
#define FRAME_ANY SIZE_MAX        /* a count that differs between ranks */

/* One call of one collective. */
typedef struct {
    p2p_comm *comm;
    const char *operation, *algorithm; /* as in p2p_fingerprint */
    size_t count;
    enum dtype dtype;
    bool has_op, has_root;
    enum op op;
    int root;
    bool reorders; /* combines in another order than that of the ranks: the operator must commute */
    bool returns_request;
    p2p_request *request;
    const char *wrong; /* what the caller of frame__begin has found wrong, or NULL; with which argument; what to try */
    p2p_argument wrong_argument;
    const char *advice;
    bool only_reads;      /* this rank writes nothing to its caller's buffer before frame__end, or agrees by itself */
    bool barriers, parts; /* as in p2p_fingerprint; and the inline payload */
    const void *inline_payload;
    size_t inline_bytes;
    const void *plan; /* of one that returns a request: for its add_steps */
    const struct frame__blocks
        *blocks[2];      /* for those who explain: lengths of blocks that this rank knows; NULL: all alike */
    p2p_export exported; /* of the caller's buffer, where that is the inline payload */

    /* From frame__begin: */
    int rank, size;
    int left, right;       /* neighbours round the ring */
    size_t element, bytes; /* of one element, of `count` */
    const char *source;    /* what the caller wants read; NULL: nothing but what is written */
    char *user;            /* what the caller wants written, and how many bytes it spans */
    size_t user_bytes;
    bool is_short, traced;
    /* From frame__memory: */
    char *work, *scratch;
    size_t scratch_bytes;
    void *memory;
} frame__call;

/* A caller's buffer: where it begins, and how many elements it spans. */
typedef struct {
    const void *start;
    size_t elements;
} frame__span;

#define FRAME_NOTHING ((frame__span){NULL, 0})

/* For launch --explain (explain.c): what messages cost, once for a communicator; what this call is, and should take. */
void frame__measure(p2p_comm *comm);
void frame__explain(const frame__call *call);

/* Check everything that one rank can check alone, and begin. On error nothing has begun. */
p2p_err frame__begin(frame__call *call, frame__span reads, frame__span writes);

/* Sets call->work, and call->scratch with so many bytes. Where call->work is the caller's buffer, to be written to,
 * waits until every rank agrees. */
p2p_err frame__memory(frame__call *call, size_t scratch_bytes);

/* Wait until every rank agrees; then write the result, call->user_bytes of it, to the caller's buffer, unless it is
 * there already or NULL. Frees the memory. Returns err, or what went wrong here. */
p2p_err frame__end(frame__call *call, p2p_err err, const void *result);

/* For algorithms without messages: call->wrong, if the ranks share no memory, or it is within another
 * collective. Before frame__begin. */
void frame__needs_shared_memory(frame__call *call);

/* Does what travels with a call reach every rank, and can it have barriers? Not within another collective, which is then
 * the only one that the ranks agree on. */
bool frame__has_inline(const p2p_comm *comm);

/* call->wrong, if this rank's count in a list (NULL: there is none) is not `own`. Before frame__begin. */
void frame__needs_count(frame__call *call, const size_t counts[], size_t own, const char *otherwise);

/* out = left OP right, on some elements; and on call->count of them. */
void frame__combine_some(const frame__call *call, void *out, const void *left, const void *right, size_t count);
void frame__combine(const frame__call *call, void *out, const void *left, const void *right);

/* The end of a mean: divide so many elements by the number of ranks; of any other operator: nothing. */
void frame__finish_mean(const frame__call *call, void *sum, size_t count);

/* ---- Blocks: see blocks.c ---- */

/* Where the block of each rank lies in a buffer, in elements. */
typedef struct frame__blocks {
    enum {
        FRAME_ALIKE,  /* block q is [q * count, (q + 1) * count) */
        FRAME_CHUNKS, /* `count` elements in n chunks: ring_chunk */
        FRAME_LISTED, /* counts[q] elements from offsets[q] on */
        FRAME_SAME    /* one block for all: [0, count) */
    } layout;
    size_t count;
    const size_t *counts, *offsets;
} frame__blocks;

/* Block q of the buffer at base; NULL, 0: it is empty. q is counted round the ring: -1 is the last one. */
typedef struct {
    char *at;
    size_t bytes;
} frame__piece;

frame__piece frame__block(const frame__call *call, const frame__blocks *blocks, const void *base, int q);

/* In bytes: of block q, of the longest. */
size_t frame__block_bytes(const frame__call *call, const frame__blocks *blocks, int q);
size_t frame__longest_block(const frame__call *call, const frame__blocks *blocks);

/* Where a buffer of such blocks begins and ends; SIZE_MAX elements if that overflows. An array that is missing goes to
 * call->wrong. */
frame__span frame__blocks_span(frame__call *call, const void *start, const frame__blocks *blocks);

/* For calls in which every rank knows all counts: call->count is their sum; call->wrong, if this rank's is not `own`. */
void frame__add_counts(frame__call *call, const size_t counts[], size_t own, const char *otherwise);

/* For calls that send from one block what they receive in the next: call->wrong, if two of these overlap. */
void frame__needs_apart(frame__call *call, const size_t counts[], const size_t offsets[]);

/* Send a block and receive one, each of which must have exactly its length: P2P_ERR_MISMATCH if not. */
p2p_err frame__receive_block(const frame__call *call, frame__piece in, int source);
p2p_err frame__exchange_blocks(const frame__call *call, frame__piece out, int dest, frame__piece in, int source);

/* A block has come from there, or err: was it that long, and of the kind that this rank sends (p2p_layer_call)? */
p2p_err frame__check_block(const frame__call *call, p2p_err err, size_t bytes, int source, const p2p_status *status);

/* For traces: block q as a part of the buffer; it is the next that is sent, received; the next message received is
 * combined with the whole buffer. */
p2p_part frame__part(const frame__call *call, const frame__blocks *blocks, int q, bool combined);
void frame__sends_block(const frame__call *call, const frame__blocks *blocks, int q);
void frame__receives_block(const frame__call *call, const frame__blocks *blocks, int q);
void frame__combines_next(const frame__call *call);

/* As frame__end, for a result that lies in call->work in blocks: what is between them is left alone. */
p2p_err frame__end_blocks(frame__call *call, p2p_err err, const frame__blocks *blocks);

#endif
