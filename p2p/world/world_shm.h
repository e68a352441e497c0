/* SPDX-License-Identifier: MIT */
/* world_shm: what the files of the shm world share. What it is: world_shm.c. */
#ifndef PAIRWISE_P2P_WORLD_SHM_H
#define PAIRWISE_P2P_WORLD_SHM_H

#include <sys/types.h>

#include "p2p/world/shm_queue.h"
#include "p2p/world/world.h"

/* What a QUEUE_SHORT says of its message. */
typedef struct {
    uint32_t context;
    int32_t tag;
    uint32_t bytes;
    uint16_t sequence, kind; /* sequence: the lower half; records are in order, it only shows that none is missing */
} shm_short;

/* Of a message that leaves now. */
static inline shm_short p2p__shm_short_of(const p2p_endpoint *self, p2p_link *peer, const p2p_short *message)
{
    return (shm_short){message->context, message->tag, (uint32_t)message->bytes,
                       (uint16_t)p2p__frame_leaves(self, peer), message->kind};
}

/* A payload that does not fit behind it into one line begins with the next one: copies of whole lines are faster. */
static inline size_t p2p__short_size(size_t payload)
{
    size_t in_line = QUEUE_LINE - QUEUE_HEAD;
    return payload <= in_line - sizeof(shm_short) ? sizeof(shm_short) : in_line;
}

/* What a receiver offers to the sender of a long message: to write a part of it (shm_one_copy.c). Made by the receiver,
 * while nothing is left to claim of the one before. */
typedef struct {
    _Alignas(64) _Atomic uint64_t claims;
    _Atomic uint64_t message, to, chunk;            /* the sender's name for it; where it goes; bytes of a chunk */
    _Alignas(64) _Atomic uint32_t written, refused; /* by the sender: chunks it is done with; it could not write one */
} shm_offer;

/* A receive that waits with nothing to read (shm_shown.c). Made by the receiver. */
typedef struct {
    /* 4 k: hidden; 4 k + 1: shown, for the k-th time; 4 k + 2: claimed by the sender */
    _Alignas(64) _Atomic uint64_t state;
    _Atomic uint64_t at, to, room; /* lines of the queue that have been read; where it goes; how many bytes may */
    _Atomic uint32_t context;
    _Atomic int32_t tag;
} shm_receive;

/* What lies behind the queues of a link. */
typedef struct {
    shm_offer offer;
    shm_receive receive;
} shm_more;

#define SHM_RECORD_MOST ((size_t)16 << 10) /* of a record in the queue, with its head */

enum { SHM_COPIES = 4 };

/* What each of the last few copies took. */
typedef struct {
    uint64_t ns[SHM_COPIES];
    unsigned count; /* so far */
} shm_last;

/* One more of them; the least, since one may have been interrupted; 0 until there are so many. */
static inline uint64_t p2p__shm_least(shm_last *last, uint64_t ns)
{
    last->ns[last->count++ % SHM_COPIES] = ns;
    for (int i = 0; i < SHM_COPIES; i++) ns = ns < last->ns[i] ? ns : last->ns[i];
    return ns;
}

/* What a long message may take, and what was seen of both, of messages of about one length (shm_ways.c). */
enum shm_way { SHM_IN_ONE_COPY, SHM_BY_QUEUE, SHM_WAYS };

#define SHM_LENGTH_LEAST ((size_t)128 << 10)
enum { SHM_LENGTHS = 8 }; /* each from twice as many bytes on as the one before */

typedef struct {
    shm_last last[SHM_WAYS];
    uint64_t kib_ns[SHM_WAYS]; /* what a KiB takes; 0: not known yet */
    unsigned messages;
} shm_ways;

