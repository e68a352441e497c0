/* SPDX-License-Identifier: MIT */
/* The test of 05_token_ring: what the token holds where, and that it only ever goes to the right. count is the laps. */
#include <math.h>
#include <stdio.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_token_ring

static void add(check_plan *plan, int ranks)
{
    check_case laps[] = {{.count = 1, .what = "1 lap"}, {.count = 3, .what = "3 laps"}};

    for (int i = 0; i < 2; i++) check_add(plan, laps[ranks == 1 ? 1 - i : i]); /* alone nothing is seen in one lap */
    check_add(plan, (check_case){.count = 100, .what = "100 laps, a token of more than 32 bits"});
    check_add(plan, (check_case){.count = 0, .what = "0 laps"});
}

static void cases(check_plan *plan)
{
    static const int sizes[] = {1, 3, 2, 4, 5, 8}; /* with two ranks one mistake looks like another: not first */
    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_world(plan, sizes[i], strict, NULL);
            add(plan, sizes[i]);
        }
}

/* With 100 laps the token begins where an int cannot hold it. */
static int64_t beyond_int(const check_case *c)
{
    return c->count == 100 ? INT64_C(1) << 33 : 0;
}

static void run(p2p_comm *comm, const check_case *c)
{
    int64_t *token = check_buffer(c, p2p_rank(comm), 1, DTYPE_I64);

    *token += beyond_int(c);
    check_report(c, "before", token, 1, DTYPE_I64);
    check_returned(c, my_token_ring(comm, token, (int)c->count));
    check_report(c, "token", token, 1, DTYPE_I64);
}

static size_t one(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return 1;
}

static double start_of(const check_case *c, int rank)
{
    return check_value(c, rank, 0) + (double)beyond_int(c);
}

/* What `ranks` ranks add from the first on: 1 + 2 + ... */
static double added(int ranks)
{
    return ranks * (ranks + 1) / 2.0;
}

static double want(const check_case *c, int rank, size_t index)
{
    double laps = (double)c->count, start = start_of(c, 0);

    (void)index;
    if (laps == 0) return start_of(c, rank);
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
            return check_fail(c, "bytes", "Rank %d sent %llu bytes in %llu message%s; an int64_t has %zu each time.",
                              rank, (unsigned long long)sent.bytes_sent, laps, laps == 1 ? "" : "s", sizeof(int64_t));
    }
    return c->ranks == 1 || came_back(c);
}

/* Rank 0 has what it should have, and another rank has not: what it passed on? */
static void on_the_way(const check_case *c)
{
    for (int rank = 1; rank < c->ranks; rank++) {
        double has = check_element(c, rank, "token", 0), right = want(c, rank, 0);
        if (has == right) continue;
        if (has == right - 1)
            check_fail(c, "late",
                       "What rank %d passed on lacks the 1 of rank 0, though in the end it is there: rank 0 adds "
                       "before it sends "
                       "the token, not when it comes back.",
                       rank);
        else if (has == right - rank - 1)
            check_fail(c, "stored",
                       "Rank %d has in *token what it received, %.0f; it should have what it passed on, %.0f.", rank,
                       has, right);
        else if (has == start_of(c, rank))
            check_fail(c, "stored",
                       "Rank %d's *token is as it was before; it should be what rank %d passed on last, %.0f.", rank,
                       rank, right);
        else if (has == want(c, 0, 0))
            check_fail(c, "stored",
                       "Rank %d has what rank 0 has in the end; its *token should be what it passed on last, %.0f.",
                       rank, right);
        return;
    }
}

/* What could have been added in a lap: by rank r, and by rank 0 when the token has come back. */
typedef struct {
    const char *words;
    double each, times, first, last,
        back; /* r adds each + times * r; but for rank 0 and the last one (NAN: it does too) */
} adding;

