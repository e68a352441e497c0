/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking all-gather: the steps of all_gather.c, as a schedule: the blocks travel round the ring, and each rank
 * keeps a copy of each. n - 1 steps of one block to the right. All of it is written to the caller's buffer, so that
 * nothing moves before all agree. Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"
#include "ring/internal.h"

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    const frame__blocks blocks = {.count = call->count};
    frame__step *own = frame__add_step(schedule);
    own->out = (frame__piece){(char *)(uintptr_t)call->source, call->bytes};
    own->in = frame__block(call, &blocks, call->user, call->rank);
    own->agrees_then = true;
    for (int s = 0; s < call->size - 1; s++)
        *frame__add_step(schedule) = ring__gather_step(call, &blocks, call->user, s);
}

p2p_err coll_iall_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                         p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_iall_gather",
                        .count = count_per_rank,
                        .dtype = dtype,
                        .returns_request = true,
                        .request = request};
    const frame__blocks blocks = {.count = count_per_rank};
    frame__span reads = {send, count_per_rank}, writes = frame__blocks_span(&call, recv, &blocks);
    p2p_err err = frame__begin(&call, reads, writes);
    return err ? err : frame__start(&call, (size_t)call.size, 0, add_steps);
}
