/* SPDX-License-Identifier: MIT */
/* call: what a rank is doing, as it shows it on the scoreboard, and as a diagnosis keeps it. */
#ifndef PAIRWISE_P2P_CALL_H
#define PAIRWISE_P2P_CALL_H

#include <stdint.h>

enum scoreboard_state {
    SCOREBOARD_ABSENT,     /* has not called p2p_init */
    SCOREBOARD_RUNNING,    /* in the user's code, or in a call that is not waiting */
    SCOREBOARD_BLOCKED,    /* in a call, waiting for what `wait` says */
    SCOREBOARD_POLLING,    /* running, but its last call was a test or iprobe that found nothing */
    SCOREBOARD_FINALIZING, /* said goodbye in p2p_finalize, waits for the others */
    SCOREBOARD_FINISHED,   /* left p2p_finalize */
};

/* How a call's arguments are printed. */
enum scoreboard_shape { SHAPE_PLAIN, SHAPE_SEND, SHAPE_RECV, SHAPE_SENDRECV, SHAPE_WAIT, SHAPE_COLLECTIVE };

/* What a collective is, beside its name. "" and -1 (count: UINT64_MAX) where something does not apply. */
typedef struct {
    char algorithm[16], dtype[8], op[8];
    uint64_t count;
    int root;
} scoreboard_what;

typedef struct {
    char name[40];  /* as the user wrote it: p2p_recv, coll_all_reduce */
    char file[120]; /* "" if not known */
    int line;
    int shape;
    uint32_t context;     /* of the communicator */
    int peer, world_peer; /* rank in the communicator, and in the world; negative: any */
    int tag;
    int from, world_from, from_tag; /* SHAPE_SENDRECV: of its receive */
    uint64_t bytes;
    uint64_t number; /* SHAPE_COLLECTIVE: its number on the communicator, from 1, and what it is */
    scoreboard_what what;
} scoreboard_call;

#endif
