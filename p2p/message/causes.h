/* SPDX-License-Identifier: MIT */
/*
 * causes: what can be wrong with a call. Each is what p2p__fail takes: error, class, argument, what to try (NULL:
 * nothing), and the sentence; its parameters follow. (Macros, so that the compiler holds the parameters to the sentence.)
 */
#ifndef PAIRWISE_P2P_CAUSES_H
#define PAIRWISE_P2P_CAUSES_H

#include "p2p/shared/diagnosis.h"

#define WRONG_(argument) P2P_ERR_ARG, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_##argument
#define REFUSED_(err) P2P_ERR_##err, CLASS_REFUSED, P2P_ARGUMENT_NONE
#define CAUSE_(err, class) P2P_ERR_##err, CLASS_##class, P2P_ARGUMENT_NONE

/* ---- Arguments ---- */

#define CAUSE_NO_RANK                                                                                         \
    P2P_ERR_RANK, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_RANK, "ranks of a communicator are 0 to p2p_size - 1", \
        "%s %d is not a rank: not in [0,%d)"
#define CAUSE_NEGATIVE_TAG WRONG_(TAG), "tags are 0 to 2147483647", "tag %d is negative"
#define CAUSE_NO_BUFFER WRONG_(BUFFER), NULL, "the buffer is NULL, but its size is %zu bytes"
#define CAUSE_IMPOSSIBLE_SIZE WRONG_(COUNT), "was a negative count passed?", "a size of %zu bytes is impossible"
#define CAUSE_NO_PLACE_FOR_MESSAGE WRONG_(REQUEST), NULL, "request is NULL: nothing could wait for this %s"
#define CAUSE_NO_PLACE_FOR_REQUEST WRONG_(REQUEST), NULL, "a request needs step, waits_for and somewhere to put it"
#define CAUSE_NO_PLACE_FOR_ANSWER WRONG_(OTHER), NULL, "there is nowhere to put the answer: found is NULL"
#define CAUSE_NO_PLACE_FOR_TAKEN WRONG_(OTHER), NULL, "there is nowhere to put the message: message is NULL"
#define CAUSE_NO_MESSAGE WRONG_(OTHER), NULL, "there is no message: it was received already, or never taken"
#define CAUSE_NO_PLACE_FOR_COMMUNICATOR WRONG_(OTHER), NULL, "there is nowhere to put the communicator: sub is NULL"
#define CAUSE_NO_PLACE_FOR_ADDRESS WRONG_(OTHER), NULL, "there is nowhere to put the address: buf is NULL"
#define CAUSE_NEGATIVE_COLOUR WRONG_(OTHER), "0 or more, or P2P_UNDEFINED to join no group", "colour %d is negative"
#define CAUSE_WORLD_NOT_FREED WRONG_(COMMUNICATOR), NULL, "the world is not freed: p2p_finalize ends it"
#define CAUSE_NOT_THE_WORLD \
    WRONG_(COMMUNICATOR), NULL, "not the world: free a communicator of p2p_split or p2p_dup with p2p_free"
#define CAUSE_NOT_FROM_ALLOC                                 \
    WRONG_(BUFFER), "was it released already, or moved on?", \
        "this is not the address of a buffer of this rank's from p2p_alloc"
#define CAUSE_NOT_CANCELLED                                   \
    WRONG_(REQUEST), "let it end, with p2p_wait or p2p_test", \
        "only a receive can be cancelled; this is a %s, from line %d"

/* ---- Buffers and requests at the wrong time ---- */

#define CAUSE_OVERLAP                                                                              \
    P2P_ERR_ARG, CLASS_BUFFER_CONFLICT, P2P_ARGUMENT_OVERLAP, "a separate buffer to receive into", \
        "the send buffer and the receive buffer overlap"
#define CAUSE_CHANGED                                                                    \
    CAUSE_(ARG, BUFFER_CONFLICT), "leave it alone until p2p_wait or p2p_test says done", \
        "the buffer of isend to %d changed before wait (tag %d, %zu bytes, line %d)"
#define CAUSE_WRITTEN                                                                    \
    CAUSE_(ARG, BUFFER_CONFLICT), "leave it alone until p2p_wait or p2p_test says done", \
        "the buffer of the receive from line %d was written to before it had ended (%zu bytes)"
#define CAUSE_SHARED                                                          \
    CAUSE_(ARG, BUFFER_CONFLICT), "p2p_wait for it first, or another buffer", \
        "this buffer overlaps that of a %s that is under way, from line %d (%zu bytes)"
#define CAUSE_IN_USE                                         \
    CAUSE_(STATE, BUFFER_CONFLICT), "p2p_wait for it first", \
        "a request that is under way uses this buffer (%zu bytes, line %d)"
#define CAUSE_REQUESTS_PENDING \
    CAUSE_(STATE, REQUEST_STATE), "p2p_wait for each of them first", "requests on this communicator are still pending"

#define CAUSE_OF_EARLIER_GENERATION                                  \
    CAUSE_(STATE, REQUEST_STATE), "begin it again after p2p_repair", \
        "this %s is of an earlier generation of the world: what was under way when a rank died is gone"

#define CAUSE_MEMORY_GONE                                                                     \
    CAUSE_(ARG, BUFFER_CONFLICT), "p2p_wait before it is freed, moved, or goes out of scope", \
        "the memory of a %s that is under way, from line %d, is not there any more (%zu bytes): was it freed?"
