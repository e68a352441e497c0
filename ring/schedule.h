/* SPDX-License-Identifier: MIT */
/*
 * schedule: a non-blocking collective as a list of steps, made when it begins and followed whenever something may have
 * moved (Hoefler, Lumsdaine and Rehm, "Implementation and performance analysis of non-blocking collective operations
 * for MPI", 2007).
 *
 *      step k      send and receive at the same time     both have ended: combine     on to step k + 1
 *
 * How one is used, with call.returns_request and call.request:
 *
 *      p2p_err err = frame__begin(&call, reads, writes);
 *      return err ? err : frame__start(&call, steps, scratch_bytes, add_steps);
 */
#ifndef PAIRWISE_RING_SCHEDULE_H
#define PAIRWISE_RING_SCHEDULE_H

#include "ring/frame.h"

enum { FRAME_NO_RANK = -1 };

typedef struct {
    int to, from; /* FRAME_NO_RANK: nothing is sent, received; with neither, `out` is copied to `in` */
    frame__piece out, in;
    void *sum; /* then: sum = left OP right, on `count` elements; 0: nothing */
    const void *left, *right;
    size_t count;
    bool ends_mean;             /* and divide, if the operator is a mean */
    bool agrees_first;          /* `in` is the caller's buffer: the step begins when all ranks agree */
    bool agrees_then;           /* `sum` is, or what is copied to: combine, or copy, when all ranks agree */
    p2p_part part_out, part_in; /* for traces */
} frame__step;

typedef struct frame__schedule frame__schedule;

/* The next step: no messages, the whole buffer, until its caller says otherwise. */
frame__step *frame__add_step(frame__schedule *schedule);

/* When its messages have ended. */
void frame__finish_step(const frame__call *call, const frame__step *step);

/* After frame__begin, instead of frame__end: make a schedule of at most so many steps by add_steps, in which
 * call->scratch has so many bytes; post what the first step can; end the call, with call->request set. */
p2p_err frame__start(const frame__call *call, size_t steps, size_t scratch_bytes,
                     void (*add_steps)(const frame__call *call, frame__schedule *schedule));

#endif
