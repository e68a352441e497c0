/* SPDX-License-Identifier: MIT */
#include "p2p/world/spin.h"

#include <limits.h>
#include <sched.h>

#include "p2p/shared/clock.h"

void p2p__spin_init(p2p_spin *spin, enum p2p_wait_policy policy, int ranks, int cores, bool cheap_polls)
{
    bool own_core = ranks <= cores;
    uint64_t of_a_core = (uint64_t)(ranks / cores), turns = YIELD_TURN_NS * of_a_core;
    uint64_t timed_wait = TIMED_WAIT_RANK_NS * of_a_core;
    if (timed_wait < TIMED_WAIT_NS) timed_wait = TIMED_WAIT_NS;
    if (timed_wait > TIMED_WAIT_MOST_NS) timed_wait = TIMED_WAIT_MOST_NS;
    *spin = (p2p_spin){.ranks = ranks,
                       .cores = cores,
                       .cheap_polls = cheap_polls,
                       .timed_wait = timed_wait,
                       .slow_yield = YIELD_SLOW_NS + turns};
    if (policy == WAIT_SPIN) spin->longest = spin->now = SPIN_ALONE_NS;
    if (policy == WAIT_YIELD) spin->most_yields = UINT_MAX, spin->yielding = YIELDING_ALONE_NS;
    if (policy != WAIT_AUTO) return;
    if (own_core && ranks > 1) spin->longest = spin->now = cheap_polls ? SPIN_LONGEST_CHEAP_NS : SPIN_LONGEST_NS;
    if (cheap_polls) {
        spin->yielding = YIELDING_NS + 2 * turns;
        spin->most_yields = own_core ? YIELDS_WITH_A_CORE : UINT_MAX;
        spin->shares_cores = !own_core;
    } else if (ranks <= 2 * cores) {
        spin->yields_before_timed_wait = YIELDS_BEFORE_TIMED_WAIT;
    }
}

/* Returns when it is over. */
static uint64_t yield_since(p2p_spin *spin, uint64_t before)
{
    sched_yield();
    uint64_t after = p2p__now();
    if (after - before > spin->slow_yield) spin->crowded = SPIN_TRY_AGAIN;
    return after;
}

bool p2p__spin_yield(p2p_spin *spin)
{
    if (spin->crowded) return false;
    yield_since(spin, p2p__now());
    return true;
}

void p2p__backoff_begin(p2p_spin *spin, p2p_backoff *backoff, uint64_t timeout_ns)
{
    uint64_t now = p2p__now(), spin_ns = spin->now;
    if (spin_ns < SPIN_SHORTEST_NS) {
        bool try_again = spin->longest && ++spin->skipped >= SPIN_TRY_AGAIN;
        spin_ns = try_again ? spin->longest : 0;
        if (try_again) spin->skipped = 0;
    }
    unsigned polls_a_clock = spin->cheap_polls ? POLLS_A_CLOCK : 1;
    *backoff = (p2p_backoff){.started = now,
                             .spin_until = now + spin_ns,
                             .deadline = timeout_ns ? now + timeout_ns : UINT64_MAX,
                             .next_clock = spin_ns ? polls_a_clock : 1,
                             .polls_a_clock = polls_a_clock,
                             .yields_left = spin->crowded ? 0 : spin->most_yields};
    if (spin->crowded) spin->crowded--;
}

bool p2p__backoff_by_clock(p2p_spin *spin, p2p_backoff *backoff)
{
    if (!backoff->started && !backoff->spin_ns) return false;
    uint64_t now = p2p__now();
    if (!backoff->started) { /* a short spin: only now, so that the first polls cost no look at the clock */
        backoff->started = now;
        backoff->spin_until = now + backoff->spin_ns;
        backoff->deadline = UINT64_MAX;
    }
    if (now >= backoff->deadline) return false;
    bool spins = now < backoff->spin_until;
    backoff->next_clock = backoff->polls + (spins ? backoff->polls_a_clock : 1);
    if (spins) return true;
    backoff->spin_until = 0;
    if (!backoff->yields_left) return false;
    backoff->yields_left--;
    uint64_t after = yield_since(spin, now);
    if (after - now > YIELD_SWITCHED_NS) backoff->yielded = true;
    return !spin->crowded && after - backoff->started < spin->yielding;
}

void p2p__backoff_end(p2p_spin *spin, const p2p_backoff *backoff, bool slept)
{
    if (!slept && backoff->yielded)
        spin->now /= 2;
    else if (!slept && backoff->polls && backoff->spin_until)
        spin->now = spin->longest;
    if (slept && p2p__now() - backoff->started < SPIN_LONG_WAIT_NS) spin->now /= 2;
}
