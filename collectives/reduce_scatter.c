/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter round the ring: every block sets out at the rank behind its owner and collects every rank's part on
 * its way round; its owner comes last. Four ranks, each with blocks 0 to 3 of its own; the sums that travel, by block:
 *
 *      rank          0              1              2              3
 *      step 0      3: a             0: b           1: c           2: d          rank r sends block r - step - 1 ...
 *      step 1      2: d a           3: a b         0: b c         1: c d        ... to the right
 *      step 2      1: c d a         2: d a b       3: a b c       0: b c d
 *      end         0: b c d a       1: c d a b     2: d a b c     3: a b c d
 *
 * n - 1 steps. Messages: every rank sends n - 1 blocks to its right-hand neighbour only. Time: (n - 1) (latency + block
 * / bandwidth + combining). What has travelled stands on the left: block q is combined in the order q + 1, q + 2, ...,
 * q (mod n). Patarasuk and Yuan 2009. The same in place, in chunks of any count: ring/reduce_scatter.c. In the v form
 * each block has its own length.
 */
#include "collectives/internal.h"
#include "ring/internal.h"

static p2p_err run(frame__call *call, const void *send, void *recv, size_t recv_count, const frame__blocks *blocks)
{
    call->reorders = true;
    call->blocks[0] = blocks;
    p2p_err err = frame__begin(call, frame__blocks_span(call, send, blocks), (frame__span){recv, recv_count});
    if (err) return err;
    err = frame__memory(call, ring__scratch(call, blocks));
    for (int s = 0; s < call->size - 1 && !err; s++) {
        frame__step step = ring__reduce_step(call, blocks, send, call->work, s);
        if (call->traced) p2p_layer_parts(call->comm, &step.part_out, &step.part_in);
        err = frame__exchange_blocks(call, step.out, step.to, step.in, step.from);
        if (!err) frame__finish_step(call, &step);
    }
    return frame__end(call, err, call->size > 1 ? call->work : frame__block(call, blocks, send, 0).at);
}

p2p_err coll_reduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                            enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_reduce_scatter",
                        .count = count_per_rank,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op};
    return run(&call, send, recv, count_per_rank, &(frame__blocks){.count = count_per_rank});
}

/* The ranks agree on the sum of all counts. */
p2p_err coll_reduce_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[],
                             void *recv, size_t recv_count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm, .operation = "coll_reduce_scatterv", .dtype = dtype, .has_op = true, .op = op};
    frame__add_counts(&call, counts, recv_count, "recv_count is not this rank's element of counts");
    return run(&call, send, recv, recv_count,
               &(frame__blocks){.layout = FRAME_LISTED, .counts = counts, .offsets = offsets});
}
