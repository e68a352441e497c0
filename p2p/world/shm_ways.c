/* SPDX-License-Identifier: MIT */
/*
 * The shm world: which way a long message takes, where each rank has a core of its own. In one copy (shm_one_copy.c) it
 * passes through memory once, by the kernel; through the queue twice, but both ranks copy at the same time, and what lies
 * between stays in caches. Which is faster depends on the processor, on where a virtual machine's cores lie just now, and
 * on the length. So the receiver times both: the first few messages of about that length take turns, then all take the way
 * that was faster lately, but for one now and then.
 */
#include <sys/param.h>

#include "p2p/world/world_shm.h"

#define TURNS 16 /* the first times through the queue its memory is new, and slow */
#define LOOKS_AGAIN 64

static shm_ways *ways_for(link_end *link, size_t bytes)
{
    int length = 0;
    while (length + 1 < SHM_LENGTHS && bytes >= SHM_LENGTH_LEAST << (length + 1)) length++;
    return &link->ways[length];
}

/* Of the last few, since one may have been interrupted. */
static uint64_t least(const uint64_t *kib_ns)
{
    uint64_t least = kib_ns[0];
    for (int i = 1; i < SHM_COPIES; i++) least = MIN(least, kib_ns[i]);
    return least;
}

enum shm_way p2p__shm_way(link_end *link, size_t bytes)
{
    shm_ways *ways = ways_for(link, bytes);
    unsigned number = ways->messages++;
    if (number < TURNS) return number % 2 ? SHM_BY_QUEUE : SHM_IN_ONE_COPY;
    bool queue = least(ways->kib_ns[SHM_BY_QUEUE]) < least(ways->kib_ns[SHM_IN_ONE_COPY]);
    return queue == (number % LOOKS_AGAIN != 0) ? SHM_BY_QUEUE : SHM_IN_ONE_COPY;
}

void p2p__shm_way_took(link_end *link, enum shm_way way, size_t bytes, uint64_t ns)
{
    shm_ways *ways = ways_for(link, bytes);
    ways->kib_ns[way][ways->timed[way]++ % SHM_COPIES] = ns * 1024 / bytes;
}
