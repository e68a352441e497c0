/* SPDX-License-Identifier: MIT */
/*
 * world: the seam below which bytes move. Matching, requests, limits, counters and diagnosis are above it, and the same
 * for every world; a world carries packets to peers in order, and hands what arrives to p2p__arrived and p2p__delivered.
 */
#ifndef PAIRWISE_P2P_WORLD_H
#define PAIRWISE_P2P_WORLD_H

#include "p2p/shared/config.h"
#include "p2p/shared/wire.h"

struct p2p_engine;
struct p2p_peer;

/* A frame on its way out. It belongs to whoever posted it, until `sent` is called. */
typedef struct p2p_packet {
    struct p2p_packet *next;
    wire_header header;
    const void *payload;
    size_t payload_bytes;
    size_t done; /* bytes of header and payload that have left */
    void (*sent)(struct p2p_engine *engine, struct p2p_packet *packet);
    void *owner;
} p2p_packet;

/* A short message and where it lies. */
typedef struct {
    uint32_t context;
    int32_t tag;
    size_t bytes;
    const void *payload;
} p2p_brief;

typedef struct {
    const char *name;
    bool sealed; /* a header must say by itself that it is whole: it crosses something that could change it */
    p2p_err (*open)(struct p2p_engine *engine);
    void (*close)(struct p2p_engine *engine);

    /* Take a packet for a peer (never oneself), in order. Opens the link if there is none yet. Never waits. */
    p2p_err (*post)(struct p2p_engine *engine, struct p2p_peer *peer, p2p_packet *packet);

    /* Try one peer that something is expected from, without looking at the others. */
    p2p_err (*try_peer)(struct p2p_engine *engine, struct p2p_peer *peer);

    /* Move whatever can move. Sleep until something can, or until `deadline` (ns, p2p__now); 0: do not sleep;
     * UINT64_MAX: no limit. Also serves the supervisor's messages. */
    p2p_err (*progress)(struct p2p_engine *engine, uint64_t deadline);

    /* The express lane (express.c); all NULL in a world that has none. send_now: write a short message at once, or return
     * false if it would have to wait. look: if the next thing from a peer is a short message, all of it, show it, until
     * take says that it has been copied. is_waiting: is there anything at all? */
    bool (*send_now)(struct p2p_engine *engine, struct p2p_peer *peer, const p2p_brief *message);
    bool (*is_waiting)(const struct p2p_engine *engine, const struct p2p_peer *peer);
    bool (*look)(const struct p2p_engine *engine, const struct p2p_peer *peer, p2p_brief *message);
    void (*take)(struct p2p_engine *engine, struct p2p_peer *peer);

    /* There can be no link to this peer: close what there is, give back the packets that were waiting for it. */
    p2p_packet *(*abandon)(struct p2p_engine *engine, struct p2p_peer *peer);

    /* One end of a link that the supervisor has opened. The world owns the descriptor from here on. `place`: of the
     * shared memory that both ends have, in units of it (memory.h); 0 if link_memory asks for none. */
    p2p_err (*link)(struct p2p_engine *engine, struct p2p_peer *peer, int fd, int place);

    /* How many bytes of shared memory a link needs. NULL: no world of shared memory at all. */
    size_t (*link_memory)(const p2p_config *config, int size);

    /* Copy what a REQUEST announces out of the memory of its sender: from `at`, where this rank sees it in place, or, if that
     * is NULL, from where FLAG_READABLE says. False if the system does not allow it, or the peer is gone. NULL: cannot be
     * had. */
    bool (*read)(struct p2p_engine *engine, struct p2p_peer *peer, void *to, const wire_header *request,
                 const void *at);
} p2p_world;

extern const p2p_world p2p__world_socket, p2p__world_shm;

/* By name; NULL if there is none such. */
const p2p_world *p2p__world_find(const char *name);

#endif
