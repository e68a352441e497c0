/* SPDX-License-Identifier: MIT */
/*
 * host_talk: to and from whom each rank's messages go, in their order, beside what 33 asks for: a rank that leads no host sends
 * once, to its leader; a leader receives from the others of its host, goes round with the leaders, and sends to the others. It is
 * watched in a rank as it goes on, so it is known of a world that has ended in a deadlock too.
 *
 *      in a rank    host_talk_begin, host_talk_end
 *      in learn     host_talk_explain; host_talk_received
 */
#ifndef PAIRWISE_TESTS_EXERCISES_HOST_TALK_H
#define PAIRWISE_TESTS_EXERCISES_HOST_TALK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/exercises/ring_contract.h"

enum { HOST_TALK_MOST = 48, HOST_TALK_NAME = 32 };

/* ---- In a rank ---- */

static struct {
    const check_case *c;
    const double *buf, *last; /* last: where the receive before comes to */
    int made;
} host_talk_watched;

/* How far behind the beginning of memory of the learner's, as much as buf has, a receive comes to; 0: at its beginning, or
 * elsewhere. */
static inline size_t host_talk_inside(const double *at)
{
    for (size_t k = 0; at && k <= host_talk_watched.c->count; k++)
        if (check_room(at - k) >= host_talk_watched.c->count * sizeof *at) return k;
    return 0;
}

static inline void host_talk_note(bool sends, const void *buf, size_t bytes, int peer)
{
    char name[HOST_TALK_NAME];
    const double *at = buf, *first = host_talk_watched.buf;
    if (host_talk_watched.made >= HOST_TALK_MOST || peer < 0) return;
    snprintf(name, sizeof name, "bytes %d", host_talk_watched.made);
    check_number(host_talk_watched.c, name, (double)bytes);
    snprintf(name, sizeof name, "at %d", host_talk_watched.made);
    if (first && (uintptr_t)at >= (uintptr_t)first && (uintptr_t)at < (uintptr_t)(first + host_talk_watched.c->count))
        check_number(host_talk_watched.c, name, (double)(at - first));
    snprintf(name, sizeof name, "inside %d", host_talk_watched.made);
    if (!sends && host_talk_inside(at)) check_number(host_talk_watched.c, name, (double)host_talk_inside(at));
    snprintf(name, sizeof name, "same %d", host_talk_watched.made);
    if (!sends && at == host_talk_watched.last) check_number(host_talk_watched.c, name, 1);
    if (!sends) host_talk_watched.last = at;
    snprintf(name, sizeof name, "message %d", host_talk_watched.made++);
    check_number(host_talk_watched.c, name, sends ? peer + 1 : -(peer + 1));
}

static inline void host_talk_begin(const check_case *c, const double *buf)
{
    host_talk_watched.buf = buf;
    host_talk_watched.last = NULL;
    host_talk_watched.c = c;
    host_talk_watched.made = 0;
    check_on_message = host_talk_note;
}

static inline void host_talk_end(void)
{
    check_on_message = NULL;
}

/* ---- In learn ---- */

/* hosts[q]: the host of rank q. gaps: some number below the highest is no host's. */
typedef struct {
    const check_case *c;
    const int *hosts;
    bool gaps;
} host_talk;

/* A fact about a message; NAN: it is not known. */
static inline double host_talk_fact(const check_case *c, int rank, const char *fact, int k)
{
    char name[HOST_TALK_NAME];
    snprintf(name, sizeof name, "%s %d", fact, k);
    return check_number_of(c, rank, name);
}

/* Message k of a rank: whom it sends to, or receives from; -1 if there is none. */
static inline int host_talk_peer(const host_talk *t, int rank, int k, bool *sends)
{
    double is = host_talk_fact(t->c, rank, "message", k);
    *sends = is > 0;
    return is != 0 && is == is ? abs((int)is) - 1 : -1;
}

static inline int host_talk_leader(const host_talk *t, int rank)
{
    int first = 0;
    while (t->hosts[first] != t->hosts[rank]) first++;
    return first;
}

static inline int host_talk_next_leader(const host_talk *t, int rank)
{
    int next = (rank + 1) % t->c->ranks;
    while (host_talk_leader(t, next) != next) next = (next + 1) % t->c->ranks;
    return next;
}

static inline int host_talk_others(const host_talk *t, int rank)
{
    int others = -1;
    for (int q = 0; q < t->c->ranks; q++) others += t->hosts[q] == t->hosts[rank];
    return others;
}

