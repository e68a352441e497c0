/* SPDX-License-Identifier: MIT */
/* internal: the steps of the ring, which chunk goes where; each in the file of its half, with its table. */
#ifndef PAIRWISE_RING_INTERNAL_H
#define PAIRWISE_RING_INTERNAL_H

#include "ring/schedule.h"

#include "ring/ring.h"

/* Step s of the first half, from 0 to n - 2. `own` is the buffer whose blocks are read. call->scratch has two blocks of
 * the longest; the last step writes the sum of this rank's block to `result`. */
frame__step ring__reduce_step(const frame__call *call, const frame__blocks *blocks, const void *own, void *result,
                              int s);

/* Step s of the second half, in place. */
frame__step ring__gather_step(const frame__call *call, const frame__blocks *blocks, void *base, int s);

/* The halves of an all-reduce, between begin and end; in the caller's buffer, in chunks. */
p2p_err ring__reduce_scatter(const frame__call *call);
p2p_err ring__all_gather(const frame__call *call, char *base);

/* The whole of a non-blocking all-reduce: comm, operation, algorithm, count, dtype, op, request are set. */
p2p_err ring__iall_reduce(frame__call *call, void *buf);

/* Bytes of the two blocks. */
size_t ring__scratch(const frame__call *call, const frame__blocks *blocks);

#endif
