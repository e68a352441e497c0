/* SPDX-License-Identifier: MIT */
/*
 * shm_queue: one direction of a link in shared memory, a queue with a single producer (the writer) and a single consumer
 * (the reader). Neither ever waits for a lock.
 *
 *      lines of 64 bytes     | head content.......... | ...content | head content | ?             | (free) ...
 *                              record of two lines                   of one line    what comes next: nothing yet
 *
 * A record begins with a head of 8 bytes, which the writer writes last: the number of its line (lines are counted without
 * end, 31 bits of it are written), the length of the record, and its kind. The number shows the reader whether the record
 * is there; a short one is in the same line. What stood in a line before cannot look like the head of a record that is
 * not there: it is the head of one lap ago, or the writer has wiped it (`dirty`), and no number is that of a wiped line. A
 * record never goes round the end of the ring of lines: the rest of a lap is filled with a record of kind QUEUE_PAD, which
 * has no content.
 *
 * A writer whose reader keeps up fills the rest of the lap with a pad and begins again at the first line
 * (p2p__queue_rewind): the lines it writes are then in the nearest cache of both. Longer messages go on where the last one of
 * them ended, so that a line that comes back to the writer has left the reader's cache. The other lines are for what is
 * sent while the reader does not read, too.
 *
 * The writer needs to know how far the reader is only when there seems to be no room, and the reader writes it every
 * QUEUE_TOLD lines (or a quarter of a small ring). A writer that finds no room sets `wanted`; the reader finds it when it
 * writes how far it is, and wakes the writer. Both read after they have written, so neither can miss the other.
 */
#ifndef PAIRWISE_P2P_SHM_QUEUE_H
#define PAIRWISE_P2P_SHM_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUEUE_NEAR = 256, QUEUE_TOLD = 64 }; /* lines that stay in the nearest cache; between two writes of `taken` */
enum { QUEUE_LONG = 16 };                   /* lines of a message from which on its writer fetches those of the next */
enum { QUEUE_FAR = 64 };                    /* lines of a message from which on it goes round the whole ring */
enum { QUEUE_LINE = 64, QUEUE_HEAD = 8, QUEUE_SMALLEST = 8 * QUEUE_LINE, QUEUE_LARGEST = 8192 * QUEUE_LINE };

/* Kinds of records. The queue itself knows only the pad. */
enum {
    QUEUE_PAD = 1,
    QUEUE_SHORT, /* the beginning of a short message, with all that its header says */
    QUEUE_FRAME, /* any frame's header, and the beginning of its payload */
    QUEUE_MORE,  /* more of a payload */
    QUEUE_SHOWN  /* as QUEUE_SHORT, of a message that has been written to where its receive was shown */
};

/* In shared memory, zeroed at first; then come the lines, a power of two of them. */
typedef struct {
    _Alignas(64) _Atomic uint64_t taken;  /* lines so far; written by the reader */
    _Alignas(64) _Atomic uint32_t wanted; /* set by the writer: to be woken when more has been taken */
    _Alignas(64) unsigned char lines[];
} shm_queue;

typedef struct shm_writer {
    shm_queue *ring;
    uint64_t size, at, taken_seen; /* in lines */
    uint64_t message, fetched;     /* lines of the last message; how far the next one's have been fetched */
    uint64_t far;                  /* the line where the last one that goes round the whole ring ended */
    uint64_t dirty[QUEUE_LARGEST / QUEUE_LINE / 64]; /* lines to wipe before a record begins there; a bit each */
} shm_writer;

typedef struct {
    shm_queue *ring;
    uint64_t size, at, told; /* in lines */
    uint64_t record;         /* lines of the last one */
} shm_reader;

/* What a ring of so many bytes of lines needs in all. bytes: a power of two, QUEUE_SMALLEST to QUEUE_LARGEST. */
size_t p2p__queue_bytes(size_t bytes);

/* The two ends of a ring whose memory is there and zeroed; either may be NULL. */
void p2p__queue_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader);

/* How many bytes of content the next record can have. If that is less than `least` (up to half of the ring), sets `wanted`,
 * and returns 0: come again when woken. Even so there may be a new record, a pad: the reader must be awake. */
size_t p2p__queue_room(shm_writer *writer, size_t least);

/* A message of so many bytes begins. If at most QUEUE_NEAR / 2 lines are still to be read: begin again at the first line if
 * QUEUE_NEAR lines have been written, or two such messages; one of QUEUE_FAR lines goes on where the last one ended. */
void p2p__queue_rewind(shm_writer *writer, size_t bytes);

/* While the writer waits for an answer: some more of the lines where a message like the last one would go next, come into
 * its cache. The reader had them last: to ask it for each when it is written costs more than to write it. */
void p2p__queue_fetch(shm_writer *writer);

/* Where the content of the next record belongs: so many bytes, no more than there is room for. The reader polls the first
 * line, so that line is best written last, together with the head. */
unsigned char *p2p__queue_begin(shm_writer *writer, size_t content);

/* The record that has been begun, of this kind, is there. */
void p2p__queue_publish(shm_writer *writer, size_t content, unsigned kind);

static inline _Atomic uint64_t *p2p__queue_head(shm_queue *ring, uint64_t size, uint64_t line)
{
    return (_Atomic uint64_t *)(void *)(ring->lines + (line & (size - 1)) * QUEUE_LINE);
}

/* As it stands in the upper half of a head. Odd: a wiped head is 0. */
static inline uint64_t p2p__queue_number(uint64_t line)
{
    return (2 * line + 1) << 32;
}

/* Is the next record there? */
static inline bool p2p__queue_waiting(const shm_reader *r)
{
    uint64_t head = atomic_load_explicit(p2p__queue_head(r->ring, r->size, r->at), memory_order_acquire);
    return head >> 32 == p2p__queue_number(r->at) >> 32;
}

/* While the reader waits: the line behind the first comes into its cache as well, if the next record is like the last.
 * A long one's writer has fetched that line: to take it from there only makes it fetch it again. */
static inline void p2p__queue_expect(const shm_reader *r)
{
    if (r->record < QUEUE_LONG) __builtin_prefetch((const void *)p2p__queue_head(r->ring, r->size, r->at + 1));
}

/* The content of the record that is there, its length and its kind. NULL if its length is impossible. */
const unsigned char *p2p__queue_look(const shm_reader *reader, size_t *content, unsigned *kind);

/* The record is done with, and its memory the writer's again. True if the writer must be woken. */
bool p2p__queue_take(shm_reader *reader, size_t content);

#endif
