/* SPDX-License-Identifier: MIT */
/*
 * cores: where ranks run.
 *
 *      rank        0    1    2    3         home: the core of the rank's number, modulo cores
 *      core        0    1    0    1
 *
 * An operation of all ranks lasts as long as on the core that has the most of them. The system may leave three of four
 * on one of two cores for as long as a job lasts, if all they do is to let each other have it (8 bytes took 6.3 us
 * instead of 4.2), and two that sleep and wake each other on one. So ranks begin evenly spread, check now and then
 * whether they still are, and go home if not. They are not bound: threads of the program, other jobs and the system's
 * own balance are free to move them.
 *
 * Each rank shows its core on the scoreboard when it waits. So a rank can tell whether the one it misses may need this
 * very core (then it yields at once), or runs on another (then an answer is near, and a yield would only put it off).
 */
#ifndef PAIRWISE_P2P_CORES_H
#define PAIRWISE_P2P_CORES_H

#include "p2p/shared/scoreboard.h"
#include "p2p/world/spin.h"

/* Waits since this rank looked where the ranks run, and after how many it looks again: each time that it had to go home
 * doubles them, since where other programs fill the cores, the system moves ranks again and again. */
typedef struct {
    unsigned waits, look_after;
} p2p_spread;

#define SPREAD_FIRST 16
#define SPREAD_LAST 4096

/* Cores that this process may use; 1 if the system does not say. */
int p2p__cores(void);

/* Go to the core of a rank's number, but not to stay. */
void p2p__cores_go_home(int rank);

/* Show where this rank of the world runs, and return it. */
int p2p__cores_show(scoreboard *b, int rank);

/* Did this rank of the world run there when it last waited? */
bool p2p__cores_has(const scoreboard *b, int rank, int core);

/* Now and then: home, if more ranks share this core than have to. Where each has a core, both then spin again: on one core
 * they have learned not to, and one that is woken out of its sleep by the other would run where that one does. */
void p2p__cores_spread(scoreboard *b, int rank, p2p_spin *spin, p2p_spread *spread);

#endif
