/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking broadcast: the binomial tree of tree_broadcast.c, as a schedule: receive from the parent, then send to
 * the children, the one with the most descendants first. ceil(log2 n) rounds; the root sends ceil(log2 n) of all bytes.
 * Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"
#include "ring/schedule.h"

enum { STEPS_MOST = 11 }; /* of P2P_MAX_RANKS: a receive, and a send to each child */

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    const frame__piece all = {call->user, call->bytes};
    int relative = (call->rank - call->root + call->size) % call->size;
    int bit = coll__tree_lowest_bit(relative, call->size);
    if (relative > 0) {
        frame__step *step = frame__add_step(schedule);
        step->from = (relative - bit + call->root) % call->size;
        step->in = all;
        step->agrees_first = true;
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (relative + bit >= call->size) continue;
        frame__step *step = frame__add_step(schedule);
        step->to = (relative + bit + call->root) % call->size;
        step->out = all;
    }
}

p2p_err coll_ibroadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_ibroadcast",
                        .count = count,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root,
                        .returns_request = true,
                        .request = request};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    return err ? err : frame__start(&call, STEPS_MOST, 0, add_steps);
}
