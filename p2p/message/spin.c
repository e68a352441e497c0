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
#define CHEAP_POLLS 16 /* between two looks at the clock */
#define YIELDING_NS UINT64_C(300000)
#define SLOW_YIELD_NS UINT64_C(400000)
#define YIELDS_WITH_A_CORE 8
#define YIELDS_BEFORE_TIMED_WAIT 3

static void init_alone(p2p_spin *spin, enum p2p_wait_policy policy)
{
    if (policy == WAIT_SPIN) spin->longest = spin->now = SPIN_ALONE_NS;
    if (policy == WAIT_YIELD) spin->most_yields = UINT_MAX, spin->yielding = FOR_EVER_NS;
}

void p2p__spin_init(p2p_spin *spin, enum p2p_wait_policy policy, int rank, int ranks, bool cheap_polls)
{
    int cores = p2p__cores();
    bool own_core = ranks <= cores;
    *spin = (p2p_spin){.cores = cores, .cheap_polls = cheap_polls};
    if (policy != WAIT_AUTO) {
        init_alone(spin, policy);
        if (own_core) p2p__cores_go_home(rank);
        return;
    }
    if (own_core && ranks > 1) spin->longest = spin->now = cheap_polls ? LONGEST_CHEAP_NS : LONGEST_NS;
    if (cheap_polls) {
        spin->yielding = YIELDING_NS;
        spin->most_yields = own_core ? YIELDS_WITH_A_CORE : UINT_MAX;
        spin->shares_cores = !own_core;
        if (ranks > 1) p2p__cores_go_home(rank);
    } else if (ranks <= 2 * cores) {
        spin->yields_before_timed_wait = YIELDS_BEFORE_TIMED_WAIT;
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

bool p2p__spin_yield(p2p_spin *spin)
{
    if (spin->crowded) return false;
    yield_since(spin, p2p__now());
    return true;
}

void p2p__backoff_begin(p2p_spin *spin, p2p_backoff *backoff)
{
    backoff->started = p2p__now();
    backoff->spin_until = backoff->started + spin_time(spin);
    backoff->deadline = UINT64_MAX;
    backoff->polls = 0;
    backoff->yielded = false;
    backoff->yields_left = spin->crowded ? 0 : spin->most_yields;
    if (spin->crowded) spin->crowded--;
}

void p2p__backoff_reset(const p2p_spin *spin, p2p_backoff *backoff)
{
    if (spin->now >= SHORTEST_NS) backoff->spin_until = p2p__now() + spin->now;
}

static bool yield_once(p2p_spin *spin, p2p_backoff *backoff, uint64_t before)
{
    if (!backoff->yields_left) return false;
    backoff->yields_left--;
    uint64_t after = yield_since(spin, before);
    if (after - before > SWITCH_NS) backoff->yielded = true;
    return !spin->crowded && after - backoff->started < spin->yielding;
}

bool p2p__backoff_goes_on(p2p_spin *spin, p2p_backoff *backoff)
{
    bool spins = backoff->spin_until > backoff->started;
    if (++backoff->polls % CHEAP_POLLS && spins && spin->cheap_polls) return true;
    uint64_t now = p2p__now();
    if (now >= backoff->deadline) return false;
    if (now < backoff->spin_until) return true;
    backoff->spin_until = 0;
    return yield_once(spin, backoff, now);
}

void p2p__backoff_end(p2p_spin *spin, const p2p_backoff *backoff, bool slept)
{
    if (!slept && backoff->yielded)
        spin->now /= 2;
    else if (!slept && backoff->polls && backoff->spin_until)
        spin->now = spin->longest;
    if (slept && p2p__now() - backoff->started < LONG_WAIT_NS) spin->now /= 2;
}
