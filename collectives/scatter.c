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

static p2p_err send_blocks(coll__call *call, const void *send, const coll__blocks *blocks)
{
    for (int q = 0; q < call->size; q++) {
        if (q == call->rank) continue;
        coll__sends_block(call, blocks, q);
        p2p_err err = p2p_layer_send(call->comm, coll__block(call, blocks, send, q), coll__block_bytes(call, blocks, q),
                                     q, COLL_TAG);
        if (err) return err;
    }
    return P2P_OK;
}

/* At the root the result is its own block, where it lies in send. */
static p2p_err scatter(coll__call *call, const void *send, const coll__blocks *blocks, const void **result)
{
    if (call->rank != call->root) {
        *result = call->work;
        return coll__receive_block(call, call->work, call->user_bytes, call->root);
    }
    *result = coll__block(call, blocks, send, call->rank);
    return send_blocks(call, send, blocks);
}

static p2p_err run(coll__call *call, const void *send, const coll__blocks *blocks, void *recv, size_t recv_count)
{
    bool at_root = p2p_rank(call->comm) == call->root;
    const void *result = NULL;
    coll__span reads = at_root ? coll__blocks_span(call, send, blocks) : COLL_NOTHING;
    if (at_root && blocks->counts && recv_count != blocks->counts[call->root]) {
        call->wrong = "recv_count is not this rank's element of counts";
        call->wrong_argument = P2P_ARGUMENT_COUNT;
    }
    p2p_err err = coll__begin(call, reads, (coll__span){recv, recv_count});
    if (err) return err;
    call->only_reads = at_root; /* its own block is copied at the end */
    err = coll__memory(call, 0);
    if (!err) err = scatter(call, send, blocks, &result);
    return coll__end(call, err, result);
}

p2p_err coll_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root)
{
    coll__call call = {.comm = comm,
                       .operation = "coll_scatter",
                       .count = count_per_rank,
                       .dtype = dtype,
                       .has_root = true,
                       .root = root};
    return run(&call, send, &(coll__blocks){.each = count_per_rank}, recv, count_per_rank);
}

p2p_err coll_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[], void *recv,
                      size_t recv_count, enum dtype dtype, int root)
{
    coll__call call = {
        .comm = comm, .operation = "coll_scatterv", .count = COLL_ANY, .dtype = dtype, .has_root = true, .root = root};
    return run(&call, send, &(coll__blocks){.listed = true, .counts = counts, .offsets = offsets}, recv, recv_count);
}
