/* SPDX-License-Identifier: MIT */
/*
 * token_trips: what each rank gives to coll_all_to_allv: how many tokens go to each rank and come from each, and where these parts
 * begin, on the way there and on the way back; and before, when counts are exchanged, what sort_tokens has made. It is reported
 * before the call, so it is known of a world that has ended in it too.
 *
 *      in a rank    token_trips_begin, token_trips_end
 *      in learn     token_trips_explain
 */
#ifndef PAIRWISE_TESTS_EXERCISES_TOKEN_TRIPS_H
#define PAIRWISE_TESTS_EXERCISES_TOKEN_TRIPS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check.h"

enum { TOKEN_TRIPS = 2, TOKEN_TRIPS_PARTS = 4 };
enum { TOKENS_OUT, TOKENS_OUT_BEGIN, TOKENS_IN, TOKENS_IN_BEGIN };

static const char *const token_trips_names[] = {"trip there", "trip back"};

/* ---- In a rank ---- */

static struct {
    const check_case *c;
    size_t width, count; /* count: this rank's tokens */
    const double *x, *y;
    const void *sent; /* on the way there */
    int made;
} token_trips_watched;

/* Counts are exchanged. Where out is the beginning of the memory for all of them, as it was given, out_begin lies behind it. */
static inline void token_trips_note_counts(const check_collective *call)
{
    const check_case *c = token_trips_watched.c;
    size_t ranks = (size_t)c->ranks, numbers[2 * CHECK_MAX_RANKS];
    double parts[2 * CHECK_MAX_RANKS];
    check_number(c, "count per pair", (double)(call->count * dtype_size(call->dtype)) / sizeof(int64_t));
    if (check_room(call->recv) == (4 * ranks + token_trips_watched.count) * sizeof *numbers)
        check_number(c, "counts turned", 1);
    if (check_room(call->send) != (4 * ranks + token_trips_watched.count) * sizeof *numbers) return;
    memcpy(numbers, call->send, 2 * ranks * sizeof *numbers);
    for (size_t i = 0; i < 2 * ranks; i++) parts[i] = (double)numbers[i];
    check_report(c, "sorted", parts, 2 * ranks, DTYPE_F64);
}

static inline void token_trips_note(const check_collective *call)
{
    if (strcmp(call->name, "coll_all_to_all") == 0) token_trips_note_counts(call);
    double tokens[TOKEN_TRIPS_PARTS * CHECK_MAX_RANKS];
    size_t ranks = (size_t)token_trips_watched.c->ranks;
    if (!call->parts[0] || token_trips_watched.made >= TOKEN_TRIPS) return;
    if (!token_trips_watched.made && call->send == token_trips_watched.x)
        check_number(token_trips_watched.c, "sends x", 1);
    if (token_trips_watched.made && call->recv == token_trips_watched.y)
        check_number(token_trips_watched.c, "back to y", 1);
    if (token_trips_watched.made && call->send == token_trips_watched.sent)
        check_number(token_trips_watched.c, "sends again", 1);
    token_trips_watched.sent = call->send;
    for (size_t i = 0; i < TOKEN_TRIPS_PARTS * ranks; i++)
        tokens[i] = (double)call->parts[i / ranks][i % ranks] / (double)token_trips_watched.width;
    check_report(token_trips_watched.c, token_trips_names[token_trips_watched.made++], tokens,
                 TOKEN_TRIPS_PARTS * ranks, DTYPE_F64);
}

static inline void token_trips_begin(const check_case *c, size_t width, size_t count, const double *x, const double *y)
{
    token_trips_watched.y = y;
    token_trips_watched.count = count;
    token_trips_watched.x = x;
    token_trips_watched.c = c;
    token_trips_watched.width = width;
    token_trips_watched.made = 0;
    check_on_collective = token_trips_note;
}

static inline void token_trips_end(void)
{
    check_on_collective = NULL;
}

/* ---- In learn ---- */

