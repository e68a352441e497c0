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
enum { MANY_IMAGES = 100 * 1000 * 1000 };  /* times as many: no float and no int can count them */

static const char *const calls[] = {"my_first_weights", "my_share_of_images", "my_gradient_sum", "my_whole_score"};

static void add_typed(check_plan *plan, int variant, size_t count, int root, enum dtype dtype, enum op op)
{
    unsigned shows = variant == SCORE ? 0 : CHECK_SHOW_COUNT | (variant == WEIGHTS ? CHECK_SHOW_ROOT : 0);
    check_add(plan, (check_case){.call = calls[variant],
                                 .variant = variant,
                                 .count = count,
                                 .root = root,
                                 .dtype = dtype,
                                 .op = op,
                                 .shows = shows | (variant == GRADIENTS ? CHECK_SHOW_OP : 0) |
                                          (variant < SCORE && dtype == DTYPE_F64 ? CHECK_SHOW_DTYPE : 0)});
}

static void add(check_plan *plan, int variant, size_t count, int root)
{
    add_typed(plan, variant, count, root, variant == SHARE ? DTYPE_I64 : DTYPE_F32, OP_SUM);
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
        add_typed(plan, WEIGHTS, 17, 0, DTYPE_F64, OP_SUM);
        add_typed(plan, GRADIENTS, 40, 0, DTYPE_F64, OP_SUM);
        add_typed(plan, GRADIENTS, 40, 0, DTYPE_F32, OP_MEAN);
        add_typed(plan, GRADIENTS, 40, 0, DTYPE_F32, OP_MAX);
        add(plan, SCORE, MANY_IMAGES, 0);
    }
}

/* ---- In a rank ---- */

static void run_share(p2p_comm *comm, const check_case *c)
{
    int64_t *mine = check_buffer(c, -1, c->count, DTYPE_I64);
    memset(mine, 0xff, c->count * sizeof *mine);
    size_t taken = my_share_of_images(c->count, p2p_rank(comm), p2p_size(comm), (size_t *)mine);
    check_number(c, "taken", (double)taken);
    check_report(c, "mine", mine, taken < c->count ? taken : c->count, DTYPE_I64);
}

static my_score score_of(const check_case *c, int rank)
{
    double many = (double)c->count, more = many > 1 ? rank + 1 : 0;
    return (my_score){.loss = many * (100 + check_value(c, rank, 0)) + more / 4,
                      .correct = (int64_t)(many * (200 + check_value(c, rank, 1)) + more),
                      .total = (int64_t)(many * (400 + check_value(c, rank, 2)) + more)};
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
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);
    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, c->variant == WEIGHTS ? my_first_weights(comm, buf, c->count, c->dtype, c->root)
                                            : my_gradient_sum(comm, buf, c->count, c->dtype, c->op));
    check_report(c, "buf", buf, c->count, c->dtype);
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
            if (at == -1)
                good = check_fail(c, "unwritten",
                                  "Rank %d returned %.0f, and wrote only %zu places into mine[]: what it returns "
                                  "is how many it wrote.",
                                  rank, check_number_of(c, rank, "taken"), i);
            else if (at < 0 || at >= (double)c->count)
                good = check_fail(c, "range", "Rank %d takes image %.0f; there are 0 to %zu.", rank, at, c->count - 1);
            else if (owners[(size_t)at]++)
                good = check_fail(c, "twice",
                                  "Image %.0f is taken twice, the second time by rank %d: it would count twice in the "
                                  "gradient, and in the accuracy.",
                                  at, rank);
        }
    for (size_t i = 0; i < c->count && good; i++)
        if (!owners[i])
            good = check_fail(c, i < (size_t)c->ranks ? "lost_first" : "lost",
                              "Image %zu of %zu is taken by no rank: the accuracy would not count it.", i, c->count);
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

static const char *const names[] = {"loss", "correct", "total"};

static double score_number(const check_case *c, int rank, size_t index)
{
    my_score part = score_of(c, rank);
    return index == 0 ? part.loss : index == 1 ? (double)part.correct : (double)part.total;
}

static double want_score(const check_case *c, int rank, size_t index)
{
    double sum = 0;
    (void)rank;
    for (int q = 0; q < c->ranks; q++) sum += score_number(c, q, index);
    return sum;
}

static size_t count_score(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return 3;
}

