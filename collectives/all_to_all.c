/* SPDX-License-Identifier: MIT */
/*
 * All-to-all by pairwise exchange: in step k everyone sends to the rank k further on and receives from the rank k
 * before, so that nobody sends or receives twice in a step. Four ranks; step 0 is a copy:
 *
 *      rank          0            1            2            3
 *      step 1      to 1 from 3  to 2 from 0  to 3 from 1  to 0 from 2
 *      step 2      to 2 from 2  to 3 from 3  to 0 from 0  to 1 from 1
 *      step 3      to 3 from 1  to 0 from 2  to 1 from 3  to 2 from 0
 *
 * n - 1 steps. Messages: everyone sends one of one block to each other rank. Time: (n - 1) (latency + block /
 * bandwidth). Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

typedef struct {
    const void *send;
    coll__blocks out, in;
} exchange;

static void keep_own(coll__call *call, const exchange *what)
{
    coll__copy(coll__block(call, &what->in, call->work, call->rank),
               coll__block(call, &what->out, what->send, call->rank), coll__block_bytes(call, &what->out, call->rank));
}

static p2p_err pairwise(coll__call *call, const exchange *what)
{
    p2p_err err = P2P_OK;
    keep_own(call, what);
    for (int step = 1; step < call->size && !err; step++) {
        int to = (call->rank + step) % call->size, from = (call->rank - step + call->size) % call->size;
        coll__sends_block(call, &what->out, to);
        coll__receives_block(call, &what->in, from, false);
        err = coll__exchange_blocks(
            call, coll__block(call, &what->out, what->send, to), coll__block_bytes(call, &what->out, to), to,
            coll__block(call, &what->in, call->work, from), coll__block_bytes(call, &what->in, from), from);
    }
    return err;
}

static p2p_err run(coll__call *call, const exchange *what, void *recv)
{
    coll__span reads = coll__blocks_span(call, what->send, &what->out);
    coll__span writes = coll__blocks_span(call, recv, &what->in);
    int rank = p2p_rank(call->comm);
    if (rank >= 0 && !call->wrong && what->out.counts && what->out.counts[rank] != what->in.counts[rank]) {
        call->wrong = "this rank sends itself another count than it receives from itself";
        call->wrong_argument = P2P_ARGUMENT_COUNT;
    }
    p2p_err err = coll__begin(call, reads, writes);
    if (err) return err;
    err = coll__memory(call, 0);
    if (!err) err = pairwise(call, what);
    return coll__end_blocks(call, err, &what->in);
}

p2p_err coll_all_to_all(p2p_comm *comm, const void *send, void *recv, size_t count_per_pair, enum dtype dtype)
{
    coll__call call = {.comm = comm, .operation = "coll_all_to_all", .count = count_per_pair, .dtype = dtype};
    coll__blocks blocks = {.each = count_per_pair};
    return run(&call, &(exchange){send, blocks, blocks}, recv);
}

p2p_err coll_all_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[], const size_t send_offsets[],
                         void *recv, const size_t recv_counts[], const size_t recv_offsets[], enum dtype dtype)
{
    coll__call call = {.comm = comm, .operation = "coll_all_to_allv", .count = COLL_ANY, .dtype = dtype};
    exchange what = {send,
                     {.listed = true, .counts = send_counts, .offsets = send_offsets},
                     {.listed = true, .counts = recv_counts, .offsets = recv_offsets}};
    return run(&call, &what, recv);
}