/* How many tokens go from a rank to another, and how many would if there were no capacity. */
typedef size_t token_trips_count(const check_case *c, int from, int to);

typedef struct {
    const check_case *c;
    token_trips_count *moved, *wanted;
    size_t capacity;
} token_trips;

/* Where it is reported: of what goes there what was sorted will do. NULL: it is not known. */
static inline const char *token_trips_report(const token_trips *t, int trip, int rank, bool in)
{
    const char *name = trip == 0 && !in && !check_elements(t->c, rank, token_trips_names[0]) ? "sorted"
                                                                                             : token_trips_names[trip];
    return check_elements(t->c, rank, name) ? name : NULL;
}

static inline double token_trips_is(const token_trips *t, int trip, int rank, int part, int q)
{
    const char *name = token_trips_report(t, trip, rank, part >= TOKENS_IN);
    return name ? check_element(t->c, rank, name, (size_t)(part * t->c->ranks + q)) : NAN;
}

/* The first part of a kind that is not as long as it should be; -1 if there is none. */
static inline int token_trips_wrong_count(const token_trips *t, int trip, int rank, bool in)
{
    for (int q = 0; q < t->c->ranks && token_trips_report(t, trip, rank, in); q++) {
        bool from_here = (trip == 0) != in;
        size_t should = from_here ? t->moved(t->c, rank, q) : t->moved(t->c, q, rank);
        if (token_trips_is(t, trip, rank, in ? TOKENS_IN : TOKENS_OUT, q) != (double)should) return q;
    }
    return -1;
}

/* As if so many of a rank's tokens might go to an expert, and not so many as the capacity; 0: it is not like that. */
static inline double token_trips_capacity(const token_trips *t)
{
    double most = 0;
    bool any_stays = false;
    for (int rank = 0; rank < t->c->ranks; rank++)
        for (int q = 0; q < t->c->ranks; q++) most = fmax(most, token_trips_is(t, 0, rank, TOKENS_OUT, q));
    for (int rank = 0; rank < t->c->ranks; rank++)
        for (int q = 0; q < t->c->ranks; q++) {
            double wanted = (double)t->wanted(t->c, rank, q);
            if (token_trips_is(t, 0, rank, TOKENS_OUT, q) != fmin(wanted, most)) return 0;
            any_stays |= wanted > most;
        }
    return any_stays ? most : 0;
}

/* Adds that it is like that. */
static inline bool token_trips_tell_capacity(const token_trips *t)
{
    double as_if = token_trips_capacity(t), is = (double)t->capacity, n = t->c->ranks;
    if (as_if == 0 || as_if == is) return false;
    check_because(t->c, "capacity_is", "It is so with all of them, as if the capacity were %.0f, and it is %.0f%s.",
                  as_if, is,
                  as_if * n == is ? ": of each rank by itself so many may go to an expert, it is not to be divided by "
                                    "the number of ranks"
                  : as_if == is + 1 ? ": number `capacity`, counted from 0, stays already"
                                    : "");
    return true;
}

static inline bool token_trips_out(const token_trips *t, int rank)
{
    int q = token_trips_wrong_count(t, 0, rank, false);
    if (q < 0) return false;
    double is = token_trips_is(t, 0, rank, TOKENS_OUT, q);
    bool with_rest = is == (double)t->wanted(t->c, rank, q);
    check_because(t->c, with_rest ? "counted_rest" : "counted",
                  "On rank %d out[%d] is %.0f, and of its tokens %zu go to expert %d.%s", rank, q, is,
                  t->moved(t->c, rank, q), q,
                  with_rest ? " Those beyond the capacity, which stay, are counted as well." : "");
    if (!with_rest) token_trips_tell_capacity(t);
    return true;
}

