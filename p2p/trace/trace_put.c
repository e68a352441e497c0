/* SPDX-License-Identifier: MIT */
/* What both halves of the writer of traces write: numbers, times, and the frame of an event. */
#include "p2p/trace/trace_json.h"

#define MOST_TRACKS (INT_MAX / P2P_MAX_RANKS - 2)

void p2p__json_number(const p2p_writer *w, const char *key, uint64_t number)
{
    fprintf(w->file, ",\"%s\":%llu", key, (unsigned long long)number);
}

/* ---- Times ---- */

/* Whole nanoseconds, cut off, so that what nests still does. */
uint64_t p2p__json_ns_of(const p2p_writer *w, uint64_t time)
{
    if (w->is_virtual) return time / 1000;
    return time > w->job->started ? time - w->job->started : 0;
}

void p2p__json_time(const p2p_writer *w, const char *key, uint64_t ns)
{
    fprintf(w->file, ",\"%s\":%llu.%03llu", key, (unsigned long long)ns / 1000, (unsigned long long)ns % 1000);
}

/* ---- What ranks share ---- */

const char *p2p__json_name_at(const p2p_writer *w, uint16_t place)
{
    return place < TRACE_POOL ? w->names + place : "";
}

/* A program that writes where it should not may have spoilt what it shares: nothing there is believed. */
uint64_t p2p__json_count_of(const p2p_writer *w, const trace_rank *rank)
{
    uint64_t count = atomic_load(&rank->count),
             most = p2p__trace_room(w->job->size, w->config) + (uint64_t)w->job->size;
    return count < most ? count : most;
}

uint64_t p2p__json_open_count_of(const trace_rank *rank)
{
    uint64_t count = atomic_load(&rank->open_count);
    return count < TRACE_OPEN ? count : TRACE_OPEN;
}

const trace_rank *p2p__json_block_of(const p2p_writer *w, int rank)
{
    return p2p__trace_of(w->job->blocks, w->job->size, w->config, rank);
}

/* ---- Events ---- */

int p2p__json_thread_of(const p2p_writer *w, const trace_event *event, int rank)
{
    bool apart = w->is_virtual && event->flags & TRACE_IN_STEP; /* virtual time of its own: a track of its own */
    uint32_t index = event->context / 2 % MOST_TRACKS;
    return rank + 1 + (apart ? P2P_MAX_RANKS * (1 + (int)index) : 0);
}

void p2p__json_begin_event(p2p_writer *w, const char *phase, const char *name, const char *category, int thread)
{
    fprintf(w->file, "%s\n{\"ph\":\"%s\",\"name\":", w->comma, phase);
    w->comma = ",";
    p2p__json_text(w->file, name);
    if (category) fprintf(w->file, ",\"cat\":\"%s\"", category);
    fprintf(w->file, ",\"pid\":1,\"tid\":%d", thread);
}

void p2p__json_end_event(p2p_writer *w)
{
    fputs("}}", w->file);
}

void p2p__json_begin_args(const p2p_writer *w, int rank)
{
    fprintf(w->file, ",\"args\":{\"rank\":%d", rank);
}
