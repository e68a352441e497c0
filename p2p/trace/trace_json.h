/* SPDX-License-Identifier: MIT */
/* trace_json: what the files that write a trace share: trace_json.c the whole, trace_events.c the events of a rank. */
#ifndef PAIRWISE_P2P_TRACE_JSON_H
#define PAIRWISE_P2P_TRACE_JSON_H

#include <stdio.h>

#include "p2p/shared/json.h"
#include "p2p/trace/trace.h"

/* A job that has ended, as its trace tells of it. */
typedef struct p2p_traced_job {
    const scoreboard *scoreboard; /* behind it the events of its ranks: trace.h */
    uint64_t started;
    const char *program; /* "" if it has no name */
    int status;
    uint64_t dropped; /* events for which there was no room */
    const char *outcome;
    uint64_t failed_at; /* ns; 0: it did not fail. The rest is of a failure: */
    int first;          /* the rank that failed first, -1: not one alone */
    bool is_cycle;
    char text[2048];
    p2p_place ranks[]; /* what each was doing then: its place in the deadlock, or ROLE_DOING */
} p2p_traced_job;

/* Write all of it. False if there is no memory for that. */
bool p2p__trace_write(const p2p_traced_job *job, FILE *file);

/* ---- trace_events.c ---- */

typedef struct {
    FILE *file;
    const p2p_traced_job *job;
    const p2p_config *config;
    int size; /* of the job */
    bool is_virtual;
    uint64_t end; /* of calls that never returned */
    const char *comma;
    char names[TRACE_POOL]; /* of the rank whose events are written */
} p2p_writer;

void p2p__json_time(const p2p_writer *w, const char *key, uint64_t ns);

/* Whole nanoseconds since the job began. */
uint64_t p2p__json_ns_of(const p2p_writer *w, uint64_t time);

/* What a rank shares: its block, how many events are there, and how many with those that have not ended. A process that
 * it has left behind may still write there, so that events are copied before anything is decided by what they say. */
typedef struct {
    const trace_rank *shared;
    uint64_t count, all;
} p2p_traced_rank;

p2p_traced_rank p2p__json_traced(const p2p_traced_job *job, int rank);

static inline const trace_event *p2p__json_event(const p2p_traced_rank *from, uint64_t i)
{
    return i < from->count ? &from->shared->events[i] : &from->shared->open[i - from->count];
}

/* The track of an event; an event from its beginning to its arguments; their beginning (depth -1: none). It ends with }}. */
int p2p__json_thread_of(const p2p_writer *w, const trace_event *event, int rank);
void p2p__json_begin_event(p2p_writer *w, const char *phase, const char *name, const char *category, int thread);
void p2p__json_begin_args(const p2p_writer *w, int rank, int depth);

/* The events of a rank; false if there is no memory. */
bool p2p__json_rank(p2p_writer *w, int rank);

#endif
