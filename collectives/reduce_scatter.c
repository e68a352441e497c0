/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter round the ring: every block sets out at the rank behind its owner and collects everyone's part on its
 * way round; its owner comes last. Four ranks, each with blocks 0 to 3 of its own; the sums that travel, by block:
 *
 *      rank          0              1              2              3
 *      step 0      3: a             0: b           1: c           2: d          rank r sends block r - step - 1 ...
 *      step 1      2: d a           3: a b         0: b c         1: c d        ... to the right
 *      step 2      1: c d a         2: d a b       3: a b c       0: b c d
 *      end         0: b c d a       1: c d a b     2: d a b c     3: a b c d
 *
 * n - 1 steps. Messages: everyone sends n - 1 blocks to its right-hand neighbour only. Time: (n - 1) (latency + block /
 * bandwidth + combining). What has travelled stands on the left: block q is combined in the order q + 1, q + 2, ..., q
 * (mod n). Patarasuk and Yuan 2009. The same in place, in chunks of any count: ring/reduce_scatter.c.
 * In the v form each block has its own length.
 */
#include "collectives/internal.h"

static int number_of(const coll__call *call, int step)
{
    return ((call->rank - step - 1) % call->size + call->size) % call->size;
}

static size_t longest_of(const coll__call *call, const coll__blocks *blocks)
{
    size_t longest = 0;
    for (int q = 0; q < call->size; q++)
        if (coll__block_bytes(call, blocks, q) > longest) longest = coll__block_bytes(call, blocks, q);
    return longest;
}

/* Two buffers of the longest block take turns: one travels on while the other one is filled. */
static p2p_err travel(coll__call *call, const void *send, const coll__blocks *blocks, size_t longest)
{
    int rank = call->rank, size = call->size, left = (rank - 1 + size) % size, right = (rank + 1) % size;
    char *arriving = call->scratch, *spare = call->scratch + longest;
    const char *travelling = coll__block(call, blocks, send, number_of(call, 0));
    for (int step = 0; step < size - 1; step++) {
        int out = number_of(call, step), in = number_of(call, step + 1);
        size_t bytes = coll__block_bytes(call, blocks, in);
        coll__sends_block(call, blocks, out);
        coll__receives_block(call, blocks, in, true);
        p2p_err err = coll__exchange_blocks(call, travelling, coll__block_bytes(call, blocks, out), right, arriving,
                                            bytes, left);
        if (err) return err;
        bool last = step == size - 2;
        coll__combine_some(call, last ? call->work : arriving, arriving, coll__block(call, blocks, send, in),
                           bytes / call->element);
        travelling = arriving;
        arriving = spare;
        spare = (char *)(uintptr_t)travelling;
    }
    if (size > 1 && call->op == OP_MEAN) dtype_scale(call->work, call->user_bytes / call->element, call->dtype, size);
    return P2P_OK;
}

static p2p_err run(coll__call *call, const void *send, void *recv, size_t recv_count, const coll__blocks *blocks)
{
    coll__needs_commuting(call);
    p2p_err err = coll__begin(call, coll__blocks_span(call, send, blocks), (coll__span){recv, recv_count});
    if (err) return err;
    size_t longest = longest_of(call, blocks);
    err = coll__memory(call, 2 * longest);
    if (!err) err = travel(call, send, blocks, longest);
    return coll__end(call, err, call->size > 1 ? call->work : coll__block(call, blocks, send, 0));
}

p2p_err coll_reduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                            enum op op)
{
    coll__call call = {.comm = comm,
                       .operation = "coll_reduce_scatter",
                       .count = count_per_rank,
                       .dtype = dtype,
                       .has_op = true,
                       .op = op};
    return run(&call, send, recv, count_per_rank, &(coll__blocks){.each = count_per_rank});
}

/* The ranks agree on the sum of all counts. */
p2p_err coll_reduce_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[],
                             void *recv, size_t recv_count, enum dtype dtype, enum op op)
{
    coll__call call = {.comm = comm, .operation = "coll_reduce_scatterv", .dtype = dtype, .has_op = true, .op = op};
    coll__add_counts(&call, counts, recv_count, "recv_count is not this rank's element of counts");
    return run(&call, send, recv, recv_count, &(coll__blocks){.listed = true, .counts = counts, .offsets = offsets});
}
