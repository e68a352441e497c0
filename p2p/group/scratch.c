/* SPDX-License-Identifier: MIT */
/*
 * Scratch memory of a communicator's own that all its ranks share, for collectives; a segment for each rank, made when
 * it is first asked for.
 *
 * A rank's part has an area for each kind of pieces, in which they go round, so that of three in a row none overlaps
 * another:
 *
 *      kind        SMALL        INLINE       USUAL        larger ones          two ranks: usual is 512 KiB, eight: 128 KiB
 *      pieces      <= 2 KiB     <= 4 KiB     <= usual     2 usual, 4 usual, ... each
 *      area        4 places     4 places     4 usual      3 places
 *
 * The usual ones do not come back to the same place sooner than they must: to write where another core has just read
 * takes twice as long as to write what has left its cache since. For that 4 MiB must have passed through the segments of
 * all ranks; more would crowd users' buffers out of the caches. What can travel with a call lies ready in the nearest cache
 * all the same, and on pages that are mapped: a first round through the usual ones meets a new page in each piece, which
 * costs more than so short an operation.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "p2p/group/internal.h"
#include "p2p/message/trace_rank.h"

enum { SMALL, INLINE, USUAL }; /* kinds; then the larger ones */

#define SMALL_PIECE ((size_t)2 << 10)
#define PASSING ((size_t)4 << 20)
#define LARGEST ((size_t)512 << 10)
#define LARGEST_OF_ALL ((size_t)32 << 20) /* the largest, of all ranks: with less, 64 ranks have too many barriers */
#define LINE ((size_t)64)

/* ---- Segments ---- */

/* The largest of 4 KiB, 8 KiB, ..., `most` that is no more than `share`; at least 4 KiB. */
static size_t power_within(size_t share, size_t most)
{
    size_t bytes = MEMORY_UNIT;
    while (bytes * 2 <= share && bytes < most) bytes *= 2;
    return bytes;
}

/* Of a kind, by its largest piece. */
static size_t area_bytes(size_t kind, size_t most)
{
    return (kind > USUAL ? 3 : 4) * most;
}

static size_t next_kind(size_t usual, size_t kind, size_t most)
{
    return kind == SMALL ? P2P_LAYER_INLINE_MOST : kind == INLINE ? usual : 2 * most;
}

static size_t scratch_usual(int ranks)
{
    return power_within(PASSING / 4 / (size_t)ranks, LARGEST);
}

size_t p2p__scratch_largest(int ranks)
{
    return power_within(LARGEST_OF_ALL / (size_t)ranks, LARGEST);
}

size_t p2p__scratch_segment(int ranks)
{
    size_t kind = SMALL, most = SMALL_PIECE, usual = scratch_usual(ranks), largest = p2p__scratch_largest(ranks),
           all = 0;
    for (; most <= largest; most = next_kind(usual, kind++, most)) all += area_bytes(kind, most);
    return all;
}

static size_t scratch_bytes(p2p_comm *comm)
{
    if (!comm->segment_bytes) {
        comm->scratch_usual = scratch_usual(comm->size);
        comm->scratch_largest = p2p__scratch_largest(comm->size);
        comm->segment_bytes = p2p__scratch_segment(comm->size);
    }
    return comm->segment_bytes * (size_t)comm->size;
}

/* ---- Where it lies: an entry for each index, of the communicator that has it, or of one that had it before. One that is freed
 * may leave its own behind, on a host where nobody noticed that it was the last.
 *
 *      place, in MEMORY_UNITs     ranks     busy     turn
 *      32 bits                    12        1        19      of the index: which of the communicators that have had it
 *
 * Busy: this host's launcher is writing there what came from another host, perhaps long after it was sent. ---- */

enum { TURNS = 1 << 19, BUSY = TURNS, RANKS_AT = 20, PLACE_AT = 32, TRIES = 1000 };

#define BUSY_PAUSE_NS UINT64_C(1000000)

static _Atomic uint64_t *entry_of(const scoreboard *b, uint32_t context)
{
    return &b->shared->scratch_place[context / 2 % SCOREBOARD_CONTEXTS];
}

static uint32_t turn_of(uint32_t context)
{
    return context / 2 / SCOREBOARD_CONTEXTS;
}

static memory_place place_in(uint64_t entry)
{
    return (entry >> PLACE_AT) * MEMORY_UNIT;
}

static bool is_of(uint64_t entry, uint32_t context)
{
    return entry && entry % TURNS == turn_of(context);
}

static size_t bytes_of(size_t ranks)
{
    return ranks ? p2p__scratch_segment((int)ranks) * ranks : 0;
}

memory_place p2p__scratch_known(const scoreboard *b, uint32_t context)
{
    uint64_t entry = atomic_load(entry_of(b, context));
    return is_of(entry, context) ? place_in(entry) : 0;
}

/* What the caller has seen, for meanwhile another rank may have put there what all are about to use. */
static void drop(scoreboard *b, int fd, memory_gap **gaps, uint32_t context, uint64_t entry)
{
    uint64_t none = 0;
    if (!entry || entry & BUSY || !atomic_compare_exchange_strong(entry_of(b, context), &entry, none)) return;
    if (place_in(entry) >= p2p__scoreboard_bytes(b->size, &b->config)) /* any rank may have written anything there */
        p2p__memory_give_back(fd, gaps, place_in(entry), bytes_of(entry >> RANKS_AT & 0xfff));
}

