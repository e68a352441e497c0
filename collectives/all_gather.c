/* SPDX-License-Identifier: MIT */
/*
 * All-gather round the ring: in each step every rank passes on to the right the block that came last from the left; its
 * own one first. Four ranks, what each has received after each step:
 *
 *      rank          0          1          2          3
 *      step 0      A . . D    A B . .    . B C .    . . C D      rank r sends block r - step, receives r - step - 1
 *      step 1      A . C D    A B . D    A B C .    . B C D
 *      step 2      A B C D    A B C D    A B C D    A B C D
 *
 * n - 1 steps. Messages: every rank sends n - 1 blocks, (n - 1)/n of the result, to its right-hand neighbour only.
 * Time: (n - 1) (latency + block / bandwidth); with blocks of different length, a step takes as long as the longest
 * one. Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"
#include "ring/internal.h"

static p2p_err run(frame__call *call, const void *send, size_t send_count, void *recv, const frame__blocks *blocks)
{
    frame__span writes = frame__blocks_span(call, recv, blocks);
    call->blocks[0] = blocks;
    p2p_err err = frame__begin(call, (frame__span){send, send_count}, writes);
    if (err) return err;
    err = frame__memory(call, 0);
    if (!err) p2p_layer_copy(frame__block(call, blocks, call->work, call->rank).at, send, send_count * call->element);
    for (int s = 0; s < call->size - 1 && !err; s++) {
        frame__step step = ring__gather_step(call, blocks, call->work, s);
        if (call->traced) p2p_layer_parts(call->comm, &step.part_out, &step.part_in);
        err = frame__exchange_blocks(call, step.out, step.to, step.in, step.from);
    }
    return frame__end_blocks(call, err, blocks);
}

p2p_err coll_all_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype)
{
    frame__call call = {.comm = comm, .operation = "coll_all_gather", .count = count_per_rank, .dtype = dtype};
    return run(&call, send, count_per_rank, recv, &(frame__blocks){.count = count_per_rank});
}

/* The ranks agree on the sum of all counts. */
p2p_err coll_all_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                         const size_t offsets[], enum dtype dtype)
{
    frame__call call = {.comm = comm, .operation = "coll_all_gatherv", .dtype = dtype};
    frame__add_counts(&call, counts, send_count, "send_count is not this rank's element of counts");
    frame__needs_apart(&call, counts, offsets);
    return run(&call, send, send_count, recv,
               &(frame__blocks){.layout = FRAME_LISTED, .counts = counts, .offsets = offsets});
}
