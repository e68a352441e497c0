/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking reduce-scatter: the steps of reduce_scatter.c, as a schedule, with the same bits. Every block sets out
 * at the rank behind its owner and collects each rank's part on its way round the ring; the last step is its owner's,
 * which alone writes to the caller's buffer. n - 1 steps of one block to the right. Patarasuk and Yuan 2009.
 */
#include "collectives/internal.h"
#include "ring/internal.h"

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    const frame__blocks blocks = {.count = call->count};
    for (int s = 0; s < call->size - 1; s++)
        *frame__add_step(schedule) = ring__reduce_step(call, &blocks, call->source, call->user, s);
    if (call->size > 1) return;
    frame__step *step = frame__add_step(schedule); /* the result is the only rank's own block */
    step->out = (frame__piece){(char *)(uintptr_t)call->source, call->bytes};
    step->in = (frame__piece){call->user, call->bytes};
    step->agrees_then = true;
}

p2p_err coll_ireduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                             enum op op, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_ireduce_scatter",
                        .count = count_per_rank,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .reorders = true,
                        .returns_request = true,
                        .request = request};
    const frame__blocks blocks = {.count = count_per_rank};
    frame__span reads = frame__blocks_span(&call, send, &blocks);
    p2p_err err = frame__begin(&call, reads, (frame__span){recv, count_per_rank});
    return err ? err : frame__start(&call, (size_t)call.size, ring__scratch(&call, &blocks), add_steps);
}
