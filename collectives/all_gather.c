/* SPDX-License-Identifier: MIT */
/*
 * All-gather round the ring: in each step everyone passes on to the right the block that came last from the left; its
 * own one first. Four ranks, what each has received after each step:
 *
 *      rank          0          1          2          3
 *      step 0      A . . D    A B . .    . B C .    . . C D      rank r sends block r - step, receives r - step - 1
 *      step 1      A . C D    A B . D    A B C .    . B C D
 *      step 2      A B C D    A B C D    A B C D    A B C D
 *
 * n - 1 steps. Messages: everyone sends n - 1 blocks, (n - 1)/n of the result, to its right-hand neighbour only. Time:
 * (n - 1) (latency + block / bandwidth); with blocks of different length, a step takes as long as the longest one.
 * Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

static p2p_err pass_round(coll__call *call, const coll__blocks *blocks)
{
    int rank = call->rank, size = call->size, left = (rank - 1 + size) % size, right = (rank + 1) % size;
    p2p_err err = P2P_OK;
    for (int step = 0; step < size - 1 && !err; step++) {
        int out = (rank - step + size) % size, in = (rank - step - 1 + size) % size;
        coll__sends_block(call, blocks, out);
        coll__receives_block(call, blocks, in, false);
        err = coll__exchange_blocks(
            call, coll__block(call, blocks, call->work, out), coll__block_bytes(call, blocks, out), right,
            coll__block(call, blocks, call->work, in), coll__block_bytes(call, blocks, in), left);
    }
    return err;
}

static p2p_err run(coll__call *call, const void *send, size_t send_count, void *recv, const coll__blocks *blocks)
{
    coll__span writes = coll__blocks_span(call, recv, blocks);
    p2p_err err = coll__begin(call, (coll__span){send, send_count}, writes);
    if (err) return err;
    err = coll__memory(call, 0);
    if (!err) coll__copy(coll__block(call, blocks, call->work, call->rank), send, send_count * call->element);
    if (!err) err = pass_round(call, blocks);
    return coll__end_blocks(call, err, blocks);
}

p2p_err coll_all_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype)
{
    coll__call call = {.comm = comm, .operation = "coll_all_gather", .count = count_per_rank, .dtype = dtype};
    return run(&call, send, count_per_rank, recv, &(coll__blocks){.each = count_per_rank});
}

/* The ranks agree on the sum of all counts. */
p2p_err coll_all_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                         const size_t offsets[], enum dtype dtype)
{
    coll__call call = {.comm = comm, .operation = "coll_all_gatherv", .dtype = dtype};
    coll__add_counts(&call, counts, send_count, "send_count is not this rank's element of counts");
    return run(&call, send, send_count, recv, &(coll__blocks){.listed = true, .counts = counts, .offsets = offsets});
}
