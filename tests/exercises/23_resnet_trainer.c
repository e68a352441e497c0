/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 23: each of the four functions by itself, with data as the trainer has them. `make capstone` then
 * trains with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/made_of.h"

#pragma weak my_first_weights
#pragma weak my_share_of_images
#pragma weak my_gradient_sum
#pragma weak my_whole_score

enum { WEIGHTS, SHARE, GRADIENTS, SCORE }; /* variants */

static const char *const calls[] = {"my_first_weights", "my_share_of_images", "my_gradient_sum", "my_whole_score"};

static void add(check_plan *plan, int variant, size_t count, int root)
{
    unsigned shows = variant == SCORE ? 0 : CHECK_SHOW_COUNT | (variant == WEIGHTS ? CHECK_SHOW_ROOT : 0);
    check_add(plan, (check_case){.call = calls[variant],
                                 .variant = variant,
                                 .count = count,
                                 .root = root,
                                 .dtype = variant == SHARE ? DTYPE_I64 : DTYPE_F32,
                                 .op = OP_SUM,
                                 .shows = shows | (variant == GRADIENTS ? CHECK_SHOW_OP : 0)});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        size_t n = (size_t)ranks[i];
        check_world(plan, ranks[i], i % 2, NULL);
        add(plan, WEIGHTS, 1000, 0);
        add(plan, WEIGHTS, 17, ranks[i] - 1);
        add(plan, SHARE, 10 * n + n - 1, 0);
        add(plan, SHARE, n - 1, 0);
        add(plan, GRADIENTS, 1000, 0);
        add(plan, GRADIENTS, n - 1, 0);
        add(plan, SCORE, 1, 0);
    }
}

/* ---- In a rank ---- */

static void run_share(p2p_comm *comm, const check_case *c)
{
    int64_t *mine = check_buffer(c, -1, c->count, DTYPE_I64);
    size_t taken = my_share_of_images(c->count, p2p_rank(comm), p2p_size(comm), (size_t *)mine);
    check_number(c, "taken", (double)taken);
    check_report(c, "mine", mine, taken < c->count ? taken : c->count, DTYPE_I64);
}

static my_score score_of(const check_case *c, int rank)
{
    return (my_score){.loss = 100 + check_value(c, rank, 0),
                      .correct = (int64_t)(200 + check_value(c, rank, 1)),
                      .total = (int64_t)(400 + check_value(c, rank, 2))};
}

static void run_score(p2p_comm *comm, const check_case *c)
{
    my_score score = score_of(c, p2p_rank(comm));
    check_returned(c, my_whole_score(comm, &score));
    double numbers[] = {score.loss, (double)score.correct, (double)score.total};
    check_report(c, "score", numbers, 3, DTYPE_F64);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == SHARE) {
        run_share(comm, c);
        return;
    }
    if (c->variant == SCORE) {
        run_score(comm, c);
        return;
    }
    float *buf = check_buffer(c, p2p_rank(comm), c->count, DTYPE_F32);
    check_report(c, "before", buf, c->count, DTYPE_F32);
    check_returned(c, c->variant == WEIGHTS ? my_first_weights(comm, buf, c->count, DTYPE_F32, c->root)
                                            : my_gradient_sum(comm, buf, c->count, DTYPE_F32, c->op));
    check_report(c, "buf", buf, c->count, DTYPE_F32);
}

/* ---- In learn ---- */

/* On how many ranks each position is. */
static bool each_once(const check_case *c)
{
    unsigned *owners = calloc(c->count + 1, sizeof *owners);
    bool good = owners != NULL;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < check_elements(c, rank, "mine") && good; i++) {
            double at = check_element(c, rank, "mine", i);
            if (at < 0 || at >= (double)c->count)
                good = check_fail(c, "range", "Rank %d takes image %.0f; there are 0 to %zu.", rank, at, c->count - 1);
            else if (owners[(size_t)at]++)
                good = check_fail(c, "twice",
                                  "Image %.0f is taken twice, the second time by rank %d: it would count twice in the "
                                  "gradient, and in the accuracy.",
                                  at, rank);
        }
    for (size_t i = 0; i < c->count && good; i++)
        if (!owners[i])
            good = check_fail(c, "lost", "Image %zu of %zu is taken by no rank: the accuracy would not count it.", i,
                              c->count);
    free(owners);
    return good;
}

static void judge_share(const check_case *c)
{
    size_t least = c->count / (size_t)c->ranks;
    if (!each_once(c)) return;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t taken = (size_t)check_number_of(c, rank, "taken");
        if (taken >= least && taken <= least + (c->count % (size_t)c->ranks > 0)) continue;
        check_fail(c, "uneven", "Rank %d takes %zu of %zu images; with %d ranks it should be %zu or one more.", rank,
                   taken, c->count, c->ranks, least);
        return;
    }
}

static double want_score(const check_case *c, int rank, size_t index)
{
    double sum = 0;
    (void)rank;
    for (int q = 0; q < c->ranks; q++) {
        my_score part = score_of(c, q);
        sum += index == 0 ? part.loss : index == 1 ? (double)part.correct : (double)part.total;
    }
    return sum;
}

static size_t count_score(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return 3;
}

static void judge_score(const check_case *c)
{
    static const char *const names[] = {"loss", "correct", "total"};
    if (check_values(c, "score", "score", NULL, count_score, want_score)) return;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < 3; i++) {
            double got = check_element(c, rank, "score", i), right = want_score(c, rank, i);
            if (got == right) continue;
            check_fail(
                c, "score",
                "On rank %d, %s is %.10g; over all ranks it is %.10g. All three numbers are sums over images, so "
                "all three are added up, on every rank.",
                rank, names[i], got, right);
            return;
        }
}

static void judge_gradients(const check_case *c)
{
    if (!check_values(c, "gradients", "buf", "before", NULL, expected_reduced)) {
        for (int rank = 0; rank < c->ranks; rank++)
            if (expected_explain(c, rank, "", "buf", 0, c->count)) return;
        check_fail(
            c, "gradients",
            "The gradients must be added up, with the op that was asked for: each rank's is its part of the mean over "
            "all images already, so that a second division would make the step too short.");
        return;
    }
    check_same_bits(c, "bits", "buf");
}

static void judge(const check_case *c)
{
    switch (c->variant) {
    case WEIGHTS:
        if (check_values(c, "weights", "buf", "before", NULL, expected_from_root)) return;
        check_fail(
            c, "weights",
            "Every rank must begin with the weights of rank %d, the root. With weights of their own the ranks would "
            "train different models.",
            c->root);
        return;
    case SHARE: judge_share(c); return;
    case GRADIENTS: judge_gradients(c); return;
    default: judge_score(c);
    }
}

static const char *const files[] = {"resnet_trainer.c", NULL};

const check_exercise check_23_resnet_trainer = {.name = "23_resnet_trainer",
                                                .idea = "the four changes, in the real trainer",
                                                .call = "my_first_weights",
                                                .files = files,
                                                .library = CHECK_LIBRARY_ALL,
                                                .cases = cases,
                                                .run = run,
                                                .judge = judge};
