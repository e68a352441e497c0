/* SPDX-License-Identifier: MIT */
/*
 * What ranks elsewhere have noted (notes.h) and traced (trace.h) comes to host 0 as it is, into its own copies of their blocks:
 * numbers every second, all of it when the ranks of a host have ended.
 */
#include <stddef.h>
#include <string.h>

#include "p2p/job/hosts.h"
#include "p2p/trace/notes.h"

#define PART ((size_t)32 << 10)

/* The parts of a job's memory that are of one rank. */
enum area { AREA_METRICS, AREA_RECORD, AREA_TRACE };

/* Where it lies, and how many bytes; 0: there is none. */
static char *find_area(const p2p_job *job, int rank, int area, size_t *bytes)
{
    const scoreboard *b = job->scoreboard;
    const p2p_config *config = &b->config;
    *bytes = 0;
    if (rank < 0 || rank >= job->size) return NULL;
    if (area == AREA_METRICS && config->metrics) {
        *bytes = sizeof(notes_metrics);
        return (char *)p2p__notes_metrics(b, rank);
    }
    if (area == AREA_RECORD && config->record) {
        *bytes = sizeof(notes_record);
        return (char *)p2p__notes_record(b, rank);
    }
    if (area == AREA_TRACE && config->trace_room) {
        *bytes = p2p__trace_rank_bytes(job->size, config);
        return (char *)p2p__trace_of(b, rank);
    }
    return NULL;
}

/* Of an area, what its rank has used. */
static size_t used_of(const p2p_job *job, int rank, int area)
{
    size_t bytes, used = 0;
    const void *at = find_area(job, rank, area, &bytes);
    if (at && area == AREA_METRICS)
        used = sizeof(notes_metrics) - (NOTES_OPERATIONS - p2p__notes_operations(at)) * sizeof(notes_operation);
    else if (at && area == AREA_TRACE)
        used = sizeof(trace_rank) + atomic_load(&((const trace_rank *)at)->count) * sizeof(trace_event);
    return used && used < bytes ? used : bytes;
}

/* As fast as host 0 takes it; what it does not take in time waits with all that is to be sent. */
static void send_area(p2p_job *job, int rank, int area)
{
    size_t bytes, used = used_of(job, rank, area);
    for (size_t done = 0, part; done < used; done += part) {
        part = used - done < PART ? used - done : PART;
        const record r = {.type = RECORD_NOTES, .bytes = (uint32_t)part, .a = rank, .b = area, .number = done};
        p2p__record_put(job, 0, &r, find_area(job, rank, area, &bytes) + done); /* a generation may begin meanwhile */
        p2p__records_wait(job);
    }
}

void p2p__notes_send(p2p_job *job, bool all)
{
    if (p2p__judges(job) || job->hosts->lost) return;
    for (int rank = job->first; rank < job->first + job->count; rank++)
        for (int area = AREA_METRICS; area <= (all ? AREA_TRACE : AREA_METRICS); area++) send_area(job, rank, area);
}

void p2p__notes_arrived(p2p_job *job, int from, const record *r, const char *bytes)
{
    size_t room;
    char *at = find_area(job, r->a, r->b, &room);
    if (!at || job->hosts->host_of[r->a] != from || r->number > room || r->bytes > room - r->number) return;
    memcpy(at + r->number, bytes, r->bytes);
}
