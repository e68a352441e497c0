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

static double times_own(const check_case *c, int rank, size_t index)
{
    return c->ranks * expected_own(c, rank, index);
}

/* Does every rank's own chunk hold that? Not of use if it is too short to tell. */
static bool own_chunks_hold(const check_case *c, check_want *want)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t begin = ring_begin(c->count, c->ranks, rank), length = ring_length(c->count, c->ranks, rank);
        if (length < MADE_OF_LEAST || !expected_holds(c, rank, "buf", begin, length, want)) return false;
    }
    return c->ranks > 1;
}

/* The halves themselves are right: one is missing, or they are in the wrong order. */
static bool explain_halves(const check_case *c)
{
    unsigned long long sent = check_sent(c, 0).messages_sent, lap = (unsigned long long)c->ranks - 1;
    if (own_chunks_hold(c, expected_reduced) && sent == lap)
        return !check_fail(c, "first_half",
                           "Each rank has one complete chunk, number r on rank r, and sent %llu message%s: that is the "
                           "first half. The other chunks are not complete: each must go round once more.",
                           sent, sent == 1 ? "" : "s");
    if (c->op == OP_SUM && own_chunks_hold(c, times_own) && sent == 2 * lap)
        return !check_fail(
            c, "swapped",
            "Chunk r on rank r is %d times what rank r had there, and of the others nothing: it was given "
            "to all first, and then added up. The halves are in the wrong order.",
            c->ranks);
    return false;
}

/* Every rank is right up to the last element, and some are not in that. */
static bool last_lost(const check_case *c)
{
    bool some = false;
    for (int rank = 0; rank < c->ranks; rank++) {
        if (c->count < MADE_OF_LEAST || !expected_holds(c, rank, "buf", 0, c->count - 1, expected_reduced))
            return false;
        some |= !expected_holds(c, rank, "buf", c->count - 1, 1, expected_reduced);
    }
    return some && !check_fail(c, "last",
                               "Everything is right up to the last element, number %zu of %zu, which is not on every "
                               "rank. Is the count one less somewhere?",
                               c->count - 1, c->count);
}

static bool explain(const check_case *c)
{
    size_t n = (size_t)c->ranks;
    if (!remainder_lost(c)) return explain_halves(c) || last_lost(c) || explain_chunks(c);
    check_fail(c, "lost",
               "The end of the buffer is as it was, from element %zu on: %zu = %zu * %d + %zu, so if each of the %d "
               "chunks has %zu elements, %zu belong%s to no rank.",
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
