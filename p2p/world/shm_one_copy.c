/* SPDX-License-Identifier: MIT */
/*
 * The shm world: long messages in one copy, by both ends at once. The receiver reads out of the sender's memory, from
 * the first chunk on. A sender that waits meanwhile writes into the receiver's, from the last chunk back:
 *
 *      chunk           0    1    2    3    4    5    6    7
 *      receiver        1.   2.   3.   4.                            process_vm_readv
 *      sender                              4.   3.   2.   1.        process_vm_writev
 *
 * The receiver makes an offer (shm_offer, in the link's memory), and each claims one chunk at a time. The receiver waits
 * only for chunks that the sender has claimed, and for all of those: after a receive the sender writes no more. Where
 * ranks share cores there is no offer: two that take turns copy no faster than one. Nor with PAIRWISE_TIMEOUT: a sender
 * that is stopped after a claim may write at any time later, and the receive could not end in time.
 *
 * Whether the sender's call had ended before all was read, the receiver asks afterwards (p2p__gave_up).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "p2p/shared/clock.h"
#include "p2p/shared/copy.h"
#include "p2p/world/cma.h"
#include "p2p/world/world_shm.h"

#define CHUNK_LEAST ((size_t)64 << 10)
#define CHUNK_WANTED ((size_t)128 << 10) /* with less, calls begin to count */
#define CHUNKS_MOST ((size_t)UINT16_MAX)

/* One message, as one end sees it. */
typedef struct {
    bool (*copy)(pid_t pid, void *here, uint64_t there, size_t bytes);
    pid_t peer;
    char *here;
    uint64_t there;
    size_t bytes, chunk;
} transfer;

static size_t chunks_of(const transfer *t)
{
    return t->bytes / t->chunk + (t->bytes % t->chunk != 0);
}

static bool copy_chunks(const transfer *t, size_t first, size_t end)
{
    size_t from = first * t->chunk, to = end * t->chunk < t->bytes ? end * t->chunk : t->bytes;
    return t->copy(t->peer, t->here + from, t->there + from, to - from);
}

/* ---- Claims: number of the offer (32 bits), unclaimed chunks [first, end) (16, 16) ---- */

static size_t first_in(uint64_t claims)
{
    return claims >> 16 & UINT16_MAX;
}

static size_t end_in(uint64_t claims)
{
    return claims & UINT16_MAX;
}

static bool claim_first(shm_offer *offer, size_t *chunk)
{
    uint64_t seen = atomic_load(&offer->claims);
    do {
        *chunk = first_in(seen);
        if (*chunk >= end_in(seen)) return false;
    } while (!atomic_compare_exchange_weak(&offer->claims, &seen, seen + (UINT64_C(1) << 16)));
    return true;
}

void p2p__shm_help(p2p_endpoint *self, p2p_link *peer)
{
    const link_end *link = peer->state;
    const shm_world *w = self->state;
    shm_offer *offer = link->taken;
    bool helped = false;
    while (!w->may_not_read && !atomic_load_explicit(&offer->refused, memory_order_relaxed)) {
        uint64_t seen = atomic_load_explicit(&offer->claims, memory_order_acquire), claimed = seen;
        if (first_in(seen) >= end_in(seen)) break;
        void *here;
        transfer t = {.copy = p2p__cma_write,
                      .peer = atomic_load(&self->scoreboard->rows[peer->rank].pid),
                      .there = atomic_load_explicit(&offer->to, memory_order_relaxed),
                      .chunk = atomic_load_explicit(&offer->chunk, memory_order_relaxed)};
        uint64_t message = atomic_load_explicit(&offer->message, memory_order_relaxed);
        if (!p2p__waiting_send(peer, message, &here, &t.bytes)) break;
        t.here = here;
        if (t.chunk < CHUNK_LEAST || end_in(seen) > chunks_of(&t)) break; /* overwritten by its rank: no offer */
        /* It is still that offer, and nothing has been claimed since. */
        if (!atomic_compare_exchange_strong(&offer->claims, &claimed, seen - 1)) break;
        if (!copy_chunks(&t, end_in(seen) - 1, end_in(seen))) atomic_store(&offer->refused, 1);
        atomic_fetch_add(&offer->written, 1);
        helped = true;
    }
    if (!helped) return;
    self->moved++;
    p2p_backoff backoff = p2p__backoff_short(ANSWER_POLLS, 0);
    while (!p2p__queue_waiting(&link->in) && p2p__backoff_goes_on(self->spin, &backoff)) continue;
}

