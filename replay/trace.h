/* SPDX-License-Identifier: MIT */
/*
 * trace: what a trace file says, read and checked: slices, messages, how it ended, what p2p_stats said. Times are
 * nanoseconds since the job began. Texts are numbers: see replay_text.
 */
#ifndef PAIRWISE_REPLAY_TRACE_H
#define PAIRWISE_REPLAY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLAY_NONE = -1, REPLAY_UNKNOWN = -1, REPLAY_MOST_RANKS = 1024 };

enum replay_kind { SLICE_CALL, SLICE_COLLECTIVE, SLICE_WAIT, SLICE_COMPUTE, SLICE_PHASE, SLICE_BACKGROUND };

/* Unknown numbers are REPLAY_UNKNOWN. */
typedef struct {
    int kind, rank, track; /* track 0: the rank's own; others beside it */
    double start, length;
    int name, file, line;
    double comm, collective; /* which collective it belongs to, or is; 0: the world, none */
    double count;            /* of a collective: elements */
    int dtype, op, algorithm, root;
    double peer, bytes; /* of a call, combining */
    bool unfinished, failed;
    double polls; /* that found nothing; 0: it is no such call */
    double chosen,
        options; /* of a wait in which the launcher decided what comes first: a rank or a request, of so many; 0: none */
    double depth; /* how many are around it */
    int parent;   /* the slice it is inside of; REPLAY_NONE: of none */
    double order; /* of beginning, among all there is of its rank; of messages too */
} replay_slice;

typedef struct {
    double id;
    int from, to, tag;
    double bytes, comm, collective;
    double sent, received; /* received: REPLAY_UNKNOWN if it never was */
    double leaves, arrives;
    double chunk, offset;         /* at the sender */
    double chunk_to, offset_to;   /* at the receiver */
    bool combined, of_collective; /* there; sent by a collective */
    int sent_track, received_track;
    int sent_in, received_in; /* slices: the calls */
    double sent_order, received_order;
} replay_message;

/* How a rank ended. */
typedef struct {
    int state, call, function, file; /* texts; state: "stuck", "blocked", "running", "over" */
    int line;
    bool in_cycle;
    int waits_for[REPLAY_MOST_RANKS], waits_count;
} replay_last;

typedef struct {
    double comm, rank, peer, messages_sent, bytes_sent, messages_received, bytes_received;
} replay_stats;

typedef struct {
    int ranks, status;
    bool is_virtual;
    double dropped, latency_us, bandwidth, combining; /* of the virtual network; 0: none */
    int world, program, outcome, end_text;
    double end_time; /* of the job's failure; REPLAY_UNKNOWN: it did not fail */
    int cycle[REPLAY_MOST_RANKS], cycle_count;
    bool is_cycle; /* or just ranks that are stuck */

    replay_slice *slices;
    replay_message *messages;
    replay_stats *stats;
    replay_last *last; /* [ranks], NULL if the job did not fail */
    size_t slice_count, message_count, stats_count;
    char **texts;
    size_t text_count;
} replay_trace;

/* Read a file, or a text. False, and why, if it cannot be read or is no trace of Pairwise; nothing needs to be freed
 * then. */
bool replay_read(const char *path, replay_trace *trace, char *why, size_t why_bytes);
bool replay_read_text(const char *text, size_t bytes, const char *name, replay_trace *trace, char *why,
                      size_t why_bytes);
void replay_free(replay_trace *trace);

/* A text by its number; "" for REPLAY_UNKNOWN. */
const char *replay_text(const replay_trace *trace, int number);

#endif
