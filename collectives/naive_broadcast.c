/* SPDX-License-Identifier: MIT */
/*
 * Naive broadcast: the root sends to all other ranks, one after the other. Root 1 of four ranks:
 *
 *                   1
 *           first / |2nd \ third
 *                0  2     3
 *
 * n - 1 steps, one after the other through the root's port. Messages: the root sends n - 1 of all bytes, no other rank
 * sends. Time: (n - 1) (latency + bytes / bandwidth).
 */
#include "collectives/internal.h"

static p2p_err send_to_all(const frame__call *call, const void *data)
{
    for (int q = 0; q < call->size; q++) {
        if (q == call->rank) continue;
        p2p_err err = p2p_layer_send(call->comm, data, call->bytes, q, FRAME_TAG);
        if (err) return err;
    }
    return P2P_OK;
}

p2p_err coll__naive_broadcast(frame__call *call, void *data, int root)
{
    if (call->rank == root) return send_to_all(call, data);
    return p2p_layer_recv(call->comm, data, call->bytes, root, FRAME_TAG, P2P_STATUS_IGNORE);
}

p2p_err coll_naive_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_naive_broadcast",
                        .count = count,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root,
                        .only_reads = p2p_rank(comm) == root};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, 0);
    void *data = call.rank == root ? buf : call.work;
    if (!err) err = coll__naive_broadcast(&call, data, root);
    return frame__end(&call, err, data);
}
