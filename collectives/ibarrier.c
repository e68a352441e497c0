/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking barrier: the rounds of coll_barrier (barrier.c), as a schedule. In round k every rank sends an empty message
 * to the rank 2^k further on and receives one from the rank 2^k before; after ceil(log2 n) rounds each has heard, directly
 * or through others, from all. Hensgen, Finkel and Manber 1988.
 */
#include "collectives/schedule.h"

static void fill(const coll__call *call, coll__schedule *schedule)
{
    for (int distance = 1; distance < call->size; distance *= 2) {
        coll__step *step = coll__schedule_add(schedule);
        step->to = (call->rank + distance) % call->size;
        step->from = (call->rank - distance + call->size) % call->size;
    }
}

p2p_err coll_ibarrier(p2p_comm *comm, p2p_request *request)
{
    coll__call call = {.comm = comm, .operation = "coll_ibarrier", .dtype = DTYPE_U8};
    coll__needs_request(&call, request);
    p2p_err err = coll__begin(&call, COLL_NOTHING, COLL_NOTHING);
    if (err) return err;
    coll__schedule *schedule;
    err = coll__schedule_make(&call, 32, 0, &schedule);
    if (!err) {
        fill(&call, schedule);
        err = coll__schedule_start(schedule, request);
    }
    return p2p_layer_end(comm, err);
}
