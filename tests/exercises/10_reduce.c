/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 10: values at every root, everyone else's buffer as it was, one message from each; and two calls in a
 * row, in which the messages of the second one may come before those of the first.
 */
#include "exercises/exercises.h"
#include "tests/exercises/in_a_row.h"
#include "tests/exercises/made_of.h"

#pragma weak my_reduce

enum { ONCE, IN_A_ROW }; /* variants */

static const enum op ops[] = {OP_SUM, OP_MIN, OP_MEAN, OP_MAX};

static void add(check_plan *plan, size_t count, int turn, int root)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(ops[turn % 4], turn / 4),
                                 .op = ops[turn % 4],
                                 .root = root,
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_OP | CHECK_SHOW_ROOT});
}

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {0, 1, n - 1, n + 1, 1000};
    for (int turn = 0; turn < 4; turn++) add(plan, 5, turn, turn % ranks);
    for (int root = 0; root < ranks; root++) add(plan, 7, root + 5, root);
    for (int i = 0; i < 5; i++) add(plan, counts[i], i + 2, (i * 3 + 1) % ranks);
    if (ranks == 4) add(plan, 20000, 0, 2); /* too long to be buffered */
    if (ranks != 3) return;
    check_add(plan, (check_case){.variant = IN_A_ROW,
                                 .what = "called twice in a row",
                                 .count = 5,
                                 .dtype = DTYPE_F32,
                                 .op = OP_SUM,
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_OP | CHECK_SHOW_ROOT});
}

static void cases(check_plan *plan)
{
    check_matrix(plan, add_cases);
}

static void run_in_a_row(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    void *buf = check_buffer(c, rank, c->count, c->dtype), *second = check_buffer(c, -1, c->count, c->dtype);
    p2p_comm *door;
    p2p_split(comm, 0, rank, &door);
    for (size_t i = 0; i < c->count; i++) check_put(second, i, c->dtype, check_value(c, rank, c->count + i));
    check_report(c, "before", buf, c->count, c->dtype);
    if (rank == 2 && !c->strict) in_a_row_wait(door, c->root); /* where rank 1 could not send twice without the root */
    check_returned(c, my_reduce(comm, buf, c->count, c->dtype, c->op, c->root));
    check_returned(c, my_reduce(comm, second, c->count, c->dtype, c->op, c->root));
    in_a_row_end(door, 2);
    check_report(c, "buf", buf, c->count, c->dtype);
    check_report(c, "second", second, c->count, c->dtype);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == IN_A_ROW) {
        run_in_a_row(comm, c);
        return;
    }
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);
    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, my_reduce(comm, buf, c->count, c->dtype, c->op, c->root));
    check_report(c, "buf", buf, c->count, c->dtype);
}

/* ---- In learn ---- */

static double want(const check_case *c, int rank, size_t index)
{
    return rank == c->root ? expected_reduced(c, rank, index) : check_value(c, rank, index);
}

/* The smallest or largest, had a 0 been among the numbers. */
static double want_with_zero(const check_case *c, int rank, size_t index)
{
    double reduced = expected_reduced(c, rank, index);
    return c->op == OP_MIN ? fmin(0, reduced) : fmax(0, reduced);
}

/* The mean, had the sum been divided after each part that came. */
static double divided_each_time(const check_case *c, int rank, size_t index)
{
    double so_far = check_value(c, rank, index);
    for (int q = 0; q < c->ranks; q++)
        if (q != rank) so_far = (so_far + check_value(c, q, index)) / c->ranks;
    return so_far;
}

static unsigned spoiled_ranks(const check_case *c)
{
    unsigned set = 0;
    for (int rank = 0; rank < c->ranks; rank++)
        if (rank != c->root && !expected_holds(c, rank, "buf", 0, c->count, expected_own)) set |= 1u << rank;
    return set;
}

static bool explain_spoiled(const check_case *c, unsigned spoiled)
{
    char text[100];
    int first = 0;
    while (!(spoiled & 1u << first)) first++;
    if (expected_holds(c, first, "buf", 0, c->count, expected_reduced))
        return check_fail(c, expected_holds(c, c->root, "buf", 0, c->count, expected_reduced) ? "told" : "root",
                          "The result is at rank %d%s; the root of this reduce is rank %d. %s", first,
                          expected_holds(c, c->root, "buf", 0, c->count, expected_reduced) ? " as well" : "", c->root,
                          first == 0 && !expected_holds(c, c->root, "buf", 0, c->count, expected_reduced)
                              ? "Does your code mean rank 0 where it should mean root?"
                              : "Only the root gets it.");
    return check_fail(c, "spoiled",
                      "The root is rank %d, but the buffer of %s has changed too. A reduce only reads the other ranks' "
                      "buffers: the caller still needs what is in them.",
                      c->root, expected_ranks(text, sizeof text, spoiled));
}

