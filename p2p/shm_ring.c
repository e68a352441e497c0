/* SPDX-License-Identifier: MIT */
#include "p2p/shm_ring.h"

size_t p2p__ring_bytes(size_t bytes)
{
    return sizeof(shm_ring) + bytes;
}

void p2p__ring_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader)
{
    uint64_t size = bytes / RING_LINE;
    if (writer) *writer = (shm_writer){.ring = memory, .size = size};
    if (reader) *reader = (shm_reader){.ring = memory, .size = size};
}

static size_t content_of(uint64_t lines)
{
    return lines ? lines * RING_LINE - RING_HEAD : 0;
}

/* The line behind a record must be free as well, for its head is made 0. */
static size_t room_now(shm_writer *w, size_t least)
{
    uint64_t free = w->size - (w->at - w->taken_seen), to_end = w->size - (w->at & (w->size - 1));
    if (free <= to_end) return content_of(free ? free - 1 : 0);
    if (content_of(to_end) >= least) return content_of(to_end);
    p2p__ring_publish(w, content_of(to_end), RING_PAD);
    return content_of(free - to_end - 1);
}

static size_t look_again(shm_writer *w, size_t least)
{
    w->taken_seen = atomic_load_explicit(&w->ring->taken, memory_order_acquire);
    return room_now(w, least);
}

size_t p2p__ring_room(shm_writer *w, size_t least)
{
    size_t room = room_now(w, least);
    if (room < least) room = look_again(w, least);
    if (room >= least) return room;
    atomic_store_explicit(&w->ring->wanted, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    room = look_again(w, least);
    return room >= least ? room : 0;
}

bool p2p__ring_tell(shm_reader *r)
{
    r->told = r->at;
    atomic_store_explicit(&r->ring->taken, r->at, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->ring->wanted, memory_order_relaxed) &&
           atomic_exchange_explicit(&r->ring->wanted, 0, memory_order_relaxed);
}
