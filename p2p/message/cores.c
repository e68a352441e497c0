/* SPDX-License-Identifier: MIT */
#include "p2p/message/cores.h"

#include <sched.h>

int p2p__cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void p2p__cores_go_home(int rank)
{
    cpu_set_t all, one;
    size_t core = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int before = rank % CPU_COUNT(&all); before > 0 || !CPU_ISSET(core, &all); core++)
        if (CPU_ISSET(core, &all)) before--;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof all, &all);
}

/* Written only when it changes: the others read it all the time. */
int p2p__cores_show(scoreboard *b, int rank)
{
    int core = sched_getcpu();
    _Atomic int *shown = &b->rows[rank].core;
    if (atomic_load_explicit(shown, memory_order_relaxed) != core + 1)
        atomic_store_explicit(shown, core + 1, memory_order_relaxed);
    return core;
}

bool p2p__cores_has(const scoreboard *b, int rank, int core)
{
    return atomic_load_explicit(&b->rows[rank].core, memory_order_relaxed) == core + 1;
}

void p2p__cores_spread(scoreboard *b, int rank, p2p_spin *spin, p2p_spread *spread)
{
    int here = p2p__cores_show(b, rank), ranks = 0;
    if (++spread->waits < spread->look_after) return;
    spread->waits = 0;
    for (int q = 0; q < b->size; q++) ranks += p2p__cores_has(b, q, here);
    if (ranks <= (p2p__local_count(b) + spin->cores - 1) / spin->cores) return;
    spin->now = spin->longest;
    p2p__cores_go_home(p2p__number_here(b, rank));
    if (spread->look_after < SPREAD_LAST) spread->look_after *= 2;
}
