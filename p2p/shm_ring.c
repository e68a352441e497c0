/* SPDX-License-Identifier: MIT */
#include "p2p/shm_ring.h"

static size_t slots_for(size_t bytes)
{
    size_t slots = RING_LEAST_SLOTS;
    while (slots < RING_MOST_SLOTS && slots < bytes / 256) slots *= 2;
    return slots;
}

size_t p2p__ring_bytes(size_t bytes)
{
    return sizeof(shm_ring) + slots_for(bytes) * sizeof(shm_slot) + bytes;
}

void p2p__ring_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader)
{
    shm_ring *ring = memory;
    size_t slots = slots_for(bytes);
    unsigned char *from = (unsigned char *)(ring->slots + slots);
    if (writer) *writer = (shm_writer){.ring = ring, .bytes = from, .slot_count = slots, .byte_count = bytes};
    if (reader) *reader = (shm_reader){.ring = ring, .bytes = from, .slot_count = slots, .byte_count = bytes};
}

static size_t room_now(const shm_writer *w)
{
    uint64_t free = w->byte_count - (w->byte - w->bytes_taken);
    uint64_t to_end = w->byte_count - (w->byte & (w->byte_count - 1));
    if (w->slot - w->slots_taken == w->slot_count) return 0;
    return free < RING_LINE ? RING_INLINE : free < to_end ? free : to_end;
}

static size_t look_again(shm_writer *w)
{
    w->slots_taken = atomic_load_explicit(&w->ring->slots_taken, memory_order_acquire);
    w->bytes_taken = atomic_load_explicit(&w->ring->bytes_taken, memory_order_acquire);
    return room_now(w);
}

size_t p2p__ring_room(shm_writer *w, size_t least)
{
    size_t room = room_now(w);
    if (room < least) room = look_again(w);
    if (room >= least) return room;
    atomic_store_explicit(&w->ring->wanted, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    room = look_again(w);
    return room >= least ? room : 0;
}

bool p2p__ring_tell(shm_reader *r)
{
    r->slots_told = r->slot;
    r->bytes_told = r->byte;
    atomic_store_explicit(&r->ring->slots_taken, r->slot, memory_order_release);
    atomic_store_explicit(&r->ring->bytes_taken, r->byte, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->ring->wanted, memory_order_relaxed) &&
           atomic_exchange_explicit(&r->ring->wanted, 0, memory_order_relaxed);
}
