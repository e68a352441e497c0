/* SPDX-License-Identifier: MIT */
/*
 * One-shot all-reduce and reduce: every rank writes its buffer to memory that all share, and every rank, or the root, combines
 * the buffers of all. One barrier, no messages; only where ranks share memory, or live on several hosts and what they have
 * goes with the call. An all-reduce of four ranks:
 *
 *      rank          0        1        2        3
 *      writes        a        b        c        d           each to a place of its own
 *      (barrier)
 *      combines      abcd     abcd     abcd     abcd        ((a b) c) d, in rank order, so all get the same bits
 *
 * Up to 48 bytes travel in the very cache line by which the ranks agree on the call (p2p_layer_inline): then a rank
 * writes one cache line and reads n - 1. Up to 4 KiB lie in scratch memory before that line is written. More goes
 * through scratch segments (p2p_layer_scratch), a piece at a time, with a barrier for each.
 *
 * One step. Who gets the result reads all bytes of every rank: (n - 1) S, counted as one message from each of them. It
 * combines (n - 1) S, on every rank in an all-reduce: for short buffers only.
 */
#include "collectives/internal.h"

/* Every rank, or the root of a reduce. */
static bool gets_result(const frame__call *call)
{
    return !call->has_root || call->rank == call->root;
}

/* The piece of rank q. That of this rank is in the user's buffer, if the first sum is what overwrites it. */
typedef struct {
    const frame__call *call;
    const unsigned char *first; /* in scratch; NULL: inline */
    size_t stride;
    const void *own;
} pieces;

static const void *piece_of(const pieces *p, int q)
{
    if (q == p->call->rank && q < 2) return p->own;
    return p->first ? p->first + (size_t)q * p->stride : p2p_layer_inline(p->call->comm, q);
}

static void combine(const pieces *p, void *out, size_t count)
{
    const frame__call *call = p->call;
    dtype_combine(out, piece_of(p, 0), piece_of(p, 1), count, call->dtype, call->op);
    for (int q = 2; q < call->size; q++) dtype_combine(out, out, piece_of(p, q), count, call->dtype, call->op);
    if (call->op == OP_MEAN) dtype_scale(out, count, call->dtype, call->size);
}

static p2p_err with_the_call(const frame__call *call)
{
    pieces p = {.call = call, .own = call->user};
    p2p_err err = p2p_layer_agree(call->comm);
    if (!err && gets_result(call)) combine(&p, call->user, call->count);
    return err;
}

static p2p_err through_scratch(const frame__call *call)
{
    p2p_err err = P2P_OK;
    unsigned step = 1;
    for (size_t done = 0, part; done < call->bytes && !err; done += part) {
        p2p_scratch scratch;
        err = p2p_layer_scratch(call->comm, call->bytes - done, &scratch);
        if (err) return err;
        part = call->bytes - done < scratch.bytes ? call->bytes - done : scratch.bytes / call->element * call->element;
        p2p_layer_copy(scratch.first + (size_t)call->rank * scratch.stride, call->user + done, part);
        err = p2p_layer_barrier(call->comm, step++);
        pieces p = {call, scratch.first, scratch.stride, call->user + done};
        if (!err && gets_result(call)) combine(&p, call->user + done, part / call->element);
    }
    return err;
}

/* A message from each rank to each that gets the result. Between two that do not get it nothing is counted, on both sides alike:
 * traces number what moves between them. */
static void count_traffic(const frame__call *call)
{
    size_t received = gets_result(call) ? call->bytes : P2P_LAYER_NOTHING;
    for (int q = 0; q < call->size; q++) {
        size_t sent = call->has_root && q != call->root ? P2P_LAYER_NOTHING : call->bytes;
        if (q != call->rank) p2p_layer_count(call->comm, q, sent, received);
    }
}

bool coll__one_shot_has_room(const p2p_comm *comm, size_t element)
{
    return element <= p2p_layer_scratch_most(comm);
}

p2p_err coll__one_shot(frame__call *call, void *buf)
{
    size_t bytes = SIZE_MAX;
    bool possible = dtype_bytes(call->count, call->dtype, &bytes), fits = possible && bytes <= P2P_LAYER_INLINE_MOST;
    if (possible && !(fits && frame__has_inline(call->comm))) frame__needs_shared_memory(call);
    if (possible && !fits) coll__needs_room(call, coll__one_shot_has_room);
    call->barriers = true;
    if (fits) call->inline_payload = buf, call->inline_bytes = bytes;
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    if (err) return err;
    if (call->size == 1 || !call->bytes) return frame__end(call, P2P_OK, NULL);
    err = fits ? with_the_call(call) : through_scratch(call);
    if (!err) count_traffic(call);
    return frame__end(call, err, NULL);
}

p2p_err coll_one_shot_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_one_shot_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .has_root = true,
                        .root = root};
    return coll__one_shot(&call, buf);
}

p2p_err coll_one_shot_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_one_shot_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op};
    return coll__one_shot(&call, buf);
}
