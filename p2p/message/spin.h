/* SPDX-License-Identifier: MIT */
/*
 * spin: what a wait does between two polls: poll again at once, let others have the core, or go to sleep.
 *
 *      1. spin      while every rank has a core of its own. An answer is often here within a microsecond, while going to
 *                   sleep and being woken on another core costs ten times that. But a core that spins is taken from
 *                   whoever shares it: so only then, and only as long as it pays. A wait that outlasts its spin by little
 *                   has stood in somebody's way, and halves the next one; so has one whose answer came when this rank let
 *                   somebody else have its core, for then the two share it, whatever other programs leave free. A wait that
 *                   lasts long (the other side computes) says nothing either way. Now and then the full time is tried again.
 *                   Where two ranks sit on one core though there is one for each, as the system likes to place those that
 *                   wake each other, one of them leaves (cores.h).
 *      2. yield     where looking asks nothing of the system (the shm world). Whoever shares this core is often the one
 *                   that is waited for, and to switch costs less than to sleep and to be woken. With a core for every rank
 *                   a few yields do: two ranks that sleep and wake each other on one core stay there for ever, while the
 *                   system moves one of two that are both ready to run. When a yield takes long, a stranger computes
 *                   here; then the next waits go to sleep instead, for who wakes up comes before who has yielded.
 *      3. sleep     until woken. A rank that waits for long costs nothing.
 *
 * In the shm world a spin is longer than it takes the other side to wake up and answer; with less, two ranks once asleep
 * would keep on finding each other asleep. bench/waiting shows each of the three alone beside it.
 */
#ifndef PAIRWISE_P2P_SPIN_H
#define PAIRWISE_P2P_SPIN_H

#include "p2p/shared/config.h"

typedef struct {
    int cores;
    bool cheap_polls;             /* a look asks nothing of the system */
    bool shares_cores;            /* there are more ranks than cores, and cheap polls: see cores.h */
    uint64_t longest, now;        /* ns to spin; longest is 0 when ranks share cores */
    unsigned skipped;             /* waits since spinning stopped paying */
    uint64_t yielding;            /* ns of a wait after which it goes to sleep, even if yields go well */
    unsigned most_yields;         /* of a wait */
    unsigned crowded;             /* so many more waits will not yield */
    int yields_before_timed_wait; /* without cheap polls: a short sleep may be put off by so many */
} p2p_spin;

/* One wait. */
typedef struct {
    uint64_t started, spin_until, deadline; /* the last: UINT64_MAX if there is none */
    unsigned polls, yields_left;
    bool yielded; /* a yield let somebody else run */
} p2p_backoff;

void p2p__spin_init(p2p_spin *spin, enum p2p_wait_policy policy, int rank, int ranks, bool cheap_polls);

/* Let others have the core once; false: not now, strangers compute here. */
bool p2p__spin_yield(p2p_spin *spin);

void p2p__backoff_begin(p2p_spin *spin, p2p_backoff *backoff);

/* Something has moved, of a long message, say: look for as long again. */
void p2p__backoff_reset(const p2p_spin *spin, p2p_backoff *backoff);

/* After a look that found nothing: true: look again; false: go to sleep. */
bool p2p__backoff_goes_on(p2p_spin *spin, p2p_backoff *backoff);

/* How it went: did it have to sleep? */
void p2p__backoff_end(p2p_spin *spin, const p2p_backoff *backoff, bool slept);

#endif