static double adds(const adding *a, int rank, int ranks)
{
    if (rank == 0 && !isnan(a->first)) return a->first;
    if (rank == ranks - 1 && !isnan(a->last)) return a->last;
    return a->each + a->times * rank;
}

/* Does every rank have what that makes? */
static bool has_added(const check_case *c, const adding *a)
{
    double lap = a->back, token = start_of(c, 0);

    for (int rank = 0; rank < c->ranks; rank++) lap += adds(a, rank, c->ranks);
    if (check_element(c, 0, "token", 0) != token + (double)c->count * lap) return false;
    token += ((double)c->count - 1) * lap + adds(a, 0, c->ranks);
    for (int rank = 1; rank < c->ranks; rank++) {
        token += adds(a, rank, c->ranks);
        if (check_element(c, rank, "token", 0) != token) return false;
    }
    return true;
}

/* The others have added to the token when they had sent it on. */
static bool sent_before(const check_case *c)
{
    double token = start_of(c, 0) + (double)c->count;

    for (int rank = 1; rank < c->ranks; rank++)
        if (check_element(c, rank, "token", 0) != token + rank + 1) return false;
    return c->ranks > 1 && check_element(c, 0, "token", 0) == token;
}

/* What each rank seems to have added in a lap, if that explains what all of them have, and nothing else here does. */
static const char *added_as_if(const check_case *c, double lap)
{
    static char words[60];
    const char *as_if = "";
    int fitting = 0;
    const adding known[] = {
        {"as if no rank had added anything", 0, 0, NAN, NAN, 0},
        {"as if only rank 0 had added", 0, 0, 1, NAN, 0},
        {"as if each rank had added rank, and not rank + 1", 0, 1, NAN, NAN, 0},
        {"as if all had added but rank 0, which adds 1", 1, 1, 0, NAN, 0},
        {"as if rank 0 had added twice, when it sent the token and when it came back", 1, 1, NAN, NAN, 1},
        {"as if the last rank had not added", 1, 1, NAN, 0, 0},
        {"as if each rank had added twice", 2, 2, NAN, NAN, 0},
        {words, fmod(lap, c->ranks) == 0 ? lap / c->ranks : NAN, 0, NAN, NAN, 0},
    };

    if (c->ranks == 1) return "";
    if (lap == 0 && has_added(c, &known[0])) return known[0].words;
    if (sent_before(c)) return "as if all others had sent the token on before they added";
    snprintf(words, sizeof words, "as if each rank had added %.0f", lap / c->ranks);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_added(c, &known[i])) as_if = known[i].words, fitting++;
    return fitting == 1 ? as_if : "";
}

/* What is missing is what one rank adds in all laps but the first: that rank, or -1. */
static int added_once(const check_case *c)
{
    double missing = want(c, 0, 0) - check_element(c, 0, "token", 0), laps = (double)c->count;
    int once = laps > 2 ? (int)(missing / (laps - 1)) - 1 : -1;

    if (once < 0 || once >= c->ranks || missing != (laps - 1) * (once + 1)) return -1;
    for (int rank = 1; rank < c->ranks; rank++)
        if (want(c, rank, 0) - check_element(c, rank, "token", 0) != (rank < once ? laps - 2 : laps - 1) * (once + 1))
            return -1;
    return once;
}

