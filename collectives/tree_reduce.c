/* SPDX-License-Identifier: MIT */
/*
 * Binomial tree reduce: the broadcast's tree, climbed. Count ranks from the root: relative = (rank - root) mod n.
 * In round k, who has bit k set sends what it has combined so far, and is done; the others combine. Six ranks:
 *
 *      relative      0        1        2        3        4        5
 *      have          a        b        c        d        e        f
 *      round 0       ab  <--- b        cd  <--- d        ef  <--- f
 *      round 1       abcd <----------- cd                ef
 *      round 2       abcdef <---------------------------- ef
 *
 * What a rank has is always a run of relative ranks that begins with its own, and what it receives is the run behind
 * it: so the lower relative rank stands on the left, ((a b)(c d))(e f). Another root gives another order.
 *
 * ceil(log2 n) rounds. Messages: every rank but the root sends one of all bytes; the root receives ceil(log2 n). Time:
 * ceil(log2 n) (latency + bytes / bandwidth + bytes / combining). Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

static p2p_err combine_with(frame__call *call, int child, const void **so_far, void *work)
{
    frame__combines_next(call);
    p2p_err err = p2p_layer_recv(call->comm, call->scratch, call->bytes, child, FRAME_TAG, P2P_STATUS_IGNORE);
    if (err) return err;
    frame__combine(call, work, *so_far, call->scratch);
    *so_far = work;
    return P2P_OK;
}

p2p_err coll__tree_reduce(frame__call *call, const coll__party *p, const void *own, void *work, const void **result)
{
    const void *so_far = own;
    *result = NULL;
    for (int bit = 1; bit < p->size; bit *= 2) {
        if (p->own & bit)
            return p2p_layer_send(call->comm, so_far, call->bytes, coll__rank_at(p, p->own - bit), FRAME_TAG);
        if (p->own + bit >= p->size) continue;
        p2p_err err = combine_with(call, coll__rank_at(p, p->own + bit), &so_far, work);
        if (err) return err;
    }
    *result = so_far;
    return P2P_OK;
}

p2p_err coll_tree_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_tree_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .has_root = true,
                        .root = root,
                        .reorders = root != 0,
                        .only_reads = p2p_rank(comm) != root};
    const void *result = NULL;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, 2 * call.bytes);
    if (!err) {
        void *work = call.rank == root ? call.work : call.scratch + call.bytes; /* others' buffers are only read */
        const coll__party all = coll__all_from(&call, root);
        err = coll__tree_reduce(&call, &all, buf, work, &result);
        if (result && call.size > 1) frame__finish_mean(&call, work, count);
    }
    return frame__end(&call, err, result);
}
