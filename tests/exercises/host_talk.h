/* SPDX-License-Identifier: MIT */
/*
 * host_talk: to and from whom each rank's messages go, in their order, beside what 33 asks for: a rank that leads no host sends
 * once, to its leader; a leader receives from the others of its host, goes round with the leaders, and sends to the others. It is
 * watched in a rank as it goes on, so it is known of a world that has ended in a deadlock too.
 *
 *      in a rank    host_talk_begin, host_talk_end
 *      in learn     host_talk_explain
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
    const double *buf;
    int made;
} host_talk_watched;

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
    snprintf(name, sizeof name, "message %d", host_talk_watched.made++);
    check_number(host_talk_watched.c, name, sends ? peer + 1 : -(peer + 1));
}

static inline void host_talk_begin(const check_case *c, const double *buf)
{
    host_talk_watched.buf = buf;
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

/* Message k of a rank: whom it sends to, or receives from; -1 if there is none. */
static inline int host_talk_peer(const host_talk *t, int rank, int k, bool *sends)
{
    char name[HOST_TALK_NAME];
    snprintf(name, sizeof name, "message %d", k);
    double is = check_number_of(t->c, rank, name);
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
    return false;
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
        char name[HOST_TALK_NAME];
        int step = steps[sends]++, chunk = host_talk_chunk(place, step, hosts, sends),
            other = host_talk_chunk(place, step, hosts, !sends);
        size_t should = ring_length(t->c->count, hosts, chunk) * sizeof(double);
        snprintf(name, sizeof name, "at %d", k);
        double at = check_number_of(t->c, rank, name);
        if (!sends && !isnan(at)) {
            check_because(t->c, "to_buf",
                          "In step %d of the ring rank %d receives to buf, to number %.0f of it. It is for "
                          "add_round_ring to add it there: it takes it from room.",
                          step, rank, at);
            return true;
        }
        snprintf(name, sizeof name, "bytes %d", k);
        double is = check_number_of(t->c, rank, name);
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
    return false;
}

#endif
