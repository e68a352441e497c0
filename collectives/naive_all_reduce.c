/* SPDX-License-Identifier: MIT */
/*
 * Naive all-reduce: reduce to rank 0 (naive_reduce.c), then broadcast from rank 0 (naive_broadcast.c).
 *
 *      1 ----.           .----> 1
 *      2 -----> 0 = sum ------> 2
 *      3 ----'           '----> 3
 *
 * 2 (n - 1) steps, one after the other through the port of rank 0. Messages: rank 0 sends n - 1 of all bytes, every
 * other rank one. Time: 2 (n - 1) (latency + bytes / bandwidth) + bytes / combining. The order is strictly that of the
 * ranks: ((x0 + x1) + x2) + ...
 */
#include "collectives/internal.h"

enum { HUB = 0 };

static p2p_err there_and_back(frame__call *call, const void *own, const void **result)
{
    p2p_err err = coll__naive_reduce(call, own, call->work, HUB, result);
    if (err) return err;
    if (call->rank != HUB) *result = call->work;
    return coll__naive_broadcast(call, (void *)(uintptr_t)*result, HUB);
}

p2p_err coll_naive_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {
        .comm = comm, .operation = "coll_naive_all_reduce", .count = count, .dtype = dtype, .has_op = true, .op = op};
    const void *result = NULL;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, call.rank == HUB ? coll__naive_reduce_scratch(&call) : 0);
    if (!err) err = there_and_back(&call, buf, &result);
    return frame__end(&call, err, result);
}
