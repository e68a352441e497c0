/* SPDX-License-Identifier: MIT */
/*
 * reader: what the files that read a trace share.
 *
 *      trace.c      the file, the job, the two ends of a message put together
 *      fields.c     an event as it stands in the file
 *      events.c     what an event means
 */
#ifndef PAIRWISE_REPLAY_READER_H
#define PAIRWISE_REPLAY_READER_H

#include "replay/json.h"
#include "replay/trace.h"

enum { REPLAY_TEXT = 4096, REPLAY_DEEPEST = 64 };

/* An event as it stands in the file: every field there may be. */
typedef struct {
    char ph[4], name[REPLAY_TEXT], cat[32], call[REPLAY_TEXT], function[64], text[REPLAY_TEXT];
    char file[300], dtype[16], op[16], algorithm[32];
    double ts, dur, tid, id;
    double rank, peer, to, from, tag, bytes, chunk, offset, leaves, arrives, collective, comm, count, root, line, polls,
        depth, chosen;
    bool combined, of_collective, unfinished, failed, in_cycle, has_cycle, has_stuck;
    int ranks[REPLAY_MOST_RANKS], rank_count; /* of waits_for, cycle, stuck or options */
} replay_event;

typedef struct {
    json j;
    replay_trace *trace;
    size_t slice_room, message_room, stats_room, text_room;
    void *numbers;        /* tsearch's tree: a text's number */
    replay_message *ends; /* the receiving halves */
    size_t end_count, end_room;
    replay_last *last;
    bool has_job, no_memory;
    /* The slices that are open on a track. */
    int open[REPLAY_DEEPEST], open_count;
    double tid, order;
} replay_reader;

/* Read an event; what it does not say is REPLAY_UNKNOWN, "" or 0. False after an error. */
bool replay__read_event(json *j, replay_event *e);

/* Note what an event means. Errors are json_fail's. */
void replay__take_event(replay_reader *r, const replay_event *e);

/* Room for one more in a list, which may move; the number of a text, added if it is new. Without memory r->no_memory is
 * set, and the list stays as it was. */
void *replay__grow(replay_reader *r, void *list, size_t count, size_t *room, size_t bytes);
int replay__number_of(replay_reader *r, const char *text);

#endif
