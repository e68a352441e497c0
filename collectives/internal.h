/* SPDX-License-Identifier: MIT */
/* internal: what the files of this folder share, beside the frame that every algorithm stands in (ring/frame.h). */
#ifndef PAIRWISE_COLLECTIVES_INTERNAL_H
#define PAIRWISE_COLLECTIVES_INTERNAL_H

#include "ring/frame.h"

#include "collectives/collectives.h"

/* ---- Algorithms that others are made of. `data` is read at root and written elsewhere. ---- */

p2p_err coll__naive_broadcast(frame__call *call, void *data, int root);
p2p_err coll__tree_broadcast(frame__call *call, void *data, int root);

/* In the binomial tree, of a rank counted from the root: its lowest 1 bit, or, for the root, the first bit beyond all
 * ranks. Its parent is the rank without that bit, its children have one more bit below it. */
int coll__tree_lowest_bit(int relative, int size);

/* Combine every rank's `own` at root: *result points to it there, at `own` with one rank and at `work` with more; it is
 * NULL elsewhere. `work` may be `own`, which is then written to, on any rank. call->scratch has room for call->bytes;
 * at the naive root for what coll__naive_reduce_scratch says. */
p2p_err coll__naive_reduce(frame__call *call, const void *own, void *work, int root, const void **result);
size_t coll__naive_reduce_scratch(const frame__call *call);
p2p_err coll__tree_reduce(frame__call *call, const void *own, void *work, int root, const void **result);

/* Combine what `size` ranks have, *so_far, on each of them, in the order in which they are listed; this one is number `own`.
 * ranks: NULL for all. *so_far points to it then, at call->work where more than one rank has combined. call->scratch has room
 * for call->bytes. A mean is divided by the ranks of the whole communicator. */
p2p_err coll__recursive_doubling(frame__call *call, const int *ranks, int size, int own, const void **so_far);

/* The whole operation, for a call that has its name, and has not begun. */
p2p_err coll__one_shot_all_reduce(frame__call *call, void *buf);
p2p_err coll__two_shot_all_reduce(frame__call *call, void *buf);

/* Bytes of a slice in a segment of so many bytes, of n ranks; room for an element at least. */
size_t coll__two_shot_slot(size_t segment, int n);

#endif
