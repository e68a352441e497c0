/* SPDX-License-Identifier: MIT */
/*
 * collects: what a learner's function gives to its collectives, watched in a rank: which buffer, how many numbers, of which type,
 * with which operator. It is told where the result is wrong, and not why.
 *
 *      in a rank    collects_begin, collects_name, collects_report
 *      in learn     collects_explain, collects_extra, collects_list
 */
#ifndef PAIRWISE_TESTS_EXERCISES_COLLECTS_H
#define PAIRWISE_TESTS_EXERCISES_COLLECTS_H

#include <stdio.h>
#include <string.h>

#include "exercises/check/check.h"

enum {
    COLLECTS_CALLS = 8,
    COLLECTS_NAMES = 16,
    COLLECTS_FIELDS = 6,
    COLLECTS_TEXT = 200,
    COLLECTS_LIST = 600,
    COLLECTS_WORD = 32
};

/* What a call should be; send and recv: a name of the test's, below COLLECTS_NAMES; count: 0, if it is not looked at. */
typedef struct {
    const char *call;
    int send, recv;
    size_t count;
    enum op op;
} collects_call;

/* ---- In a rank ---- */

static struct {
    check_collective calls[COLLECTS_CALLS];
    size_t made;
    struct {
        const void *at;
        int name;
    } names[COLLECTS_NAMES];
    size_t named;
} collects_seen;

static inline void collects_note(const check_collective *call)
{
    if (collects_seen.made < COLLECTS_CALLS) collects_seen.calls[collects_seen.made++] = *call;
}

static inline void collects_begin(void)
{
    memset(&collects_seen, 0, sizeof collects_seen);
    check_on_collective = collects_note;
}

/* A buffer may have several names. */
static inline void collects_name(const void *at, int name)
{
    for (size_t i = 0; i < collects_seen.named; i++)
        if (collects_seen.names[i].at == at && collects_seen.names[i].name == name) return;
    if (collects_seen.named < COLLECTS_NAMES) {
        collects_seen.names[collects_seen.named].at = at;
        collects_seen.names[collects_seen.named++].name = name;
    }
}

/* Its names, as bits. */
static inline double collects_names_of(const void *at)
{
    unsigned bits = 0;
    for (size_t i = 0; i < collects_seen.named; i++)
        if (collects_seen.names[i].at == at) bits |= 1u << collects_seen.names[i].name;
    return bits;
}

static inline void collects_report(const check_case *c)
{
    double facts[COLLECTS_CALLS * COLLECTS_FIELDS];
    char names[COLLECTS_CALLS * COLLECTS_WORD] = "";
    for (size_t i = 0; i < collects_seen.made; i++) {
        const check_collective *call = &collects_seen.calls[i];
        const double fields[] = {collects_names_of(call->send),
                                 collects_names_of(call->recv),
                                 (double)call->count,
                                 (double)call->dtype,
                                 (double)call->op,
                                 0};
        memcpy(facts + i * COLLECTS_FIELDS, fields, sizeof fields);
        snprintf(names + i * COLLECTS_WORD, COLLECTS_WORD, "%s", call->name);
    }
    check_on_collective = NULL;
    check_report(c, "collects", facts, collects_seen.made * COLLECTS_FIELDS, DTYPE_F64);
    check_report(c, "collects called", names, collects_seen.made * COLLECTS_WORD, DTYPE_U8);
}

/* ---- In learn ---- */

static inline const char *collects_words(char text[COLLECTS_TEXT], unsigned bits, const char *const *names)
{
    for (int i = 0; i < COLLECTS_NAMES; i++)
        if (bits & 1u << i) return names[i];
    snprintf(text, COLLECTS_TEXT, "another buffer");
    return text;
}

