/* SPDX-License-Identifier: MIT */
/*
 * The second half: every complete chunk travels once round the ring, from its owner, and each rank keeps a copy. The
 * table is in all_reduce.c.
 *
 *      step s:   rank r sends chunk r - s to the right, and receives chunk r - s - 1 from the left
 *
 * So a rank sends in each step what it has received in the step before. n - 1 steps. Messages: n - 1 of a chunk to the
 * right, (n - 1)/n of the buffer.
 */
#include "ring/internal.h"

frame__step ring__gather_step(const frame__call *call, const frame__blocks *blocks, void *base, int s)
{
    int out = call->rank - s, in = call->rank - s - 1; /* mod n: frame__block */
    return (frame__step){.to = call->right,
                         .from = call->left,
                         .out = frame__block(call, blocks, base, out),
                         .in = frame__block(call, blocks, base, in),
                         .part_out = frame__part(call, blocks, out, false),
                         .part_in = frame__part(call, blocks, in, false)};
}

p2p_err ring__all_gather(const frame__call *call, char *base)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = call->count};
    for (int s = 0; s < call->size - 1; s++) {
        frame__step step = ring__gather_step(call, &chunks, base, s);
        if (call->traced) p2p_layer_parts(call->comm, &step.part_out, &step.part_in);
        p2p_err err = p2p_layer_sendrecv(call->comm, step.out.at, step.out.bytes, call->right, FRAME_TAG, step.in.at,
                                         step.in.bytes, call->left, FRAME_TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}

p2p_err ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = count};
    frame__call call = {.comm = comm, .operation = "ring_all_gather", .count = count, .dtype = dtype};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, 0);
    if (!err) {
        frame__piece own = frame__block(&call, &chunks, buf, call.rank);
        p2p_layer_copy(frame__block(&call, &chunks, call.work, call.rank).at, own.at, own.bytes);
        err = ring__all_gather(&call, call.work);
    }
    return frame__end(&call, err, call.work);
}
