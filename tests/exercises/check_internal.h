/* SPDX-License-Identifier: MIT */
/*
 * check_internal: what the two sides of check.h agree on: the plan of worlds and cases, and how a rank reports.
 *
 *      check_plan.c      both sides     the same list of worlds and cases
 *      check_data.c      both sides     the same data
 *      check_guard.c     in a rank      what a learner's code may do; delays
 *      check_rank.c      in a rank      main: runs the cases, writes records
 *      check_calls.c     in a rank      memory that is left; calls that fail on purpose
 *      check_leaks.c     in a rank      requests that nobody waited for
 *      check_trace.c     in a rank      what a trace of a case shows (learn see)
 *      check_unused.c    in a rank      the judge's functions, which nobody calls there
 *
 * Reports. learn makes one memory file of CHECK_AREA bytes for each rank, which cannot grow; a rank maps its own part and
 * closes the file before any code of the learner runs. In it stand a head and then records, one behind the other, each a
 * check_record and its data, padded to CHECK_ALIGN. Whatever does not read as that is not believed: each record is stamped
 * with a number that learn drew for this run, and that nobody can read any more by the time the learner's code runs.
 */
#ifndef PAIRWISE_TESTS_EXERCISES_CHECK_INTERNAL_H
#define PAIRWISE_TESTS_EXERCISES_CHECK_INTERNAL_H

#include <stddef.h>

#include "tests/exercises/check.h"

/* ---- The plan ---- */

typedef struct {
    int ranks;
    bool strict;
    const char *network;
    size_t first, count; /* of its cases in plan->cases */
} check_world_plan;

struct check_plan {
    uint64_t seed;
    check_world_plan *worlds;
    size_t world_count, world_room;
    check_case *cases;
    size_t case_count, case_room;
};

/* The worlds and cases of an exercise. A program with a main of its own has one case a world. */
void check_plan_make(check_plan *plan, const check_exercise *exercise, uint64_t seed);
void check_plan_free(check_plan *plan);

/* ---- Reports ---- */

#define CHECK_AREA ((size_t)64 << 20)
enum { CHECK_NAME = 24, CHECK_ALIGN = 16 };

/* learn tells a rank by this variable: descriptor of the memory file, number of the world, seed of the data, seed of the
 * delays or 0, milliseconds after which it should say where it is (0: never), the one case to run (-1: all):
 * "%d,%zu,%llu,%llu,%ld,%d" */
#define CHECK_VARIABLE "PAIRWISE_COURSE"

enum check_phase { CHECK_ABSENT, CHECK_BETWEEN, CHECK_IN_CASE, CHECK_ALL_DONE };

typedef struct {
    uint64_t nonce; /* from learn; the rank keeps it and writes 0 */
    uint64_t used;  /* bytes of whole records behind the head */
    int32_t phase;
    int32_t number; /* of the case it is in, or was in last */
    uint32_t full;  /* a record did not fit */
    uint32_t unused;
} check_head;

/* Under this name a rank reports the virtual seconds of a case. */
#define CHECK_SECONDS "virtual seconds"

enum check_kind { CHECK_REPORT = 1, CHECK_NUMBER, CHECK_RETURNED, CHECK_TRAFFIC, CHECK_LEAK, CHECK_ENDED };

typedef struct {
    uint64_t stamp; /* nonce ^ where this record begins */
    uint64_t bytes; /* of data: elements; a double; p2p_traffic of each rank; words */
    uint32_t kind;
    int32_t number; /* of the case */
    int32_t value;  /* CHECK_RETURNED: the p2p_err; CHECK_REPORT: the dtype */
    uint32_t unused;
    uint64_t count; /* CHECK_REPORT: elements */
    char name[CHECK_NAME];
} check_record;

/* Where the record behind one with so many bytes of data begins, seen from its own beginning. */
static inline size_t check_record_size(uint64_t bytes)
{
    return sizeof(check_record) + (size_t)((bytes + CHECK_ALIGN - 1) / CHECK_ALIGN * CHECK_ALIGN);
}

/* ---- In a rank: settings, read once before main, and gone from the environment ---- */

typedef struct {
    int fd; /* of the reports; -1: none */
    size_t world;
    uint64_t seed, delays;
    int only; /* this case alone; -1: all */
} check_settings;

extern check_settings check_given;

extern const check_exercise check_the_exercise; /* the linker is told which one it is */

/* A case becomes a phase of the trace, if one is written; messages are shown as parts of its first buffer. */
void check_trace_begin(p2p_comm *comm, const check_case *c);
void check_trace_buffer(const void *buf, size_t bytes);
void check_trace_end(void);

/* ---- In a rank: what stands between a learner's code and the calls it makes (check_calls.c) ---- */

/* learn has the tools rename each NAME in a learner's object to check_NAME. */
#define CHECK_MEMORY_CALLS(X) X(malloc) X(calloc) X(realloc) X(aligned_alloc) X(strdup) X(free)
#define CHECK_P2P_CALLS(X) \
    X(p2p_alloc)           \
    X(p2p_release)         \
    X(p2p_send)            \
    X(p2p_ssend)           \
    X(p2p_recv)            \
    X(p2p_sendrecv)        \
    X(p2p_probe)           \
    X(p2p_iprobe)          \
    X(p2p_isend)           \
    X(p2p_irecv)           \
    X(p2p_wait)            \
    X(p2p_test)            \
    X(p2p_wait_all)        \
    X(p2p_wait_any)

#define CHECK_CALL_NAME(name) check_##name##_,
enum check_call_name { CHECK_P2P_CALLS(CHECK_CALL_NAME) CHECK_CALL_NAMES };
#undef CHECK_CALL_NAME

/* What all of a learner's Pairwise calls return in a case that fails on purpose. */
#define CHECK_FAILS_WITH P2P_ERR_PEER_DEAD

/* Numbers that a rank reports: which call was the first that failed on purpose; receives from P2P_ANY_SOURCE. */
#define CHECK_FAILED "failed call"
#define CHECK_ANY_SOURCE "any source"

/* On standard error, when a case ends with memory that is not free: number of the case, pieces, bytes, "free" or "p2p_release";
 * behind it, as a stack, where the first piece was asked for. */
#define CHECK_MEMORY_LEFT "==check== memory of case "

void check_calls_begin(const check_case *c);
void check_calls_end(const check_case *c);

/* Messages, requests and communicators that are left over, with lines, in words that live until the next error. */
const char *check_leaks(p2p_comm *world);

#endif
