/* SPDX-License-Identifier: MIT */
/*
 * causes: what can be wrong with a call. Each is what p2p__fail takes: error, class, argument, and the sentence, with
 * perhaps a second line that says what to try; its parameters follow. (Macros, so that the compiler holds the
 * parameters to the sentence.)
 */
#ifndef PAIRWISE_P2P_CAUSES_H
#define PAIRWISE_P2P_CAUSES_H

#include "p2p/shared/diagnosis.h"

#define WRONG_(argument) P2P_ERR_ARG, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_##argument
#define REFUSED_(err) P2P_ERR_##err, CLASS_REFUSED, P2P_ARGUMENT_NONE
#define CAUSE_(err, class) P2P_ERR_##err, CLASS_##class, P2P_ARGUMENT_NONE

/* ---- Arguments ---- */

#define CAUSE_NO_RANK                                        \
    P2P_ERR_RANK, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_RANK, \
        "%s %d is not a rank: not in [0,%d)\n  try: ranks of this communicator are 0 to %d"
#define CAUSE_NEGATIVE_TAG WRONG_(TAG), "tag %d is negative\n  try: tags are 0 to %d"
#define CAUSE_NO_BUFFER WRONG_(BUFFER), "the buffer is NULL, but its size is %zu bytes"
#define CAUSE_IMPOSSIBLE_SIZE WRONG_(COUNT), "a size of %zu bytes is impossible\n  try: was a negative count passed?"
#define CAUSE_NO_PLACE_FOR_SEND WRONG_(REQUEST), "request is NULL: nothing could wait for this send"
#define CAUSE_NO_PLACE_FOR_RECEIVE WRONG_(REQUEST), "request is NULL: nothing could wait for this receive"
#define CAUSE_NO_PLACE_FOR_REQUEST WRONG_(REQUEST), "a request needs step, waits_for and somewhere to put it"
#define CAUSE_NO_PLACE_FOR_ANSWER WRONG_(OTHER), "there is nowhere to put the answer: found is NULL"
#define CAUSE_NO_PLACE_FOR_COMMUNICATOR WRONG_(OTHER), "there is nowhere to put the communicator: sub is NULL"
#define CAUSE_NO_PLACE_FOR_ADDRESS WRONG_(OTHER), "there is nowhere to put the address: buf is NULL"
#define CAUSE_NEGATIVE_COLOUR \
    WRONG_(OTHER), "colour %d is negative\n  try: 0 or more, or P2P_UNDEFINED to join no group"
#define CAUSE_WORLD_NOT_FREED WRONG_(COMMUNICATOR), "the world is not freed: p2p_finalize ends it"
#define CAUSE_NOT_THE_WORLD \
    WRONG_(COMMUNICATOR), "not the world: free a communicator of p2p_split or p2p_dup with p2p_free"
#define CAUSE_NOT_FROM_ALLOC                                                              \
    WRONG_(BUFFER), "this is not the address of a buffer of this rank's from p2p_alloc\n" \
                    "  try: was it released already, or moved on?"
#define CAUSE_NOT_CANCELLED                                                          \
    WRONG_(REQUEST), "only a receive can be cancelled; this is a %s, from line %d\n" \
                     "  try: let it end, with p2p_wait or p2p_test"

/* ---- Buffers and requests at the wrong time ---- */

#define CAUSE_OVERLAP                                         \
    P2P_ERR_ARG, CLASS_BUFFER_CONFLICT, P2P_ARGUMENT_OVERLAP, \
        "the send buffer and the receive buffer overlap\n  try: a separate buffer to receive into"
#define CAUSE_CHANGED                                                                                            \
    CAUSE_(ARG, BUFFER_CONFLICT), "the buffer of isend to %d changed before wait (tag %d, %zu bytes, line %d)\n" \
                                  "  try: leave it alone until p2p_wait or p2p_test says done"
