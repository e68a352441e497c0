/* SPDX-License-Identifier: MIT */
/*
 * The first half: every chunk sets out at the rank behind its owner and travels once round the ring; each rank adds its
 * own part and sends the sum on. It ends at its owner, complete. The table is in all_reduce.c.
 *
 *      step s:   rank r sends chunk r - s - 1 to the right, and receives chunk r - s - 2 from the left
 *
 *                  from the left            own buffer (only read)
 *                  chunk c, so far    +     chunk c         =  chunk c, one rank more  ----> to the right in step s + 1
 *
 * The sums travel in scratch memory, so that the caller's buffer is only read, until the last step writes this rank's
 * chunk. By then something of every rank has come round the ring: all ranks are in this collective, and agreeing costs
 * nothing.
 *
 * n - 1 steps. Messages: n - 1 of a chunk to the right, (n - 1)/n of the buffer.
 */
#include "ring/internal.h"

size_t ring__scratch(const frame__call *call, const frame__blocks *blocks)
{
    return 2 * (frame__longest_block(call, blocks) / 64 + 1) * 64;
}

frame__step ring__reduce_step(const frame__call *call, const frame__blocks *blocks, const void *own, void *result,
                              int s)
{
    int out = call->rank - s - 1, in = call->rank - s - 2; /* mod n: frame__block */
    bool last = s == call->size - 2;
    size_t half = call->scratch_bytes / 2;
    char *travelling = call->scratch + (s % 2 ? 0 : half), *arriving = call->scratch + (s % 2 ? half : 0);
    frame__piece sent = frame__block(call, blocks, own, out), added = frame__block(call, blocks, own, in);
    return (frame__step){.to = call->right,
                         .from = call->left,
                         .out = s == 0 ? sent : (frame__piece){travelling, sent.bytes},
                         .in = {arriving, added.bytes},
                         .sum = last ? result : arriving,
                         .left = arriving, /* the sum so far is of ranks further left */
                         .right = added.at,
                         .count = added.bytes / call->element,
                         .ends_mean = last,
                         .agrees_then = last,
                         .part_out = frame__part(call, blocks, out, false),
                         .part_in = frame__part(call, blocks, in, true)};
}

p2p_err ring__reduce_scatter(const frame__call *call)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = call->count};
    char *own = frame__block(call, &chunks, call->user, call->rank).at;
    for (int s = 0; s < call->size - 1; s++) {
        frame__step step = ring__reduce_step(call, &chunks, call->user, own, s);
        if (call->traced) p2p_layer_parts(call->comm, &step.part_out, &step.part_in);
        p2p_err err = p2p_layer_sendrecv(call->comm, step.out.at, step.out.bytes, call->right, FRAME_TAG, step.in.at,
                                         step.in.bytes, call->left, FRAME_TAG, P2P_STATUS_IGNORE);
        if (!err && step.agrees_then) err = p2p_layer_agree(call->comm);
        if (err) return err;
        frame__finish_step(call, &step);
    }
    return P2P_OK;
}

p2p_err ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, size_t *first,
                            size_t *length)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = count};
    frame__call call = {.comm = comm,
                        .operation = "ring_reduce_scatter",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .reorders = true,
                        .only_reads = true};
    if (!first || !length) call.wrong = "there is nowhere to put first and length: one of them is NULL";
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, ring__scratch(&call, &chunks));
    if (!err) err = ring__reduce_scatter(&call);
    err = frame__end(&call, err, NULL);
    if (!err) ring_chunk(count, call.size, call.rank, first, length);
    return err;
}