#define CAUSE_NO_MEMORY_THERE                                                                                \
    WRONG_(BUFFER), "is this the address of the data, not a number, and is the buffer as long as was said?", \
        "the buffer at %p (%zu bytes) is no memory that this program may use so, or not all of it"
#define CAUSE_TWO_THREADS                                                                             \
    CAUSE_(STATE, CALL_ORDER),                                                                        \
        "let one thread make all calls (of MPI's, MPI_THREAD_FUNNELED is the most that is provided)", \
        "another thread of this rank is inside of %.900s"

/* ---- Repair and kept memory ---- */

#define CAUSE_NO_REPAIR                                                  \
    CAUSE_(STATE, CALL_ORDER), "launch --repair, or p2p_options.repair", \
        "this job does not repair itself: a death "                      \
        "ends it"
#define CAUSE_NOTHING_TO_REPAIR \
    CAUSE_(STATE, CALL_ORDER), "call it when a call has returned P2P_ERR_PEER_DEAD", "no rank has died"
#define CAUSE_REPAIR_INSIDE CAUSE_(STATE, CALL_ORDER), NULL, "this rank is inside another call"
#define CAUSE_NO_NEXT_GENERATION REFUSED_(SYS), NULL, "the next generation cannot be joined: %.300s"
#define CAUSE_KEPT_NAME WRONG_(OTHER), "a name of 1 to 63 characters", "the name of kept memory is %s"
#define CAUSE_KEPT_NOTHING WRONG_(COUNT), NULL, "0 bytes cannot be kept"
#define CAUSE_KEPT_SIZE                                                          \
    WRONG_(COUNT), "keep it under another name, or ask for as much as there is", \
        "\"%s\" has %llu bytes, and %zu are asked for"
#define CAUSE_KEPT_MANY \
    REFUSED_(NOMEM), "fewer names, each with more of what is kept", "\"%s\" is one too many: a rank keeps at most %d"
#define CAUSE_KEPT_REFUSED REFUSED_(NOMEM), NULL, "no memory to keep %zu bytes as \"%s\": %s"

/* ---- Messages ---- */

#define CAUSE_TOO_LONG                                                                                              \
    CAUSE_(TRUNCATE, TRUNCATION), "a larger buffer, or p2p_probe for the size first",                               \
        "a message of %zu bytes from rank %d with tag %d does not fit into a buffer of %zu bytes; it is gone, the " \
        "buffer is untouched"
#define CAUSE_OTHER_TYPE                                                                                          \
    CAUSE_(TRUNCATE, TYPE_MISMATCH), "the same type on both sides",                                               \
        "a message of %zu bytes from rank %d with tag %d is of another type than its receive (%s), and does not " \
        "fit into %zu bytes; it is gone, the buffer is untouched"
#define CAUSE_GIVEN_UP                                                                                             \
    CAUSE_(PEER_DEAD, DEATH), "what did that rank wait for then? it takes no more part in anything",               \
        "rank %d gave up the message of %zu bytes with tag %d before it was received: its call had ended with an " \
        "error (%s), and its buffer may be in use again"
#define CAUSE_ATTACHED_GIVEN_UP     \
    CAUSE_(PEER_DEAD, DEATH), NULL, \
        "rank %d gave up (its call ended with an error) while others read its buffer, which may be in use again"
#define CAUSE_ALONE                                                                                           \
    CAUSE_(DEADLOCK, DEADLOCK),                                                                               \
        "build/launch -n 2 PROGRAM, or post the matching operation to yourself first (p2p_isend, p2p_irecv)", \
        "a world of one rank waits for a message that no rank can send"
#define CAUSE_TIMEOUT CAUSE_(TIMEOUT, TIMEOUT), NULL, "%.950s"

/* ---- What the machine would not give ---- */

#define CAUSE_NO_REQUEST REFUSED_(NOMEM), NULL, "no memory for a request (%zu bytes)"
#define CAUSE_NO_COPY REFUSED_(NOMEM), NULL, "no memory to keep a message of %zu bytes"
#define CAUSE_NO_SHARED_MEMORY                                                                  \
    REFUSED_(NOMEM), "a smaller buffer, fewer ranks, or a higher limit (ulimit -f, ulimit -v)", \
        "no memory that ranks can share for %zu bytes: %s"
#define CAUSE_NO_SCRATCH                                                     \
    REFUSED_(NOMEM), "a higher limit (ulimit -f), or PAIRWISE_WORLD=socket", \
        "no shared memory for a collective of %d ranks (%zu bytes): %s"
#define CAUSE_TOO_MANY_COMMUNICATORS \
    REFUSED_(NOMEM), "p2p_free those that are no longer needed", "there are %d communicators already"
#define CAUSE_NO_COMMUNICATOR REFUSED_(NOMEM), NULL, "no memory for a communicator of %d ranks"
#define CAUSE_NO_SPLIT REFUSED_(NOMEM), NULL, "no memory to split a communicator of %d ranks"
#define CAUSE_NO_LINK_MEMORY                                                            \
    REFUSED_(SYS), "fewer ranks, a higher limit (ulimit -f), or PAIRWISE_WORLD=socket", \
        "the link to rank %d cannot be opened: there is no shared memory for it: %s"
#define CAUSE_NO_LINK                                                                       \
    REFUSED_(SYS), "close files that are no longer needed, or raise the limit (ulimit -n)", \
        "the link to rank %d cannot be opened: %s needs one more descriptor, and its limit of %d is reached"

/* ---- At the end ---- */

#define CAUSE_LEFT(advice) CAUSE_(LEAK, RESOURCE_LEAK), advice, "%.799s"

#endif
