/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking broadcast: the binomial tree of tree_broadcast.c, as a schedule: receive from the parent, then send to the
 * children, the one with the most descendants first. ceil(log2 n) rounds; the root sends ceil(log2 n) of all bytes.
 * Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/schedule.h"

static void fill(const coll__call *call, coll__schedule *schedule, void *buf)
{
    int relative = (call->rank - call->root + call->size) % call->size;
    int bit = coll__tree_lowest_bit(relative, call->size);
    if (relative > 0) {
        coll__step *step = coll__schedule_add(schedule);
        step->from = (relative - bit + call->root) % call->size;
        step->in = buf;
        step->in_bytes = call->bytes;
        step->writes = true;
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (relative + bit >= call->size) continue;
        coll__step *step = coll__schedule_add(schedule);
        step->to = (relative + bit + call->root) % call->size;
        step->out = buf;
        step->out_bytes = call->bytes;
    }
}

p2p_err coll_ibroadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root, p2p_request *request)
{
    coll__call call = {
        .comm = comm, .operation = "coll_ibroadcast", .count = count, .dtype = dtype, .has_root = true, .root = root};
    coll__needs_request(&call, request);
    p2p_err err = coll__begin(&call, COLL_NOTHING, (coll__span){buf, count});
    if (err) return err;
    coll__schedule *schedule;
    err = coll__schedule_make(&call, 32, 0, &schedule);
    if (!err) {
        fill(&call, schedule, buf);
        err = coll__schedule_start(schedule, request);
    }
    return p2p_layer_end(comm, err);
}
