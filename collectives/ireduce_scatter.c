/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking reduce-scatter: the steps of reduce_scatter.c, as a schedule, with the same bits. Every block sets out at the
 * rank behind its owner and collects each rank's part on its way round the ring; the last step is its owner's, which alone
 * writes to the caller's buffer. n - 1 steps of one block to the right. Patarasuk and Yuan 2009.
 */
#include "collectives/schedule.h"

static void add_step(const coll__call *call, coll__schedule *schedule, const void *send, void *recv, int s)
{
    int rank = call->rank, size = call->size;
    coll__blocks blocks = {.each = call->count};
    char *scratch = coll__schedule_scratch(schedule); /* two blocks: what arrives in a step is sent in the next */
    coll__step *step = coll__schedule_add(schedule);
    bool last = s == size - 2;
    step->out_block = (rank - s - 1 + size) % size;
    step->in_block = (rank - s - 2 + 2 * size) % size;
    step->to = (rank + 1) % size;
    step->from = (rank - 1 + size) % size;
    step->in = call->bytes ? scratch + (size_t)(s % 2) * call->bytes : NULL;
    step->out = s ? call->bytes ? scratch + (size_t)((s + 1) % 2) * call->bytes : NULL
                  : coll__block(call, &blocks, send, step->out_block);
    step->out_bytes = step->in_bytes = call->bytes;
    step->sum = last ? recv : step->in;
    step->left = step->in;
    step->right = coll__block(call, &blocks, send, step->in_block);
    step->count = call->count;
    step->ends_mean = step->writes = last;
}

static void fill(const coll__call *call, coll__schedule *schedule, const void *send, void *recv)
{
    for (int s = 0; s < call->size - 1; s++) add_step(call, schedule, send, recv, s);
    if (call->size > 1) return;
    coll__step *step = coll__schedule_add(schedule); /* of one rank's part nothing has to be made */
    step->out = send;
    step->in = recv;
    step->out_bytes = call->bytes;
    step->writes = true;
}

p2p_err coll_ireduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                             enum op op, p2p_request *request)
{
    coll__call call = {.comm = comm,
                       .operation = "coll_ireduce_scatter",
                       .count = count_per_rank,
                       .dtype = dtype,
                       .has_op = true,
                       .op = op};
    coll__blocks blocks = {.each = count_per_rank};
    coll__needs_commuting(&call);
    coll__needs_request(&call, request);
    p2p_err err = coll__begin(&call, coll__blocks_span(&call, send, &blocks), (coll__span){recv, count_per_rank});
    if (err) return err;
    coll__schedule *schedule;
    err = coll__schedule_make(&call, (size_t)call.size, 2 * call.bytes, &schedule);
    if (!err) {
        fill(&call, schedule, send, recv);
        err = coll__schedule_start(schedule, request);
    }
    return p2p_layer_end(comm, err);
}
