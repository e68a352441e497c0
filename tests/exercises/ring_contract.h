/* SPDX-License-Identifier: MIT */
/*
 * ring_contract: what a ring sends, and how long it takes: for the tests of 14, 15 and 16. A lap is n-1 steps in which each
 * rank sends one chunk to its right-hand neighbour: (n-1)/n of the buffer.
 *
 *      reduce-scatter, all-gather     one lap
 *      all-reduce                     two
 */
#ifndef PAIRWISE_TESTS_EXERCISES_RING_CONTRACT_H
#define PAIRWISE_TESTS_EXERCISES_RING_CONTRACT_H

#include "tests/exercises/made_of.h"

/* ---- Both sides ---- */

#define RING_NETWORK "latency=10us,bandwidth=1G" EXPECTED_REDUCE
#define RING_LATENCY_S 10e-6
#define RING_BANDWIDTH 1e9

/* Chunk c of n: the first count mod n chunks have one element more. */
static inline size_t ring_length(size_t count, int n, int c)
{
    return count / (size_t)n + ((size_t)c < count % (size_t)n ? 1 : 0);
}

static inline size_t ring_begin(size_t count, int n, int c)
{
    size_t begin = 0;
    for (int before = 0; before < c; before++) begin += ring_length(count, n, before);
    return begin;
}

/* Whose chunk is element i in? */
static inline int ring_owner(size_t count, int n, size_t i)
{
    int owner = 0;
    while (ring_begin(count, n, owner + 1) <= i) owner++;
    return owner;
}

/* ---- In learn ---- */

/* "(n-1)/n = 0.875", "2(n-1)/n = 1.75" */
static inline const char *ring_share(char *text, size_t room, int laps, int n)
{
    snprintf(text, room, "%s(n-1)/n = %.4g times", laps == 2 ? "2" : "", (double)laps * (n - 1) / n);
    return text;
}

static inline bool ring_to_the_right(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++) {
            unsigned long long sent = check_traffic(c, rank, peer).messages_sent;
            int right = (rank + 1) % c->ranks;
            if (!sent || peer == right) continue;
            return check_fail(c, "partners",
                              "Rank %d sent %llu message%s to rank %d. In the ring each rank sends to its right-hand "
                              "neighbour only: rank %d to rank %d.",
                              rank, sent, sent > 1 ? "s" : "", peer, rank, right);
        }
    return true;
}

/* With few ranks it does not look bad yet. */
static inline const char *ring_with_eight(const check_case *c, int laps)
{
    if (c->ranks >= 8) return "";
    return laps == 2 ? " With 8 ranks that makes 14 times where 1.75 are enough."
                     : " With 8 ranks that makes 7 times where 0.875 are enough.";
}

static inline bool ring_bytes(const check_case *c, int laps)
{
    size_t element = dtype_size(c->dtype), steps = (size_t)laps * ((size_t)c->ranks - 1);
    double buffer = (double)(c->count * element), least = (double)laps * (c->ranks - 1) / c->ranks * buffer;
    char share[60];
    ring_share(share, sizeof share, laps, c->ranks);
    for (int rank = 0; rank < c->ranks; rank++) {
        double sent = (double)check_sent(c, rank).bytes_sent;
        if (sent <= least + (double)(steps * element)) continue; /* chunks may be rounded up */
        if (sent + 1 >= (double)steps * buffer)
            return check_fail(c, "whole",
                              "Rank %d sent %.4g times the buffer; a ring of %d sends %s, one chunk a step: are you "
                              "sending the whole buffer in each step?%s",
                              rank, sent / buffer, c->ranks, share, ring_with_eight(c, laps));
        return check_fail(c, "bytes",
                          "Rank %d sent %.4g times the buffer; a ring of %d sends %s: one chunk in each of %zu steps.",
                          rank, sent / buffer, c->ranks, share, steps);
    }
    return true;
}

/* Values are wrong. If a rank made another number of steps than there are, say that as well. */
static inline void ring_also_steps(const check_case *c, int laps)
{
    unsigned long long steps = (unsigned long long)laps * ((unsigned long long)c->ranks - 1), made = 0;
    bool same = true;
    for (int rank = 0; rank < c->ranks; rank++) {
        if (rank && check_sent(c, rank).messages_sent != made) same = false;
        made = check_sent(c, rank).messages_sent;
    }
    size_t element = dtype_size(c->dtype);
    if (c->ranks == 1 || !same) return;
    if (check_traffic(c, 0, 0).messages_sent)
        check_also(c, "Rank 0 sent to itself: its right-hand neighbour is (rank + 1) %% size.");
    else if (made == steps && element > 1 && check_sent(c, 0).bytes_sent && c->count % (size_t)c->ranks == 0 &&
             check_sent(c, 0).bytes_sent == (size_t)steps * (c->count / (size_t)c->ranks))
        check_also(c, "Each rank sent one byte for each element: lengths are in bytes, and an element has %zu.",
                   element);
    else if (made == steps)
        return;
    else if (!made)
        check_also(c, "No rank has sent anything%s.",
                   c->count < (size_t)c->ranks
                       ? ": with fewer elements than ranks there are chunks of one element, and "
                         "they go round like all others"
                       : "");
    else if (made > steps || c->count >= (size_t)c->ranks) /* empty chunks may be left out */
        check_also(c, "Each rank sent %llu message%s; there are %s(n-1) = %llu steps.", made, made > 1 ? "s" : "",
                   laps == 2 ? "2" : "", steps);
}

static inline bool ring_messages(const check_case *c, int laps)
{
    unsigned long long steps = (unsigned long long)laps * ((unsigned long long)c->ranks - 1);
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long sent = check_sent(c, rank).messages_sent;
        if (sent <= steps) continue;
        return check_fail(
            c, "messages",
            "Rank %d sent %llu messages; there %s %s(n-1) = %llu step%s, with one message of one chunk each.", rank,
            sent, steps == 1 ? "is" : "are", laps == 2 ? "2" : "", steps, steps == 1 ? "" : "s");
    }
    return true;
}

/* On RING_NETWORK, with a count that is a multiple of the ranks. */
static inline bool ring_seconds(const check_case *c, int laps)
{
    double chunk = (double)(c->count * dtype_size(c->dtype)) / c->ranks;
    int steps = laps * (c->ranks - 1);
    double needed = steps * (RING_LATENCY_S + chunk / RING_BANDWIDTH), taken = expected_seconds(c);
    if (taken <= 1.01 * needed) return true;
    return check_fail(c, "slow",
                      "It took %.1f us on a network where a message takes 10 us + 1 ns a byte; %d steps of one chunk "
                      "(%.0f bytes) take %.1f us. Yours took %.2g times as long: does a rank wait for its left-hand "
                      "neighbour before it sends? All must send and receive at the same time, in every step.",
                      taken * 1e6, steps, chunk, needed * 1e6, taken / needed);
}

static inline bool ring_contract(const check_case *c, int laps)
{
    if (!ring_messages(c, laps) || !ring_bytes(c, laps) || !ring_to_the_right(c)) return false;
    return !c->network || ring_seconds(c, laps);
}

#endif