/* What a wrong number of the score is. */
static void explain_score(const check_case *c, int rank, size_t i)
{
    double got = check_element(c, rank, "score", i), right = want_score(c, rank, i), own = score_number(c, rank, i);
    double largest = own;
    for (int q = 0; q < c->ranks; q++) largest = fmax(largest, score_number(c, q, i));
    if (got == largest && c->ranks > 1 && check_element(c, c->ranks - 1, "score", i) == check_element(c, 0, "score", i))
        check_also(c, "It is the largest of the ranks' numbers, not their sum.");
    else if (got == own && c->ranks > 1)
        check_also(c, "It is rank %d's own.", rank);
    else if (fabs(got - right / c->ranks) <= 1e-9 * fabs(right))
        check_also(c, "It was divided by the number of ranks: OP_MEAN, or a division.");
    else if (fabs(got - right / want_score(c, rank, 2)) <= 1e-9)
        check_also(c, "It was divided by the number of images: that is for the caller to do.");
    else if (i == 0 && got == floor(got) && fabs(got - right) < c->ranks)
        check_also(c, "It is a whole number: the loss is a double, all the way.");
    else if (right != 0 && got / right == floor(got / right))
        check_also(c, "It is %.0f times what it should be: added up again.", got / right);
    else if (fabs(got - right) <= 1e-6 * fabs(right))
        check_also(c, "The first seven digits are right: a float has no more. Counts travel as DTYPE_I64, the loss as "
                      "DTYPE_F64.");
    else if (got == (double)(int32_t)(uint32_t)(int64_t)right)
        check_also(c, "These are the lower 32 bits of it: counts are int64_t.");
    for (size_t k = 0; k < 3; k++)
        if (k != i && got == want_score(c, rank, k)) check_also(c, "It is what %s should be.", names[k]);
}

static void judge_score(const check_case *c)
{
    if (check_values(c, "score", "score", NULL, count_score, want_score)) return;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < 3; i++) {
            double got = check_element(c, rank, "score", i), right = want_score(c, rank, i);
            if (got == right) continue;
            check_fail(
                c, "score",
                "On rank %d, %s is %.15g; over all ranks it is %.15g. All three numbers are sums over images, so "
                "all three are added up, on every rank.",
                rank, names[i], got, right);
            explain_score(c, rank, i);
            return;
        }
}

static void judge_gradients(const check_case *c)
{
    if (!check_values(c, "gradients", "buf", "before", NULL, expected_reduced)) {
        for (int rank = 0; rank < c->ranks; rank++) {
            if (!expected_explain(c, rank, "", "buf", 0, c->count)) continue;
            double got = check_element(c, rank, "buf", 0);
            if (c->op == OP_SUM && c->ranks > 1 && got * c->ranks == expected_reduced(c, rank, 0))
                check_also(
                    c, "Each rank's gradient is its part of the mean over all images already: a second division would "
                       "make the step too short.");
            return;
        }
        check_fail(
            c, "gradients",
            "The gradients must be added up, with the op that was asked for: each rank's is its part of the mean over "
            "all images already, so that a second division would make the step too short.");
        if (c->dtype == DTYPE_F64) check_also(c, "With f32 it was right: the elements are what dtype says, f64 here.");
        return;
    }
    check_same_bits(c, "bits", "buf");
}

/* What weights that are not the root's are. */
static void explain_weights(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        made_of m = {c, rank, "", "buf", 0, c->count, c->dtype, OP_SUM, expected_own};
        made_of_mix mix;
        size_t right = 0;
        while (right < c->count && made_of_got(&m, right) == expected_from_root(c, rank, right)) right++;
        if (right == c->count) continue;
        if (right)
            check_also(c, "On rank %d the first %zu of %zu are the root's.%s", rank, right, c->count,
                       made_of_unit(&m, right));
        else if (made_of_weights(&m, &mix) && made_of_set(&m, &mix, 1.0 / c->ranks) == made_of_all(&m))
            check_also(c, "Rank %d has the mean of all ranks'.", rank);
        else
            for (int q = 0; q < c->ranks; q++)
                if (check_element(c, rank, "buf", 0) == check_element(c, q, "before", 0))
                    check_also(c, "Rank %d has rank %d's.", rank, q);
        return;
    }
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
        explain_weights(c);
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
                                                .hands_on_errors = true,
                                                .library = CHECK_LIBRARY_ALL,
                                                .cases = cases,
                                                .run = run,
                                                .judge = judge};
