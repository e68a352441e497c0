/* SPDX-License-Identifier: MIT */
/*
 * spin: what a waiting rank does between two polls that find nothing, and every number that a wait goes by.
 *
 *      1. spin      poll again at once, while every rank has a core of its own. An answer is often here within a
 *                   microsecond; to sleep and to be woken on another core costs ten times that. But a core that spins
 *                   is taken from the ranks and programs that share it. So a rank spins only as long as it pays: the
 *                   time is halved after a wait that outlasted its spin by little, and after one whose answer came when
 *                   this rank had yielded (then the two share a core, whatever other programs leave free). A wait that
 *                   lasts long says nothing: the other side computes. After some waits without a spin the full time is
 *                   tried again. Where two ranks sit on one core though there is one for each, one of them leaves
 *                   (message/cores.h).
 *      2. yield     where a poll asks nothing of the system (the shm world). The rank that shares this core is often
 *                   the one that is waited for, and to switch costs less than to sleep and to be woken. With a core for
 *                   every rank a few yields do: two ranks that sleep and wake each other on one core stay there for
 *                   ever, while the system moves one of two that are both ready to run. When a yield takes long,
 *                   another program computes here. Then the next waits sleep instead: a rank that wakes up gets the
 *                   core before one that has yielded.
 *      3. sleep     until woken: a rank that waits for long costs nothing.
 *
 * bench/waiting shows each of the three alone beside it.
 */
#ifndef PAIRWISE_P2P_SPIN_H
#define PAIRWISE_P2P_SPIN_H

#include "p2p/shared/config.h"

/* ---- Spinning ---- */

#define SPIN_LONGEST_NS UINT64_C(20000)       /* socket: about what a sleep and a waking cost */
#define SPIN_LONGEST_CHEAP_NS UINT64_C(50000) /* shm: more than a peer needs to wake and answer, or both sleep again */
#define SPIN_SHORTEST_NS UINT64_C(1000)       /* halved below this it is no spin any more: no answer takes less */
#define SPIN_ALONE_NS UINT64_C(3000000) /* PAIRWISE_WAIT=spin: a rank that spins on one peer does not hear the others */
#define SPIN_TRY_AGAIN 64               /* waits without a spin, or without yields, before they are tried again */
#define SPIN_LONG_WAIT_NS UINT64_C(200000) /* a wait that lasted longer says nothing about spinning */
#define POLLS_A_CLOCK 16                   /* polls that cost about as much as one look at the clock */

/* ---- Short spins, before a wait begins ---- */

#define RECEIVE_POLLS 32               /* fast path: polls between two looks at the clock: one costs a few ns */
#define RECEIVE_SPIN_NS UINT64_C(5000) /* fast path: some round trips; a longer wait serves the other links as well */
#define BARRIER_POLLS 100 /* barrier: polls of the others' lines, where a core for each rank lets them answer at once */
#define BARRIER_SPIN_NS UINT64_C(3000) /* barrier, the missing ranks on other cores: less than a switch and back */
#define ANSWER_POLLS 20000             /* one copy, its sender: the receiver is at its last chunk (shm_one_copy.c) */
#define CHUNK_POLLS 100000             /* one copy, its receiver: between two sleeps; far more than a chunk takes */

/* ---- Yields ---- */

#define YIELDING_NS UINT64_C(300000)            /* of a wait; then it sleeps even if yields go well */
#define YIELDING_ALONE_NS UINT64_C(10000000000) /* PAIRWISE_WAIT=yield: as good as without end */
#define YIELD_SLOW_NS UINT64_C(400000)          /* another program had the core: less than its time slice */
#define YIELD_TURN_NS UINT64_C(8000)            /* of both, for each rank that shares the core: more than its turn */
#define YIELD_SWITCHED_NS UINT64_C(800)         /* more than a yield that finds no other process to run */
#define YIELDS_WITH_A_CORE 8                    /* of a wait: enough for the system to move one of two ranks */
#define YIELDS_BEFORE_TIMED_WAIT 3              /* socket, barrier: while there are at most two ranks a core */

