/* SPDX-License-Identifier: MIT */
/*
 * The shm world: which way a long message takes, where each rank has a core of its own. In one copy (shm_one_copy.c) it
 * passes through memory once, by the kernel; through the queue twice, but both ranks copy at the same time, and what lies
 * between stays in caches. Which is faster depends on the processor, on where a virtual machine's cores lie just now, and
 * on the length. So the receiver times both, from when it knows of the message to its end: the first few messages of about
 * that length take turns, then all take the way that was faster lately, but for one now and then.
 *
 * One copy needs nothing of the sender, the queue needs it to write. So there is a choice only while both are in a call
 * that ends with the message; and none with PAIRWISE_TIMEOUT, since a sender that is stopped writes nothing.
 */
#include "p2p/shared/clock.h"
#include "p2p/world/world_shm.h"

#define TURNS 16 /* a queue's memory is new at first, and slow */
#define LOOKS_AGAIN 64

bool p2p__shm_has_two_ways(const p2p_endpoint *self)
{
    const shm_world *w = self->state;
    return self->spin->longest && !self->spin->shares_cores && self->scoreboard->config.direct == CONFIG_BY_CORES &&
           !self->config->timeout_ns && w->ring_size >= SHM_RECORD_MOST;
}

static shm_ways *ways_for(link_end *link, size_t bytes)
{
    int length = 0;
    while (length + 1 < SHM_LENGTHS && bytes >= SHM_LENGTH_LEAST << (length + 1)) length++;
    return &link->ways[length];
}

enum shm_way p2p__shm_way(link_end *link, const void *to, size_t bytes)
{
    shm_ways *ways = ways_for(link, bytes);
    unsigned number = ways->messages++;
    uint64_t queue = ways->kib_ns[SHM_BY_QUEUE], copy = ways->kib_ns[SHM_IN_ONE_COPY];
    bool queued = queue && (queue < copy || !copy);
    if (number < TURNS)
        queued = number % 2;
    else if (number % LOOKS_AGAIN == 0)
        queued = !queued;
    if (!queued) return SHM_IN_ONE_COPY;
    link->queued_to = to;
    link->queued_bytes = bytes;
    link->queued_since = p2p__now();
    return SHM_BY_QUEUE;
}

void p2p__shm_way_took(link_end *link, enum shm_way way, size_t bytes, uint64_t ns)
{
    shm_ways *ways = ways_for(link, bytes);
    ways->kib_ns[way] = p2p__shm_least(&ways->last[way], ns * 1024 / bytes);
}

void p2p__shm_way_ended(link_end *link, const void *to, size_t bytes)
{
    if (!to || to != link->queued_to || bytes != link->queued_bytes) return;
    link->queued_to = NULL;
    p2p__shm_way_took(link, SHM_BY_QUEUE, bytes, p2p__now() - link->queued_since);
}
