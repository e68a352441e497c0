/* SPDX-License-Identifier: MIT */
/*
 * wire: what a link carries. A frame is a header of 64 bytes and then its payload.
 *
 *      EAGER     the message itself                                   sender   -> receiver
 *      REQUEST   "I have `bytes` bytes with this tag", no payload     sender   -> receiver
 *      CLEAR     "send it", or with FLAG_DROP "I have no room, forget it"       <-
 *      PAYLOAD   the message that was asked for                       sender   -> receiver
 *      CREDIT    "`bytes` of what you sent eagerly has been consumed"           <-
 *
 * Short messages are EAGER while the sender has credit; others wait: REQUEST, CLEAR, PAYLOAD. Where the receiver can read
 * the sender's memory, a REQUEST says where the message lies (FLAG_READABLE: an address; FLAG_SHARED: a place in the job's
 * memory file; receiver_id); then CLEAR with FLAG_DROP is the answer of a receiver that has read it.
 *
 * Between hosts launchers read and write the memory of their ranks: a CLEAR with FLAG_READABLE says where the message goes
 * (`bytes`: an address), a PAYLOAD with FLAG_READABLE or FLAG_SHARED where it lies (sender_id) and goes (clock). That has
 * no payload behind it: when it arrives the message is there, and CLEAR with FLAG_DROP is the answer; or, with FLAG_DROP,
 * the sender has given up (tag: after which error).
 */
#ifndef PAIRWISE_P2P_WIRE_H
#define PAIRWISE_P2P_WIRE_H

#include "p2p/p2p.h"

#define WIRE_MAGIC UINT32_C(0x50574d31) /* "PWM1" */
#define WIRE_MAX_BYTES (UINT64_C(1) << 56)
#define WIRE_SPLIT_TAG \
    (-3) /* of p2p_split's own messages: no user or collective can use it, and P2P_ANY_TAG does not match it */
#define WIRE_DUP_TAG (-2147483647) /* the same, of a dup without waiting; those of subsets lie between */
#define WIRE_SPLIT_WORDS 4         /* of 32 bits in an answer to a split, before the members (p2p/group/split.c) */

enum wire_type { WIRE_EAGER = 1, WIRE_REQUEST, WIRE_CLEAR, WIRE_PAYLOAD, WIRE_CREDIT };
enum wire_flag {
    WIRE_FLAG_DROP = 1,
    WIRE_FLAG_CRC = 2,
    WIRE_FLAG_READABLE = 4,
    WIRE_FLAG_SHARED = 8,
    WIRE_FLAG_BLOCKING = 16 /* a send that its call waits for */
};

typedef struct {
    uint32_t magic;
    uint8_t type, flags;
    uint16_t kind;    /* what the message is made of, as its sender says (p2p_layer_call); 0: nothing was said */
    uint32_t context; /* which communicator, and whether the user's messages or a collective's */
    int32_t tag;
    uint64_t bytes;       /* of the message; also in REQUEST, which carries no payload */
    uint64_t sender_id;   /* the sender's name for the operation: REQUEST, CLEAR, PAYLOAD */
    uint64_t receiver_id; /* the receiver's: CLEAR, PAYLOAD; where a readable message lies: REQUEST */
    uint64_t clock;       /* the sender's virtual time, ns */
    uint32_t sequence;    /* frames on this link in this direction so far */
    uint32_t source;      /* world rank */
    uint32_t payload_crc; /* with FLAG_CRC */
    uint32_t header_crc;  /* over everything before it */
} wire_header;

_Static_assert(sizeof(wire_header) == 64, "a header is one cache line");

/* Fill in what closes a header: magic and header_crc. */
void p2p__wire_seal(wire_header *header);

/* Is this a header that `source` may have sent as its frame number `sequence`? Otherwise says why. `eager` is the largest
 * payload an EAGER frame may have; `sealed` says whether it must be. */
bool p2p__wire_check(const wire_header *header, bool sealed, int source, uint32_t sequence, size_t eager, char *why,
                     size_t why_bytes);

static inline bool p2p__wire_in_memory(const wire_header *header)
{
    return header->type == WIRE_PAYLOAD && (header->flags & (WIRE_FLAG_READABLE | WIRE_FLAG_SHARED));
}

static inline uint64_t p2p__wire_payload(const wire_header *header)
{
    bool carries = header->type == WIRE_EAGER || header->type == WIRE_PAYLOAD;
    return carries && !p2p__wire_in_memory(header) ? header->bytes : 0;
}

#endif
