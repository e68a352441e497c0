/* SPDX-License-Identifier: MIT */
/*
 * rate: what learn, which judges a kernel, and bench/rate.c, in which it runs, say to each other. A kernel on a processor is
 * machine code in the process that runs it: that process may do and say whatever it likes. So it is asked for as little as
 * possible: each has a socket to learn, CHECK_FD, and memory that it shares with learn, CHECK_FD + 1, whose length is fixed.
 *
 *      RATE_BUILD    and a source: build the kernel of this exercise
 *      RATE_BEGIN    buffers of one size: they lie in the shared memory, each where rate_place says
 *      RATE_RUN      once
 *      RATE_PEAK     what the device is able to, in words of the exercise: bytes or operations a second
 *
 * Each order is answered, and the first answer, to none, says what device it is. Behind an answer that failed come words.
 */
#ifndef PAIRWISE_LEARN_RATE_H
#define PAIRWISE_LEARN_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "exercises/check/works.h"

#define RATE_ENOUGH 0.8 /* of the solution's speed: all points */

enum rate_what { RATE_NOTHING, RATE_BUILD, RATE_BEGIN, RATE_RUN, RATE_PEAK };
enum { RATE_SOURCE = 2 << 20, RATE_WORDS = 16384, RATE_PAGE = 4096 };

typedef struct {
    uint32_t what, bytes; /* of the source */
    char code[4];         /* K1 */
    uint64_t n[WORK_SIZES], group[2];
} rate_order;

typedef struct {
    uint32_t failed, bytes; /* of the words behind it */
    uint32_t is_cpu;        /* its memory is the device's, and what it does is timed from outside */
    double number;          /* seconds of a run on another device; a peak */
} rate_answer;

/* Each kernel's description; NULL behind the last name. */
typedef struct {
    const char *code;
    work_describe *describe;
} rate_described;
static const rate_described rate_all[] = {{"K1", work_vector_add}, {"K2", work_sum},  {"K3", work_matmul},
                                          {"K4", work_conv},       {"K5", work_norm}, {NULL, NULL}};

static inline work_describe *rate_describe(const char *code)
{
    const rate_described *d = rate_all;
    while (d->code && strcmp(d->code, code) != 0) d++;
    return d->describe;
}

static inline bool rate_is_memory(const work_argument *a)
{
    return a->kind == WORK_IN || a->kind == WORK_OUT;
}

/* Where the buffer of an argument begins in the shared memory; of the one behind the last: how long all are. */
static inline size_t rate_place(const work *w, int argument)
{
    size_t at = 0;
    for (int i = 0; i < argument; i++) {
        size_t bytes = rate_is_memory(&w->arguments[i]) ? w->arguments[i].count * sizeof(float) : 0;
        at += (bytes + RATE_PAGE - 1) / RATE_PAGE * RATE_PAGE;
    }
    return at;
}

#endif