/* Of the counts that came: are they this rank's own? */
static inline bool token_trips_in(const token_trips *t, int rank)
{
    int q = token_trips_wrong_count(t, 0, rank, true);
    if (q < 0) return false;
    bool own = true;
    for (int k = 0; k < t->c->ranks; k++)
        own &= token_trips_is(t, 0, rank, TOKENS_IN, k) == token_trips_is(t, 0, rank, TOKENS_OUT, k);
    check_because(t->c, "mismatch", "On rank %d in[%d] is %.0f, and rank %d sends it %zu tokens.%s", rank, q,
                  token_trips_is(t, 0, rank, TOKENS_IN, q), q, t->moved(t->c, q, rank),
                  own ? " in is what this rank sends: as many need not come." : "");
    return true;
}

/* Each part begins where the one before ends. */
static inline bool token_trips_begins(const token_trips *t, int rank, bool in)
{
    double at = 0;
    int begins = in ? TOKENS_IN_BEGIN : TOKENS_OUT_BEGIN, counts = in ? TOKENS_IN : TOKENS_OUT;
    for (int q = 0; q < t->c->ranks && token_trips_report(t, 0, rank, in); q++) {
        double is = token_trips_is(t, 0, rank, begins, q), count = token_trips_is(t, 0, rank, counts, q);
        if (is != at && count > 0) {
            check_because(t->c, in ? "in_begin" : "out_begin",
                          "On rank %d %s_begin[%d] is %.0f: before it are the parts of lower ranks, %.0f tokens.", rank,
                          in ? "in" : "out", q, is, at);
            return true;
        }
        at += count;
    }
    return false;
}

/* On the way back in and out change roles. */
static inline bool token_trips_back(const token_trips *t, int rank)
{
    bool as_there = true;
    int in = token_trips_wrong_count(t, 1, rank, true), out = token_trips_wrong_count(t, 1, rank, false);
    if (in < 0 && out < 0) return false;
    for (int k = 0; k < TOKEN_TRIPS_PARTS * t->c->ranks; k++)
        as_there &= token_trips_is(t, 1, rank, 0, k) == token_trips_is(t, 0, rank, 0, k);
    if (as_there)
        check_because(t->c, "way_back",
                      "On rank %d as many tokens are sent back to each rank as went there, and not as many as had come "
                      "from it: the way back has the counts of the way there.",
                      rank);
    return as_there;
}

/* What is wrong with a count or a beginning, or that tokens go as they lie: adds it to the failure that is noted. */
static inline bool token_trips_explain(const token_trips *t)
{
    for (int rank = 0; rank < t->c->ranks; rank++) {
        double count = check_number_of(t->c, rank, "count per pair");
        if (check_number_of(t->c, rank, "counts turned") == 1) {
            check_because(t->c, "counts_turned",
                          "coll_all_to_all receives to r->out, which holds how many go, and sends another: the first "
                          "buffer is the one that is sent.");
            return true;
        }
        if (isnan(count) || count == 1) continue;
        check_because(
            t->c, "per_pair",
            "On rank %d coll_all_to_all moves %.4g numbers of 8 bytes from each rank to each, and should move "
            "one: its count is that of one pair, and not that of all ranks together.",
            rank, count);
        return true;
    }
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (check_number_of(t->c, rank, "sends x") == 1) {
            check_because(
                t->c, "sends_x",
                "x itself is sent, in the order in which its tokens lie, and not `sorted`, in which those for "
                "rank 0 lie before those for rank 1.");
            return true;
        }
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (check_number_of(t->c, rank, "sends again") == 1) {
            check_because(t->c, "sends_again",
                          "On its way back rank %d sends the same buffer as on the way there, in which its own tokens "
                          "lie, and not the one in which those have come that its expert has seen.",
                          rank);
            return true;
        }
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (token_trips_out(t, rank)) return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (token_trips_begins(t, rank, false) || token_trips_in(t, rank)) return true;
    for (int rank = 0; rank < t->c->ranks; rank++)
        if (token_trips_begins(t, rank, true) || token_trips_back(t, rank)) return true;
    return false;
}

#endif