/* The number of the first message that a rank received from another one; -1: it received none. */
static inline int host_talk_received(const check_case *c, int rank, int from)
{
    for (int k = 0; k < HOST_TALK_MOST; k++)
        if (host_talk_fact(c, rank, "message", k) == -(from + 1)) return k;
    return -1;
}

/* A rank that leads no host has sent up: from whom does it get what is handed out? */
static inline bool host_talk_tell_down(const host_talk *t, int rank)
{
    int leader = host_talk_leader(t, rank), peer;
    bool sends;
    for (int k = 0; (peer = host_talk_peer(t, rank, k, &sends)) >= 0; k++) {
        if (sends || peer == leader) continue;
        check_because(t->c, "deadlock.down",
                      "Rank %d, on host %d, waits for what is handed out from rank %d, on host %d: the first rank of "
                      "its host is %d.",
                      rank, t->hosts[rank], peer, t->hosts[peer], leader);
        return true;
    }
    return false;
}

/* A leader that has returned, and handed out to some of its host only. */
static inline bool host_talk_tell_left_out(const host_talk *t, int leader)
{
    int to = -1, none = -1, peer;
    bool sends;
    if (!check_data(t->c, leader, "buf")) return false;
    for (int q = 0; q < t->c->ranks; q++) {
        bool sent = false;
        if (q == leader || t->hosts[q] != t->hosts[leader]) continue;
        for (int k = 0; (peer = host_talk_peer(t, leader, k, &sends)) >= 0; k++) sent |= sends && peer == q;
        if (sent)
            to = q;
        else if (none < 0)
            none = q;
    }
    if (none < 0) return false;
    check_because(t->c, "deadlock.left_out",
                  to < 0 ? "Rank %d, the first of host %d, has handed out nothing to rank %d, on the same host."
                         : "Rank %d, the first of host %d, has handed out nothing to rank %d, on the same host, and "
                           "has to rank %d: all others of the host get it.",
                  leader, t->hosts[leader], none, to);
    return true;
}

/* A rank that leads no host: up, and no more. */
static inline bool host_talk_tell_other(const host_talk *t, int rank)
{
    int leader = host_talk_leader(t, rank), made = 0;
    bool sends;
    for (int k = 0, peer; (peer = host_talk_peer(t, rank, k, &sends)) >= 0; k++) {
        if (!sends) continue;
        if (!made++ && peer != leader) {
            check_because(t->c, "deadlock.up",
                          "Rank %d, on host %d, sends first to rank %d, on host %d: the first rank of its host is %d.",
                          rank, t->hosts[rank], peer, t->hosts[peer], leader);
            return true;
        }
        if (made < 2) continue;
        check_because(t->c, "deadlock.round",
                      "Rank %d leads no host. When it has sent up what it has it sends once more, to rank %d: does it "
                      "go round with the leaders?",
                      rank, peer);
        return true;
    }
    return host_talk_tell_down(t, rank);
}

/* A leader's first messages: from each of the others of its host. *k becomes the number of the first one behind them. */
static inline bool host_talk_tell_up(const host_talk *t, int rank, int *k)
{
    bool sends;
    int peer = host_talk_peer(t, rank, 0, &sends), others = host_talk_others(t, rank);
    *k = 0;
    if (peer == rank && sends) {
        check_because(t->c, "deadlock.place",
                      "Rank %d is the first of its host, and begins with a message to itself: it takes itself for one "
                      "of the others.",
                      rank);
        return true;
    }
    for (; *k < others && peer >= 0 && !sends; peer = host_talk_peer(t, rank, ++*k, &sends)) {
        if (t->hosts[peer] == t->hosts[rank]) continue;
        check_because(t->c, "deadlock.whose",
                      "Rank %d, on host %d, receives from rank %d, on host %d, before it goes round: only what the "
                      "ranks of its own host have is added up there.",
                      rank, t->hosts[rank], peer, t->hosts[peer]);
        return true;
    }
    return false;
}

