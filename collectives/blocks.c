/* SPDX-License-Identifier: MIT */
/*
 * Blocks: where each rank's part of a buffer lies. All alike, or, for the v forms, by counts and offsets:
 *
 *      counts     3, 0, 2         buffer   . a a a . . c c
 *      offsets    1, 0, 6         element  0 1 2 3 4 5 6 7        span: 8 elements
 */
#include "collectives/internal.h"

size_t coll__block_bytes(const coll__call *call, const coll__blocks *blocks, int q)
{
    return (blocks->listed ? blocks->counts[q] : blocks->each) * call->element;
}

char *coll__block(const coll__call *call, const coll__blocks *blocks, const void *base, int q)
{
    if (!coll__block_bytes(call, blocks, q)) return NULL;
    size_t first = blocks->listed ? blocks->offsets[q] : (size_t)q * blocks->each;
    return (char *)(uintptr_t)base + first * call->element;
}

static size_t last_end(const coll__blocks *blocks, int size)
{
    size_t end = 0;
    for (int q = 0; q < size; q++) {
        if (blocks->counts[q] > SIZE_MAX - blocks->offsets[q]) return SIZE_MAX;
        size_t one = blocks->counts[q] ? blocks->offsets[q] + blocks->counts[q] : 0;
        if (one > end) end = one;
    }
    return end;
}

coll__span coll__blocks_span(coll__call *call, const void *start, const coll__blocks *blocks)
{
    int size = p2p_size(call->comm);
    if (!size) return COLL_NOTHING;
    if (!blocks->listed) return (coll__span){start, coll__times(blocks->each, size)};
    if (blocks->counts && blocks->offsets) return (coll__span){start, last_end(blocks, size)};
    call->wrong = "counts or offsets is NULL: there is one of each for every rank";
    call->wrong_argument = P2P_ARGUMENT_COUNT;
    return COLL_NOTHING;
}

void coll__add_counts(coll__call *call, const size_t counts[], size_t own, const char *otherwise)
{
    int rank = p2p_rank(call->comm);
    for (int q = 0; q < p2p_size(call->comm) && counts; q++) call->count += counts[q];
    if (rank < 0 || !counts || counts[rank] == own) return;
    call->wrong = otherwise;
    call->wrong_argument = P2P_ARGUMENT_COUNT;
}

/* ---- Messages of a length that both sides must have said ---- */

static p2p_err check_length(const coll__call *call, p2p_err err, size_t bytes, int source, const p2p_status *status)
{
    if (!err && status->bytes == bytes) return P2P_OK;
    if (err != P2P_OK && err != P2P_ERR_TRUNCATE) return err;
    if (err)
        p2p_layer_error(call->comm, P2P_ERR_MISMATCH,
                        "rank %d sends a longer block to rank %d than the %zu elements that rank %d expects\n"
                        "  try: the same count on both sides",
                        source, call->rank, bytes / call->element, call->rank);
    else
        p2p_layer_error(call->comm, P2P_ERR_MISMATCH,
                        "rank %d sends %zu elements to rank %d, which expects %zu\n  try: the same count on both sides",
                        source, status->bytes / call->element, call->rank, bytes / call->element);
    p2p_layer_other(call->comm, source);
    return P2P_ERR_MISMATCH;
}

p2p_err coll__receive_block(coll__call *call, void *buf, size_t bytes, int source)
{
    p2p_status status;
    p2p_err err = p2p_layer_recv(call->comm, buf, bytes, source, COLL_TAG, &status);
    return check_length(call, err, bytes, source, &status);
}

p2p_err coll__exchange_blocks(coll__call *call, const void *send, size_t send_bytes, int dest, void *recv,
                              size_t recv_bytes, int source)
{
    p2p_status status;
    p2p_err err = p2p_layer_sendrecv(call->comm, send, send_bytes, dest, COLL_TAG, recv, recv_bytes, source, COLL_TAG,
                                     &status);
    return check_length(call, err, recv_bytes, source, &status);
}

p2p_err coll__end_blocks(coll__call *call, p2p_err err, const coll__blocks *blocks)
{
    if (!err && call->work != call->user) {
        err = p2p_layer_agree(call->comm);
        for (int q = 0; q < call->size && !err; q++) {
            coll__copy(coll__block(call, blocks, call->user, q), coll__block(call, blocks, call->work, q),
                       coll__block_bytes(call, blocks, q));
        }
    }
    return coll__end(call, err, NULL);
}
