/* SPDX-License-Identifier: MIT */
/*
 * check_internal: what the two sides of check.h agree on: the plan of worlds and cases, and how a rank reports.
 *
 *      check_plan.c      both sides     the same list of worlds and cases
 *      check_data.c      both sides     the same data
 *      check_start.c     before a rank  what a learner's code may do (check_forbid.c: system calls)
 *      check_guard.c     in a rank      settings; where it was stopped; delays
 *      check_rank.c      in a rank      main: runs the cases, writes records
 *      check_calls.c     in a rank      calls that fail on purpose
 *      check_collectives.c  in a rank   collectives that do, where there are any
 *      check_memory.c    in a rank      memory and requests that are left
 *      check_leaks.c     in a rank      what lies inside of a communicator
 *      check_deaths.c    in a rank      it is killed, where the case says
 *      check_trace.c     in a rank      what a trace of a case shows (learn see)
 *      check_opencl.c    in a rank      a device for kernels (K1 to K5); check_accesses.c: what they read and write
 *
 * Reports. Each rank has a socket to learn, its own and no other. From it it reads its key, and into it it writes records,
 * one behind the other, each a check_record and its data, padded to CHECK_ALIGN. Whatever does not read as that is not
 * believed; what does is what the rank says, and may be a lie: see check.h for what is known without it.
 */
#ifndef PAIRWISE_EXERCISES_CHECK_INTERNAL_H
#define PAIRWISE_EXERCISES_CHECK_INTERNAL_H

#include <stddef.h>

#include "exercises/check/check.h"

/* ---- The plan ---- */

typedef struct {
    int ranks;
    bool strict;
    bool repairs; /* check_world_that_repairs */
    bool orders;  /* check_every_order */
    const char *network;
    size_t first, count; /* of its cases in plan->cases */
} check_world_plan;

struct check_plan {
    uint64_t seed;   /* cases' seeds follow from it; ranks know it */
    uint64_t secret; /* data follow from it, in learn; 0: from the seeds alone */
    check_world_plan *worlds;
    size_t world_count, world_room;
    check_case *cases;
    size_t case_count, case_room;
};

/* The worlds and cases of an exercise. A program with a main of its own has one case a world. */
void check_plan_make(check_plan *plan, const check_exercise *exercise, uint64_t seed, uint64_t secret);
void check_plan_free(check_plan *plan);

/* ---- Reports ---- */

#define CHECK_AREA ((size_t)64 << 20) /* of reports, from each rank */
#define CHECK_FILE_BYTES ((rlim_t)1 << 30)
enum { CHECK_NAME = 24, CHECK_ALIGN = 8 };

/* Rank 0's socket comes to the launcher under this number, the others' behind it; in every rank it is this one. */
enum { CHECK_FD = 100 };

/* learn tells a rank by this variable: number of the world, seed of the plan, seed of the delays or 0, milliseconds after
 * which it should say where it is (0: never), the one case to run (-1: all), enum check_orders. */
#define CHECK_VARIABLE "PAIRWISE_COURSE"
#define CHECK_VARIABLE_FORMAT "%zu,%llu,%llu,%ld,%d,%d"

/* What the sanitizers do, in whatever runs a learner's code. A rank that is no one's to look into cannot read its environment,
 * where the sanitizers look: it has them built in (check_guard.c). */
#define CHECK_ASAN_OPTIONS                                                                              \
    "detect_leaks=0:color=never:exitcode=1:handle_abort=1:handle_sigfpe=1:max_allocation_size_mb=256:"  \
    "mmap_limit_mb=512:print_summary=0:symbolize=0:disable_coredump=1:detect_stack_use_after_return=1:" \
    "allocator_may_return_null=0"
#define CHECK_UBSAN_OPTIONS "print_stacktrace=1:halt_on_error=1:color=never:symbolize=0"

/* A world that repairs itself starts at most so many new processes; the key lies in a rank's socket once for each of them. */
enum { CHECK_REPAIRS = 31 };

/* With this status a rank ends that has lost its socket. */
enum { CHECK_LOST = 88 };

/* Under this name a rank reports the virtual seconds of a case. */
#define CHECK_SECONDS "virtual seconds"

enum check_kind {
    CHECK_REPORT = 1,
    CHECK_NUMBER,
    CHECK_RETURNED, /* with the first call that failed on purpose */
    CHECK_BEGAN,    /* a case, on a communicator of this context */
    CHECK_TRAFFIC,  /* what the rank counted; what it sent is counted in learn */
    CHECK_LEAK,     /* with the call that made the request */
    CHECK_ENDED,    /* the case */
    CHECK_ALL_DONE  /* all cases */
};

typedef struct {
    uint64_t bytes; /* of data: elements; a double; p2p_traffic of each rank; a call */
    uint32_t kind;
    int32_t number; /* of the case */
    int32_t value;  /* CHECK_RETURNED: the p2p_err; CHECK_REPORT: the dtype; CHECK_BEGAN, CHECK_TRAFFIC: the context */
    uint32_t unused;
    uint64_t count;        /* CHECK_REPORT: elements; with a call: its line */
    char name[CHECK_NAME]; /* with a call: its file, without folders; "" if that is not known */
} check_record;

/* Where the record behind one with so many bytes of data begins, seen from its own beginning. */
static inline size_t check_record_size(uint64_t bytes)
{
    return sizeof(check_record) + (size_t)((bytes + CHECK_ALIGN - 1) / CHECK_ALIGN * CHECK_ALIGN);
}

