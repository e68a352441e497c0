/* SPDX-License-Identifier: MIT */
/*
 * Blocks: where each rank's part of a buffer lies. All alike; or chunks (chunks.c); or, for the v forms, by counts and
 * offsets:
 *
 *      counts     3, 0, 2         buffer   . a a a . . c c
 *      offsets    1, 0, 6         element  0 1 2 3 4 5 6 7        span: 8 elements
 */
#include "ring/frame.h"
#include "ring/ring.h"

static int round_the_ring(const frame__call *call, int q)
{
    while (q < 0) q += call->size;
    return q;
}

/* In elements. */
static void range_of(const frame__call *call, const frame__blocks *blocks, int q, size_t *first, size_t *count)
{
    if (blocks->layout == FRAME_CHUNKS) {
        ring_chunk(blocks->count, call->size, q, first, count);
        return;
    }
    bool listed = blocks->layout == FRAME_LISTED;
    *first = listed ? blocks->offsets[q] : blocks->layout == FRAME_SAME ? 0 : (size_t)q * blocks->count;
    *count = listed ? blocks->counts[q] : blocks->count;
}

frame__piece frame__block(const frame__call *call, const frame__blocks *blocks, const void *base, int q)
{
    size_t first, count;
    range_of(call, blocks, round_the_ring(call, q), &first, &count);
    if (!count) return (frame__piece){NULL, 0};
    return (frame__piece){(char *)(uintptr_t)base + first * call->element, count * call->element};
}

size_t frame__block_bytes(const frame__call *call, const frame__blocks *blocks, int q)
{
    size_t first, count;
    range_of(call, blocks, q, &first, &count);
    return count * call->element;
}

size_t frame__longest_block(const frame__call *call, const frame__blocks *blocks)
{
    size_t longest = 0, first, count;
    int different = blocks->layout == FRAME_LISTED ? call->size : 1; /* of others the first is the longest */
    for (int q = 0; q < different; q++) {
        range_of(call, blocks, q, &first, &count);
        if (count > longest) longest = count;
    }
    return longest * call->element;
}

static size_t last_end(const frame__blocks *blocks, int size)
{
    size_t end = 0;
    for (int q = 0; q < size; q++) {
        if (blocks->counts[q] > SIZE_MAX - blocks->offsets[q]) return SIZE_MAX;
        size_t one = blocks->counts[q] ? blocks->offsets[q] + blocks->counts[q] : 0;
        if (one > end) end = one;
    }
    return end;
}

frame__span frame__blocks_span(frame__call *call, const void *start, const frame__blocks *blocks)
{
    size_t size = (size_t)p2p_size(call->comm);
    if (!size) return FRAME_NOTHING;
    if (blocks->layout == FRAME_ALIKE)
        return (frame__span){start, blocks->count > SIZE_MAX / size ? SIZE_MAX : blocks->count * size};
    if (blocks->counts && blocks->offsets) return (frame__span){start, last_end(blocks, (int)size)};
    call->wrong = "counts or offsets is NULL: there is one of each for every rank";
    call->wrong_argument = P2P_ARGUMENT_COUNT;
    return FRAME_NOTHING;
}

void frame__needs_count(frame__call *call, const size_t counts[], size_t own, const char *otherwise)
{
    int rank = p2p_rank(call->comm);
    if (rank < 0 || call->wrong || !counts || counts[rank] == own) return;
    call->wrong = otherwise;
    call->wrong_argument = P2P_ARGUMENT_COUNT;
}

void frame__add_counts(frame__call *call, const size_t counts[], size_t own, const char *otherwise)
{
    for (int q = 0; q < p2p_size(call->comm) && counts; q++) call->count += counts[q];
    frame__needs_count(call, counts, own, otherwise);
}

void frame__needs_apart(frame__call *call, const size_t counts[], const size_t offsets[])
{
    int size = p2p_size(call->comm);
    for (int q = 0; size > 1 && q < size && !call->wrong && counts && offsets; q++) {
        int next = (q + 1) % size;
        bool apart = offsets[q] + counts[q] <= offsets[next] || offsets[next] + counts[next] <= offsets[q];
        if (apart || !counts[q] || !counts[next]) continue;
        call->wrong = "blocks of the receive buffer overlap: block q is counts[q] elements from offsets[q] on";
        call->wrong_argument = P2P_ARGUMENT_COUNT;
        call->advice = "offsets in elements, each behind the end of the block before it";
    }
}

