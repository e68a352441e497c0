/* SPDX-License-Identifier: MIT */
/*
 * Scatter: the root sends every rank its block. Root 1 of four ranks:
 *
 *      send at rank 1     | A | B | C | D |
 *                           |   |   |   '----------> rank 3: D
 *                           |   |   '--------------> rank 2: C
 *                           |   '- copied ---------> rank 1: B
 *                           '----------------------> rank 0: A
 *
 * n - 1 steps, one after the other through the root's port; each byte crosses once, straight to where it belongs.
 * Messages: the root sends n - 1 of one block. Time: (n - 1) (latency + block / bandwidth).
 */
#include "collectives/internal.h"

static p2p_err send_blocks(frame__call *call, const void *send, const frame__blocks *blocks)
{
    for (int q = 0; q < call->size; q++) {
        if (q == call->rank) continue;
        frame__sends_block(call, blocks, q);
        frame__piece block = frame__block(call, blocks, send, q);
        p2p_err err = p2p_layer_send(call->comm, block.at, block.bytes, q, FRAME_TAG);
        if (err) return err;
    }
    return P2P_OK;
}

/* At the root the result is its own block, where it lies in send. */
static p2p_err scatter(frame__call *call, const void *send, const frame__blocks *blocks, const void **result)
{
    if (call->rank != call->root) {
        *result = call->work;
        return frame__receive_block(call, (frame__piece){call->work, call->user_bytes}, call->root);
    }
    *result = frame__block(call, blocks, send, call->rank).at;
    return send_blocks(call, send, blocks);
}

static p2p_err run(frame__call *call, const void *send, const frame__blocks *blocks, void *recv, size_t recv_count)
{
    bool at_root = p2p_rank(call->comm) == call->root;
    const void *result = NULL;
    frame__span reads = at_root ? frame__blocks_span(call, send, blocks) : FRAME_NOTHING;
    call->blocks[0] = at_root ? blocks : NULL;
    if (at_root)
        frame__needs_count(call, blocks->counts, recv_count, "recv_count is not this rank's element of counts");
    p2p_err err = frame__begin(call, reads, (frame__span){recv, recv_count});
    if (err) return err;
    call->only_reads = at_root; /* its own block is copied at the end */
    err = frame__memory(call, 0);
    if (!err) err = scatter(call, send, blocks, &result);
    return frame__end(call, err, result);
}

p2p_err coll_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_scatter",
                        .count = count_per_rank,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root};
    return run(&call, send, &(frame__blocks){.count = count_per_rank}, recv, count_per_rank);
}

p2p_err coll_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[], void *recv,
                      size_t recv_count, enum dtype dtype, int root)
{
    frame__call call = {
        .comm = comm, .operation = "coll_scatterv", .count = FRAME_ANY, .dtype = dtype, .has_root = true, .root = root};
    return run(&call, send, &(frame__blocks){.layout = FRAME_LISTED, .counts = counts, .offsets = offsets}, recv,
               recv_count);
}
