/* SPDX-License-Identifier: MIT */
/* spill: output that is kept until the job ends, in one temporary file without a name, so that memory stays small. */
#ifndef PAIRWISE_P2P_SPILL_H
#define PAIRWISE_P2P_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SPILL_MOST ((size_t)1 << 30) /* of all ranks together; each has the same share */

/* The file; shared by all streams of a job. */
typedef struct {
    int fd; /* -1: not needed so far */
    off_t end;
    size_t share; /* bytes that a stream may keep */
} p2p_spill;

/* What of it belongs to one stream, in order. */
typedef struct {
    off_t at;
    size_t length;
} p2p_piece;

typedef struct {
    p2p_piece *pieces;
    size_t count, room, next; /* next: to be taken back */
    size_t bytes;
} p2p_kept;

void p2p__spill_init(p2p_spill *spill, int streams);
void p2p__spill_free(p2p_spill *spill);

/* Keep these bytes. 0, or errno, and nothing is kept: EDQUOT where the stream's share is full. */
int p2p__spill_keep(p2p_spill *spill, p2p_kept *kept, const char *bytes, size_t count);

/* Take back up to `room` bytes, in order; 0 when there are no more, or they cannot be read. */
size_t p2p__spill_take(const p2p_spill *spill, p2p_kept *kept, char *bytes, size_t room);

#endif