/* ---- Messages whose length both sides know ---- */

static p2p_err check_kind(const frame__call *call, int source)
{
    const char *differ = p2p_layer_kind_differs(call->comm);
    if (!differ) return P2P_OK;
    p2p_layer_advise(call->comm, "the same type on both sides");
    p2p_layer_fail(call->comm, P2P_ERR_MISMATCH, "type_mismatch", P2P_ARGUMENT_NONE,
                   "rank %d sends elements of another type than rank %d receives%s%s", source, call->rank,
                   *differ ? ": " : "", differ);
    p2p_layer_other(call->comm, source);
    return P2P_ERR_MISMATCH;
}

p2p_err frame__check_block(const frame__call *call, p2p_err err, size_t bytes, int source, const p2p_status *status)
{
    if (err != P2P_OK && err != P2P_ERR_TRUNCATE) return err;
    p2p_err other = bytes && (err || status->bytes) ? check_kind(call, source) : P2P_OK;
    if (other || (!err && status->bytes == bytes)) return other;
    const char *units = call->element == 1 ? "bytes" : "elements";
    p2p_layer_advise(call->comm, "the same count on both sides");
    if (err)
        p2p_layer_error(call->comm, P2P_ERR_MISMATCH,
                        "rank %d sends a longer block to rank %d than the %zu %s that rank %d expects", source,
                        call->rank, bytes / call->element, units, call->rank);
    else
        p2p_layer_error(call->comm, P2P_ERR_MISMATCH, "rank %d sends %zu %s to rank %d, which expects %zu", source,
                        status->bytes / call->element, units, call->rank, bytes / call->element);
    p2p_layer_other(call->comm, source);
    return P2P_ERR_MISMATCH;
}

p2p_err frame__receive_block(const frame__call *call, frame__piece in, int source)
{
    p2p_status status;
    p2p_err err = p2p_layer_recv(call->comm, in.at, in.bytes, source, FRAME_TAG, &status);
    return frame__check_block(call, err, in.bytes, source, &status);
}

/* From now on blocks are of the kind that number `at` of the list is of, if there is one. */
static void set_kind(const frame__call *call, int at)
{
    const uint16_t *kinds = p2p_layer_block_kinds(call->comm);
    if (kinds) p2p_layer_send_kind(call->comm, kinds[at]);
}

p2p_err frame__exchange_blocks(const frame__call *call, frame__piece out, int dest, frame__piece in, int source)
{
    p2p_status status;
    set_kind(call, dest);
    p2p_err err = p2p_layer_sendrecv(call->comm, out.at, out.bytes, dest, FRAME_TAG, in.at, in.bytes, source, FRAME_TAG,
                                     &status);
    set_kind(call, call->size + source);
    return frame__check_block(call, err, in.bytes, source, &status);
}

p2p_err frame__end_blocks(frame__call *call, p2p_err err, const frame__blocks *blocks)
{
    if (!err && call->work != call->user) {
        err = p2p_layer_agree(call->comm);
        for (int q = 0; q < call->size && !err; q++) {
            frame__piece block = frame__block(call, blocks, call->user, q);
            p2p_layer_copy(block.at, frame__block(call, blocks, call->work, q).at, block.bytes);
        }
    }
    return frame__end(call, err, NULL);
}

/* ---- For traces: what a message carries. One that is not told of carries the whole buffer. ---- */

p2p_part frame__part(const frame__call *call, const frame__blocks *blocks, int q, bool combined)
{
    size_t first, count;
    int number = round_the_ring(call, q);
    if (!call->traced) return (p2p_part){.chunk = -1};
    range_of(call, blocks, number, &first, &count);
    return (p2p_part){.chunk = number, .offset = first * call->element, .combined = combined};
}

void frame__sends_block(const frame__call *call, const frame__blocks *blocks, int q)
{
    p2p_part part = frame__part(call, blocks, q, false);
    p2p_layer_parts(call->comm, &part, NULL);
}

void frame__receives_block(const frame__call *call, const frame__blocks *blocks, int q)
{
    p2p_part part = frame__part(call, blocks, q, false);
    p2p_layer_parts(call->comm, NULL, &part);
}

void frame__combines_next(const frame__call *call)
{
    p2p_layer_parts(call->comm, NULL, &(p2p_part){.chunk = -1, .combined = true});
}
