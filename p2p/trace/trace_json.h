/* SPDX-License-Identifier: MIT */
/*
 * trace_json: what the files that write a trace share.
 *
 *      trace_json.c       the whole: names, how it ended, what the job was
 *      trace_events.c     the events of a rank
 *      trace_put.c        numbers, times
 */
#ifndef PAIRWISE_P2P_TRACE_JSON_H
#define PAIRWISE_P2P_TRACE_JSON_H

#include <stdio.h>

#include "p2p/shared/json.h"
#include "p2p/trace/trace_job.h"

typedef struct {
    FILE *file;
    p2p_job *job;
    const p2p_config *config;
    bool is_virtual;
    uint64_t end; /* of calls that never returned */
    const char *comma;
    char names[TRACE_POOL]; /* of the rank whose events are written */
} p2p_writer;

void p2p__json_number(const p2p_writer *w, const char *key, uint64_t number);
void p2p__json_time(const p2p_writer *w, const char *key, uint64_t ns);

/* Whole nanoseconds since the job began. */
uint64_t p2p__json_ns_of(const p2p_writer *w, uint64_t time);

/* What a rank shares: its block, and how many events are there. A process that it has left behind may still write there,
 * so that events are copied before anything is decided by what they say. */
const trace_rank *p2p__json_block_of(const p2p_writer *w, int rank);
uint64_t p2p__json_count_of(const p2p_writer *w, const trace_rank *rank);
uint64_t p2p__json_open_count_of(const trace_rank *rank);

/* A name in w->names, which are the rank's whose events are written. */
const char *p2p__json_name_at(const p2p_writer *w, uint16_t place);

/* The track of an event; an event from its beginning to its arguments; their beginning; its end. */
int p2p__json_thread_of(const p2p_writer *w, const trace_event *event, int rank);
void p2p__json_begin_event(p2p_writer *w, const char *phase, const char *name, const char *category, int thread);
void p2p__json_begin_args(const p2p_writer *w, int rank);
void p2p__json_end_event(p2p_writer *w);

/* ---- trace_events.c: false if there is no memory ---- */

bool p2p__json_rank(p2p_writer *w, int rank);

#endif
