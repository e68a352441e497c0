/* SPDX-License-Identifier: MIT */
/*
 * Tree all-reduce: climb the binomial tree to rank 0 (tree_reduce.c), come down it again (tree_broadcast.c).
 *
 *      up                          down
 *              0 = sum                     0
 *          .---+-.-.                   .---+-.-.
 *          4     2 1                   4     2 1
 *        .-+-.   |                   .-+-.   |
 *        6   5   3                   6   5   3
 *        |                           |
 *        7                           7
 *
 * 2 ceil(log2 n) rounds. Messages: rank 0 sends ceil(log2 n) of all bytes, most for n > 2; 2 (n - 1) in all. Time:
 * 2 ceil(log2 n) (latency + bytes / bandwidth) + ceil(log2 n) bytes / combining. Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

enum { TOP = 0 };

static p2p_err up_and_down(frame__call *call, const void *own, const void **result)
{
    const coll__party all = coll__all_from(call, TOP);
    p2p_err err = coll__tree_reduce(call, &all, own, call->work, result);
    if (err) return err;
    if (*result && call->size > 1) frame__finish_mean(call, call->work, call->count);
    if (call->rank != TOP) *result = call->work;
    return coll__tree_broadcast(call, &all, (void *)(uintptr_t)*result);
}

p2p_err coll_tree_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {
        .comm = comm, .operation = "coll_tree_all_reduce", .count = count, .dtype = dtype, .has_op = true, .op = op};
    const void *result = NULL;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, call.bytes);
    if (!err) err = up_and_down(&call, buf, &result);
    return frame__end(&call, err, result);
}
