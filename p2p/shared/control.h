/* SPDX-License-Identifier: MIT */
/* control: short messages between the supervisor and a rank, over one SOCK_SEQPACKET socket; a link's end travels beside. */
#ifndef PAIRWISE_P2P_CONTROL_H
#define PAIRWISE_P2P_CONTROL_H

#include "p2p/p2p.h"

enum control_type {
    /* rank -> supervisor */
    CONTROL_WANT = 1, /* open a link to `rank` */
    CONTROL_GOT,      /* the end of the link to `rank` has arrived */
    CONTROL_LOST,     /* it arrived, but could not be kept: `value` is the limit on descriptors */
    CONTROL_GOODBYE,  /* in p2p_finalize; `value` 1: rank_main of p2p_launch has returned 0 */
    CONTROL_ABORT,    /* p2p_abort with status `value` */
    CONTROL_FATAL,    /* an error ends this rank; its message is on the scoreboard and has been printed */
    CONTROL_NOEXEC,   /* the program cannot be started: `value` is errno */
    CONTROL_MISMATCH, /* a collective differs between ranks; the message is on the scoreboard, in this rank's row */
    CONTROL_CAME,     /* this rank has written lines for ranks of other hosts, while its launcher slept */
    CONTROL_FREED,    /* the communicator with index `rank`, given out by another host */
    CONTROL_WAKE,     /* nudge `rank`, which sleeps until the ranks of a collective agree */
    CONTROL_PORT,     /* this rank asks for the port of its host on a virtual network */
    CONTROL_REPAIR,   /* of generation `rank`; `value`: enum control_repair */
    CONTROL_KEEP,     /* asks for the kept memory that its row names */
    CONTROL_CHOICE,   /* this rank waits, and shows what it may do next (launch --explore) */
    CONTROL_LATE, /* a message of `rank` has come that choice number `value` of this rank could have taken, but was not there */
    /* supervisor -> rank */
    CONTROL_LINK,       /* the end of the link to `rank`, one descriptor; `value`: its place in the shared memory */
    CONTROL_NOLINK,     /* that link cannot be: `rank` had no descriptor left, or the supervisor (`value` < 0) */
    CONTROL_NOMEMORY,   /* that link cannot be: there is no memory for it, `value` is errno */
    CONTROL_FAILED,     /* the job has failed: read why on the scoreboard */
    CONTROL_NUDGE,      /* look again */
    CONTROL_ALL_DONE,   /* every rank has said goodbye */
    CONTROL_GENERATION, /* the next one has begun; its scoreboard, one descriptor */
    CONTROL_KEPT,       /* that memory, one descriptor; `value` 1: it was there before, negative: -errno */
    /* supervisor -> launch --status */
    CONTROL_STATUS, /* one descriptor: what ranks are doing, as a table of `value` bytes; then their processes, a line each. `rank`
                       is -1: which other launcher is to be asked */
};

enum control_repair {
    REPAIR_WHOLE, /* in p2p_repair, */
    REPAIR_FEWER, /* or in p2p_shrink: its last word in this generation; unless it waits no longer: */
    REPAIR_LATE   /* PAIRWISE_TIMEOUT is over */
};

typedef struct {
    int32_t type, rank, value;
} control_message;

/* Send without blocking, with descriptor fd beside it (-1: none). False and errno on failure; EAGAIN: try later. */
bool p2p__control_send(int socket, control_message message, int fd);

/* As a rank, to its supervisor: until it has been taken, or the supervisor is gone, which p2p__control_serve will find. */
void p2p__control_tell(int socket, int type, int rank, int value);

/* Receive without blocking. 1: a message, *fd is a descriptor or -1, *lost says that one came but did not fit into
 * this process's table; 0: nothing there; -1: the other side is gone. With fd NULL no descriptor is taken, whatever was
 * sent. What is no message at all has type 0. */
int p2p__control_receive(int socket, control_message *message, int *fd, bool *lost);

#endif
