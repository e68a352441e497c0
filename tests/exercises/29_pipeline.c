/* SPDX-License-Identifier: MIT */
/* The test of exercise 29: the gradients of one rank with all stages, and on a virtual network no more bubble than
 * there must be. */
#include <stdlib.h>

#include "tests/exercises/stages.h"

#pragma weak my_pipeline

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 4, 3, 5, 8, 1, 4};
    static const size_t counts[] = {8, 3, 1};
    static const char *const words[] = {"8 micro-batches", "3 micro-batches", "one micro-batch"};
    for (int i = 0; i < 7; i++) {
        check_world(plan, ranks[i], i == 6, i < 5 ? STAGES_NETWORK : NULL);
        for (int k = 0; k < 3; k++) {
            int which = i == 6 ? 2 - k : k; /* the last case is tried again with calls that fail */
            check_add(plan, (check_case){.count = counts[which], .dtype = DTYPE_F64, .what = words[which]});
        }
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    stages_self self;
    my_stage stage = stages_begin(comm, c, &self);
    check_returned(c, my_pipeline(comm, &stage));
    stages_report(c, &self);
}

/* ---- In learn ---- */

static double call_at(const check_case *c, size_t i)
{
    return (double)(i < c->count ? i : STAGES_BACKWARD + 2 * c->count - 1 - i);
}

static bool order(const check_case *c)
{
    char is[24], should[24];
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t made = check_elements(c, rank, "calls");
        for (size_t i = 0; i < 2 * c->count && i < made; i++)
            if (check_element(c, rank, "calls", i) != call_at(c, i))
                return check_fail(
                    c, "calls",
                    "Call %zu on rank %d is %s, and should be %s: forward of micro-batches 0 to %zu, then "
                    "backward from %zu to 0.",
                    i + 1, rank, stages_name(is, check_element(c, rank, "calls", i)),
                    stages_name(should, call_at(c, i)), c->count - 1, c->count - 1);
    }
    return true;
}

static void judge(const check_case *c)
{
    if (stages_called(c) && order(c) && stages_values(c) && stages_contract(c) && c->network)
        stages_bubble(
            c,
            "That is as long as one stage after the other: does a stage pass on what it has made only after its "
            "last micro-batch?",
            STAGES_SOMEWHERE);
}

static const char *const files[] = {"pipeline.c", NULL};

const check_exercise check_29_pipeline = {.name = "29_pipeline",
                                          .idea = "micro-batches through stages: every rank has some of the layers",
                                          .call = "my_pipeline",
                                          .files = files,
                                          .hands_on_errors = true,
                                          .waits_on_errors = true,
                                          .library = CHECK_LIBRARY_P2P,
                                          .cases = cases,
                                          .run = run,
                                          .judge = judge,
                                          .judge_ended = stages_tell_unsent};