/* The first one here that asks reserves a place for all; of it each host takes a part. */
memory_place p2p__scratch_place(scoreboard *b, int fd, memory_gap **gaps, uint32_t context, int ranks, bool hold)
{
    size_t bytes = bytes_of((size_t)ranks);
    uint64_t busy = hold ? BUSY : 0;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t entry = atomic_load(entry_of(b, context)), none = 0;
        if (is_of(entry, context)) {
            if (!hold || atomic_compare_exchange_strong(entry_of(b, context), &entry, entry | busy))
                return place_in(entry);
            continue;
        }
        if (entry && (entry - turn_of(context)) % TURNS < TURNS / 2) { /* turns are counted round */
            errno = ESTALE;
            return 0;
        }
        if (entry & BUSY) {
            p2p__pause(BUSY_PAUSE_NS);
            continue;
        }
        drop(b, fd, gaps, context, entry);
        memory_place found = p2p__memory_reserve(b, gaps, bytes, MEMORY_UNIT, bytes / (size_t)b->hosts.count);
        if (!found) return 0;
        uint64_t own = found / MEMORY_UNIT << PLACE_AT | (uint64_t)ranks << RANKS_AT | busy | turn_of(context);
        if (atomic_compare_exchange_strong(entry_of(b, context), &none, own)) return found;
        p2p__memory_give_back(fd, gaps, found, bytes);
    }
    errno = EBUSY;
    return 0;
}

void p2p__scratch_leave(scoreboard *b, uint32_t context)
{
    atomic_fetch_and(entry_of(b, context), ~(uint64_t)BUSY);
}

void p2p__scratch_clear(scoreboard *b, int fd, memory_gap **gaps, uint32_t context, bool own)
{
    uint64_t entry = atomic_load(entry_of(b, context));
    if (own || !is_of(entry, context)) drop(b, fd, gaps, context, entry);
}

bool p2p__scratch_holds(size_t ranks, uint64_t offset, size_t bytes)
{
    if (ranks < 1 || ranks > P2P_MAX_RANKS || bytes > P2P_LAYER_INLINE_MOST) return false;
    size_t all = bytes_of(ranks);
    return offset <= all && bytes <= all - offset;
}

static p2p_err map_scratch(p2p_comm *comm)
{
    p2p_engine *engine = comm->engine;
    size_t bytes = scratch_bytes(comm);
    int fd = engine->memory_fd;
    memory_place place = p2p__scratch_place(engine->scoreboard, fd, &engine->gaps, comm->context, comm->size, false);
    /* Each rank takes the memory of its own segment: if all took all of it, there would not be enough for a moment. A
     * segment is read by others only when its rank has come; but the file must reach to the end of all. */
    if (place && p2p__memory_fill(fd, place + (size_t)comm->rank * comm->segment_bytes, comm->segment_bytes) &&
        p2p__memory_fill(fd, place + bytes - MEMORY_UNIT, MEMORY_UNIT))
        comm->scratch = p2p__memory_map(fd, place, bytes);
    comm->scratch_place = place;
    comm->free_scratch = p2p__scratch_free;
    if (comm->scratch) return P2P_OK;
    return p2p__fail(comm, CAUSE_NO_SCRATCH, comm->size, bytes, strerror(errno));
}

size_t p2p_layer_scratch_most(const p2p_comm *comm)
{
    return p2p__scratch_largest(comm->size);
}

p2p_err p2p_layer_scratch(p2p_comm *comm, size_t wanted, p2p_scratch *scratch)
{
    p2p_err err = comm->scratch ? P2P_OK : map_scratch(comm);
    if (err) return err;
    size_t bytes = wanted < comm->scratch_largest ? (wanted + LINE - 1) / LINE * LINE : comm->scratch_largest;
    size_t kind = SMALL, most = SMALL_PIECE, area = 0;
    for (; most < bytes; most = next_kind(comm->scratch_usual, kind++, most)) area += area_bytes(kind, most);
    size_t *at = &comm->scratch_at[kind]; /* where the next piece begins in its area */
    if (*at + bytes > area_bytes(kind, most)) *at = 0;
    *scratch = (p2p_scratch){comm->scratch + area + *at, comm->segment_bytes, bytes};
    *at += kind == USUAL ? bytes : most;
    return P2P_OK;
}

void p2p__scratch_free(p2p_comm *comm, bool last)
{
    p2p_engine *engine = comm->engine;
    if (comm->scratch) munmap(comm->scratch, scratch_bytes(comm));
    comm->scratch = NULL;
    if (!last) return;
    p2p__scratch_clear(engine->scoreboard, engine->memory_fd, &engine->gaps, comm->context, true);
}

void p2p_layer_count(p2p_comm *comm, int peer, size_t sent, size_t received)
{
    if (sent != P2P_LAYER_NOTHING) p2p__count_sent(comm, peer, sent);
    if (received != P2P_LAYER_NOTHING) p2p__count_received(comm, peer, received);
    TRACE(comm->engine, p2p__trace_moved(comm, peer, sent, received));
}
