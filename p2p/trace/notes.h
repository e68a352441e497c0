/* SPDX-License-Identifier: MIT */
/*
 * notes: what a rank writes down for its launcher while it runs, in memory that both share: numbers of each of its
 * operations (launch --metrics), and its last calls (launch --record). An operation is the outermost call of the program.
 * Only the rank writes, so a rank that hangs or is killed leaves its notes behind. Without these options there is nothing.
 *
 *      notes_calls.c           in the rank
 *      metrics.c, record.c     in the supervisor: the files that become of it
 *
 * They lie behind the trace, a block a rank: notes_metrics, then notes_record, those that are asked for.
 */
#ifndef PAIRWISE_P2P_NOTES_H
#define PAIRWISE_P2P_NOTES_H

#include <stdatomic.h>

#include "p2p/shared/scoreboard.h"
#include "p2p/trace/trace.h"

enum { NOTES_OPERATIONS = 40, NOTES_GAUGES = 16, NOTES_BUCKETS = 13, NOTES_NAME = 40, NOTES_CALLS = 2000 };

/* Calls by their duration: up to 1 us, 4 us, 16 us, ... (NOTES_BUCKETS - 1 of these), and longer. */
typedef struct {
    char name[NOTES_NAME];
    _Atomic uint64_t calls, errors;
    _Atomic uint64_t bytes_sent, bytes_received; /* of messages, in these calls, as p2p_stats counts them */
    _Atomic uint64_t ns, took[NOTES_BUCKETS];    /* of the calls that were timed, each for those that it stands for */
} notes_operation;

/* A number of the program: p2p_layer_gauge. */
typedef struct {
    char name[NOTES_NAME];
    _Atomic uint64_t bits; /* a double */
} notes_gauge;

typedef struct {
    _Alignas(64) _Atomic uint32_t operations, gauges; /* that are in use */
    _Atomic uint64_t kept;                            /* messages that are here and that no receive has asked for */
    _Atomic uint64_t on_way; /* packets sent to this rank that it has not read; by the launcher */
    notes_gauge gauge[NOTES_GAUGES];
    notes_operation operation[NOTES_OPERATIONS]; /* the last one is for all that have no room */
} notes_metrics;

/* A call. Texts are places in the pool. */
typedef struct {
    uint64_t start, end; /* ns; end 0: it has not returned */
    uint64_t bytes;      /* or requests, or elements of a collective */
    uint64_t number;     /* of a collective, on its communicator; 0: it is none */
    uint32_t context;
    int32_t peer, tag, from, from_tag; /* ranks of the world; peer: root of a collective */
    int32_t line, err, shape;          /* err: what it returned */
    uint32_t order;                    /* of a collective: the rank had begun so many, on all communicators */
    uint16_t name, file, algorithm, dtype, op, unused;
} notes_call;

typedef struct {
    _Alignas(64) _Atomic uint64_t made; /* calls; number i, from 0, is in calls[i % NOTES_CALLS] */
    trace_pool pool;
    notes_call calls[NOTES_CALLS];
} notes_record;

/* Bytes of the block of one rank, and of all. */
size_t p2p__notes_rank_bytes(const p2p_config *config);
size_t p2p__notes_bytes(int size, const p2p_config *config);

/* A rank's part; NULL if it is not asked for. */
notes_metrics *p2p__notes_metrics(const scoreboard *b, int rank);
notes_record *p2p__notes_record(const scoreboard *b, int rank);

/* How many are in use, whatever stands there. */
static inline uint32_t p2p__notes_operations(const notes_metrics *notes)
{
    uint32_t count = atomic_load_explicit(&notes->operations, memory_order_acquire);
    return count < NOTES_OPERATIONS ? count : NOTES_OPERATIONS;
}

/* The limit of a bucket but the last, ns. */
static inline uint64_t p2p__notes_limit(int bucket)
{
    return UINT64_C(1000) << 2 * bucket;
}

#endif
