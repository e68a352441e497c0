/* SPDX-License-Identifier: MIT */
#include "p2p/message/cores.h"

#include <sched.h>

#include "p2p/message/internal.h"

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
int p2p__cores_show(p2p_engine *engine)
{
    int core = sched_getcpu();
    _Atomic int *shown = &engine->row->core;
    if (atomic_load_explicit(shown, memory_order_relaxed) != core + 1)
        atomic_store_explicit(shown, core + 1, memory_order_relaxed);
    return core;
}

bool p2p__cores_has(const p2p_engine *engine, int rank, int core)
{
    return atomic_load_explicit(&engine->scoreboard->rows[rank].core, memory_order_relaxed) == core + 1;
}

void p2p__cores_spread(p2p_engine *engine)
{
    int here = p2p__cores_show(engine), ranks = 0, cores = engine->spin.cores;
    if (++engine->waits < engine->spread_after) return;
    engine->waits = 0;
    for (int q = 0; q < engine->size; q++) ranks += p2p__cores_has(engine, q, here);
    if (ranks <= (engine->size + cores - 1) / cores) return;
    p2p__cores_go_home(engine->rank);
    if (engine->spread_after < SPREAD_LAST) engine->spread_after *= 2;
}
