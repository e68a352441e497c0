/* SPDX-License-Identifier: MIT */
/* output: what ranks print, forwarded line by line, without ever waiting for the reader. */
#ifndef PAIRWISE_P2P_OUTPUT_H
#define PAIRWISE_P2P_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPILL_MOST ((size_t)1 << 30) /* of all ranks together; each has the same share */

/* Output that is kept until the job ends, of all streams, so that memory stays small: a temporary file without a name. */
typedef struct {
    int fd; /* -1: not needed so far */
    off_t end;
    size_t share; /* bytes that a stream may keep */
} p2p_spill;

typedef struct {
    off_t at;
    size_t length;
} p2p_piece;

/* What of it belongs to one stream, in order. */
typedef struct {
    p2p_piece *pieces;
    size_t count, room, next; /* next: to be taken back */
    size_t bytes;
} p2p_kept;

/* Where lines go: bytes that could not be written yet wait here. */
typedef struct {
    int fd;
    char *bytes; /* those that wait begin at from and end before to */
    size_t from, to, room;
    size_t chunk; /* most that one write may try without risk of waiting */
    char last;    /* that was added */
    int error;    /* errno of the first write that failed; later bytes are dropped */
} p2p_sink;

/* What comes from a rank: our end of a socketpair. */
typedef struct {
    int fd; /* -1: at its end */
    int rank;
    bool tag;        /* prefix lines */
    p2p_spill *keep; /* until the job has ended; NULL: forward lines as they come */
    p2p_kept kept;
    bool replays;
    int lost; /* errno: what came later could not be kept, and was dropped */
    bool at_line_start;
    p2p_sink *sink;
    char *line; /* what has come and was not forwarded */
    size_t length, room;
} p2p_stream;

void p2p__sink_init(p2p_sink *sink, int fd);
void p2p__sink_add(p2p_sink *sink, const char *bytes, size_t count);
bool p2p__sink_full(const p2p_sink *sink);
/* Write what can be written without waiting. */
void p2p__sink_flush(p2p_sink *sink);

/* Read what there is and forward complete lines; at the end of file close it. False if there was nothing. */
bool p2p__stream_read(p2p_stream *stream);
/* Forward some of what was kept; false when nothing is left of it. */
bool p2p__stream_replay(p2p_stream *stream);
/* Forward what is left and release everything. */
void p2p__stream_finish(p2p_stream *stream);

#endif
