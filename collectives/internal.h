/* SPDX-License-Identifier: MIT */
/*
 * internal: the frame that every algorithm of this folder stands in.
 *
 *      coll__call call = {.comm = comm, .operation = "coll_...", .count = count, ...};
 *      p2p_err err = coll__begin(&call, reads, writes);     check the arguments; show what is called
 *      if (err) return err;
 *      err = coll__memory(&call, bytes);                    call.work to write to, call.scratch beside it
 *      if (!err) err = ... messages, coll__combine ...
 *      return coll__end(&call, err, result);                agree, and bring the result home
 *
 * Nothing is written to the caller's buffer before all ranks agree. With a long buffer (over COLL_SHORT) coll__memory
 * waits for that, and call.work is the caller's buffer itself; a rank that only reads its buffer, the root of a
 * broadcast, sends meanwhile. Waiting first would cost a short one as much as its messages do: it is worked on in memory
 * of its own, and by the time the result is there, everyone has usually been heard of, so that agreeing costs nothing.
 */
#ifndef PAIRWISE_COLLECTIVES_INTERNAL_H
#define PAIRWISE_COLLECTIVES_INTERNAL_H

#ifndef P2P_NO_LINES
#define P2P_NO_LINES 1
#endif

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"

enum { COLL_SHORT = 64 * 1024 }; /* bytes */
enum { COLL_TAG = 0 };           /* one will do: collectives come one after the other, and messages do not overtake */
#define COLL_ANY SIZE_MAX        /* a count that differs between ranks */

/* One call of one collective. */
typedef struct {
    p2p_comm *comm;
    const char *operation, *algorithm; /* as in p2p_fingerprint */
    size_t count;
    enum dtype dtype;
    bool has_op, has_root;
    enum op op;
    int root;
    const char *wrong; /* what the caller of coll__begin has found wrong, or NULL; and with which argument */
    p2p_argument wrong_argument;
    bool only_reads; /* this rank writes nothing to its caller's buffer, or only through coll__end */
    bool barriers;   /* as in p2p_fingerprint; and what travels inline */
    const void *inline_payload;
    size_t inline_bytes;
    p2p_export exported; /* of the caller's buffer, where that travels inline */

    /* From coll__begin: */
    int rank, size;
    size_t element, bytes; /* of one element, of `count` */
    char *user;            /* what the caller wants written, and how many bytes it spans */
    size_t user_bytes;
    bool is_short;
    /* From coll__memory: */
    char *work, *scratch;
    void *memory;
} coll__call;

/* A caller's buffer: where it begins, and how many elements it spans. */
typedef struct {
    const void *start;
    size_t elements;
} coll__span;

#define COLL_NOTHING ((coll__span){NULL, 0})

/* n * count; SIZE_MAX, which no buffer has, if it overflows. */
size_t coll__times(size_t count, int n);

/* For algorithms without messages: call->wrong, if the ranks share no memory. Before coll__begin. */
void coll__needs_shared_memory(coll__call *call);

/* For algorithms that combine in another order than that of the ranks: call->wrong, if the operator does not commute. Before
 * coll__begin. */
void coll__needs_commuting(coll__call *call);

/* Check everything that can be checked here, and begin. On error nothing has begun. */
p2p_err coll__begin(coll__call *call, coll__span reads, coll__span writes);

/* Sets call->work, and call->scratch with so many bytes. Where call->work is the caller's buffer, to be written to, waits
 * until every rank agrees. */
p2p_err coll__memory(coll__call *call, size_t scratch_bytes);

/* Wait until every rank agrees; then write the result, call->user_bytes of it, where the caller wants it, unless it is
 * there already or NULL. Frees the memory. Returns err, or what went wrong here. */
p2p_err coll__end(coll__call *call, p2p_err err, const void *result);

/* out = left OP right, on some elements; and on call->count of them. */
void coll__combine_some(const coll__call *call, void *out, const void *left, const void *right, size_t count);
void coll__combine(const coll__call *call, void *out, const void *left, const void *right);

/* The end of a mean: divide; of any other operator: nothing. */
void coll__finish_mean(const coll__call *call, void *sum);

/* Nothing happens for 0 bytes, where pointers may be NULL. */
void coll__copy(void *to, const void *from, size_t bytes);

/* ---- Blocks: see blocks.c ---- */

/* Where the block of each rank lies in a buffer: all alike, or by arrays. In elements. */
typedef struct {
    size_t each; /* without arrays: block q is [q * each, (q + 1) * each) */
    bool listed;
    const size_t *counts, *offsets;
} coll__blocks;

size_t coll__block_bytes(const coll__call *call, const coll__blocks *blocks, int q);

/* Block q of the buffer at base; NULL if it is empty. */
char *coll__block(const coll__call *call, const coll__blocks *blocks, const void *base, int q);

/* Where a buffer of such blocks begins and ends; SIZE_MAX elements if that overflows. An array that is missing goes to
 * call->wrong. */
coll__span coll__blocks_span(coll__call *call, const void *start, const coll__blocks *blocks);

/* For calls in which every rank knows all counts: call->count is their sum; call->wrong, if this rank's is not `own`. */
void coll__add_counts(coll__call *call, const size_t counts[], size_t own, const char *otherwise);

/* Receive a block that must have exactly this length: P2P_ERR_MISMATCH if not. */
p2p_err coll__receive_block(coll__call *call, void *buf, size_t bytes, int source);
p2p_err coll__exchange_blocks(coll__call *call, const void *send, size_t send_bytes, int dest, void *recv,
                              size_t recv_bytes, int source);

/* For traces (parts.c): the next message sent is block q; the next one received is, or is combined with the whole. */
void coll__sends_block(const coll__call *call, const coll__blocks *blocks, int q);
void coll__receives_block(const coll__call *call, const coll__blocks *blocks, int q, bool combined);
void coll__combines_next(const coll__call *call);

/* As coll__end, for a result that lies in call->work in blocks: what is between them is left alone. */
p2p_err coll__end_blocks(coll__call *call, p2p_err err, const coll__blocks *blocks);

/* ---- Algorithms that others are made of. `data` is read at root and written elsewhere. ---- */

p2p_err coll__naive_broadcast(coll__call *call, void *data, int root);
p2p_err coll__tree_broadcast(coll__call *call, void *data, int root);

/* In the binomial tree, of a rank counted from the root: its lowest 1 bit, or, for the root, the first bit beyond all ranks.
 * Its parent is the rank without that bit, its children have one more bit below it. */
int coll__tree_lowest_bit(int relative, int size);

/* Combine everyone's `own` at root: *result points to it there, at `own` with one rank and at `work` with more; it is
 * NULL elsewhere. `work` may be `own`, which is then written to, on any rank. call->scratch has room for call->bytes;
 * at the naive root for what coll__naive_reduce_scratch says. */
p2p_err coll__naive_reduce(coll__call *call, const void *own, void *work, int root, const void **result);
size_t coll__naive_reduce_scratch(const coll__call *call);
p2p_err coll__tree_reduce(coll__call *call, const void *own, void *work, int root, const void **result);

/* The whole operation, for a call that has its name, and has not begun. */
p2p_err coll__one_shot_all_reduce(coll__call *call, void *buf);
p2p_err coll__two_shot_all_reduce(coll__call *call, void *buf);

/* Bytes of a slice in a segment of so many bytes, of n ranks; room for an element at least. */
size_t coll__two_shot_slot(size_t segment, int n);

#endif
