/* SPDX-License-Identifier: MIT */
/* world: the seam below which bytes move. Matching, requests, limits, counters and diagnosis are above it, and the same
 * for every world; a world carries packets to peers in order, and hands what arrives to p2p__arrived and
 * p2p__delivered. */
#ifndef PAIRWISE_P2P_WORLD_H
#define PAIRWISE_P2P_WORLD_H

#include <poll.h>

#include "p2p/shared/scoreboard.h"
#include "p2p/shared/wire.h"
#include "p2p/world/spin.h"

struct p2p_engine;
struct p2p_peer;
struct p2p_operation;

/* The descriptors a rank sleeps on: the supervisor's, and its end of every open link. */
typedef struct {
    struct pollfd *polled; /* [0] is the supervisor's, -1 if there is none */
    int *rank_of;          /* of a slot: whose link it is */
    size_t slots;
} p2p_sockets;

/* The rank, as its world sees it: a part of its engine, which says the same. */
typedef struct {
    struct p2p_engine *engine; /* for the upcalls */
    int rank, size;
    int control;   /* socket to the supervisor, -1 in a world of one */
    int memory_fd; /* the job's memory file; -1: this world has no use for it */
    scoreboard *scoreboard;
    scoreboard_row *row;
    const p2p_config *config;
    bool short_headers; /* a short message's header may be left out but for context, tag, size and number */
    p2p_spin *spin;     /* how this rank waits; `longest` is not 0: every rank has a core of its own */

    void *state, *links; /* the world's; all ends of links, in the order of ranks */
    p2p_sockets sockets;
    size_t queued;    /* links with packets that have not left */
    size_t link_room; /* bytes that a link can hold; set by a world whose peers' memory can be read */
    uint64_t moved;   /* bytes and frames that came in, to see whether anything did */
} p2p_endpoint;

/* What a world knows of one peer: a part of what the engine knows of it. */
typedef struct {
    struct p2p_peer *peer;
    int rank;
    void *state;                    /* the world's */
    int fd;                         /* this end of the link; -1: not open */
    bool asked, gone;               /* the supervisor, for a link; it has ended */
    struct p2p_packet *head, *tail; /* on their way out */
    uint32_t frames_out, frames_in;
    struct p2p_operation *const *waiting_sends; /* NULL there: no send to it waits for its receive */

    wire_header in;  /* the frame that is arriving: set by p2p__arrived */
    char *in_dest;   /* NULL: throw the payload away */
    uint64_t in_got; /* payload bytes so far: counted by the world */
    size_t slot;     /* among the sockets; 0: no link is open */
} p2p_link;

/* A frame on its way out. It belongs to the poster again when p2p__left is called. */
typedef struct p2p_packet {
    struct p2p_packet *next;
    wire_header header;
    const void *payload;
    size_t payload_bytes;
    size_t done;                 /* bytes of header and payload that have left */
    struct p2p_operation *owner; /* NULL: of a CREDIT */
} p2p_packet;

/* A short message and where it lies; NULL: it has been written to where a receive was shown. */
typedef struct {
    uint32_t context;
    int32_t tag;
    size_t bytes;
    const void *payload;
    uint16_t kind;
} p2p_short;

/* A receive that waits for the next message of a peer. */
typedef struct {
    uint32_t context;
    int32_t tag; /* no wildcard */
    void *buf;
    size_t room;
} p2p_shown;