/* What rank q had, and memory that no call has filled was combined with it: q's message came into buf. */
static bool explain_overwritten(const check_case *c)
{
    double fresh = made_of_fresh(c->dtype);
    for (int q = 0; q < c->ranks && c->op == OP_SUM; q++) {
        size_t i = 0;
        if (q == c->root || !c->count) continue;
        while (i < c->count &&
               expected_close(c->dtype, check_element(c, c->root, "buf", i), check_value(c, q, i) + fresh))
            i++;
        if (i == c->count)
            return !check_fail(
                c, "overwritten",
                "Rank %d, the root, has what rank %d had, with memory added to it that no call has filled: "
                "the message was received into buf, over the root's own part, and not into the memory "
                "that is combined with it.",
                c->root, q);
    }
    return false;
}

static bool values(const check_case *c)
{
    unsigned spoiled = spoiled_ranks(c);
    if (check_values(c, "values", "buf", "before", NULL, want)) return true;
    if (spoiled) return explain_spoiled(c, spoiled);
    if ((c->op == OP_MIN || c->op == OP_MAX) && expected_holds(c, c->root, "buf", 0, c->count, want_with_zero))
        return check_fail(c, "starts_at_zero",
                          "Rank %d, the root, has a 0 where all numbers are %s 0: a 0 that no rank has sent took part "
                          "in the %s. Begin with a rank's numbers, not with zeros.",
                          c->root, c->op == OP_MIN ? "above" : "below", c->op == OP_MIN ? "minimum" : "maximum");
    if (c->op == OP_MEAN && expected_holds(c, c->root, "buf", 0, c->count, divided_each_time))
        return check_fail(c, "divided_twice",
                          "Rank %d, the root, divided by n = %d after each part that came, %d times. Divide once, when "
                          "all parts are in.",
                          c->root, c->ranks, c->ranks - 1);
    if (!explain_overwritten(c)) expected_explain(c, c->root, "", "buf", 0, c->count);
    return false;
}

/* Everyone but the root sends its buffer once. */
static bool contract(const check_case *c)
{
    size_t bytes = c->count * dtype_size(c->dtype);
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic all = check_sent(c, rank);
        if (rank == c->root && all.messages_sent)
            return check_fail(c, "root_sends", "Rank %d, the root, sent %llu messages; it only receives.", rank,
                              (unsigned long long)all.messages_sent);
        if (rank != c->root && all.messages_sent > 1)
            return check_fail(c, "messages", "Rank %d sent %llu messages; one is enough, with the whole buffer in it.",
                              rank, (unsigned long long)all.messages_sent);
        if (rank != c->root && all.bytes_sent > bytes)
            return check_fail(c, "bytes", "Rank %d sent %llu bytes; %zu elements of %s are %zu bytes.", rank,
                              (unsigned long long)all.bytes_sent, c->count, dtype_name(c->dtype), bytes);
    }
    return true;
}

static double second(const check_case *c, int rank, size_t index)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += check_value(c, q, c->count + index);
    return rank == c->root ? sum : check_value(c, rank, c->count + index);
}

/* Rank 1's message of the second call has come before rank 2's of the first. */
static void in_a_row(const check_case *c)
{
    if (check_values(c, "values", "buf", "before", NULL, want) &&
        check_values(c, "values", "second", NULL, NULL, second))
        return;
    in_a_row_judge_root(c, "message");
}

static void judge(const check_case *c)
{
    if (c->variant == IN_A_ROW)
        in_a_row(c);
    else if (values(c))
        contract(c);
}

static const char *const files[] = {"reduce.c", NULL};

const check_exercise check_10_reduce = {.name = "10_reduce",
                                        .idea = "everyone's numbers combined on one rank: sum, mean, min, max",
                                        .call = "my_reduce",
                                        .files = files,
                                        .hands_on_errors = true,
                                        .library = CHECK_LIBRARY_P2P,
                                        .cases = cases,
                                        .run = run,
                                        .judge = judge};
