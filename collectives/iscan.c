/* SPDX-License-Identifier: MIT */
/* Non-blocking scan and exscan: the chain of scan.c as a schedule, with its bits. */
#include "collectives/internal.h"
#include "ring/schedule.h"

/* Scratch memory: what comes from below, and that combined with this rank's own. plan: not NULL for an exscan. */
static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    char *below = call->scratch, *up_to_here = below + call->bytes;
    bool exclusive = call->plan, last = call->rank == call->size - 1;
    if (call->rank > 0) {
        frame__step *step = frame__add_step(schedule);
        step->from = call->rank - 1;
        step->in = (frame__piece){below, call->bytes};
        step->sum = up_to_here;
        step->left = below;
        step->right = call->user;
        step->count = call->count;
    }
    if (!last) {
        frame__step *step = frame__add_step(schedule);
        step->to = call->rank + 1;
        step->out = (frame__piece){call->rank ? up_to_here : call->user, call->bytes};
    }
    if (call->rank > 0) {
        frame__step *step = frame__add_step(schedule);
        step->out = (frame__piece){exclusive ? below : up_to_here, call->bytes};
        step->in = (frame__piece){call->user, call->bytes};
        step->agrees_then = true;
    }
}

static p2p_err scan(frame__call *call, void *buf)
{
    call->has_op = call->returns_request = true;
    if (call->op == OP_MEAN) {
        call->wrong = "a mean of the ranks so far cannot be had without waiting";
        call->advice = "coll_scan, or OP_SUM";
    }
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    return err ? err : frame__start(call, 3, 2 * call->bytes, add_steps);
}

p2p_err coll_iscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request)
{
    frame__call call = {
        .comm = comm, .operation = "coll_iscan", .count = count, .dtype = dtype, .op = op, .request = request};
    return scan(&call, buf);
}

p2p_err coll_iexscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_iexscan",
                        .count = count,
                        .dtype = dtype,
                        .op = op,
                        .request = request,
                        .plan = ""};
    return scan(&call, buf);
}
