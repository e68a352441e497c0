/* SPDX-License-Identifier: MIT */
/*
 * spin: how long a wait looks again and again before it goes to sleep.
 *
 * An answer is often here within 2 us, while going to sleep and being woken on another core costs ten times that. But a
 * core that spins is taken from whoever shares it. So: only while every rank has a core of its own, and only as long as
 * it pays: a wait that outlasts its spin by little has stood in somebody's way, and halves the next one. A wait that lasts
 * long (the other side computes) says nothing either way. Now and then the full time is tried again.
 */
#ifndef PAIRWISE_P2P_SPIN_H
#define PAIRWISE_P2P_SPIN_H

#include <stdint.h>

typedef struct {
    uint64_t longest, now; /* ns; longest is 0 when ranks share cores */
    unsigned skipped;      /* waits since spinning stopped paying */
    int yields;            /* how often to let others have the core before sleeping: worth it when few share one */
} p2p_spin;

void p2p__spin_init(p2p_spin *spin, int ranks);

/* For how long to look, ns. */
uint64_t p2p__spin_time(p2p_spin *spin);

/* How it went. FOUND: the first look sufficed; SPUN: a later one did; SLEPT: it had to sleep. And how long in all, ns. */
enum p2p_spin_result { SPIN_FOUND, SPIN_SPUN, SPIN_SLEPT };
void p2p__spin_learn(p2p_spin *spin, enum p2p_spin_result result, uint64_t lasted);

#endif
