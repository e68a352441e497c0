/* SPDX-License-Identifier: MIT */
/* The test of exercise 30: the gradients of one rank with all stages, as little bubble as 29 has, and few micro-batches
 * kept. */
#include <stdlib.h>

#include "tests/exercises/stages.h"

#pragma weak my_one_f_one_b

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 4, 3, 5, 8, 1, 2, 4};
    static const size_t counts[] = {8, 3, 1};
    static const char *const words[] = {"8 micro-batches", "3 micro-batches", "one micro-batch"};
    for (int i = 0; i < 8; i++) {
        check_world(plan, ranks[i], i > 5, i < 5 ? STAGES_NETWORK : NULL);
        for (int k = 0; k < 3; k++) {
            int which = i == 7 ? 2 - k : k; /* the last case is tried again with calls that fail */
            check_add(plan, (check_case){.count = counts[which], .dtype = DTYPE_F64, .what = words[which]});
        }
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    stages_self self;
    my_stage stage = stages_begin(comm, c, &self);
    check_returned(c, my_one_f_one_b(comm, &stage));
    stages_report(c, &self);
}

/* ---- In learn ---- */

/* In their order, in both directions. */
static bool order(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t next[2] = {0, 0};
        for (size_t i = 0; i < check_elements(c, rank, "calls"); i++) {
            double call = check_element(c, rank, "calls", i);
            bool back = call >= STAGES_BACKWARD;
            char name[24];
            double b = call - (back ? STAGES_BACKWARD : 0);
            if (b == (double)next[back]) {
                next[back]++;
                continue;
            }
            bool again = b < (double)next[back];
            return check_fail(c,
                              again  ? "calls.again"
                              : back ? "order.calls"
                                     : "order.forward",
                              "Call %zu on rank %d is %s%s; the next in that direction %s micro-batch %zu.", i + 1,
                              rank, stages_name(name, call), again ? " once more" : "",
                              next[back] < c->count ? "is" : "would be", next[back]);
        }
    }
    return true;
}

static bool kept(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double is = check_number_of(c, rank, "kept"), most = c->ranks - rank;
        if (is <= most) continue;
        return check_fail(
            c, "kept",
            "Rank %d has kept what backward needs of %.0f micro-batches at the same time; with %d stages %.0f "
            "on rank %d are enough, however many there are.%s",
            rank, is, c->ranks, most, rank,
            is == (double)c->count ? " That is all of them: all went forward before one came back, as in 29." : "");
    }
    return true;
}

/* Which of them has all that comes, and waits for more? */
static bool waits_beyond(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double beyond = check_number_of(c, rank, "beyond");
        if (isnan(beyond)) continue;
        check_because(c,
                      beyond == 0                ? "deadlock.ahead_beyond"
                      : beyond < STAGES_BACKWARD ? "deadlock.x"
                                                 : "deadlock.dy",
                      "Rank %d waits for a further %s when all have come that there are%s: count is %zu.", rank,
                      beyond < STAGES_BACKWARD ? "x" : "dy",
                      beyond == 0 ? ", and none has gone back: more are to go ahead than there are" : "", c->count);
        return true;
    }
    return false;
}

/* Which of them waits for a dy of a micro-batch that has not gone forward? */
static bool waits_for_none(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double forwards = check_number_of(c, rank, "none out");
        if (isnan(forwards)) continue;
        check_because(
            c, "deadlock.none_out",
            "Rank %d waits for a dy when all of its micro-batches that have gone forward are back: forward was "
            "called for %.0f of %zu.",
            rank, forwards, c->count);
        return true;
    }
    return false;
}

static void ended(const check_case *c)
{
    if (stages_tell_sent_until(c) || waits_beyond(c) || waits_for_none(c)) return;
    for (int rank = 1; rank < c->ranks; rank++) {
        double kept = check_number_of(c, rank, "ahead");
        if (isnan(kept)) continue;
        check_because(c, "deadlock.ahead",
                      "Rank %d waits for a further x when %.0f of its micro-batches %s gone forward and not back. With "
                      "%d stages %d may be on rank %d: first backward of the oldest.",
                      rank, kept, kept == 1 ? "has" : "have", c->ranks, c->ranks - rank, rank);
        return;
    }
    stages_tell_unsent(c);
}

/* How many went forward before the first went back. */
static size_t first_back(const check_case *c, int rank)
{
    size_t i = 0;
    while (i < check_elements(c, rank, "calls") && check_element(c, rank, "calls", i) < STAGES_BACKWARD) i++;
    return i;
}

static stages_why why_bubble(const check_case *c)
{
    static const stages_why late[] = {
        [STAGES_X_FIRST] = {"bubble.x", "receives its next x while a micro-batch could go back: all that its backward "
                                        "needs is there."},
        [STAGES_Y_LATE] = {"bubble.y", "computes a backward before it sends what forward has set: the next stage waits "
                                       "for it."},
        [STAGES_DX_LATE] = {"bubble.dx", "computes a forward before it sends what backward has set: the stage before "
                                         "waits for it."}};
    static char words[200];
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t is = first_back(c, rank), could = (size_t)(c->ranks - rank);
        if (is >= could || is >= c->count) continue;
        snprintf(words, sizeof words,
                 "Before its first backward rank %d has computed %zu forwards, and could have computed %zu.", rank, is,
                 could < c->count ? could : c->count);
        return (stages_why){"bubble", words};
    }
    for (int rank = 0; rank < c->ranks; rank++) {
        int is = (int)check_number_of(c, rank, "late");
        if (is == STAGES_IN_TIME) continue;
        snprintf(words, sizeof words, "Rank %d %s", rank, late[is].words);
        return (stages_why){late[is].key, words};
    }
    return STAGES_SOMEWHERE;
}

static void judge(const check_case *c)
{
    if (!stages_all_called(c) || !order(c) || !stages_called(c) || !stages_values(c) || !stages_contract(c) ||
        !kept(c) || !c->network)
        return;
    stages_bubble(
        c,
        "That is as long as one micro-batch after the other, forward and back through all stages: while one stage "
        "computes, all others wait.",
        why_bubble(c));
}

static const char *const files[] = {"one_f_one_b.c", NULL};

const check_exercise check_30_one_f_one_b = {.name = "30_one_f_one_b",
                                             .idea = "one forward, one backward: the same bubble, less that is kept",
                                             .call = "my_one_f_one_b",
                                             .files = files,
                                             .hands_on_errors = true,
                                             .waits_on_errors = true,
                                             .library = CHECK_LIBRARY_P2P,
                                             .cases = cases,
                                             .run = run,
                                             .judge = judge,
                                             .judge_ended = ended};