/* Messages come as it happens; in an order that is played; in one of all, and nobody reads its socket: it prints. */
enum check_orders { CHECK_ANY_ORDER, CHECK_ONE_ORDER, CHECK_ALL_ORDERS };

/* ---- In a rank: settings, read once before main, and gone from the environment ---- */

typedef struct {
    size_t world;
    uint64_t seed, delays;
    int only;   /* this case alone; -1: all */
    int orders; /* enum check_orders */
} check_settings;

extern check_settings check_given;

/* Where the last Pairwise call was made. */
typedef struct {
    const char *file;
    int line;
} check_place;

extern check_place check_called;

extern const check_exercise check_the_exercise; /* the linker is told which one it is */

/* In a program of several mutants: from now on the test calls the functions of this one. */
void check_choose(unsigned long mutant);

/* A case becomes a phase of the trace, if one is written; messages are shown as parts of its first buffer. */
void check_trace_begin(p2p_comm *comm, const check_case *c);
void check_trace_buffer(const void *buf, size_t bytes);
void check_trace_end(void);

/* ---- In a rank: what stands between a learner's code and the calls it makes (check_calls.c,
 *      check_memory.c) ---- */

/* learn has the tools rename each NAME in a learner's object to check_NAME. */
#define CHECK_MEMORY_CALLS(X) X(malloc) X(calloc) X(realloc) X(aligned_alloc) X(strdup) X(free)
/* What the compiler calls for the address sanitizer, before and behind an array on the stack of any length. */
#define CHECK_STACK_CALLS(X) X(__asan_alloca_poison) X(__asan_allocas_unpoison)
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
    X(p2p_wait_any)        \
    X(p2p_test_all)        \
    X(p2p_test_any)

#define CHECK_COLLECTIVE_CALLS(X)         \
    X(coll_barrier)                       \
    X(coll_broadcast)                     \
    X(coll_reduce)                        \
    X(coll_all_reduce)                    \
    X(coll_scan)                          \
    X(coll_exscan)                        \
    X(coll_scatter)                       \
    X(coll_gather)                        \
    X(coll_all_gather)                    \
    X(coll_reduce_scatter)                \
    X(coll_all_to_all)                    \
    X(coll_scatterv)                      \
    X(coll_gatherv)                       \
    X(coll_all_gatherv)                   \
    X(coll_reduce_scatterv)               \
    X(coll_all_to_allv)                   \
    X(coll_ibarrier)                      \
    X(coll_ibroadcast)                    \
    X(coll_iall_reduce)                   \
    X(coll_iall_gather)                   \
    X(coll_ireduce_scatter)               \
    X(coll_naive_broadcast)               \
    X(coll_naive_reduce)                  \
    X(coll_naive_all_reduce)              \
    X(coll_tree_broadcast)                \
    X(coll_tree_reduce)                   \
    X(coll_tree_all_reduce)               \
    X(coll_recursive_doubling_all_reduce) \
    X(coll_one_shot_reduce)               \
    X(coll_one_shot_all_reduce)           \
    X(coll_two_shot_all_reduce)           \
    X(coll_leaders_all_reduce)            \
    X(coll_hierarchical_all_reduce)       \
    X(ring_all_reduce)                    \
    X(ring_iall_reduce)                   \
    X(ring_reduce_scatter)                \
    X(ring_all_gather)

/* ---- In a rank of a world that repairs itself (check_deaths.c) ---- */

int check_deaths_open(p2p_comm *world); /* the case to begin with: 0, in a new process that of the last one */
void check_deaths_begin(p2p_comm *world, const check_case *c); /* a case */
void check_deaths_call(const char *file);                      /* a call is made there */

/* What all of a learner's Pairwise calls return in a case that fails on purpose. */
#define CHECK_FAILS_WITH P2P_ERR_PEER_DEAD

/* Under this name a rank reports how many receives from P2P_ANY_SOURCE it has made. */
#define CHECK_ANY_SOURCE "any source"

/* On standard error, when a case ends with something that was not given back: number of the case, pieces, bytes, what would have
 * ended it ("free", "p2p_release" or "p2p_wait"), and the first call that failed on purpose; behind it, as a stack, where the first was asked for. */
#define CHECK_LEFT "==check== left by case "

void check_calls_begin(const check_case *c);
int check_calls_end(const check_case *c); /* how many calls were made, in a case that fails on purpose */

/* The first call that failed on purpose, and where it is; "" if none has. */
const char *check_failed_call(check_place *at);
enum { CHECK_WORDS = 96 };

/* In a case that fails on purpose: true, and what the call of that name returns; request: NULL, or the one it would begin. */
bool check_pretends(const char *name, p2p_request *request, const void *from, p2p_err *err);

/* What has to be done to a piece; of an array on the stack, whose length is known only as it runs, nothing. */
enum check_end { CHECK_FREE, CHECK_RELEASE, CHECK_WAIT, CHECK_NOTHING };
void *check_watch(void *memory, size_t bytes, enum check_end end, const void *from); /* returns memory */
void check_forget(const void *memory);
void check_forget_requests(void);
void check_look_for_left(int number, const char *failed); /* says it, and forgets it */

/* The first request that was not waited for, and where it was made; "" if there is none. It lives until the next call. */
const char *check_leaked(p2p_comm *world, check_place *at);

/* The number by which a communicator's messages are known on the wire. */
uint32_t check_context(const p2p_comm *comm);

#endif
