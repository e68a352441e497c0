/* SPDX-License-Identifier: MIT */
/*
 * trace: what every rank did, and when, kept in memory that the supervisor shares with it, so that a rank that is killed
 * or waits for ever leaves its events behind. Nothing here makes a system call; without --trace each hook is a branch.
 *
 * The events lie behind the scoreboard, a block a rank, and only grow: when the block is full the rest is counted, not kept.
 */
#ifndef PAIRWISE_P2P_TRACE_H
#define PAIRWISE_P2P_TRACE_H

#include "p2p/shared/scoreboard.h"

enum trace_kind {
    TRACE_CALL,       /* a public call, from entering to leaving */
    TRACE_COLLECTIVE, /* one that is a collective */
    TRACE_WAIT,       /* in a call: nothing to do but to wait */
    TRACE_COMPUTE,    /* combining what has been received */
    TRACE_PHASE,      /* p2p_layer_phase_begin to _end */
    TRACE_BACKGROUND, /* a non-blocking collective, from its beginning to its end */
    TRACE_SENT,       /* a message, when its send was posted */
    TRACE_RECEIVED,   /* a message, when its receive was done */
    TRACE_STATS,      /* what p2p_stats says of a peer at the end: bytes, polls: sent; id, from: received */
};

enum trace_flag {
    TRACE_IN_STEP = 1,  /* by the step of a non-blocking collective */
    TRACE_POLLED = 2,   /* looked and found nothing; `polls` of them in a row */
    TRACE_HAS_PART = 4, /* offset is known */
    TRACE_COMBINED = 8, /* what was received was combined with what was there */
    TRACE_FAILED = 16,  /* the call returned an error */
    TRACE_HAS_PEER = 32,
    TRACE_HAS_SOURCE = 64,
    TRACE_CHOSEN =
        128, /* in this wait the launcher has decided a choice: chunk, one of the options that `offset` has as bits */
};

/* Names are places in the rank's pool of texts. Times are nanoseconds, or picoseconds of virtual time. */
typedef struct {
    uint64_t start, end;
    uint64_t bytes;  /* of the message or the call; elements of a collective */
    uint64_t id;     /* of a message: the sender's number for it */
    uint64_t offset; /* of the message's part of the buffer */
    uint32_t order;  /* of beginning, on this rank */
    uint32_t context, number, polls;
    int32_t peer, tag, from, from_tag; /* world ranks; peer: root of a collective */
    int32_t chunk, line;
    uint16_t name, file, algorithm, dtype, op;
    uint8_t kind, flags, depth; /* depth: calls and phases around it */
} trace_event;

_Static_assert(sizeof(trace_event) == 96, "an event is a cache line and a half");

enum { TRACE_OPEN = 16, TRACE_POOL = 1 << 15 };

typedef struct {
    char at[TRACE_POOL]; /* texts, each with its NUL; place 0 is "" */
} trace_pool;

/* What a rank shares. */
typedef struct {
    _Alignas(64) _Atomic uint64_t count; /* of events, complete ones */
    _Atomic uint64_t dropped;            /* for which there was no room */
    _Atomic uint32_t open_count; /* calls and phases that have not ended; those beyond TRACE_OPEN are not kept */
    trace_event open[TRACE_OPEN];
    trace_pool pool;
    trace_event events[];
} trace_rank;

/* How many events a block holds; at least 64. */
static inline uint64_t p2p__trace_room(int size, const p2p_config *config)
{
    size_t each = config->trace_room / (size_t)size;
    size_t events = each > sizeof(trace_rank) ? (each - sizeof(trace_rank)) / sizeof(trace_event) : 0;
    return events < 64 ? 64 : events;
}

/* Bytes of the block of one rank, with room for what p2p_stats says at the end; 0 if nothing is traced. */
static inline size_t p2p__trace_rank_bytes(int size, const p2p_config *config)
{
    uint64_t events = p2p__trace_room(size, config) + (uint64_t)size;
    return config->trace_room ? p2p__round_up(sizeof(trace_rank) + events * sizeof(trace_event), 4096) : 0;
}

static inline trace_rank *p2p__trace_of(const scoreboard *b, int rank)
{
    return (trace_rank *)(void *)((char *)b->trace + (size_t)rank * p2p__trace_rank_bytes(b->size, &b->config));
}

#endif
