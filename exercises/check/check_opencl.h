/* SPDX-License-Identifier: MIT */
/*
 * check_opencl: a device for the kernels of exercises, in a rank. Work-items run one at a time, up to a barrier or their
 * end, in an order that the test chooses; whatever they read or write is looked at first. What is found ends the run:
 *
 *      race        two work-items at one place, one of them writes, and nothing says who is first: no barrier between them,
 *                  one that does not fence this kind of memory, or they are in different groups
 *      bounds      a place outside of all buffers
 *      unset       read before any work-item has written it: output, local memory
 *      barrier     some work-items of a group wait at a barrier that others do not come to
 */
#ifndef PAIRWISE_CHECK_CHECK_OPENCL_H
#define PAIRWISE_CHECK_CHECK_OPENCL_H

#include "exercises/check/check.h"

enum { DEVICE_BUFFERS = 8, DEVICE_GROUP = 256 };

typedef enum { DEVICE_FORWARD, DEVICE_BACKWARD, DEVICE_SHUFFLED, DEVICE_ORDERS } device_order;
typedef enum {
    DEVICE_FILLED,
    DEVICE_OUTPUT,
    DEVICE_LOCAL
} device_memory; /* filled by the host; by kernels; a group's own */
typedef enum { DEVICE_FINE, DEVICE_RACE, DEVICE_BOUNDS, DEVICE_UNSET, DEVICE_BARRIER, DEVICE_BARRIERS } device_finding;

/* What is known of a finding, as a rank reports it. Places are in the program, as check_line_of wants them, or lines (barrier). */
enum {
    DEVICE_KIND,
    DEVICE_PLACE,
    DEVICE_OTHER_PLACE,
    DEVICE_ITEM, /* in its group, row after row */
    DEVICE_GROUP_OF,
    DEVICE_OTHER_ITEM,
    DEVICE_OTHER_GROUP,
    DEVICE_WRITES,
    DEVICE_OTHER_WRITES,
    DEVICE_BUFFER, /* -1: local memory that the kernel declares */
    DEVICE_ELEMENT,
    DEVICE_ELEMENTS, /* of the buffer */
    DEVICE_WEAK,     /* there is a barrier between them, for the other kind of memory */
    DEVICE_AGAIN,    /* since the last barrier a work-item has written to a place of local memory twice */
    DEVICE_FACTS
};

/* Of each buffer: how often floats were read; how many were written; how many one work-item read at most. */
enum { DEVICE_READS, DEVICE_WROTE, DEVICE_MOST_READS, DEVICE_COUNTS };

/* Forget all buffers; a buffer of so many floats, filled with NaN; which is the next number. */
CHECK_OF_RANKS void device_begin(void);
CHECK_OF_RANKS float *device_buffer(size_t floats, device_memory memory);

typedef struct {
    size_t global[2], local[2];
    device_order order;
    void (*item)(void *arg); /* calls the kernel */
    void *arg;
} device_range;

/* global is a multiple of local. */
CHECK_OF_RANKS void device_run(const device_range *range);

CHECK_OF_RANKS extern double device_found[DEVICE_FACTS];
CHECK_OF_RANKS extern double device_counts[DEVICE_BUFFERS][DEVICE_COUNTS];
CHECK_OF_RANKS extern double device_barriers; /* that a work-item passed, at most */

/* ---- Between check_opencl.c and check_accesses.c ---- */

enum { DEVICE_STACK = 64 << 10 };

/* The work-item that runs, in its group; the barriers that its group has passed, of each kind and of all. */
typedef struct {
    uint32_t item, group, local_barriers, global_barriers, all_barriers;
    const char *stack;
    size_t *reads; /* of each buffer, by this work-item */
    bool running, stopped;
} device_position;

CHECK_OF_RANKS extern device_position device_at;

CHECK_OF_RANKS void device_leave(void);  /* back to who resumed the work-item */
CHECK_OF_RANKS void device_forget(void); /* findings, counts, and local memory that kernels declare */

/* The work-item reads or writes so many bytes; from: where the call that says so returns to. */
CHECK_OF_RANKS void device_access(const volatile void *at, size_t bytes, bool reads, bool writes, bool atomic,
                                  const void *from);

#endif