/* ---- Sleeping ---- */

/* In a barrier's futex links are not served, so not for long; but who wakes before all are there sleeps where only the
 * supervisor wakes it, which costs ten times as much. */
#define TIMED_WAIT_NS UINT64_C(1000000)       /* with few ranks */
#define TIMED_WAIT_RANK_NS UINT64_C(125000)   /* for each that shares the core, if that is more */
#define TIMED_WAIT_MOST_NS UINT64_C(10000000) /* at most */
#define CHUNK_PAUSE_NS UINT64_C(50000)        /* one copy: the other end has stopped, or its core is busy */
#define LOST_GRACE_NS UINT64_C(1000000000)    /* for the supervisor to say why a link has closed */
#define NOMEM_TRIES 100                       /* for a message that arrives: memory may come back */
#define NOMEM_PAUSE_NS UINT64_C(2000000)      /* between two of these */
#define PASSING_PAUSE_NS UINT64_C(20000)      /* between two looks whether the launcher has passed lines on */
#define FAILING_PAUSE_NS UINT64_C(100000)     /* between two looks whether the supervisor has ended the job */

typedef struct {
    int ranks, cores;             /* of this host; of several, its launcher is one more */
    bool cheap_polls;             /* a poll asks nothing of the system */
    bool shares_cores;            /* there are more ranks than cores, and cheap polls: see message/cores.h */
    uint64_t longest, now;        /* ns to spin; longest is 0 when ranks share cores */
    unsigned skipped;             /* waits since spinning stopped paying */
    uint64_t yielding;            /* ns of a wait after which it goes to sleep, even if yields go well */
    uint64_t slow_yield;          /* ns; one that takes longer says that another program computes here */
    unsigned most_yields;         /* of a wait */
    unsigned crowded;             /* so many more waits will not yield */
    int yields_before_timed_wait; /* without cheap polls: a short sleep may be put off by so many */
    uint64_t timed_wait;          /* ns of a short sleep */
} p2p_spin;

/* One wait. */
typedef struct {
    uint64_t started;           /* 0 before the first look at the clock */
    uint64_t spin_until;        /* 0: no spin */
    uint64_t deadline;          /* UINT64_MAX: none */
    uint64_t spin_ns;           /* of a short spin: from the first look at the clock on */
    unsigned polls, next_clock; /* polls so far, and at how many the clock is looked at */
    unsigned polls_a_clock, yields_left;
    bool yielded; /* a yield let another process run */
} p2p_backoff;

void p2p__spin_init(p2p_spin *spin, enum p2p_wait_policy policy, int ranks, int cores, bool cheap_polls);

/* Let others have the core once; false: not now, other programs compute here. */
bool p2p__spin_yield(p2p_spin *spin);

/* timeout_ns: 0 for none. */
void p2p__backoff_begin(p2p_spin *spin, p2p_backoff *backoff, uint64_t timeout_ns);

/* So many polls, and more for so many ns if that is not 0; then it is over, without a yield, and says nothing of the
 * spin. */
static inline p2p_backoff p2p__backoff_short(unsigned polls, uint64_t ns)
{
    return (p2p_backoff){.spin_ns = ns, .next_clock = polls, .polls_a_clock = polls};
}

/* After a poll that found nothing: true: poll again; false: go to sleep. */
bool p2p__backoff_by_clock(p2p_spin *spin, p2p_backoff *backoff);
static inline bool p2p__backoff_goes_on(p2p_spin *spin, p2p_backoff *backoff)
{
    return ++backoff->polls < backoff->next_clock || p2p__backoff_by_clock(spin, backoff);
}

/* How it went: did it have to sleep? */
void p2p__backoff_end(p2p_spin *spin, const p2p_backoff *backoff, bool slept);

#endif