/* Number i of a rank's calls is that one, but for something: says what. */
static inline bool collects_differs(const check_case *c, int rank, size_t i, const collects_call *should,
                                    const char *const *names)
{
    char text[COLLECTS_TEXT];
    const double *is = (const double *)check_data(c, rank, "collects") + i * COLLECTS_FIELDS;
    unsigned send = (unsigned)is[0], recv = (unsigned)is[1];
    bool in_place = should->send == should->recv;
    if (!(send & 1u << should->send))
        return !check_fail(c, "collects.buffer", "%s %s %s, and should %s %s.", should->call,
                           in_place ? "was given" : "sends", collects_words(text, send, names),
                           in_place ? "be given" : "send", names[should->send]);
    if (!(recv & 1u << should->recv))
        return !check_fail(c, "collects.buffer", "%s receives to %s, and should receive to %s.", should->call,
                           collects_words(text, recv, names), names[should->recv]);
    if ((enum dtype)is[3] != DTYPE_F64)
        return !check_fail(c, "type", "%s was called with %s. These are doubles: DTYPE_F64.", should->call,
                           dtype_name((enum dtype)is[3]));
    if ((enum op)is[4] != should->op)
        return !check_fail(c, "op", "%s was called with the operator %s, and should be with %s.", should->call,
                           op_name((enum op)is[4]), op_name(should->op));
    if (should->count && (size_t)is[2] != should->count)
        return !check_fail(c, "collects.count", "%s was called with %.0f numbers on rank %d, and should be with %zu.",
                           should->call, is[2], rank, should->count);
    return false;
}

static inline size_t collects_made(const check_case *c, int rank)
{
    size_t made = check_elements(c, rank, "collects") / COLLECTS_FIELDS;
    bool whole = check_elements(c, rank, "collects called") == made * COLLECTS_WORD;
    return made && whole && check_data(c, rank, "collects called") ? made : 0;
}

/* An all-reduce by any algorithm will do. */
static inline bool collects_same(const char *called, const char *should)
{
    static const char sum[] = "all_reduce";
    if (strncmp(called, should, COLLECTS_WORD - 1) == 0) return true;
    size_t length = strnlen(called, COLLECTS_WORD), end = sizeof sum - 1;
    return strcmp(should, "coll_all_reduce") == 0 && length > end && memcmp(called + length - end, sum, end) == 0;
}

/* The first call that is another one than it should be. names: in the test's order. */
static inline bool collects_explain(const check_case *c, int rank, const collects_call *calls, size_t count,
                                    const char *const *names)
{
    size_t made = collects_made(c, rank);
    const char *called = check_data(c, rank, "collects called");
    if (!made || made != count) return false;
    for (size_t i = 0; i < made; i++) {
        if (!collects_same(called + i * COLLECTS_WORD, calls[i].call)) return false;
        if (collects_differs(c, rank, i, &calls[i], names)) return true;
    }
    return false;
}

static inline bool collects_among(const char *called, unsigned sends, const collects_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (collects_same(called, calls[i].call) && sends & 1u << calls[i].send) return true;
    return false;
}

/* More calls on rank 0 than there should be, and one of them is none of these: says which. */
static inline bool collects_extra(const check_case *c, const collects_call *calls, size_t count,
                                  const char *const *names)
{
    char text[COLLECTS_TEXT], needed[COLLECTS_LIST] = "";
    const char *called = check_data(c, 0, "collects called");
    const double *facts = check_data(c, 0, "collects");
    size_t made = collects_made(c, 0), i = 0, used = 0;
    while (i < made && collects_among(called + i * COLLECTS_WORD, (unsigned)facts[i * COLLECTS_FIELDS], calls, count))
        i++;
    if (made <= count || i == made) return false;
    for (size_t k = 0; k < count && used < sizeof needed; k++)
        used += (size_t)snprintf(needed + used, sizeof needed - used, "%s%s of %s", k ? " and " : "", calls[k].call,
                                 names[calls[k].send]);
    return !check_fail(c, "collects.extra", "%.31s of %s is one call too many: what is needed is %s, once.",
                       called + i * COLLECTS_WORD, collects_words(text, (unsigned)facts[i * COLLECTS_FIELDS], names),
                       needed);
}

/* Behind what was said: the collectives that rank 0 has called. */
static inline void collects_list(const check_case *c, const char *const *names)
{
    char text[COLLECTS_LIST] = "", other[COLLECTS_TEXT];
    size_t used = 0, made = collects_made(c, 0);
    const char *called = check_data(c, 0, "collects called");
    const double *facts = check_data(c, 0, "collects");
    for (size_t i = 0; i < made && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.31s of %s, %.0f number%s", used ? "; " : "",
                                 called + i * COLLECTS_WORD,
                                 collects_words(other, (unsigned)facts[i * COLLECTS_FIELDS], names),
                                 facts[i * COLLECTS_FIELDS + 2], facts[i * COLLECTS_FIELDS + 2] == 1 ? "" : "s");
    if (made)
        check_also(c, "Rank 0 has called %s.", text);
    else if (!check_sent(c, 0).messages_sent && c->ranks > 1)
        check_also(c, "Rank 0 has sent nothing.");
}

#endif
