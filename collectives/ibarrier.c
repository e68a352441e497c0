/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking barrier: the rounds of coll_barrier (barrier.c), as a schedule. In round k every rank sends an empty
 * message to the rank 2^k further on and receives one from the rank 2^k before; after ceil(log2 n) rounds each has
 * heard, directly or through others, from all. Hensgen, Finkel and Manber 1988.
 */
#include "collectives/internal.h"
#include "ring/schedule.h"

enum { ROUNDS_MOST = 10 }; /* of P2P_MAX_RANKS */

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    for (int distance = 1; distance < call->size; distance *= 2) {
        frame__step *step = frame__add_step(schedule);
        step->to = (call->rank + distance) % call->size;
        step->from = (call->rank - distance + call->size) % call->size;
    }
}

p2p_err coll_ibarrier(p2p_comm *comm, p2p_request *request)
{
    frame__call call = {
        .comm = comm, .operation = "coll_ibarrier", .dtype = DTYPE_U8, .returns_request = true, .request = request};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, FRAME_NOTHING);
    return err ? err : frame__start(&call, ROUNDS_MOST, 0, add_steps);
}
