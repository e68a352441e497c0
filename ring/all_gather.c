/* SPDX-License-Identifier: MIT */
/*
 * The second half: every complete chunk travels once round the ring, from its owner, and everyone keeps a copy. The
 * table is in all_reduce.c.
 *
 *      step s:   rank r sends chunk r - s to the right, and receives chunk r - s - 1 from the left
 *
 * So a rank sends in each step what it has received in the step before. n - 1 steps. Messages: n - 1 of a chunk to the
 * right, (n - 1)/n of the buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "ring/internal.h"

enum { SHORT = 64 * 1024 }; /* bytes */

ring_piece ring__gather_out(const ring_call *ring, int step)
{
    return ring__chunk(ring, ring->rank - step);
}

ring_piece ring__gather_in(const ring_call *ring, int step)
{
    return ring__chunk(ring, ring->rank - step - 1);
}

void ring__gather_parts(const ring_call *ring, int step)
{
    ring__parts(ring, ring->rank - step, ring->rank - step - 1, false);
}

p2p_err ring__all_gather(ring_call *ring)
{
    for (int step = 0; step < ring->size - 1; step++) {
        ring_piece out = ring__gather_out(ring, step), in = ring__gather_in(ring, step);
        ring__gather_parts(ring, step);
        p2p_err err = p2p_layer_sendrecv(ring->comm, out.at, out.bytes, ring->right, RING_TAG, in.at, in.bytes,
                                         ring->left, RING_TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}

/* What arrives is written straight to where it belongs, so the ranks agree first. */
static p2p_err gather_in_place(ring_call *ring)
{
    p2p_err err = p2p_layer_agree(ring->comm);
    return err ? err : ring__all_gather(ring);
}

/* For a short buffer, waiting first would cost as much as the messages: gather elsewhere, agree, and copy. */
static p2p_err gather_beside(ring_call *ring, size_t bytes)
{
    char *user = ring->buf;
    ring_piece own = ring__chunk(ring, ring->rank);
    ring->buf = ring->memory = malloc(bytes);
    if (!ring->buf) return p2p_layer_error(ring->comm, P2P_ERR_NOMEM, "no memory for %zu bytes", bytes);
    if (own.bytes) memcpy(ring__chunk(ring, ring->rank).at, own.at, own.bytes);
    p2p_err err = ring__all_gather(ring);
    if (!err) err = p2p_layer_agree(ring->comm);
    if (!err) memcpy(user, ring->buf, bytes);
    return err;
}

p2p_err ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    ring_call ring = {.comm = comm, .operation = "ring_all_gather", .buf = buf, .count = count, .dtype = dtype};
    p2p_err err = ring__begin(&ring);
    if (err) return err;
    size_t bytes = count * ring.element;
    err = bytes && bytes <= SHORT ? gather_beside(&ring, bytes) : gather_in_place(&ring);
    return ring__end(&ring, err);
}
