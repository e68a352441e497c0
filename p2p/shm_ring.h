/* SPDX-License-Identifier: MIT */
/*
 * shm_ring: one direction of a link in shared memory. One process writes records into it, another takes them out, and
 * neither ever waits for a lock.
 *
 *      slots, one cache line each     | head content | head -> | head content | (free) ...
 *      bytes                          | content of the second record | (free) ...
 *
 * Each record has a slot, which begins with a head of 8 bytes: the record's number, how long it is, and its kind. The
 * reader looks into one slot, and sees by the number whether its record is there yet. A short record's content stands in
 * the slot, so that one cache line brings it all; a longer one's among the bytes, in one piece. The writer writes the
 * content, and the head last.
 *
 * How far the reader has come, the writer needs to know only when there seems to be no room, and the reader says so
 * only now and then (a quarter of the ring at a time). A writer that finds no room leaves a word (`wanted`); the reader
 * finds it when it says how far it is, and wakes the writer. Both look again after they have spoken, so neither can
 * miss the other.
 */
#ifndef PAIRWISE_P2P_SHM_RING_H
#define PAIRWISE_P2P_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_LINE = 64, RING_INLINE = 56, RING_SMALLEST = 512, RING_MOST_SLOTS = 256, RING_LEAST_SLOTS = 8 };

/* Kinds of records, above 0. */
enum {
    RING_BRIEF = 1, /* the beginning of a short message, with all that its header says */
    RING_FRAME,     /* any frame's header, and the beginning of its payload */
    RING_MORE       /* more of a payload */
};

typedef struct {
    _Alignas(64) _Atomic uint64_t head; /* number << 32 | kind << 28 | bytes of content */
    unsigned char content[RING_INLINE];
} shm_slot;

/* In shared memory, zeroed at first. Then come the slots, then the bytes: a power of two of each. */
typedef struct {
    _Alignas(64) _Atomic uint64_t slots_taken, bytes_taken; /* so far; the reader's words */
    _Alignas(64) _Atomic uint32_t wanted;                   /* the writer's: wake me when more has been taken */
    shm_slot slots[];
} shm_ring;

typedef struct shm_writer {
    shm_ring *ring;
    unsigned char *bytes;
    uint64_t slot_count, byte_count;
    uint64_t slot, byte;               /* the next ones; they count on for ever */
    uint64_t slots_taken, bytes_taken; /* as far as is known */
} shm_writer;

typedef struct {
    shm_ring *ring;
    const unsigned char *bytes;
    uint64_t slot_count, byte_count;
    uint64_t slot, byte;
    uint64_t slots_told, bytes_told;
} shm_reader;

/* What a ring of so many bytes needs in all. bytes: a power of two, from RING_SMALLEST on. */
size_t p2p__ring_bytes(size_t bytes);

/* The two ends of a ring whose memory is there and zeroed; either may be NULL. */
void p2p__ring_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader);

/* How many bytes of content the next record can have. If that is less than `least` (up to RING_LINE), asks the reader to
 * speak up, and 0 is the answer: come again when woken. */
size_t p2p__ring_room(shm_writer *writer, size_t least);

static inline uint64_t p2p__ring_lines_of(size_t content)
{
    return content > RING_INLINE ? (content + RING_LINE - 1) / RING_LINE * RING_LINE : 0;
}

static inline shm_slot *p2p__ring_slot(shm_ring *ring, uint64_t count, uint64_t slot)
{
    return &ring->slots[slot & (count - 1)];
}

/* Where the content of the next record belongs, if it has so many bytes. */
static inline unsigned char *p2p__ring_place(const shm_writer *w, size_t content)
{
    if (content <= RING_INLINE) return p2p__ring_slot(w->ring, w->slot_count, w->slot)->content;
    return w->bytes + (w->byte & (w->byte_count - 1));
}

/* The record is there: so many bytes of content (no more than there was room for), of this kind. */
static inline void p2p__ring_publish(shm_writer *w, size_t content, unsigned kind)
{
    shm_slot *slot = p2p__ring_slot(w->ring, w->slot_count, w->slot);
    w->byte += p2p__ring_lines_of(content);
    w->slot++;
    atomic_store_explicit(&slot->head, w->slot << 32 | (uint64_t)kind << 28 | content, memory_order_release);
}

/* The next record's content, its length and its kind; NULL if it is not there yet. A length that cannot be comes back as
 * SIZE_MAX, with the slot's content: whoever wrote that has lost its mind. */
static inline const unsigned char *p2p__ring_look(const shm_reader *r, size_t *content, unsigned *kind)
{
    const shm_slot *slot = p2p__ring_slot(r->ring, r->slot_count, r->slot);
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
    uint64_t at = r->byte & (r->byte_count - 1);
    __builtin_prefetch(r->bytes + at); /* if it comes with content among the bytes, let both lines travel at once */
    if (head >> 32 != (uint32_t)(r->slot + 1)) return NULL;
    *kind = (unsigned)(head >> 28) & 15;
    *content = head & 0xfffffff;
    if (*content <= RING_INLINE) return slot->content;
    if (*content <= r->byte_count - at) return r->bytes + at;
    *content = SIZE_MAX;
    return slot->content;
}

/* Say how far the reader is. True if the writer has asked to be woken. */
bool p2p__ring_tell(shm_reader *reader);

/* The record that was looked at is done with, and its memory the writer's again. True if the writer must be woken. */
static inline bool p2p__ring_take(shm_reader *r, size_t content)
{
    r->slot++;
    r->byte += p2p__ring_lines_of(content);
    bool far = r->slot - r->slots_told >= r->slot_count / 4 || r->byte - r->bytes_told >= r->byte_count / 4;
    return far && p2p__ring_tell(r);
}

#endif
