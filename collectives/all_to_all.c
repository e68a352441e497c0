/* SPDX-License-Identifier: MIT */
/*
 * All-to-all by pairwise exchange: in step k every rank sends to the rank k further on and receives from the rank k
 * before, so that no rank sends or receives twice in a step. Four ranks; step 0 is a copy:
 *
 *      rank          0            1            2            3
 *      step 1      to 1 from 3  to 2 from 0  to 3 from 1  to 0 from 2
 *      step 2      to 2 from 2  to 3 from 3  to 0 from 0  to 1 from 1
 *      step 3      to 3 from 1  to 0 from 2  to 1 from 3  to 2 from 0
 *
 * n - 1 steps. Messages: every rank sends one of one block to each other rank. Time: (n - 1) (latency + block /
 * bandwidth). Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

typedef struct {
    const void *send;
    frame__blocks out, in;
} exchange;

static p2p_err pairwise(frame__call *call, const exchange *what)
{
    frame__piece own = frame__block(call, &what->out, what->send, call->rank);
    p2p_layer_copy(frame__block(call, &what->in, call->work, call->rank).at, own.at, own.bytes);
    p2p_err err = P2P_OK;
    for (int step = 1; step < call->size && !err; step++) {
        int to = (call->rank + step) % call->size, from = (call->rank - step + call->size) % call->size;
        frame__sends_block(call, &what->out, to);
        frame__receives_block(call, &what->in, from);
        err = frame__exchange_blocks(call, frame__block(call, &what->out, what->send, to), to,
                                     frame__block(call, &what->in, call->work, from), from);
    }
    return err;
}

static p2p_err run(frame__call *call, const exchange *what, void *recv)
{
    frame__span reads = frame__blocks_span(call, what->send, &what->out);
    frame__span writes = frame__blocks_span(call, recv, &what->in);
    int rank = p2p_rank(call->comm);
    call->blocks[0] = &what->out;
    call->blocks[1] = &what->in;
    if (rank >= 0 && what->in.counts)
        frame__needs_count(call, what->out.counts, what->in.counts[rank],
                           "this rank sends itself another count than it receives from itself");
    p2p_err err = frame__begin(call, reads, writes);
    if (err) return err;
    err = frame__memory(call, 0);
    if (!err) err = pairwise(call, what);
    return frame__end_blocks(call, err, &what->in);
}

p2p_err coll_all_to_all(p2p_comm *comm, const void *send, void *recv, size_t count_per_pair, enum dtype dtype)
{
    frame__call call = {.comm = comm, .operation = "coll_all_to_all", .count = count_per_pair, .dtype = dtype};
    frame__blocks blocks = {.count = count_per_pair};
    return run(&call, &(exchange){send, blocks, blocks}, recv);
}

p2p_err coll_all_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[], const size_t send_offsets[],
                         void *recv, const size_t recv_counts[], const size_t recv_offsets[], enum dtype dtype)
{
    frame__call call = {.comm = comm, .operation = "coll_all_to_allv", .count = FRAME_ANY, .dtype = dtype};
    exchange what = {send,
                     {.layout = FRAME_LISTED, .counts = send_counts, .offsets = send_offsets},
                     {.layout = FRAME_LISTED, .counts = recv_counts, .offsets = recv_offsets}};
    return run(&call, &what, recv);
}
