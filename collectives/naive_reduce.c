/* SPDX-License-Identifier: MIT */
/*
 * Naive reduce: every rank sends to the root, which combines strictly in rank order, its own part in its own turn.
 * Root 1 of four ranks:
 *
 *      0 ----.                         so far = x0                  from rank 0
 *             \                        so far = so far + x1         its own
 *      2 ------> 1                     so far = so far + x2         from rank 2
 *             /                        so far = so far + x3         from rank 3:  ((x0 + x1) + x2) + x3
 *      3 ----'
 *
 * The result has the same bits whatever the root. n - 1 steps, one after the other, into the root's port. Messages:
 * every rank but the root sends one of all bytes. Time: (n - 1) (latency + bytes / bandwidth) + bytes / combining:
 * while the root combines one part, the next one arrives.
 */
#include "collectives/internal.h"

/* What rank q has, in rank order: its message, or the root's own part. */
static p2p_err next_part(frame__call *call, int q, const void *own, void *arriving, const void **part)
{
    *part = q == call->rank ? own : arriving;
    if (q == call->rank) return P2P_OK;
    frame__combines_next(call);
    return p2p_layer_recv(call->comm, arriving, call->bytes, q, FRAME_TAG, P2P_STATUS_IGNORE);
}

/* Until the root's own part has been used, `work` may still be where it lies: results go to scratch so far. */
static p2p_err gather_and_combine(frame__call *call, const void *own, void *work, const void **result)
{
    char *arriving = call->scratch, *before = call->scratch + call->bytes;
    const void *so_far, *part;
    p2p_err err = next_part(call, 0, own, before, &so_far);
    for (int q = 1; q < call->size && !err; q++) {
        err = next_part(call, q, own, arriving, &part);
        if (err) break;
        void *out = q < call->rank ? before : work;
        frame__combine(call, out, so_far, part);
        so_far = out;
    }
    *result = so_far;
    if (!err && call->size > 1) frame__finish_mean(call, work, call->count);
    return err;
}

p2p_err coll__naive_reduce(frame__call *call, const void *own, void *work, int root, const void **result)
{
    if (call->rank == root) return gather_and_combine(call, own, work, result);
    *result = NULL;
    return p2p_layer_send(call->comm, own, call->bytes, root, FRAME_TAG);
}

size_t coll__naive_reduce_scratch(const frame__call *call)
{
    return call->rank == 0 ? call->bytes : 2 * call->bytes;
}

p2p_err coll_naive_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_naive_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .has_root = true,
                        .root = root,
                        .only_reads = p2p_rank(comm) != root};
    const void *result = NULL;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, call.rank == root ? coll__naive_reduce_scratch(&call) : 0);
    if (!err) err = coll__naive_reduce(&call, buf, call.work, root, &result);
    return frame__end(&call, err, result);
}
