/* SPDX-License-Identifier: MIT */
/* hierarchical: where the ranks of a hierarchical all-reduce are, and what is whose; for hierarchical.c and hierarchical_shared.c. */
#ifndef PAIRWISE_COLLECTIVES_HIERARCHICAL_H
#define PAIRWISE_COLLECTIVES_HIERARCHICAL_H

#include "collectives/internal.h"
#include "ring/ring.h"

/* Where the ranks of a communicator are, for one of them. */
typedef struct {
    int hosts, own;           /* this rank's */
    int here, number;         /* ranks on this host; this one's number among them */
    int slices;               /* ranks on the host that has the fewest */
    int local[P2P_MAX_RANKS]; /* the ranks here, in order */
    int left, right;          /* who has this rank's slice on the hosts before and behind */
} coll__layout;

/* Part `number` of so many of elements [first, first + count). */
typedef struct {
    size_t first, count;
} coll__span;

static inline coll__span coll__part_of(coll__span whole, int parts, int number)
{
    coll__span part;
    ring_chunk(whole.count, parts, (number % parts + parts) % parts, &part.first, &part.count);
    part.first += whole.first;
    return part;
}

/* The ring of hosts for this rank's slice, which lies in so many parts as there are hosts. What arrives to be combined goes to
 * `arrived` first, which has room for any of them. In the end all parts are complete, and means are means. */
p2p_err coll__ring_of_hosts(const frame__call *call, const coll__layout *l, const frame__piece parts[], void *arrived);

/* Elements of each part of a slice that go through shared memory in a round; 0: parts would be too short. */
size_t coll__hierarchical_round(const frame__call *call, const coll__layout *l);

/* The whole between frame__begin and frame__end, so many elements of each part in a round. */
p2p_err coll__hierarchical_shared(frame__call *call, const coll__layout *l, size_t round);

#endif
