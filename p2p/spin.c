/* SPDX-License-Identifier: MIT */
#include "p2p/spin.h"

#include <sched.h>

#define LONGEST_NS UINT64_C(20000)
#define SHORTEST_NS UINT64_C(1000)
#define LONG_WAIT_NS UINT64_C(200000)
#define TRY_AGAIN_AFTER 64
#define FEW_YIELDS 3

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void p2p__spin_init(p2p_spin *spin, int ranks)
{
    spin->longest = ranks > 1 && ranks <= cores() ? LONGEST_NS : 0;
    spin->now = spin->longest;
    spin->skipped = 0;
    spin->yields = ranks <= 2 * cores() ? FEW_YIELDS : 0;
}

uint64_t p2p__spin_time(p2p_spin *spin)
{
    if (spin->now >= SHORTEST_NS) return spin->now;
    if (!spin->longest || ++spin->skipped < TRY_AGAIN_AFTER) return 0;
    spin->skipped = 0;
    return spin->longest;
}

void p2p__spin_learn(p2p_spin *spin, enum p2p_spin_result result, uint64_t lasted)
{
    if (result == SPIN_SPUN) spin->now = spin->longest;
    if (result == SPIN_SLEPT && lasted < LONG_WAIT_NS) spin->now /= 2;
}
