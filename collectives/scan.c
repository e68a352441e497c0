/* SPDX-License-Identifier: MIT */
/*
 * Scan: every rank gets the combination of the ranks up to itself; exclusive: of those below it. A chain, in rank
 * order:
 *
 *      rank             0            1            2            3
 *      has              a            b            c            d
 *      receives                      a            ab           abc         from the rank below
 *      scan             a            ab           abc          abcd        what it received, combined with its own
 *      exscan           a (its own)  a            ab           abc         what it received
 *      sends            a            ab           abc                      to the rank above
 *
 * n - 1 steps. Messages: one of the whole buffer from each rank but the last, to the rank above. Time: (n - 1) (latency
 * + bytes / bandwidth + combining). Strictly in rank order: the scan of the last rank has the bits of
 * coll_naive_reduce. MPI 3.1, 5.11. (Hillis and Steele 1986 need log2 n steps, in which n log2 n messages are sent, and
 * combine in another order on each rank.)
 */
#include "collectives/internal.h"

/* `below` becomes the combination of the ranks below, `up_to_here` that of this rank as well; in one place, where only
 * the second is wanted. */
static p2p_err pass_up(const frame__call *call, char *below, char *up_to_here)
{
    bool last = call->rank == call->size - 1, keeps_below = up_to_here != below;
    const void *out = call->user;
    if (call->rank > 0) {
        if (!keeps_below) frame__combines_next(call);
        p2p_err err = p2p_layer_recv(call->comm, below, call->bytes, call->rank - 1, FRAME_TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        if (!last || !keeps_below) frame__combine(call, up_to_here, below, call->user);
        out = up_to_here;
    }
    return last ? P2P_OK : p2p_layer_send(call->comm, out, call->bytes, call->rank + 1, FRAME_TAG);
}

/* A mean is one of the ranks that are combined: what is sent on is their sum. */
static p2p_err scan(frame__call *call, void *buf, bool exclusive)
{
    call->only_reads = true; /* the result comes through frame__end */
    call->has_op = true;
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    if (err) return err;
    err = frame__memory(call, exclusive ? 2 * call->bytes : call->bytes);
    char *below = call->scratch, *up_to_here = exclusive && below ? below + call->bytes : below;
    int combined = exclusive ? call->rank : call->rank + 1;
    if (!err) err = pass_up(call, below, up_to_here);
    if (!err && combined > 1 && call->op == OP_MEAN) dtype_scale(below, call->count, call->dtype, combined);
    return frame__end(call, err, call->rank > 0 ? below : NULL);
}

p2p_err coll_scan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm, .operation = "coll_scan", .count = count, .dtype = dtype, .op = op};
    return scan(&call, buf, false);
}

p2p_err coll_exscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm, .operation = "coll_exscan", .count = count, .dtype = dtype, .op = op};
    return scan(&call, buf, true);
}
