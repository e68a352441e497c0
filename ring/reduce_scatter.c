/* SPDX-License-Identifier: MIT */
/*
 * The first half: every chunk sets out at the rank behind its owner and travels once round the ring; each rank adds its
 * own part and sends the sum on. It ends at its owner, complete. The table is in all_reduce.c.
 *
 *      step s:   rank r sends chunk r - s - 1 to the right, and receives chunk r - s - 2 from the left
 *
 *                  from the left            own buffer (only read)
 *                  chunk c, so far    +     chunk c         =  chunk c, one rank more  ----> to the right in step s + 1
 *
 * The sums travel in memory of their own, so that the user's buffer is read only, until the last step writes this
 * rank's chunk. By then something of every rank has come round: agreement costs nothing.
 *
 * n - 1 steps. Messages: n - 1 of a chunk to the right, (n - 1)/n of the buffer.
 */
#include "ring/internal.h"

ring_piece ring__reduce_out(const ring_call *ring, int step)
{
    ring_piece own = ring__chunk(ring, ring->rank - step - 1);
    return step == 0 ? own : (ring_piece){ring->travelling, own.bytes};
}

ring_piece ring__reduce_in(const ring_call *ring, int step)
{
    return (ring_piece){ring->arriving, ring__chunk(ring, ring->rank - step - 2).bytes};
}

void ring__reduce_parts(const ring_call *ring, int step)
{
    ring__parts(ring, ring->rank - step - 1, ring->rank - step - 2, true);
}

/* What has arrived comes from further left: it stands on the left. The two buffers change places. */
void ring__reduce_done(ring_call *ring, int step)
{
    ring_piece own = ring__chunk(ring, ring->rank - step - 2);
    size_t count = own.bytes / ring->element;
    bool last = step == ring->size - 2;
    void *sum = last ? own.at : ring->arriving;
    dtype_combine(sum, ring->arriving, own.at, count, ring->dtype, ring->op);
    p2p_layer_compute(ring->comm, own.bytes);
    if (last && ring->op == OP_MEAN) dtype_scale(sum, count, ring->dtype, ring->size);

    char *summed = ring->arriving;
    ring->arriving = ring->travelling;
    ring->travelling = summed;
}

p2p_err ring__reduce_scatter(ring_call *ring)
{
    for (int step = 0; step < ring->size - 1; step++) {
        ring_piece out = ring__reduce_out(ring, step), in = ring__reduce_in(ring, step);
        ring__reduce_parts(ring, step);
        p2p_err err = p2p_layer_sendrecv(ring->comm, out.at, out.bytes, ring->right, RING_TAG, in.at, in.bytes,
                                         ring->left, RING_TAG, P2P_STATUS_IGNORE);
        if (!err && step == ring->size - 2) err = p2p_layer_agree(ring->comm);
        if (err) return err;
        ring__reduce_done(ring, step);
    }
    return P2P_OK;
}

p2p_err ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, size_t *first,
                            size_t *length)
{
    ring_call ring = {.comm = comm,
                      .operation = "ring_reduce_scatter",
                      .buf = buf,
                      .count = count,
                      .dtype = dtype,
                      .combines = true,
                      .op = op};
    if (!first || !length) ring.wrong = "there is nowhere to put first and length: one of them is NULL";
    p2p_err err = ring__begin(&ring);
    if (err) return err;
    err = ring__memory(&ring);
    if (!err) err = ring__reduce_scatter(&ring);
    err = ring__end(&ring, err);
    if (!err) ring_chunk(count, ring.size, ring.rank, first, length);
    return err;
}
