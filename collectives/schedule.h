/* SPDX-License-Identifier: MIT */
/*
 * schedule: a non-blocking collective as a list of steps, made when it begins and followed whenever something may have
 * moved (Hoefler, Lumsdaine and Rehm, "Implementation and performance analysis of non-blocking collective operations for
 * MPI", 2007).
 *
 *      step k      send and receive at the same time     both have ended: combine     on to step k + 1
 *
 * How one is used:
 *
 *      p2p_err err = coll__begin(&call, reads, writes);
 *      if (err) return err;
 *      coll__schedule *schedule;
 *      err = coll__schedule_make(&call, steps, scratch_bytes, &schedule);
 *      if (!err) { coll__schedule_add(schedule) ... ; err = coll__schedule_start(schedule, request); }
 *      return p2p_layer_end(comm, err);
 */
#ifndef PAIRWISE_COLLECTIVES_SCHEDULE_H
#define PAIRWISE_COLLECTIVES_SCHEDULE_H

#include "collectives/internal.h"

enum { COLL_NO_RANK = -1 };

typedef struct {
    int to, from; /* COLL_NO_RANK: nothing is sent, received; with neither, `out` is copied to `in` */
    const void *out;
    void *in;
    size_t out_bytes, in_bytes;
    void *sum; /* then: sum = left OP right, on `count` elements; 0: nothing */
    const void *left, *right;
    size_t count;
    bool ends_mean;          /* and divide, if the operator is a mean */
    bool writes;             /* to the caller's buffer: the step begins when all ranks agree */
    int out_block, in_block; /* for traces: which block travels, of call->count elements; COLL_NO_RANK: the whole */
} coll__step;

typedef struct coll__schedule coll__schedule;

/* For at most so many steps, with scratch memory. After coll__begin. */
p2p_err coll__schedule_make(const coll__call *call, size_t steps, size_t scratch_bytes, coll__schedule **schedule);
char *coll__schedule_scratch(coll__schedule *schedule);

/* The next step: nothing but what its caller sets. */
coll__step *coll__schedule_add(coll__schedule *schedule);

/* Begin, and post what the first step can. In any case the schedule is no longer the caller's. */
p2p_err coll__schedule_start(coll__schedule *schedule, p2p_request *request);

/* call->wrong, if there is nowhere to put the request. Before coll__begin. */
void coll__needs_request(coll__call *call, const p2p_request *request);

#endif