typedef struct {
    const char *name;
    bool sealed; /* a header must say by itself that it is whole: it crosses something that could change it */
    size_t state_bytes, link_bytes;    /* of what it keeps of itself and of each link: zeroed at first */
    void (*open)(p2p_endpoint *self);  /* what is left to do then; may be NULL, as close */
    void (*close)(p2p_endpoint *self); /* also after an opening that has failed */

    /* Take a packet for a peer (never oneself), in order. Opens the link if there is none yet. Never waits. */
    p2p_err (*post)(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet);

    /* Try one peer that something is expected from, without looking at the others. */
    p2p_err (*try_peer)(p2p_endpoint *self, p2p_link *peer);

    /* Move whatever can move. Sleep until something can, or until `deadline` (ns, p2p__now); 0: do not sleep;
     * UINT64_MAX: no limit. Also serves the supervisor's messages. */
    p2p_err (*progress)(p2p_endpoint *self, uint64_t deadline);

    /* The fast path (calls.c); all NULL in a world that has none. send_now: write a short message at once, or
     * return false if it would have to wait. look: if the next thing from a peer is a short message, all of it, show
     * it, until take says that it has been copied. is_waiting: is there anything at all? */
    bool (*send_now)(p2p_endpoint *self, p2p_link *peer, const p2p_short *message);
    bool (*is_waiting)(const p2p_endpoint *self, const p2p_link *peer);
    bool (*look)(const p2p_endpoint *self, const p2p_link *peer, p2p_short *message);
    void (*take)(p2p_endpoint *self, p2p_link *peer);

    /* show: the peer may write its next message straight to where this receive wants it; false: this one it may not. Once it
     * is hidden the peer writes there no more; returns whether there is anything at all. */
    bool (*show)(const p2p_endpoint *self, p2p_link *peer, const p2p_shown *receive);
    bool (*hide)(p2p_endpoint *self, p2p_link *peer);

    /* There is a link now: peer->fd. `place`: of the shared memory that both ends have, in units of it (memory.h); 0 if
     * link_memory asks for none. */
    p2p_err (*link)(p2p_endpoint *self, p2p_link *peer, int place);

    /* How many bytes of shared memory a link needs. NULL: no world of shared memory at all. */
    size_t (*link_memory)(const p2p_config *config, int size);

    /* Copy what a REQUEST announces out of the memory of its sender: from `at`, where this rank sees it in place, or,
     * if that is NULL, from where FLAG_READABLE says. False if the system does not allow it, or the peer is gone; or if
     * it is faster when the payload is asked for, and both ranks wait, in calls that end with this message. NULL: cannot
     * be had. */
    bool (*read)(p2p_endpoint *self, p2p_link *peer, void *to, const wire_header *request, const void *at,
                 bool both_wait);
} p2p_world;

extern const p2p_world p2p__world_socket, p2p__world_shm;

/* By name; NULL if there is none such. */
const p2p_world *p2p__world_find(const char *name);

/* A frame to this peer is about to leave: counts it on the scoreboard, and returns its sequence number. */
uint32_t p2p__frame_leaves(const p2p_endpoint *self, p2p_link *peer);

/* ---- The same in every world (world.c) ---- */

/* False if there is no memory; close is right all the same. */
bool p2p__world_open(const p2p_world *world, p2p_endpoint *self);
void p2p__world_close(const p2p_world *world, p2p_endpoint *self);

/* A packet waits behind those that wait already; true if it is the first. All of the first packet has left. */
bool p2p__link_queue(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet);
void p2p__link_sent(p2p_endpoint *self, p2p_link *peer);

/* Ask the supervisor for a link, unless that has been done. Here is this end of it, watched for POLLIN; it has ended. */
void p2p__link_ask(const p2p_endpoint *self, p2p_link *peer);
void p2p__link_opened(p2p_endpoint *self, p2p_link *peer, int fd);
void p2p__link_close(p2p_endpoint *self, p2p_link *peer);

/* Sleep until a socket has something, or until a time (ns, p2p__now; 0: do not sleep; UINT64_MAX: no limit). How many
 * are ready: 0 when the time has come, -1 and errno on failure. */
int p2p__sockets_sleep(p2p_sockets *s, uint64_t until);

/* ---- Upcalls: all that a world asks of message/ (engine.c) ---- */

p2p_link *p2p__link_to(p2p_endpoint *self, int rank);

/* All of a packet has left. It may be gone afterwards. */
void p2p__left(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet);

/* A header has arrived, checked: decides where its payload goes (peer->in_dest). On P2P_ERR_NOMEM nothing has happened;
 * ask again later. Then, once all of the payload is there: */
p2p_err p2p__arrived(p2p_endpoint *self, p2p_link *peer, const wire_header *header);
p2p_err p2p__delivered(p2p_endpoint *self, p2p_link *peer);

/* Of a send that waits for its receive: the bytes to be sent. False if there is none with this id. */
bool p2p__waiting_send(p2p_link *peer, uint64_t id, void **from, size_t *bytes);

/* Bytes that are no frame, or a link that broke. Never returns P2P_OK. */
p2p_err p2p__broken(p2p_endpoint *self, p2p_err err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* An operation's buffer is not memory (EFAULT), or no longer. Never returns P2P_OK. */
p2p_err p2p__bad_memory(p2p_endpoint *self, int rank);

/* A link has ended. That of a rank that has said goodbye was expected to; of another, the supervisor will say why in a
 * moment. */
void p2p__peer_lost(p2p_endpoint *self, const p2p_link *peer);

/* Read what the supervisor says. */
p2p_err p2p__control_serve(p2p_endpoint *self);

#endif
