/* SPDX-License-Identifier: MIT */
/*
 * Gather: the root receives every rank's block: a scatter backwards. Root 1 of four ranks:
 *
 *      rank 0: A ----------------------.
 *      rank 1: B -------- copied ------|---.
 *      rank 2: C ----------------------|---|---.
 *      rank 3: D ----------------------|---|---|---.
 *      recv at rank 1                | A | B | C | D |
 *
 * n - 1 steps, one after the other into the root's port; each byte crosses once, straight to where it belongs.
 * Messages: everyone but the root sends one of its block. Time: (n - 1) (latency + block / bandwidth).
 */
#include "collectives/internal.h"

static p2p_err receive_blocks(coll__call *call, const void *send, const coll__blocks *blocks)
{
    p2p_err err = P2P_OK;
    for (int q = 0; q < call->size && !err; q++) {
        char *block = coll__block(call, blocks, call->work, q);
        size_t bytes = coll__block_bytes(call, blocks, q);
        if (q == call->rank) {
            coll__copy(block, send, bytes);
            continue;
        }
        coll__receives_block(call, blocks, q, false);
        err = coll__receive_block(call, block, bytes, q);
    }
    return err;
}

static p2p_err run(coll__call *call, const void *send, size_t send_count, void *recv, const coll__blocks *blocks)
{
    bool at_root = p2p_rank(call->comm) == call->root;
    coll__span writes = at_root ? coll__blocks_span(call, recv, blocks) : COLL_NOTHING;
    if (at_root && blocks->counts && send_count != blocks->counts[call->root]) {
        call->wrong = "send_count is not this rank's element of counts";
        call->wrong_argument = P2P_ARGUMENT_COUNT;
    }
    p2p_err err = coll__begin(call, (coll__span){send, send_count}, writes);
    if (err) return err;
    if (!at_root)
        return coll__end(call, p2p_layer_send(call->comm, send, send_count * call->element, call->root, COLL_TAG),
                         NULL);
    err = coll__memory(call, 0);
    if (!err) err = receive_blocks(call, send, blocks);
    return coll__end_blocks(call, err, blocks);
}

p2p_err coll_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root)
{
    coll__call call = {.comm = comm,
                       .operation = "coll_gather",
                       .count = count_per_rank,
                       .dtype = dtype,
                       .has_root = true,
                       .root = root};
    return run(&call, send, count_per_rank, recv, &(coll__blocks){.each = count_per_rank});
}

p2p_err coll_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                     const size_t offsets[], enum dtype dtype, int root)
{
    coll__call call = {
        .comm = comm, .operation = "coll_gatherv", .count = COLL_ANY, .dtype = dtype, .has_root = true, .root = root};
    return run(&call, send, send_count, recv, &(coll__blocks){.listed = true, .counts = counts, .offsets = offsets});
}
