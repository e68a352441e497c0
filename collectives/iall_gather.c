/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking all-gather: the steps of all_gather.c, as a schedule: the blocks travel round the ring, and each rank keeps a
 * copy of each. n - 1 steps of one block to the right. All of it is written to the caller's buffer, so that nothing moves
 * before all agree. Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/schedule.h"

static void fill(const coll__call *call, coll__schedule *schedule, const void *send, void *recv)
{
    int rank = call->rank, size = call->size;
    coll__blocks blocks = {.each = call->count};
    coll__step *own = coll__schedule_add(schedule);
    own->out = send;
    own->in = coll__block(call, &blocks, recv, rank);
    own->out_bytes = call->bytes;
    own->writes = true;
    for (int s = 0; s < size - 1; s++) {
        coll__step *step = coll__schedule_add(schedule);
        step->out_block = (rank - s + size) % size;
        step->in_block = (rank - s - 1 + size) % size;
        step->to = (rank + 1) % size;
        step->from = (rank - 1 + size) % size;
        step->out = coll__block(call, &blocks, recv, step->out_block);
        step->in = coll__block(call, &blocks, recv, step->in_block);
        step->out_bytes = step->in_bytes = call->bytes;
        step->writes = true;
    }
}

p2p_err coll_iall_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                         p2p_request *request)
{
    coll__call call = {.comm = comm, .operation = "coll_iall_gather", .count = count_per_rank, .dtype = dtype};
    coll__blocks blocks = {.each = count_per_rank};
    coll__needs_request(&call, request);
    p2p_err err = coll__begin(&call, (coll__span){send, count_per_rank}, coll__blocks_span(&call, recv, &blocks));
    if (err) return err;
    coll__schedule *schedule;
    err = coll__schedule_make(&call, (size_t)call.size, 0, &schedule);
    if (!err) {
        fill(&call, schedule, send, recv);
        err = coll__schedule_start(schedule, request);
    }
    return p2p_layer_end(comm, err);
}
