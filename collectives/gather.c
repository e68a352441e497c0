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
 * Messages: every rank but the root sends one of its block. Time: (n - 1) (latency + block / bandwidth).
 */
#include "collectives/internal.h"

static p2p_err receive_blocks(frame__call *call, const void *send, const frame__blocks *blocks)
{
    p2p_err err = P2P_OK;
    for (int q = 0; q < call->size && !err; q++) {
        frame__piece block = frame__block(call, blocks, call->work, q);
        if (q == call->rank) {
            p2p_layer_copy(block.at, send, block.bytes);
            continue;
        }
        frame__receives_block(call, blocks, q);
        err = frame__receive_block(call, block, q);
    }
    return err;
}

static p2p_err run(frame__call *call, const void *send, size_t send_count, void *recv, const frame__blocks *blocks)
{
    bool at_root = p2p_rank(call->comm) == call->root;
    frame__span writes = at_root ? frame__blocks_span(call, recv, blocks) : FRAME_NOTHING;
    call->blocks[0] = at_root ? blocks : NULL;
    if (at_root)
        frame__needs_count(call, blocks->counts, send_count, "send_count is not this rank's element of counts");
    p2p_err err = frame__begin(call, (frame__span){send, send_count}, writes);
    if (err) return err;
    if (!at_root)
        return frame__end(call, p2p_layer_send(call->comm, send, send_count * call->element, call->root, FRAME_TAG),
                          NULL);
    err = frame__memory(call, 0);
    if (!err) err = receive_blocks(call, send, blocks);
    return frame__end_blocks(call, err, blocks);
}

p2p_err coll_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_gather",
                        .count = count_per_rank,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root};
    return run(&call, send, count_per_rank, recv, &(frame__blocks){.count = count_per_rank});
}

p2p_err coll_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                     const size_t offsets[], enum dtype dtype, int root)
{
    frame__call call = {
        .comm = comm, .operation = "coll_gatherv", .count = FRAME_ANY, .dtype = dtype, .has_root = true, .root = root};
    return run(&call, send, send_count, recv,
               &(frame__blocks){.layout = FRAME_LISTED, .counts = counts, .offsets = offsets});
}
