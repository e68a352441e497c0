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
 */
#include "collectives/internal.h"

static int number_of(const coll__call *call, int step)
{
    return ((call->rank - step - 1) % call->size + call->size) % call->size;
}

static const char *block(const coll__call *call, const void *send, int step)
{
    return call->bytes ? (const char *)send + (size_t)number_of(call, step) * call->bytes : NULL;
}

/* Two buffers take turns: one travels on while the other one is filled. */
static p2p_err travel(coll__call *call, const void *send)
{
    int rank = call->rank, size = call->size, left = (rank - 1 + size) % size, right = (rank + 1) % size;
    char *arriving = call->scratch, *spare = call->scratch + call->bytes;
    const char *travelling = block(call, send, 0);
    coll__blocks blocks = {.each = call->count};
    for (int step = 0; step < size - 1; step++) {
        coll__sends_block(call, &blocks, number_of(call, step));
        coll__receives_block(call, &blocks, number_of(call, step + 1), true);
        p2p_err err = p2p_layer_sendrecv(call->comm, travelling, call->bytes, right, COLL_TAG, arriving, call->bytes,
                                         left, COLL_TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        bool last = step == size - 2;
        coll__combine(call, last ? call->work : arriving, arriving, block(call, send, step + 1));
        travelling = arriving;
        arriving = spare;
        spare = (char *)(uintptr_t)travelling;
    }
    if (size > 1) coll__finish_mean(call, call->work);
    return P2P_OK;
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
    p2p_err err = coll__begin(&call, coll__blocks_span(&call, send, &(coll__blocks){.each = count_per_rank}),
                              (coll__span){recv, count_per_rank});
    if (err) return err;
    err = coll__memory(&call, 2 * call.bytes);
    if (!err) err = travel(&call, send);
    return coll__end(&call, err, call.size > 1 ? call.work : send);
}
