/* SPDX-License-Identifier: MIT */
// worlds: each; alone
/*
 * Where ranks run: each goes to the core of its number without being bound to it, and the others know where it is.
 */
#include <sched.h>

#include "collectives/collectives.h"
#include "p2p/message/cores.h"
#include "p2p/message/internal.h"
#include "tests/util/suite.h"

/* The core of a rank's number, of those in the set. */
static int home_of(int rank, const cpu_set_t *all)
{
    int before = rank % CPU_COUNT(all), core = 0;

    for (; before > 0 || !CPU_ISSET((size_t)core, all); core++)
        if (CPU_ISSET((size_t)core, all)) before--;
    return core;
}

static int goes_home_unbound(p2p_comm *world, void *arg)
{
    cpu_set_t before, after;

    (void)arg;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0, "no affinity");
    CHECK(p2p__cores() == CPU_COUNT(&before), "%d cores, not %d", p2p__cores(), CPU_COUNT(&before));
    for (int rank = 0; rank < 2 * p2p_size(world); rank++) {
        p2p__cores_go_home(rank);
        CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after), "bound to a core");
    }
    return 0;
}

Test(p2p_cores, goes_home_but_is_not_bound)
{
    ASSERT_RIGHT(job_matrix(goes_home_unbound, NULL));
}

/* Bound for as long as this takes, so that the answers are known. */
static int others_know(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    cpu_set_t all, one;

    (void)arg;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0, "no affinity");
    CPU_ZERO(&one);
    CPU_SET((size_t)home_of(p2p_rank(world), &all), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "cannot move");
    CHECK(p2p__cores_show(engine->scoreboard, engine->rank) == home_of(p2p_rank(world), &all), "shows another core");
    CALL(coll_barrier(world));
    for (int q = 0; q < p2p_size(world); q++) {
        int home = home_of(q, &all);
        CHECK(p2p__cores_has(engine->scoreboard, q, home), "rank %d is not known to run on core %d", q, home);
        CHECK(!p2p__cores_has(engine->scoreboard, q, home + 1), "rank %d is thought to run on core %d", q, home + 1);
    }
    CALL(coll_barrier(world));
    return 0;
}

Test(p2p_cores, the_others_know)
{
    ASSERT_RIGHT(job_matrix(others_know, NULL));
}

/* All on one core though there is one for each: they spin again, for they are to have their own. */
static int spins_again(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    p2p_spin spin = {.cores = p2p_size(world), .longest = 1000};
    p2p_spread spread = {.look_after = 1};
    cpu_set_t all, one;

    (void)arg;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0, "no affinity");
    CPU_ZERO(&one);
    CPU_SET((size_t)home_of(0, &all), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "cannot move");
    p2p__cores_show(engine->scoreboard, engine->rank);
    CALL(coll_barrier(world));
    p2p__cores_spread(engine->scoreboard, engine->rank, &spin, &spread);
    CHECK(spin.now == (p2p_size(world) > 1 ? spin.longest : 0), "spins for %llu ns", (unsigned long long)spin.now);
    CALL(coll_barrier(world));
    return 0;
}

Test(p2p_cores, those_that_leave_a_core_spin_again)
{
    ASSERT_RIGHT(job_matrix(spins_again, NULL));
}
