/* SPDX-License-Identifier: MIT */
/* The test of exercise 16: the whole ring: values, the same bits, and 2(n-1)/n of the buffer to the right. */
#include "exercises/exercises.h"
#include "tests/exercises/all_reduce.h"
#include "tests/exercises/ring_contract.h"

#pragma weak my_ring_all_reduce

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 5, 3};
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
    if (covered == c->count || !check_sent(c, 0).messages_sent) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        if (!expected_holds(c, rank, "buf", 0, covered, expected_reduced)) return false;
        if (!expected_holds(c, rank, "buf", covered, c->count - covered, expected_own)) return false;
    }
    return true;
}

/* What is in each chunk, where the buffer as a whole is no mixture. */
static bool explain_chunks(const check_case *c)
{
    made_of_mix mix;
    for (int rank = 0; rank < c->ranks; rank++) {
        made_of m = {c, rank, "", "buf", 0, c->count, c->dtype, c->op, expected_own};
        if (made_of_weights(&m, &mix)) continue;
        for (int chunk = 0; chunk < c->ranks; chunk++) {
            char of[40];
            snprintf(of, sizeof of, "In chunk %d, ", chunk);
            size_t begin = ring_begin(c->count, c->ranks, chunk), length = ring_length(c->count, c->ranks, chunk);
            if (expected_explain(c, rank, of, "buf", begin, length)) return true;
        }
    }
    return false;
}

static bool explain(const check_case *c)
{
    size_t n = (size_t)c->ranks;
    if (!remainder_lost(c)) return explain_chunks(c);
    check_fail(c, "lost",
               "The end of the buffer is as it was, from element %zu on: %zu = %zu * %d + %zu, so if each of the %d "
               "chunks has %zu elements, %zu belong%s to nobody.",
               c->count / n * n, c->count, c->count / n, c->ranks, c->count % n, c->ranks, c->count / n, c->count % n,
               c->count % n == 1 ? "s" : "");
    return true;
}

static void judge(const check_case *c)
{
    if (all_reduce_values(c, explain))
        ring_contract(c, 2);
    else if (c->variant != ALL_REDUCE_FRACTIONS)
        ring_also_steps(c, 2);
}

static const char *const files[] = {"ring_all_reduce.c", NULL};
static const char *const uses[] = {"14_ring_reduce_scatter", "15_ring_all_gather", NULL};

const check_exercise check_16_ring_all_reduce = {
    .name = "16_ring_all_reduce",
    .idea = "the ring: each rank sends less than twice the buffer, however many ranks",
    .call = "my_ring_all_reduce",
    .files = files,
    .hands_on_errors = true,
    .uses = uses,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge};
