/* SPDX-License-Identifier: MIT */
/* The test of exercise 16: the whole ring: values, the same bits, and 2(n-1)/n of the buffer to the right. */
#include "exercises/exercises.h"
#include "tests/exercises/all_reduce.h"
#include "tests/exercises/ring_contract.h"

#pragma weak my_ring_all_reduce

static void cases(check_plan *plan)
{
    static const int ranks[] = {3, 5, 8};
    check_matrix(plan, all_reduce_cases);
    for (int i = 0; i < 3; i++) {
        check_world(plan, ranks[i], false, RING_NETWORK);
        all_reduce_add(plan, 500 * (size_t)ranks[i], 0);
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    all_reduce_run(comm, c, my_ring_all_reduce);
}

/* ---- In learn ---- */

/* Only the elements behind the last whole chunk are wrong. */
static bool remainder_lost(const check_case *c)
{
    size_t n = (size_t)c->ranks, covered = c->count / n * n;
    if (covered == c->count || c->variant == ALL_REDUCE_FRACTIONS) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        if (!expected_holds(c, rank, "buf", 0, covered, expected_reduced)) return false;
        if (!expected_holds(c, rank, "buf", covered, c->count - covered, expected_own)) return false;
    }
    return true;
}

static bool values(const check_case *c)
{
    size_t n = (size_t)c->ranks;
    if (all_reduce_values(c)) return true;
    if (remainder_lost(c))
        check_fail(c, "lost",
                   "The last %zu of %zu elements are as they were: %d chunks of %zu / %d = %zu elements leave a "
                   "remainder. The first %zu "
                   "chunks need one element more.",
                   c->count % n, c->count, c->ranks, c->count, c->ranks, c->count / n, c->count % n);
    return false;
}

static void judge(const check_case *c)
{
    if (values(c)) ring_contract(c, 2);
}

static const char *const files[] = {"ring_all_reduce.c", NULL};
static const char *const uses[] = {"14_ring_reduce_scatter", "15_ring_all_gather", NULL};

const check_exercise check_16_ring_all_reduce = {
    .name = "16_ring_all_reduce",
    .idea = "the ring: each rank sends less than twice the buffer, however many ranks",
    .call = "my_ring_all_reduce",
    .files = files,
    .uses = uses,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge};
