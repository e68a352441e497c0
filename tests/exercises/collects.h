/* SPDX-License-Identifier: MIT */
/*
 * collects: what a learner's function gives to its collectives, watched in a rank: which buffer, how many numbers, of which type,
 * with which operator. It is told where the result is wrong, and not why.
 *
 *      in a rank    collects_begin, collects_name, collects_report
 *      in learn     collects_explain
 */
#ifndef PAIRWISE_TESTS_EXERCISES_COLLECTS_H
#define PAIRWISE_TESTS_EXERCISES_COLLECTS_H

#include <stdio.h>
#include <string.h>

#include "exercises/check/check.h"

enum { COLLECTS_CALLS = 8, COLLECTS_NAMES = 16, COLLECTS_FIELDS = 6, COLLECTS_TEXT = 200 };

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
    char names[COLLECTS_CALLS * 32] = "";
    for (size_t i = 0; i < collects_seen.made; i++) {
        const check_collective *call = &collects_seen.calls[i];
        const double fields[] = {collects_names_of(call->send),
                                 collects_names_of(call->recv),
                                 (double)call->count,
                                 (double)call->dtype,
                                 (double)call->op,
                                 0};
        memcpy(facts + i * COLLECTS_FIELDS, fields, sizeof fields);
        snprintf(names + i * 32, 32, "%s", call->name);
    }
    check_on_collective = NULL;
    check_report(c, "collects", facts, collects_seen.made * COLLECTS_FIELDS, DTYPE_F64);
    check_report(c, "collects called", names, collects_seen.made * 32, DTYPE_U8);
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

/* The first call that is another one than it should be. names: in the test's order. */
static inline bool collects_explain(const check_case *c, int rank, const collects_call *calls, size_t count,
                                    const char *const *names)
{
    size_t made = check_elements(c, rank, "collects") / COLLECTS_FIELDS;
    const char *called = check_data(c, rank, "collects called");
    if (!made || !called || made != count || !check_data(c, rank, "collects")) return false;
    for (size_t i = 0; i < made; i++) {
        if (strcmp(called + i * 32, calls[i].call) != 0) return false;
        if (collects_differs(c, rank, i, &calls[i], names)) return true;
    }
    return false;
}

#endif
