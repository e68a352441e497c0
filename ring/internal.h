/* SPDX-License-Identifier: MIT */
/*
 * internal: what the files of the ring share: one call, its chunks, and which chunk goes where in which step.
 *
 *      frame.c            check the arguments and begin; memory; end
 *      chunks.c           prefix sums
 *      reduce_scatter.c   the first half, and one rank's part in a step
 *      all_gather.c       the second half
 *      all_reduce.c       both; the picture
 *      iall_reduce.c      both, as a state machine
 */
#ifndef PAIRWISE_RING_INTERNAL_H
#define PAIRWISE_RING_INTERNAL_H

#ifndef P2P_NO_LINES
#define P2P_NO_LINES 1
#endif

#include "p2p/p2p_layer.h"
#include "ring/ring.h"

enum { RING_TAG = 0 }; /* of blocking calls; the non-blocking ones have one each */

/* One call. */
typedef struct {
    p2p_comm *comm;
    const char *operation;
    char *buf;
    size_t count;
    enum dtype dtype;
    bool combines;
    enum op op;
    const char *wrong; /* what the caller of ring__begin has found wrong, or NULL */

    /* From ring__begin: */
    int rank, size, left, right;
    size_t element; /* bytes of one */
    /* From ring__memory: two buffers for what travels, each of the longest chunk */
    void *memory;
    char *travelling, *arriving;
} ring_call;

/* Bytes somewhere. */
typedef struct {
    char *at;
    size_t bytes;
} ring_piece;

/* Check everything that can be checked here, and begin. On error nothing has begun. */
p2p_err ring__begin(ring_call *ring);
p2p_err ring__memory(ring_call *ring);
p2p_err ring__end(ring_call *ring, p2p_err err);

/* Chunk c, counted round the ring: -1 is the last one. */
ring_piece ring__chunk(const ring_call *ring, int c);

/* Step 0 to n - 2 of the first half: what this rank sends, where it receives, and what it does when both are done. The
 * last step writes to the user's buffer. */
ring_piece ring__reduce_out(const ring_call *ring, int step);
ring_piece ring__reduce_in(const ring_call *ring, int step);
void ring__reduce_done(ring_call *ring, int step);

/* The same for the second half. */
ring_piece ring__gather_out(const ring_call *ring, int step);
ring_piece ring__gather_in(const ring_call *ring, int step);

/* For traces: what the two messages of a step carry: by chunks, counted round the ring, or by the step. */
void ring__parts(const ring_call *ring, int out, int in, bool combined);
void ring__reduce_parts(const ring_call *ring, int step);
void ring__gather_parts(const ring_call *ring, int step);

/* The halves, between begin and end. */
p2p_err ring__reduce_scatter(ring_call *ring);
p2p_err ring__all_gather(ring_call *ring);

#endif
