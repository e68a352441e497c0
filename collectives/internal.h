/* SPDX-License-Identifier: MIT */
/* internal: what the files of this folder share, beside the frame that every algorithm stands in (ring/frame.h). */
#ifndef PAIRWISE_COLLECTIVES_INTERNAL_H
#define PAIRWISE_COLLECTIVES_INTERNAL_H

#include "ring/frame.h"

#include "collectives/collectives.h"

/* ---- Those that take part, in places 0, 1, ...; a tree has its root in place 0 ---- */

typedef struct {
    const int *ranks; /* in these places; NULL: all of the communicator, from rank `first` on and round */
    int first, size, own;
} coll__party;

static inline coll__party coll__all_from(const frame__call *call, int first)
{
    return (coll__party){NULL, first, call->size, (call->rank - first + call->size) % call->size};
}

static inline int coll__rank_at(const coll__party *p, int place)
{
    return p->ranks ? p->ranks[place] : (p->first + place) % p->size;
}

/* ---- Algorithms that others are made of. `data` is read at root and written elsewhere. ---- */

p2p_err coll__naive_broadcast(frame__call *call, void *data, int root);
p2p_err coll__tree_broadcast(frame__call *call, const coll__party *p, void *data);

/* In the binomial tree, of a place: its lowest 1 bit, or, for the root, the first bit beyond all places. Its parent is
 * in the place without that bit, its children have one more bit below it. */
int coll__tree_lowest_bit(int place, int size);

/* Combine every rank's `own` at root: *result points to it there, at `own` with one rank and at `work` with more; it is
 * NULL elsewhere. `work` may be `own`, which is then written to, on any rank. call->scratch has room for call->bytes;
 * at the naive root for what coll__naive_reduce_scratch says. The naive one divides a mean, the tree leaves it a sum. */
p2p_err coll__naive_reduce(frame__call *call, const void *own, void *work, int root, const void **result);
size_t coll__naive_reduce_scratch(const frame__call *call);
p2p_err coll__tree_reduce(frame__call *call, const coll__party *p, const void *own, void *work, const void **result);

/* Combine what all of the party have, *so_far, on each of them, in the order of places. *so_far points to it then, at
 * call->work if they are more than one. call->scratch has room for call->bytes. A mean is left a sum. */
p2p_err coll__recursive_doubling(frame__call *call, const coll__party *p, const void **so_far);

/* The whole operation, for a call that has its name, and has not begun. */
p2p_err coll__one_shot(frame__call *call, void *buf); /* an all-reduce; with a root a reduce */
p2p_err coll__two_shot_all_reduce(frame__call *call, void *buf);
p2p_err coll__hierarchical_all_reduce(frame__call *call, void *buf);

/* Bytes of a slice in a segment of so many bytes, of n ranks. */
size_t coll__two_shot_slot(size_t segment, int n);

/* Does one element fit into the pieces of memory that these work in? The same answer on every rank. */
bool coll__one_shot_has_room(const p2p_comm *comm, size_t element);
bool coll__two_shot_has_room(const p2p_comm *comm, size_t element);

/* call->wrong, if not. Before frame__begin. */
void coll__needs_room(frame__call *call, bool (*has_room)(const p2p_comm *comm, size_t element));

#endif
