/* SPDX-License-Identifier: MIT */
/* The test of 05_token_ring: what the token holds where, and that it only ever goes to the right. count is the laps. */
#include <math.h>

#include "exercises/exercises.h"
#include "tests/exercises/check.h"

#pragma weak my_token_ring

static void add(check_plan *plan, int ranks)
{
    (void)ranks;
    check_add(plan, (check_case){.count = 1, .what = "1 lap"});
    check_add(plan, (check_case){.count = 3, .what = "3 laps"});
    check_add(plan, (check_case){.count = 100, .what = "100 laps"});
    check_add(plan, (check_case){.count = 0, .what = "0 laps"});
}

static void cases(check_plan *plan)
{
    check_matrix(plan, add);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int64_t *token = check_buffer(c, p2p_rank(comm), 1, DTYPE_I64);

    check_report(c, "before", token, 1, DTYPE_I64);
    check_returned(c, my_token_ring(comm, token, (int)c->count));
    check_report(c, "token", token, 1, DTYPE_I64);
}

static size_t one(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return 1;
}

/* What `ranks` ranks add from the first on: 1 + 2 + ... */
static double added(int ranks)
{
    return ranks * (ranks + 1) / 2.0;
}

static double want(const check_case *c, int rank, size_t index)
{
    double laps = (double)c->count, start = check_value(c, 0, 0);

    if (laps == 0) return check_value(c, rank, index);
    return rank == 0 ? start + laps * added(c->ranks) : start + (laps - 1) * added(c->ranks) + added(rank + 1);
}

static bool to_others(const check_case *c, int rank, int right)
{
    int left = (rank + c->ranks - 1) % c->ranks;

    for (int to = 0; to < c->ranks; to++) {
        unsigned long long sent = check_traffic(c, rank, to).messages_sent;
        if (to == right || !sent) continue;
        return check_fail(c, "direction",
                          "Rank %d sent %llu message%s to rank %d%s; the token goes to the right, to rank %d.", rank,
                          sent, sent == 1 ? "" : "s", to,
                          to == left   ? ", its left neighbour: the wrong way round"
                          : to == rank ? ", itself"
                                       : ", which is no neighbour of its",
                          right);
    }
    return true;
}

/* Rank 0 takes the token back at the end of each lap. */
static bool came_back(const check_case *c)
{
    unsigned long long got = check_sent(c, 0).messages_received;

    if (got == c->count) return true;
    return check_fail(c, "back", "Rank 0 received %llu message%s; in %zu lap%s the token comes back to it %zu time%s.",
                      got, got == 1 ? "" : "s", c->count, c->count == 1 ? "" : "s", c->count, c->count == 1 ? "" : "s");
}

/* Each rank passes the token on once a lap. With one rank it may or may not send it to itself. */
static bool contract(const check_case *c)
{
    unsigned long long laps = c->count;

    for (int rank = 0; rank < c->ranks && c->ranks > 1; rank++) {
        int right = (rank + 1) % c->ranks;
        if (!to_others(c, rank, right)) return false;
        p2p_traffic sent = check_traffic(c, rank, right);
        if (sent.messages_sent != laps)
            return check_fail(c, "laps",
                              "Rank %d sent %llu message%s; in %llu lap%s it passes the token on %llu time%s.", rank,
                              (unsigned long long)sent.messages_sent, sent.messages_sent == 1 ? "" : "s", laps,
                              laps == 1 ? "" : "s", laps, laps == 1 ? "" : "s");
        if (sent.bytes_sent != laps * sizeof(int64_t))
            return check_fail(c, "bytes", "Rank %d sent %llu bytes in %llu messages; an int64_t has %zu each time.",
                              rank, (unsigned long long)sent.bytes_sent, laps, sizeof(int64_t));
    }
    return c->ranks == 1 || came_back(c);
}

/* How much too much or too little was added. */
static void growth(const check_case *c)
{
    double grew = check_element(c, 0, "token", 0) - check_value(c, 0, 0), lap = added(c->ranks);
    int laps = (int)c->count, made = grew > 0 && fmod(grew, lap) == 0 ? (int)(grew / lap) : laps;

    if (made != laps)
        check_fail(c, "laps", "Rank 0's token has been round %d time%s; %d lap%s were asked for, and each adds %.0f.",
                   made, made == 1 ? "" : "s", laps, laps == 1 ? "" : "s", lap);
    else if (grew != laps * lap)
        check_fail(c, "growth",
                   "Rank 0's token grew by %.0f in %d lap%s. Each rank adds rank + 1, which with %d rank%s makes %.0f "
                   "a lap: it should "
                   "have grown by %.0f.",
                   grew, laps, laps == 1 ? "" : "s", c->ranks, c->ranks == 1 ? "" : "s", lap, laps * lap);
}

/* Somebody got what its left neighbour had at the beginning: that one did not wait for the token. */
static bool own_token(const check_case *c)
{
    for (int rank = 0; rank < c->ranks && c->count == 1; rank++) {
        int left = (rank + c->ranks - 1) % c->ranks;
        double left_had = check_value(c, left, 0), got = check_element(c, rank, "token", 0);
        if (left == 0 || (got != left_had + left + 1 && got != left_had + left + 1 + rank + 1)) continue;
        check_fail(
            c, "own",
            "Rank %d got what its left neighbour had at the beginning: rank %d had %.0f, added %d and sent that, "
            "before "
            "it had received anything. There is one token, rank 0's; what the others have at first does not count.",
            rank, left, left_had, left + 1);
        return true;
    }
    return false;
}

static void judge(const check_case *c)
{
    bool right = check_values(c, "values", "token", "before", one, want);

    if (contract(c) && !right && !own_token(c)) growth(c);
}

static const char *const files[] = {"token_ring.c", NULL};

const check_exercise check_05_token_ring = {
    .name = "05_token_ring",
    .idea = "a token goes round, and everybody adds to it",
    .call = "my_token_ring",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
