/* SPDX-License-Identifier: MIT */
/*
 * loop: how one operation on all ranks is timed; the same code for our own worlds and for the MPI libraries
 * (bench/peers).
 *
 *      barrier   all begin together
 *      t         the operation
 *
 * The operation works in place. In the warm-up the buffer gets this rank's elements before each operation, and every
 * element is checked after it. The measured ones follow each other on a buffer of zeros, which stays in the caches, as in
 * the benches of MPI libraries; what is left in it is checked at the end. With `cold` they are as in the warm-up.
 *
 * Each rank notes its own t of every operation; the time of the operation is that of the slowest rank, which the caller
 * finds by comparing the lists. Rank 0 decides how many operations there is time for, and tells the others in between.
 */
#ifndef PAIRWISE_BENCH_LOOP_H
#define PAIRWISE_BENCH_LOOP_H

#include <stdbool.h>
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
    bool cold;      /* fill the buffer before each measured operation, and check it after */
} loop_plan;

enum { LOOP_BY_TIME = -1 };

/* What this rank measured. The lists have room for plan.iters and belong to the caller. */
typedef struct {
    double *us, *virtual_us;
    size_t count;             /* operations measured: the same on all ranks */
    uint64_t wrong;           /* elements, in all operations that are checked */
    uint64_t messages, bytes; /* sent by this rank in one operation */
} loop_result;

void loop_run(const loop_calls *calls, const loop_plan *plan, loop_result *result);

/* Microseconds of a monotonic clock. */
double loop_now_us(void);

#endif