static bool copy_together(p2p_endpoint *self, p2p_link *peer, const transfer *t, uint64_t message)
{
    shm_offer *offer = ((link_end *)peer->state)->given;
    size_t chunk, all = chunks_of(t);
    bool fine = true;
    atomic_store_explicit(&offer->message, message, memory_order_relaxed);
    atomic_store_explicit(&offer->to, (uintptr_t)t->here, memory_order_relaxed);
    atomic_store_explicit(&offer->chunk, t->chunk, memory_order_relaxed);
    atomic_store_explicit(&offer->written, 0, memory_order_relaxed);
    atomic_store_explicit(&offer->refused, 0, memory_order_relaxed);
    uint32_t number = (uint32_t)(atomic_load(&offer->claims) >> 32) + 1;
    atomic_store(&offer->claims, (uint64_t)number << 32 | all);
    p2p__shm_wake_after(self, peer);
    while (fine && claim_first(offer, &chunk)) fine = copy_chunks(t, chunk, chunk + 1);
    int error = errno;
    while (claim_first(offer, &chunk)) continue; /* the sender claims no more */
    size_t theirs = end_in(atomic_load(&offer->claims));
    p2p_backoff backoff = p2p__backoff_short(CHUNK_POLLS, 0);
    while (atomic_load_explicit(&offer->written, memory_order_acquire) < all - theirs) {
        if (p2p__backoff_goes_on(self->spin, &backoff)) continue;
        p2p__pause(CHUNK_PAUSE_NS);
        /* In a job that has failed all ranks are dead soon. */
        if (atomic_load(&self->scoreboard->shared->failed) && kill(t->peer, 0) != 0) return false;
        backoff = p2p__backoff_short(CHUNK_POLLS, 0);
    }
    if (fine && atomic_load(&offer->refused)) return copy_chunks(t, theirs, all);
    errno = error;
    return fine;
}

/* Of p2p_alloc memory, which both see. */
static bool copy_in_place(pid_t pid, void *here, uint64_t there, size_t bytes)
{
    (void)pid;
    p2p__copy(here, (const void *)(uintptr_t)there, bytes);
    return true;
}

bool p2p__shm_one_copy(p2p_endpoint *self, p2p_link *peer, void *to, const wire_header *request, const void *at,
                       bool both_wait)
{
    shm_world *w = self->state;
    transfer t = {.copy = at ? copy_in_place : p2p__cma_read,
                  .peer = atomic_load(&self->scoreboard->rows[peer->rank].pid),
                  .here = to,
                  .there = at ? (uintptr_t)at : request->receiver_id,
                  .bytes = (size_t)request->bytes,
                  .chunk = CHUNK_LEAST};
    while (t.chunk < t.bytes / CHUNKS_MOST + 1 || (t.chunk < CHUNK_WANTED && t.chunk < t.bytes / 2)) t.chunk *= 2;
    bool together = t.bytes > t.chunk && self->spin->longest && !w->may_not_read && !self->config->timeout_ns;
    if (w->may_not_read && !at) return false;
    link_end *link = peer->state;
    bool is_timed = !at && both_wait && p2p__shm_has_two_ways(self);
    if (is_timed && p2p__shm_way(link, to, t.bytes) == SHM_BY_QUEUE) return false;
    uint64_t began = is_timed ? p2p__now() : 0;
    bool is_read = together ? copy_together(self, peer, &t, request->sender_id) : t.copy(t.peer, to, t.there, t.bytes);
    if (!is_read && (errno == EPERM || errno == ENOSYS)) w->may_not_read = true;
    if (is_read && is_timed) p2p__shm_way_took(link, SHM_IN_ONE_COPY, t.bytes, p2p__now() - began);
    return is_read;
}
