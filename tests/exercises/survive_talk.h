/* SPDX-License-Identifier: MIT */
/*
 * survive_talk: whom each rank of 35 sends to and receives from in each generation of the world, in their order, and how many
 * bytes: what exchange_copies sends while nobody has died, and what a new process is given behind a repair.
 *
 *      in a rank    survive_talk_begin, survive_talk_end
 *      in learn     survive_talk_lengths, survive_talk_given
 */
#ifndef PAIRWISE_TESTS_EXERCISES_SURVIVE_TALK_H
#define PAIRWISE_TESTS_EXERCISES_SURVIVE_TALK_H

#include "tests/exercises/ring_contract.h"

enum { SURVIVE_TALK_MOST = 64, SURVIVE_TALK_FIELDS = 4 }; /* generation; 1: sends; peer; bytes */

/* ---- In a rank ---- */

static struct {
    p2p_comm **world;
    int32_t facts[SURVIVE_TALK_MOST * SURVIVE_TALK_FIELDS];
    size_t made;
} survive_talk_watched;

static inline void survive_talk_note(bool sends, const void *buf, size_t bytes, int peer)
{
    int32_t *fact = survive_talk_watched.facts + survive_talk_watched.made * SURVIVE_TALK_FIELDS;
    (void)buf;
    if (survive_talk_watched.made == SURVIVE_TALK_MOST) return;
    survive_talk_watched.made++;
    fact[0] = p2p_generation(*survive_talk_watched.world);
    fact[1] = sends;
    fact[2] = peer;
    fact[3] = (int32_t)bytes;
}

static inline void survive_talk_begin(p2p_comm **world)
{
    survive_talk_watched.world = world;
    survive_talk_watched.made = 0;
    check_on_message = survive_talk_note;
}

static inline void survive_talk_end(const check_case *c)
{
    check_on_message = NULL;
    check_report(c, "talk", survive_talk_watched.facts, survive_talk_watched.made * SURVIVE_TALK_FIELDS, DTYPE_I32);
}

/* ---- In learn ---- */

static inline size_t survive_talk_made(const check_case *c, int rank)
{
    return check_elements(c, rank, "talk") / SURVIVE_TALK_FIELDS;
}

static inline int survive_talk_fact(const check_case *c, int rank, size_t k, size_t field)
{
    return (int)check_element(c, rank, "talk", k * SURVIVE_TALK_FIELDS + field);
}

/* Where no rank has died: does what goes to the right, or the room for what comes from the left, have another chunk's length?
 * It is the failure then. */
static inline bool survive_talk_lengths(const check_case *c, const char *returned)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t k = 0; k < survive_talk_made(c, rank); k++) {
            bool sends = survive_talk_fact(c, rank, k, 1) > 0;
            int left = (rank + c->ranks - 1) % c->ranks, whose = sends ? rank : left, other = sends ? left : rank;
            size_t bytes = (size_t)survive_talk_fact(c, rank, k, 3),
                   should = ring_length(c->count, c->ranks, whose) * sizeof(double);
            if (sends ? bytes == should : bytes >= should) continue;
            bool others = bytes == ring_length(c->count, c->ranks, other) * sizeof(double);
            return !check_fail(c, "returned",
                               "%s A message was longer than the room for it. In exchange_copies rank %d %s %zu bytes "
                               "%s rank %d%s; %s chunk has %zu.",
                               returned, rank, sends ? "sends" : "receives at most", bytes, sends ? "to" : "from",
                               sends ? (rank + 1) % c->ranks : left,
                               !others ? ""
                               : sends ? ", as many as the left one's chunk has"
                                       : ", as many as its own chunk has",
                               sends ? "its own" : "the left one's", should);
        }
    return false;
}

/* The bytes of message k from a rank to the other in a generation: sent, or the room of its receive; -1: there is none. */
static inline int survive_talk_bytes(const check_case *c, int rank, int generation, bool sends, int peer, int number)
{
    for (size_t k = 0; k < survive_talk_made(c, rank); k++)
        if (survive_talk_fact(c, rank, k, 0) == generation && survive_talk_fact(c, rank, k, 1) == sends &&
            survive_talk_fact(c, rank, k, 2) == peer && number-- == 0)
            return survive_talk_fact(c, rank, k, 3);
    return -1;
}

static inline const char *survive_talk_duty(bool both, bool is_left, int awaited)
{
    if (both)
        return "Of two ranks the other one is both neighbours, the right one and the left one: it sends what both have "
               "to send.";
    if (is_left)
        return awaited > 1 ? "It is the rank to the left, from which only the copy comes."
                           : "It is the rank to the left: it sends its velocity.";
    return awaited > 2
               ? "It is the rank to the right, from which parameters and velocity come: the copy comes from the "
                 "left."
               : "It is the rank to the right: it sends the parameters, and its copy.";
}

/* Rank q is new in this generation, and waits for a neighbour's message that has not been sent, or gets one that does not
 * fit: it is the failure then. */
static inline bool survive_talk_given(const check_case *c, int q, int generation, const char *returned)
{
    int right = (q + 1) % c->ranks, left = (q + c->ranks - 1) % c->ranks;
    for (int i = 0; i < (left == right ? 1 : 2); i++) {
        int from = i ? left : right, room, bytes = 0, k = 0;
        for (; from != q && (room = survive_talk_bytes(c, q, generation, false, from, k)) >= 0; k++) {
            bytes = survive_talk_bytes(c, from, generation, true, q, k);
            if (bytes < 0 || bytes > room) break;
        }
        if (from == q || room < 0) continue;
        if (bytes > room)
            return !check_fail(c, "given.order",
                               "%s A message was longer than the room for it. Rank %d was killed. Message %d that rank "
                               "%d sends to its new process has %d bytes, "
                               "and the receive for it has room for %d: are they sent in the order in which they are "
                               "received, and as long?",
                               returned, q, k + 1, from, bytes, room);
        return !check_fail(c, left == right ? "deadlock.both" : "deadlock.given",
                           "%s Rank %d was killed, and its new process waits for message %d from rank %d, which has "
                           "sent it %d. %s",
                           returned, q, k + 1, from, k, survive_talk_duty(left == right, i, k + 1));
    }
    return false;
}

#endif