/* How much too much or too little was added. */
static void growth(const check_case *c)
{
    double grew = check_element(c, 0, "token", 0) - start_of(c, 0), lap = added(c->ranks);
    int laps = (int)c->count, made = grew > 0 && fmod(grew, lap) == 0 ? (int)(grew / lap) : laps;
    const char *as_if = added_as_if(c, grew / laps);
    bool alone = c->ranks == 1 && check_element(c, 0, "token", 0) == 1 && start_of(c, 0) != 0;
    int once = c->ranks > 1 ? added_once(c) : -1;

    if (beyond_int(c) && (int32_t)(int64_t)check_element(c, 0, "token", 0) == (int32_t)(int64_t)want(c, 0, 0))
        check_fail(
            c, "width",
            "Of rank 0's token the lower 32 bits are right and the upper ones are not: has it been in an int? It is "
            "an int64_t.");
    else if (alone)
        check_fail(c, "set",
                   "Rank 0's token is 1, whatever it was before: rank + 1 was put in its place, and should be "
                   "added to it.");
    else if (once >= 0)
        check_fail(c, "once",
                   "Rank 0's token grew by %.0f in %d laps, and should have grown by %.0f: rank %d added its %d in one "
                   "lap, and then no more. Each rank adds in every lap.",
                   grew, laps, laps * lap, once, once + 1);
    else if (c->ranks == 1 && grew == laps + 1 && laps > 1)
        check_fail(c, "once_more",
                   "Rank 0's token grew by %.0f, once more than there are laps: %d were asked for. Is lap < "
                   "laps what the loop asks?",
                   grew, laps);
    else if (made < laps && c->ranks > 1)
        check_fail(
            c, "restart",
            "Rank 0's token went round %d times, and what was added in %d lap%s is in it: each lap goes on with what "
            "came back from the one before.",
            laps, made, made == 1 ? "" : "s");
    else if (made < laps)
        check_fail(c, "growth.alone",
                   "Rank 0's token grew by %.0f in %d lap%s. There is no other rank, and rank 0 adds %.0f in each lap.",
                   grew, laps, laps == 1 ? "" : "s", lap);
    else if (grew != laps * lap)
        check_fail(
            c, "growth",
            "Rank 0's token grew by %.0f in %d lap%s%s%s. Each rank adds rank + 1, which with %d rank%s makes %.0f a "
            "lap: it should have grown by %.0f.",
            grew, laps, laps == 1 ? "" : "s", *as_if ? ", " : "", as_if, c->ranks, c->ranks == 1 ? "" : "s", lap,
            laps * lap);
    else
        on_the_way(c);
}

/* A rank got what its left neighbour had at the beginning: that one did not wait for the token. */
static bool own_token(const check_case *c)
{
    for (int rank = 0; rank < c->ranks && c->count == 1; rank++) {
        int left = (rank + c->ranks - 1) % c->ranks;
        double left_had = start_of(c, left), got = check_element(c, rank, "token", 0);
        if (left == 0 || got == want(c, rank, 0)) continue;
        if (got != left_had + left + 1 && got != left_had + left + 1 + rank + 1) continue;
        check_fail(
            c, "own",
            "Rank %d got what its left neighbour had at the beginning: rank %d had %.0f, added %d and sent that, and "
            "not what it had received. There is one token, rank 0's; what the others have at first does not count.",
            rank, left, left_had, left + 1);
        return true;
    }
    return false;
}

/* The first rank that is wrong has added what came to what it had. */
static bool both_added(const check_case *c)
{
    for (int rank = 1; rank < c->ranks && c->count == 1; rank++) {
        double had = start_of(c, rank), came = want(c, rank, 0) - rank - 1;
        double has = check_element(c, rank, "token", 0);
        if (has == want(c, rank, 0)) continue;
        if (had == 0 || (has != had + came + rank + 1 && has != had + came)) return false;
        return !check_fail(c, "both",
                           "Rank %d had %.0f in *token, %.0f came to it, and now it has %.0f: what came was added to "
                           "what it had. There is one token, rank 0's; what the others have at first does not count.",
                           rank, had, came, has);
    }
    return false;
}

static void judge(const check_case *c)
{
    bool right = check_values(c, "values", "token", "before", one, want);

    if (contract(c) && !right && !own_token(c) && !both_added(c)) growth(c);
}

static const char *const files[] = {"token_ring.c", NULL};

const check_exercise check_05_token_ring = {
    .name = "05_token_ring",
    .idea = "a token goes round, and every rank adds to it",
    .call = "my_token_ring",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
