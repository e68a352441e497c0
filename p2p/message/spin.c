/* SPDX-License-Identifier: MIT */
#include "p2p/message/spin.h"

#include <limits.h>
#include <sched.h>

#include "p2p/message/cores.h"
#include "p2p/shared/clock.h"

#define FOR_EVER_NS UINT64_C(10000000000)
#define SPIN_ALONE_NS UINT64_C(3000000) /* no longer: who spins on one peer hears nobody else */
#define SWITCH_NS UINT64_C(800)
#define LONGEST_NS UINT64_C(20000)
#define LONGEST_CHEAP_NS UINT64_C(50000)
#define SHORTEST_NS UINT64_C(1000)
#define LONG_WAIT_NS UINT64_C(200000)
#define TRY_AGAIN_AFTER 64
#define CHEAP_LOOKS 16 /* between two looks at the clock */
#define YIELDING_NS UINT64_C(300000)
#define SLOW_YIELD_NS UINT64_C(400000)
#define YIELDS_WITH_A_CORE 8
#define YIELDS_BEFORE_A_DOZE 3

static void init_alone(p2p_spin *spin, enum p2p_wait_policy policy)
{
    if (policy == WAIT_SPIN) spin->longest = spin->now = SPIN_ALONE_NS;
    if (policy == WAIT_YIELD) spin->most_yields = UINT_MAX, spin->yielding = FOR_EVER_NS;
}

void p2p__spin_init(p2p_spin *spin, enum p2p_wait_policy policy, int rank, int ranks, bool cheap_looks)
{
    int cores = p2p__cores();
    bool own_core = ranks <= cores;
    *spin = (p2p_spin){.cores = cores, .cheap_looks = cheap_looks};
    if (policy != WAIT_AUTO) {
        init_alone(spin, policy);
        if (own_core) p2p__cores_go_home(rank);
        return;
    }
    if (own_core && ranks > 1) spin->longest = spin->now = cheap_looks ? LONGEST_CHEAP_NS : LONGEST_NS;
    if (cheap_looks) {
        spin->yielding = YIELDING_NS;
        spin->most_yields = own_core ? YIELDS_WITH_A_CORE : UINT_MAX;
        spin->shares_cores = !own_core;
        if (ranks > 1) p2p__cores_go_home(rank);
    } else if (ranks <= 2 * cores) {
        spin->yields_before_a_doze = YIELDS_BEFORE_A_DOZE;
    }
}

static uint64_t spin_time(p2p_spin *spin)
{
    if (spin->now >= SHORTEST_NS) return spin->now;
    if (!spin->longest || ++spin->skipped < TRY_AGAIN_AFTER) return 0;
    spin->skipped = 0;
    return spin->longest;
}

/* Returns when it is over. */
static uint64_t yield_since(p2p_spin *spin, uint64_t before)
{
    sched_yield();
    uint64_t after = p2p__now();
    if (after - before > SLOW_YIELD_NS) spin->crowded = TRY_AGAIN_AFTER;
    return after;
}

bool p2p__spin_give_way(p2p_spin *spin)
{
    if (spin->crowded) return false;
    yield_since(spin, p2p__now());
    return true;
}

void p2p__spell_begin(p2p_spin *spin, p2p_spell *spell)
{
    spell->started = p2p__now();
    spell->spin_until = spell->started + spin_time(spin);
    spell->deadline = UINT64_MAX;
    spell->looks = 0;
    spell->gave_way = false;
    spell->yields_left = spin->crowded ? 0 : spin->most_yields;
    if (spin->crowded) spin->crowded--;
}

void p2p__spell_renew(const p2p_spin *spin, p2p_spell *spell)
{
    if (spin->now >= SHORTEST_NS) spell->spin_until = p2p__now() + spin->now;
}

static bool yield_once(p2p_spin *spin, p2p_spell *spell, uint64_t before)
{
    if (!spell->yields_left) return false;
    spell->yields_left--;
    uint64_t after = yield_since(spin, before);
    if (after - before > SWITCH_NS) spell->gave_way = true;
    return !spin->crowded && after - spell->started < spin->yielding;
}

bool p2p__spell_goes_on(p2p_spin *spin, p2p_spell *spell)
{
    bool spins = spell->spin_until > spell->started;
    if (++spell->looks % CHEAP_LOOKS && spins && spin->cheap_looks) return true;
    uint64_t now = p2p__now();
    if (now >= spell->deadline) return false;
    if (now < spell->spin_until) return true;
    spell->spin_until = 0;
    return yield_once(spin, spell, now);
}

void p2p__spell_end(p2p_spin *spin, const p2p_spell *spell, bool slept)
{
    if (!slept && spell->gave_way)
        spin->now /= 2;
    else if (!slept && spell->looks && spell->spin_until)
        spin->now = spin->longest;
    if (slept && p2p__now() - spell->started < LONG_WAIT_NS) spin->now /= 2;
}
