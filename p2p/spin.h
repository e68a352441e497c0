/* SPDX-License-Identifier: MIT */
/*
 * spin: what a wait does between two looks: look again at once, let others have the core, or go to sleep.
 *
 *      1. spin      while every rank has a core of its own. An answer is often here within a microsecond, while going to
 *                   sleep and being woken on another core costs ten times that. But a core that spins is taken from
 *                   whoever shares it: so only then, and not for long.
 *      2. yield     while ranks share cores, and where looking asks nothing of the system (the shm world). Whoever shares
 *                   this core is often the one that is waited for, and to switch costs less than to sleep and to be woken.
 *                   When a yield takes long, somebody computes here; then the next waits go to sleep instead, for who
 *                   wakes up comes before who has yielded.
 *      3. sleep     until woken. A rank that waits for long costs nothing.
 *
 * How long to spin: in the shm world at least for a time in which the other side can wake up and answer; with less, two
 * ranks once asleep would keep on finding each other asleep. And longer where it has been worth it: a rank spins no more
 * in vain than it has spun to good purpose. (Whoever has just had a thousand answers at once waits on for one whose
 * sender has lost its core for a moment.) In the socket world, where every look is a system call: a wait that outlasts
 * its spin by little halves the next one; a wait that lasts long (the other side computes) says nothing either way; now
 * and then the full time is tried again.
 *
 * bench/idle shows what it costs to wait.
 */
#ifndef PAIRWISE_P2P_SPIN_H
#define PAIRWISE_P2P_SPIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool cheap_looks;         /* a look asks nothing of the system */
    uint64_t longest, now;    /* ns to spin; longest is 0 when ranks share cores */
    unsigned skipped;         /* waits since spinning stopped paying */
    uint64_t yielding;        /* ns of a wait after which it goes to sleep, even if yields go well; 0: no yields */
    unsigned crowded;         /* so many more waits will not yield */
    int yields_before_a_doze; /* without cheap looks: a short sleep may be put off by so many */
} p2p_spin;

/* One wait. */
typedef struct {
    uint64_t started, spin_until;
    unsigned looks;
    bool yields;
} p2p_spell;

void p2p__spin_init(p2p_spin *spin, int ranks, bool cheap_looks);

void p2p__spell_begin(p2p_spin *spin, p2p_spell *spell);

/* After a look that found nothing: true: look again; false: go to sleep. */
bool p2p__spell_goes_on(p2p_spin *spin, p2p_spell *spell);

/* How it went: did it have to sleep? */
void p2p__spell_end(p2p_spin *spin, const p2p_spell *spell, bool slept);

#endif
