/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking ring all-reduce: the same 2(n-1) steps, with the same bits, as a schedule:
 *
 *      begin ---> step 0 ---> step 1 ---> ... ---> step 2n-3 ---> done
 *                 post a send to the right and a receive from the left; return;
 *                 when both have ended: combine (first half), and on to the next step
 *
 * The last step of the first half is the first that writes to the caller's buffer. Every rank is in this collective
 * then: something of each has come round the ring. So agreeing does not wait.
 */
#include "ring/internal.h"

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = call->count};
    char *own = frame__block(call, &chunks, call->user, call->rank).at;
    for (int s = 0; s < call->size - 1; s++)
        *frame__add_step(schedule) = ring__reduce_step(call, &chunks, call->user, own, s);
    for (int s = 0; s < call->size - 1; s++)
        *frame__add_step(schedule) = ring__gather_step(call, &chunks, call->user, s);
}

p2p_err ring__iall_reduce(frame__call *call, void *buf)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = call->count};
    call->has_op = call->reorders = call->returns_request = true;
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    return err ? err : frame__start(call, 2 * (size_t)call->size, ring__scratch(call, &chunks), add_steps);
}

p2p_err ring_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request)
{
    frame__call call = {
        .comm = comm, .operation = "ring_iall_reduce", .count = count, .dtype = dtype, .op = op, .request = request};
    return ring__iall_reduce(&call, buf);
}
