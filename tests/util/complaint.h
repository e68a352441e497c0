/* SPDX-License-Identifier: MIT */
/*
 * complaint: how a rank of a test says what is wrong. The first complaint of a job counts: it lies in memory that the ranks
 * share with the test, which shows it.
 *
 * A rank's function returns 0 when all was right; these macros leave it with COMPLAINED.
 */
#ifndef PAIRWISE_TESTS_COMPLAINT_H
#define PAIRWISE_TESTS_COMPLAINT_H

#include <stdatomic.h>

#include "p2p/p2p.h"

enum { COMPLAINED = 99 };

typedef struct {
    atomic_int made;
    char text[1024]; /* "rank R, FILE:LINE: what"; "" if none was made */
} complaint;

/* In a rank: where its complaint goes, and who complains. */
extern complaint *complaint_here;
extern int complaint_rank;

int complaint_make(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define CHECK(condition, ...)                                                     \
    do {                                                                          \
        if (!(condition)) return complaint_make(__FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

/* A call that must succeed. */
#define CALL(call) RETURNS(P2P_OK, call)

/* A call that must return this code. */
#define RETURNS(want, call)                                         \
    do {                                                            \
        p2p_err got_ = (call);                                      \
        CHECK(got_ == (want), "%s: %s", #call, p2p_strerror(got_)); \
    } while (0)

/* A helper that returns 0 or COMPLAINED. */
#define STEP(call)               \
    do {                         \
        int code_ = (call);      \
        if (code_) return code_; \
    } while (0)

#endif