typedef struct {
    void *rings; /* mapped; NULL: no link yet */
    shm_writer out;
    shm_reader in;
    bool in_payload;
    shm_ways ways[SHM_LENGTHS];
    const void *queued_to;    /* where the last message goes that takes the queue for a try or because it is faster, */
    size_t queued_bytes;      /* its length, */
    uint64_t queued_since;    /* and when that was decided */
    shm_last copies;          /* a KiB of each copy out of a long record */
    unsigned kib_ns;          /* the least of them */
    unsigned could_show;      /* receives so far that could have been shown */
    pid_t writer;             /* who may write to the receive that was shown last */
    uint64_t shows;           /* state of the receive when it is hidden */
    bool is_written;          /* the next record is of a message that its sender has written to where it belongs */
    shm_offer *given, *taken; /* made by this rank; by the peer */
    shm_receive *shown, *peer_shown; /* the same of receives */
} link_end;

typedef struct {
    size_t open_count, ring_size;
    uint32_t told;                 /* messages of the supervisor that have been read */
    bool may_not_read;             /* the memory of other ranks: the system forbids it */
    bool may_not_write;            /* the same */
    p2p_link *open[P2P_MAX_RANKS]; /* with rings */
} shm_world;

/* ---- world_shm.c ---- */

/* Bytes of one queue of a link; of shared memory for both. */
size_t p2p__shm_ring_size(const p2p_config *config, int size);
size_t p2p__shm_link_memory(const p2p_config *config, int size);

/* After something has been taken that the peer may be waiting for; and after something has been written. */
void p2p__shm_wake(p2p_endpoint *self, p2p_link *peer);
void p2p__shm_wake_after(p2p_endpoint *self, p2p_link *peer);

/* ---- shm_records.c ---- */

/* A message of up to so many bytes goes through the queue at once, as one record. */
#define FAST_PATH_MOST ((size_t)8 << 10)

p2p_err p2p__shm_post(p2p_endpoint *self, p2p_link *peer, p2p_packet *packet);

/* Write what is queued for a peer, as far as there is room. */
void p2p__shm_flush(p2p_endpoint *self, p2p_link *peer);

bool p2p__shm_send_now(p2p_endpoint *self, p2p_link *peer, const p2p_short *message);

/* Deal with up to so many records of a peer, or with RECORDS_A_TURN while they are of one payload. On P2P_ERR_NOMEM the record
 * stays where it is. */
#define RECORDS_A_TURN 64
p2p_err p2p__shm_read(p2p_endpoint *self, p2p_link *peer, int most);

bool p2p__shm_is_waiting(const p2p_endpoint *self, const p2p_link *peer);
bool p2p__shm_look(const p2p_endpoint *self, const p2p_link *peer, p2p_short *message);
void p2p__shm_take(p2p_endpoint *self, p2p_link *peer);

/* ---- shm_shown.c ---- */

/* A copy of a KiB out of another core's cache takes 100 ns and more, out of one that both share 20 to 50. */
#define SHM_SLOW_KIB_NS 70

/* A copy out of a long record took so long a KiB. */
void p2p__shm_copy_took(link_end *link, unsigned kib_ns);

/* The seam's `show` and `hide`. */
bool p2p__shm_show(const p2p_endpoint *self, p2p_link *peer, const p2p_shown *receive);
bool p2p__shm_hide(p2p_endpoint *self, p2p_link *peer);

/* Write a message to where its receive is shown, if it is: true when it is there. */
bool p2p__shm_write_to_shown(p2p_endpoint *self, p2p_link *peer, const p2p_short *message);

/* ---- shm_ways.c ---- */

/* Can long messages take either? */
bool p2p__shm_has_two_ways(const p2p_endpoint *self);

/* The way that a long message of a peer is to take, from now on; how long one took there; a payload has come through the
 * queue, whole. */
enum shm_way p2p__shm_way(link_end *link, const void *to, size_t bytes);
void p2p__shm_way_took(link_end *link, enum shm_way way, size_t bytes, uint64_t ns);
void p2p__shm_way_ended(link_end *link, const void *to, size_t bytes);

/* ---- shm_one_copy.c ---- */

/* The seam's `read`. */
bool p2p__shm_one_copy(p2p_endpoint *self, p2p_link *peer, void *to, const wire_header *request, const void *at,
                       bool both_wait);

/* Write what a peer offers of a message that it is reading. */
void p2p__shm_help(p2p_endpoint *self, p2p_link *peer);

#endif
