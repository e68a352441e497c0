/* SPDX-License-Identifier: MIT */
/* Settings of a job: read once by the launcher from options and PAIRWISE_ variables, carried to ranks by the scoreboard. */
#ifndef PAIRWISE_P2P_CONFIG_H
#define PAIRWISE_P2P_CONFIG_H

#include "p2p/shared/network.h"

#define CONFIG_BY_CORES SIZE_MAX

/* PAIRWISE_WORLD. Each has a world of this name (world.c). */
#define P2P_WORLD_NAMES "socket, shm"

/* PAIRWISE_WAIT: one way to wait alone, to see what it costs; auto is the policy of spin.h. */
enum p2p_wait_policy { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_SLEEP };

typedef struct {
    char world[16];        /* PAIRWISE_WORLD */
    size_t eager;          /* PAIRWISE_EAGER: a longer send waits for its receive; bytes */
    size_t direct;         /* PAIRWISE_DIRECT: from so many bytes on; 0: never; CONFIG_BY_CORES: each rank decides */
    size_t unexpected_max; /* PAIRWISE_UNEXP_MAX: room for messages without a receive, in all; bytes */
    int wait;              /* PAIRWISE_WAIT: enum p2p_wait_policy */
    uint64_t timeout_ns;   /* PAIRWISE_TIMEOUT: bound on one blocking call; 0: none */
    uint64_t polling_ns;   /* PAIRWISE_POLLING: how long a job may only poll; 0: for ever, an MPI program 10 s */
    size_t sndbuf;         /* PAIRWISE_SNDBUF: send buffer of a link, bytes; 0: the system's */
    bool strict;           /* PAIRWISE_STRICT: every send waits */
    bool debug;            /* PAIRWISE_DEBUG: buffers of isend are checked, threads too */
    bool crc;              /* PAIRWISE_CRC: payloads carry a CRC32C */
    bool check;   /* PAIRWISE_CHECK: collectives agree before they begin (1 unless set to 0, to measure its cost) */
    bool reports; /* launch --report: what that takes is kept */
    size_t trace_room;  /* PAIRWISE_TRACE_ROOM: for the events of all ranks, bytes; 0 in a job that is not traced */
    size_t trace_bytes; /* what these take with all that goes with them; set by the launcher (trace.h) */
    bool explain;       /* PAIRWISE_EXPLAIN, launch --explain: collectives say what they took, and why */
    bool metrics;       /* ranks count their calls (launch --metrics) */
    bool explore;       /* every choice is the launcher's (launch --explore, --schedule), */
    int looks;          /* and so often also whether a poll overlooks what has come (p2p/message/polls.c) */
    bool record;        /* and keep the last ones (launch --record) */
    size_t notes_bytes; /* what both take, of all ranks; set by the launcher (notes.h) */
    size_t hosts;       /* PAIRWISE_HOSTS: so many launchers on this machine, as if each were on a host; 0, 1: one */
    uint64_t host_timeout_ns; /* PAIRWISE_HOST_TIMEOUT: a launcher that is silent for so long is lost */
    p2p_network network;      /* PAIRWISE_NETWORK */
} p2p_config;

/* Read every PAIRWISE_ variable. On a bad value returns P2P_ERR_ARG and says in `why` which variable, its value and
 * what is accepted. */
p2p_err p2p__config_read(p2p_config *config, char *why, size_t why_bytes);

/* Can these settings, which another process may have written, be what p2p__config_read gives? */
bool p2p__config_is_sound(const p2p_config *config);

/* A variable that a user may set, as --help and the reference show it. */
typedef struct {
    const char *name, *accepts, *standard, *what;
} p2p_variable;

/* Number `index` of them; NULL behind the last. */
const p2p_variable *p2p__config_variable(size_t index);

/* "1", "0.5", "1s", "500ms", "20us" to nanoseconds, up to ten years. False, and *ns unchanged, on anything else. */
bool p2p__parse_duration(const char *text, uint64_t *ns);

#endif
