/* SPDX-License-Identifier: MIT */
/*
 * loop: how one operation on all ranks is timed; the same code for our own worlds and for the MPI libraries
 * (bench/peers).
 *
 *      fill      the buffer gets this rank's elements: the operation works in place
 *      barrier   all begin together
 *      t         the operation
 *      check     every element, after every operation; not timed
 *
 * Each rank notes its own t of every operation; the time of the operation is that of the slowest rank, which the caller
 * finds by comparing the lists. Rank 0 decides how many operations there is time for, and tells the others in between.
 */
#ifndef PAIRWISE_BENCH_LOOP_H
#define PAIRWISE_BENCH_LOOP_H

#include <stdint.h>

#include "bench/util/elements.h"

/* What differs between libraries. An error in one of these ends the program. */
typedef struct {
    void *state;
    void (*barrier)(void *state);
    void (*operate)(void *state, void *buf, size_t count);
    size_t (*agree)(void *state, size_t number);                    /* rank 0's number, on every rank */
    void (*sent)(void *state, uint64_t *messages, uint64_t *bytes); /* by this rank so far; NULL: not known */
    double (*virtual_time)(void *state);                            /* seconds; NULL: there is none */
} loop_calls;

typedef struct {
    const elements *elements;
    void *buf;
    size_t count;   /* elements of one operation */
    long warmup;    /* operations that do not count; LOOP_BY_TIME: up to 50, in a fifth of the time */
    size_t iters;   /* operations to measure at most */
    double seconds; /* to spend; 0: exactly `iters` operations */
} loop_plan;

enum { LOOP_BY_TIME = -1 };

/* What this rank measured. The lists have room for plan.iters and belong to the caller. */
typedef struct {
    double *us, *virtual_us;
    size_t count;             /* operations measured: the same on all ranks */
    uint64_t wrong;           /* elements, in all operations, warm-up included */
    uint64_t messages, bytes; /* sent by this rank in one operation */
} loop_result;

void loop_run(const loop_calls *calls, const loop_plan *plan, loop_result *result);

/* Microseconds of a monotonic clock. */
double loop_now_us(void);

#endif
