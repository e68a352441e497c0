/* SPDX-License-Identifier: MIT */
/*
 * ring_by_hand: the chunks that a learner sends and receives without the library's ring: does each go, and is there room for
 * it, with its own length? It is watched in a rank as it goes on, so it is known of a case that has ended in an error too.
 *
 *      in a rank    ring_by_hand_begin, ring_by_hand_whole, ring_by_hand_end
 *      in learn     ring_by_hand_explain
 */
#ifndef PAIRWISE_TESTS_EXERCISES_RING_BY_HAND_H
#define PAIRWISE_TESTS_EXERCISES_RING_BY_HAND_H

#include "tests/exercises/ring_contract.h"

/* ---- In a rank ---- */

static struct {
    const check_case *c;
    int layer;
    size_t count; /* numbers in the whole */
    bool told;
} ring_by_hand_watched;

/* How far behind the beginning of memory of the learner's that has room for the whole; SIZE_MAX: elsewhere. */
static inline size_t ring_by_hand_inside(const double *at)
{
    for (size_t k = 0; at && k < ring_by_hand_watched.count; k++)
        if (check_room(at - k) >= ring_by_hand_watched.count * sizeof *at) return k;
    return SIZE_MAX;
}

/* The first message that begins where a chunk does, and is not as long: a send; or a receive that is too short for it. */
static inline void ring_by_hand_note(bool sends, const void *buf, size_t bytes, int peer)
{
    const check_case *c = ring_by_hand_watched.c;
    size_t count = ring_by_hand_watched.count, at = ring_by_hand_inside(buf);
    if (ring_by_hand_watched.told || peer < 0 || at >= count) return;
    int chunk = ring_owner(count, c->ranks, at);
    size_t should = ring_length(count, c->ranks, chunk) * sizeof(double);
    if (ring_begin(count, c->ranks, chunk) != at || (sends ? bytes == should : bytes >= should)) return;
    check_number(c, "by hand sends", sends);
    check_number(c, "by hand layer", ring_by_hand_watched.layer);
    check_number(c, "by hand chunk", chunk);
    check_number(c, "by hand bytes", (double)bytes);
    check_number(c, "by hand should", (double)should);
    ring_by_hand_watched.told = true;
}

/* From now on it is about a whole of so many numbers. */
static inline void ring_by_hand_whole(int layer, size_t count)
{
    ring_by_hand_watched.layer = layer;
    ring_by_hand_watched.count = count;
}

static inline void ring_by_hand_begin(const check_case *c)
{
    ring_by_hand_watched.c = c;
    ring_by_hand_watched.told = false;
    check_on_message = ring_by_hand_note;
}

static inline void ring_by_hand_end(void)
{
    check_on_message = NULL;
}

/* ---- In learn ---- */

/* Adds to the failure that is noted: which chunk went, or was to come, with another length than its own. */
static inline void ring_by_hand_explain(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double chunk = check_number_of(c, rank, "by hand chunk");
        bool sends = check_number_of(c, rank, "by hand sends") > 0;
        if (isnan(chunk)) continue;
        check_because(
            c, "length",
            "In layer %.0f rank %d %s %.0f bytes %s where chunk %.0f begins, which has %.0f. Chunks differ in "
            "length by one: is that the length of the chunk which %s, or of the rank's own?",
            check_number_of(c, rank, "by hand layer"), rank, sends ? "sends" : "receives at most",
            check_number_of(c, rank, "by hand bytes"), sends ? "from" : "to", chunk,
            check_number_of(c, rank, "by hand should"), sends ? "comes" : "goes");
        return;
    }
}

#endif