/* And then round, with the leaders: the first message to the next one, the first one that comes not from itself. */
static inline bool host_talk_tell_round(const host_talk *t, int rank, int k)
{
    bool sends, sent = false, received = false;
    int peer, next = host_talk_next_leader(t, rank);
    for (; next != rank && !(sent && received) && (peer = host_talk_peer(t, rank, k, &sends)) >= 0; k++) {
        if (sends && !sent && peer != next) {
            bool turned = host_talk_leader(t, peer) == peer && host_talk_next_leader(t, peer) == rank;
            check_because(t->c, turned ? "deadlock.turned" : "deadlock.next",
                          "In the ring rank %d sends %sto rank %d. The leader that comes next is rank %d.", rank,
                          turned ? "to the left, " : "", peer, next);
            return true;
        }
        if (!sends && !received && peer == rank && !t->gaps) {
            check_because(t->c, "deadlock.left",
                          "In the ring rank %d receives from itself, and not from the leader that comes before it.",
                          rank);
            return true;
        }
        sent |= sends;
        received |= !sends;
    }
    return false;
}

/* What goes and comes in the ring, as it is given: place - step - 1 and place - step - 2, then one chunk further each. */
static inline int host_talk_chunk(int place, int step, int hosts, bool sends)
{
    int chunk = place - step % (hosts - 1) - (step < hosts - 1) - !sends;
    return (chunk % hosts + hosts) % hosts;
}

/* A message of the ring that comes to buf, or is as long as the chunk that goes the other way, and not as its own. */
static inline bool host_talk_tell_ring(const host_talk *t, int rank, int k)
{
    int hosts = 0, place = 0, steps[2] = {0, 0};
    bool sends;
    for (int q = 0; q < t->c->ranks; q++) {
        hosts += host_talk_leader(t, q) == q;
        place += q < rank && host_talk_leader(t, q) == q;
    }
    if (hosts < 2) return false;
    for (; host_talk_peer(t, rank, k, &sends) >= 0 && steps[sends] < 2 * (hosts - 1); k++) {
        int step = steps[sends]++, chunk = host_talk_chunk(place, step, hosts, sends),
            other = host_talk_chunk(place, step, hosts, !sends);
        size_t should = ring_length(t->c->count, hosts, chunk) * sizeof(double);
        double at = host_talk_fact(t->c, rank, "at", k);
        if (!sends && !isnan(at)) {
            check_because(t->c, "to_buf",
                          "In step %d of the ring rank %d receives to buf, to number %.0f of it. It is for "
                          "add_round_ring to add it there: it takes it from room.",
                          step, rank, at);
            return true;
        }
        size_t begin = ring_begin(t->c->count, hosts, chunk), begin_other = ring_begin(t->c->count, hosts, other);
        if (sends && should && at == (double)begin_other && begin != begin_other) {
            check_because(t->c, "other_chunk",
                          "In step %d of the ring rank %d sends from number %.0f of buf, where chunk %d begins, which "
                          "comes. Chunk %d goes, and begins at number %zu.",
                          step, rank, at, other, chunk, begin);
            return true;
        }
        double inside = host_talk_fact(t->c, rank, "inside", k);
        if (inside > 0) {
            check_because(t->c, "to_room",
                          "In step %d of the ring rank %d receives to number %.0f of room, and add_round_ring takes it "
                          "from the beginning of room.",
                          step, rank, inside);
            return true;
        }
        double is = host_talk_fact(t->c, rank, "bytes", k);
        if (is == (double)should) continue;
        if (is != (double)(ring_length(t->c->count, hosts, other) * sizeof(double))) return false;
        check_because(t->c, "length",
                      "In step %d of the ring rank %d %s %.0f bytes, as many as chunk %d has, which %s. Chunk %d, "
                      "which %s, has %zu.",
                      step, rank, sends ? "sends" : "receives", is, other, sends ? "comes" : "goes", chunk,
                      sends ? "goes" : "comes", should);
        return true;
    }
    return false;
}

/* Which rank's messages go to or come from another rank than they should, or are too long or too short: adds it to the
 * failure that is noted. */
static inline bool host_talk_explain(const host_talk *t)
{
    int k;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (host_talk_leader(t, rank) == rank && host_talk_tell_up(t, rank, &k)) return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (host_talk_leader(t, rank) != rank && host_talk_tell_other(t, rank)) return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (host_talk_leader(t, rank) == rank && !host_talk_tell_up(t, rank, &k) && host_talk_tell_round(t, rank, k))
            return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (host_talk_leader(t, rank) == rank && !host_talk_tell_up(t, rank, &k) && host_talk_tell_ring(t, rank, k))
            return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (host_talk_leader(t, rank) == rank && host_talk_tell_left_out(t, rank)) return true;
    return false;
}

#endif