#define CAUSE_IN_USE                                                                                      \
    CAUSE_(STATE, BUFFER_CONFLICT), "a request that is under way uses this buffer (%zu bytes, line %d)\n" \
                                    "  try: p2p_wait for it first"
#define CAUSE_REQUESTS_PENDING                                                        \
    CAUSE_(STATE, REQUEST_STATE), "requests on this communicator are still pending\n" \
                                  "  try: p2p_wait for each of them first"

/* ---- Messages ---- */

#define CAUSE_TOO_LONG                                                                              \
    CAUSE_(TRUNCATE, TRUNCATION),                                                                   \
        "a message of %zu bytes from rank %d with tag %d does not fit into a buffer of %zu bytes; " \
        "it is gone, the buffer is untouched\n  try: a larger buffer, or p2p_probe for the size first"
#define CAUSE_GIVEN_UP                                                                               \
    CAUSE_(PEER_DEAD, DEATH),                                                                        \
        "rank %d gave up the message of %zu bytes with tag %d before it was received: its call had " \
        "ended with an error (%s), and its buffer may be in use again\n"                             \
        "  try: what did rank %d wait for then? it takes no more part in anything"
#define CAUSE_ATTACHED_GIVEN_UP                                                                   \
    CAUSE_(PEER_DEAD, DEATH),                                                                     \
        "rank %d gave up (its call ended with an error) while others read its buffer, which may " \
        "be in use again"
#define CAUSE_ALONE                                                       \
    CAUSE_(DEADLOCK, DEADLOCK),                                           \
        "a world of one rank waits for a message that no rank can send\n" \
        "  try: build/launch -n 2 PROGRAM, or post the matching operation to yourself first (p2p_isend, p2p_irecv)"
#define CAUSE_TIMEOUT CAUSE_(TIMEOUT, TIMEOUT), "%.950s"

/* ---- What the machine would not give ---- */

#define CAUSE_NO_REQUEST REFUSED_(NOMEM), "no memory for a request (%zu bytes)"
#define CAUSE_NO_COPY REFUSED_(NOMEM), "no memory to keep a message of %zu bytes"
#define CAUSE_NO_SHARED_MEMORY                                            \
    REFUSED_(NOMEM), "no memory that ranks can share for %zu bytes: %s\n" \
                     "  try: a smaller buffer, fewer ranks, or a higher limit (ulimit -f, ulimit -v)"
#define CAUSE_NO_SCRATCH                                                               \
    REFUSED_(NOMEM), "no shared memory for a collective of %d ranks (%zu bytes): %s\n" \
                     "  try: a higher limit (ulimit -f), or PAIRWISE_WORLD=socket"
#define CAUSE_TOO_MANY_COMMUNICATORS \
    REFUSED_(NOMEM), "there are %d communicators already\n  try: p2p_free those that are no longer needed"
#define CAUSE_NO_COMMUNICATOR REFUSED_(NOMEM), "no memory for a communicator of %d ranks"
#define CAUSE_NO_SPLIT REFUSED_(NOMEM), "no memory to split a communicator of %d ranks"
#define CAUSE_NO_LINK_MEMORY                                                                      \
    REFUSED_(SYS), "the link to rank %d cannot be opened: there is no shared memory for it: %s\n" \
                   "  try: fewer ranks, a higher limit (ulimit -f), or PAIRWISE_WORLD=socket"
#define CAUSE_NO_LINK                                                                                          \
    REFUSED_(SYS),                                                                                             \
        "the link to rank %d cannot be opened: %s needs one more descriptor, and its limit of %d is reached\n" \
        "  try: close files that are no longer needed, or raise the limit (ulimit -n %d)"

/* ---- At the end ---- */

#define CAUSE_LEFT                                                                                      \
    CAUSE_(LEAK, RESOURCE_LEAK),                                                                        \
        "%.799s\n  try: receive what is sent (p2p_recv), wait for every request (p2p_wait), free what " \
        "p2p_split and p2p_dup make (p2p_free), release what p2p_alloc gives (p2p_release)"

#endif
