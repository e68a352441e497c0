/* SPDX-License-Identifier: MIT */
#include "p2p/world/shm_queue.h"

#define LINES_A_FETCH 8 /* so that what arrives meanwhile is seen soon */

size_t p2p__queue_bytes(size_t bytes)
{
    return sizeof(shm_queue) + bytes;
}

void p2p__queue_open(void *memory, size_t bytes, shm_writer *writer, shm_reader *reader)
{
    uint64_t size = bytes / QUEUE_LINE;
    if (writer) *writer = (shm_writer){.ring = memory, .size = size};
    if (reader) *reader = (shm_reader){.ring = memory, .size = size};
}

static uint64_t lines_of(size_t content)
{
    return (QUEUE_HEAD + content + QUEUE_LINE - 1) / QUEUE_LINE;
}

static size_t content_of(uint64_t lines)
{
    return lines ? lines * QUEUE_LINE - QUEUE_HEAD : 0;
}

/* ---- Writing ---- */

/* The line behind a record must be free as well: it may have to be wiped. */
static size_t room_now(shm_writer *w, size_t least)
{
    uint64_t free = w->size - (w->at - w->taken_seen), to_end = w->size - (w->at & (w->size - 1));
    if (free <= to_end) return content_of(free ? free - 1 : 0);
    if (content_of(to_end) >= least) return content_of(to_end);
    p2p__queue_begin(w, content_of(to_end));
    p2p__queue_publish(w, content_of(to_end), QUEUE_PAD);
    return content_of(free - to_end - 1);
}

size_t p2p__queue_room(shm_writer *w, size_t least)
{
    size_t room = room_now(w, least);
    for (int looks = 0; room < least && looks < 2; looks++) {
        if (looks == 1) {
            atomic_store_explicit(&w->ring->wanted, 1, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
        }
        w->taken_seen = atomic_load_explicit(&w->ring->taken, memory_order_acquire);
        room = room_now(w, least);
    }
    return room >= least ? room : 0;
}

/* These lines, up to the end of the ring at most, get something else than their head of the last lap. */
static void note_dirty(shm_writer *w, uint64_t first, uint64_t end)
{
    uint64_t place = first & (w->size - 1), last = place + (end - first);
    for (uint64_t next; place < last; place = next) {
        next = (place / 64 + 1) * 64 < last ? (place / 64 + 1) * 64 : last;
        w->dirty[place / 64] |= UINT64_MAX >> (64 - (next - place)) << (place % 64);
    }
}

unsigned char *p2p__queue_begin(shm_writer *w, size_t content)
{
    uint64_t lines = lines_of(content), next = w->at + lines, place = next & (w->size - 1);
    uint64_t *word = &w->dirty[place / 64], bit = UINT64_C(1) << (place % 64);
    if (lines > 1) note_dirty(w, w->at + 1, next);
    if (*word & bit) { /* where the next record will begin */
        *word &= ~bit;
        atomic_store_explicit(p2p__queue_head(w->ring, w->size, next), 0, memory_order_relaxed);
    }
    return w->ring->lines + (w->at & (w->size - 1)) * QUEUE_LINE + QUEUE_HEAD;
}

void p2p__queue_publish(shm_writer *w, size_t content, unsigned kind)
{
    atomic_store_explicit(p2p__queue_head(w->ring, w->size, w->at),
                          p2p__queue_number(w->at) | (uint64_t)kind << 28 | content, memory_order_release);
    w->at += lines_of(content);
}

/* A small ring is not worth the skipping. */
static bool goes_round(const shm_writer *w)
{
    return w->message >= QUEUE_FAR && w->size > 4 * QUEUE_NEAR;
}

/* Where the message belongs that is to begin at w->at. */
static uint64_t place_for(const shm_writer *w)
{
    uint64_t place = w->at & (w->size - 1), near = 2 * w->message < QUEUE_NEAR ? QUEUE_NEAR : 2 * w->message;
    if (goes_round(w)) return place < w->far ? w->far : place;
    return place < near ? place : 0;
}

/* What is skipped keeps what it has, for as many laps as it is skipped. The first line begins a record in each lap. */
void p2p__queue_rewind(shm_writer *w, size_t bytes)
{
    uint64_t place = w->at & (w->size - 1);
    if (goes_round(w)) w->far = place; /* the last one ended here */
    w->message = lines_of(bytes) < w->size ? lines_of(bytes) + 1 : w->size;
    w->fetched = w->message < QUEUE_LONG || goes_round(w) ? w->message : 0;
    uint64_t to = place_for(w);
    if (to == place) return;
    if (w->at - w->taken_seen > QUEUE_NEAR / 2)
        w->taken_seen = atomic_load_explicit(&w->ring->taken, memory_order_acquire);
    uint64_t unread = w->at - w->taken_seen, skipped = (to ? to : w->size) - place;
    if (unread > QUEUE_NEAR / 2 || skipped + w->message >= w->size - unread) return; /* it would not fit any more */
    p2p__queue_begin(w, content_of(skipped));
    p2p__queue_publish(w, content_of(skipped), QUEUE_PAD);
}

#ifdef __x86_64__
__attribute__((target("prfchw"))) /* else the line comes only to be read; a processor without it ignores it */
#endif
void p2p__queue_fetch(shm_writer *w)
{
    uint64_t first = w->at - (w->at & (w->size - 1)) + place_for(w);
    for (int i = 0; i < LINES_A_FETCH && w->fetched < w->message; i++)
        __builtin_prefetch((const void *)p2p__queue_head(w->ring, w->size, first + w->fetched++), 1);
}

/* ---- Reading ---- */

const unsigned char *p2p__queue_look(const shm_reader *r, size_t *content, unsigned *kind)
{
    const _Atomic uint64_t *at = p2p__queue_head(r->ring, r->size, r->at);
    uint64_t head = atomic_load_explicit(at, memory_order_relaxed);
    *kind = (unsigned)(head >> 28) & 15;
    *content = head & 0xfffffff;
    uint64_t to_end = r->size - (r->at & (r->size - 1));
    return lines_of(*content) <= to_end ? (const unsigned char *)at + QUEUE_HEAD : NULL;
}

bool p2p__queue_take(shm_reader *r, size_t content)
{
    r->record = lines_of(content);
    r->at += r->record;
    if (r->at - r->told < (r->size / 4 < QUEUE_TOLD ? r->size / 4 : QUEUE_TOLD)) return false;
    r->told = r->at;
    atomic_store_explicit(&r->ring->taken, r->at, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&r->ring->wanted, memory_order_relaxed) &&
           atomic_exchange_explicit(&r->ring->wanted, 0, memory_order_relaxed);
}
