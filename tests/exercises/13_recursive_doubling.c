/* SPDX-License-Identifier: MIT */
/* The test of exercise 13: the same bits on every rank of any number, and the rounds, which a virtual clock counts. */
#include "exercises/exercises.h"
#include "tests/exercises/all_reduce.h"

#pragma weak my_doubling_all_reduce

/* A message takes a millisecond, however long it is: so many milliseconds are so many rounds. */
#define A_ROUND_S 1e-3
#define ROUNDS_NETWORK "latency=1ms,bandwidth=1e15" EXPECTED_REDUCE

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 5, 4, 3, 2, 13};
    check_matrix(plan, all_reduce_cases);
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], false, ROUNDS_NETWORK);
        all_reduce_add(plan, 10, 0);
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    all_reduce_run(comm, c, my_doubling_all_reduce);
}

/* ---- In learn ---- */

static bool is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* What the other ranks have been told is right, only those beyond the largest power of two have something else. */
static bool outsiders_wrong(const check_case *c, int power)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (expected_holds(c, rank, "buf", 0, c->count, expected_reduced) != (rank < power)) return false;
    return power < c->ranks;
}

/* They were sent something, but too early. */
static bool sent_too_early(const check_case *c, int power)
{
    if (!check_sent(c, power).messages_received || expected_holds(c, power, "buf", 0, c->count, expected_own))
        return false;
    if (!expected_explain(c, power, "", "buf", 0, c->count)) return false;
    check_also(c, "The ranks below %d have the result: rank %d was sent its own too early, before it was complete%s.",
               power, power, c->op == OP_MEAN ? " and divided" : "");
    return true;
}

/* A part of a rank outside is in everyone's result twice: only that. */
static bool outsiders_twice(const check_case *c, int power)
{
    char some[100];
    made_of m = {c, 0, "", "buf", 0, c->count, c->dtype, c->op, expected_own};
    made_of_mix mix;
    unsigned outside = made_of_all(&m) & ~((1u << power) - 1);
    double right = c->op == OP_MEAN ? 1.0 / c->ranks : 1;
    if (!outside || (c->op != OP_SUM && c->op != OP_MEAN) || !made_of_weights(&m, &mix)) return false;
    if (made_of_set(&m, &mix, 2 * right) != outside || made_of_set(&m, &mix, right) != (made_of_all(&m) & ~outside))
        return false;
    return !check_fail(c, "outside_twice",
                       "Rank 0 has what %s had in its %s twice. That stands outside the butterfly: its buffer must be "
                       "combined once, by one rank, before the first round.",
                       expected_ranks(some, sizeof some, outside), op_name(c->op));
}

/* Rank r's partner in the last round is in its sum twice, and the rank outside that it stands for is not. */
static bool taken_in_late(const check_case *c, int power)
{
    made_of m = {c, 0, "", "buf", 0, c->count, c->dtype, c->op, expected_own};
    made_of_mix mix;
    if (c->ranks == power || (c->op != OP_SUM && c->op != OP_MEAN) || !made_of_weights(&m, &mix)) return false;
    double right = c->op == OP_MEAN ? 1.0 / c->ranks : 1;
    if (!(made_of_set(&m, &mix, 0) & 1u << power) || !made_of_set(&m, &mix, 2 * right)) return false;
    if (!check_traffic(c, 0, power).messages_received) return false;
    return !check_fail(
        c, "outside_late",
        "Rank 0 received what rank %d had, which stands outside the butterfly, and it is not in the %s; "
        "something else is in it twice. It was overwritten before it was combined, or combined too late.",
        power, op_name(c->op));
}

static bool explain(const check_case *c)
{
    int power = 1 << expected_log2_down(c->ranks);
    if (taken_in_late(c, power)) return true;
    if (outsiders_twice(c, power)) return true;
    if (!outsiders_wrong(c, power)) return false;
    if (sent_too_early(c, power)) return true;
    if (check_traffic(c, 0, power).messages_sent > check_traffic(c, power, 0).messages_received)
        return !check_fail(c, "unfold.unreceived",
                           "The ranks below %d have the result; those from %d on, which stand outside the butterfly, "
                           "have not: it was sent to them, and they have not received it.",
                           power, power);
    check_fail(c, "unfold",
               "The ranks below %d have the result; those from %d on, which stand outside the butterfly, have not: "
               "a rank inside must send it to them at the end.",
               power, power);
    return true;
}

static bool messages(const check_case *c)
{
    unsigned long long rounds = (unsigned long long)expected_log2_down(c->ranks);
    unsigned long long most = rounds + (is_power_of_two(c->ranks) ? 0 : 1), bytes = c->count * dtype_size(c->dtype);
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic all = check_sent(c, rank);
        if (all.messages_sent > most)
            return check_fail(c, "messages",
                              "Rank %d sent %llu messages. With %d ranks none needs more than %llu: one in each of "
                              "the %llu rounds of the butterfly%s.",
                              rank, (unsigned long long)all.messages_sent, c->ranks, most, rounds,
                              most > rounds ? ", and one to a rank that stands outside" : "");
        if (all.bytes_sent > most * bytes)
            return check_fail(c, "bytes", "Rank %d sent %llu bytes; %llu messages of the whole buffer are %llu.", rank,
                              (unsigned long long)all.bytes_sent, most, most * bytes);
    }
    return true;
}

static bool rounds(const check_case *c)
{
    int taken = (int)(expected_seconds(c) / A_ROUND_S + 0.5), log = expected_log2_down(c->ranks);
    int needed = log + (is_power_of_two(c->ranks) ? 0 : 2);
    if (taken <= needed) return true;
    return check_fail(c, "rounds",
                      "It took the time of %d messages one after the other. With %d ranks %d are enough: log2 n = %d "
                      "round%s of the butterfly%s. In each round both partners send and receive at the same time "
                      "(p2p_sendrecv), and all pairs work side by side.",
                      taken, c->ranks, needed, log, log > 1 ? "s" : "",
                      needed > log ? ", one before and one after" : "");
}

static void judge(const check_case *c)
{
    if (all_reduce_values(c, explain) && messages(c) && c->network) rounds(c);
}

static const char *const files[] = {"recursive_doubling.c", NULL};

const check_exercise check_13_recursive_doubling = {.name = "13_recursive_doubling",
                                                    .idea = "the butterfly: an all-reduce in log2 n rounds, any n",
                                                    .call = "my_doubling_all_reduce",
                                                    .files = files,
                                                    .hands_on_errors = true,
                                                    .library = CHECK_LIBRARY_P2P,
                                                    .cases = cases,
                                                    .run = run,
                                                    .judge = judge};
