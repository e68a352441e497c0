/* SPDX-License-Identifier: MIT */
/*
 * shm_ring: one direction of a link in shared memory. One process writes records into it, another takes them out, and
 * neither ever waits for a lock.
 *
 *      lines of 64 bytes     | head content.......... | ...content | head content | 0             | (free) ...
 *                              record of two lines                   of one line    what comes next: nothing yet
 *
 * A record begins with a head of 8 bytes that says how long it is and what; 0 says that it is not there yet. So the
 * reader looks at one line, and with it has a short record already. The writer first makes the head behind the record
 * 0, then writes the content, and the head last. A record never goes round the end of the ring: what is not worth
 * beginning there is filled with a record of kind RING_PAD, which says nothing.
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

enum { RING_LINE = 64, RING_HEAD = 8, RING_SMALLEST = 8 * RING_LINE };

/* Kinds of records. To the ring only a pad means something. */
enum {
    RING_PAD = 1,
    RING_BRIEF, /* the beginning of a short message, with all that its header says */
    RING_FRAME, /* any frame's header, and the beginning of its payload */
    RING_MORE   /* more of a payload */
};

/* In shared memory, zeroed at first; then come the lines, a power of two of them. */
typedef struct {
    _Alignas(64) _Atomic uint64_t taken;  /* lines so far; the reader's word */
    _Alignas(64) _Atomic uint32_t wanted; /* the writer's: wake me when more has been taken */
    _Alignas(64) unsigned char lines[];
} shm_ring;

typedef struct shm_writer {
    shm_ring *ring;
    uint64_t size, at, taken_seen; /* in lines */
} shm_writer;

typedef struct {
    shm_ring *ring;
    uint64_t size, at, told; /* in lines */
} shm_reader;

/* What a ring of so many bytes of lines needs in all. bytes: a power of two, from RING_SMALLEST on. */
size_t p2p__ring_bytes(size_t bytes);

/* The two ends of a ring whose memory is there and zeroed. */
void p2p__ring_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader);

/* How many bytes of content the next record can have. If that is less than `least` (up to half the ring), asks the reader
 * to speak up, and 0 is the answer: come again when woken. */
size_t p2p__ring_room(shm_writer *writer, size_t least);

static inline unsigned char *p2p__ring_line(shm_ring *ring, uint64_t size, uint64_t line)
{
    return ring->lines + (line & (size - 1)) * RING_LINE;
}

static inline _Atomic uint64_t *p2p__ring_head(shm_ring *ring, uint64_t size, uint64_t line)
{
    return (_Atomic uint64_t *)(void *)p2p__ring_line(ring, size, line);
}

static inline uint64_t p2p__ring_lines_of(size_t content)
{
    return (RING_HEAD + content + RING_LINE - 1) / RING_LINE;
}

/* Where the content of the next record belongs. */
static inline unsigned char *p2p__ring_place(shm_writer *writer)
{
    return p2p__ring_line(writer->ring, writer->size, writer->at) + RING_HEAD;
}

/* The record is there: so many bytes of content (no more than there was room for), of this kind (above RING_PAD). */
static inline void p2p__ring_publish(shm_writer *writer, size_t content, unsigned kind)
{
    uint64_t next = writer->at + p2p__ring_lines_of(content);
    atomic_store_explicit(p2p__ring_head(writer->ring, writer->size, next), 0, memory_order_relaxed);
    atomic_store_explicit(p2p__ring_head(writer->ring, writer->size, writer->at), (uint64_t)kind << 32 | content,
                          memory_order_release);
    writer->at = next;
}

/* The next record's content, its length and its kind; NULL if there is none yet. A length that cannot be comes back as
 * SIZE_MAX: whoever wrote that has lost its mind. */
static inline const unsigned char *p2p__ring_look(const shm_reader *reader, size_t *content, unsigned *kind)
{
    uint64_t head = atomic_load_explicit(p2p__ring_head(reader->ring, reader->size, reader->at), memory_order_acquire);
    if (!head) return NULL;
    *kind = (unsigned)(head >> 32);
    *content = (size_t)(head & UINT32_MAX);
    uint64_t left = reader->size - (reader->at & (reader->size - 1));
    if (p2p__ring_lines_of(*content) > left) *content = SIZE_MAX;
    return p2p__ring_line(reader->ring, reader->size, reader->at) + RING_HEAD;
}

/* Say how far the reader is. True if the writer has asked to be woken. */
bool p2p__ring_tell(shm_reader *reader);

/* The record that was looked at is done with, and its memory the writer's again. True if the writer must be woken. */
static inline bool p2p__ring_take(shm_reader *reader, size_t content)
{
    reader->at += p2p__ring_lines_of(content);
    return reader->at - reader->told >= reader->size / 4 && p2p__ring_tell(reader);
}

#endif
