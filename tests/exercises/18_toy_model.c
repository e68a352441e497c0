/* SPDX-License-Identifier: MIT */
/* The test of exercise 18: several steps, each rank with an example of its own; first the one worked out on the page. */
#include <math.h>
#include <stdio.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_toy_step

enum { PAGE, RANDOM }; /* variants: the example of the page; numbers that follow from the seed */
enum { STEPS = 3 };

static const double start = 2.0, rate_of_page = 0.1;

static double x_of(const check_case *c, int rank)
{
    return c->variant == PAGE ? 1 : check_value(c, rank, 0) / 50;
}

static double y_of(const check_case *c, int rank)
{
    return c->variant == PAGE ? rank : check_value(c, rank, 1) / 10;
}

static double rate_of(const check_case *c)
{
    return c->variant == PAGE ? rate_of_page : 0.01;
}

static int steps_of(const check_case *c)
{
    return c->variant == PAGE ? 1 : STEPS;
}

/* After each case a step with each operator, which only the explanation looks at: x is 1 on the page, and the half of a sum over
 * two ranks is their mean, so one number has several causes there. */
enum { PROBES = 2 };

static const double probe_rate = 0.01;

static double probe_x(const check_case *c, int rank)
{
    return check_value(c, rank, 2) / 40 + 3;
}

static double probe_y(const check_case *c, int rank)
{
    return check_value(c, rank, 3) / 10;
}

static void add(check_plan *plan, int variant, enum op op)
{
    check_add(plan, (check_case){.op = op,
                                 .variant = variant,
                                 .what = variant == PAGE ? "the example of the page" : "three steps",
                                 .shows = CHECK_SHOW_OP});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2, NULL);
        if (ranks[i] == 2) add(plan, PAGE, OP_SUM);
        if (ranks[i] == 2) add(plan, PAGE, OP_MEAN);
        add(plan, RANDOM, OP_SUM);
        add(plan, RANDOM, OP_MEAN);
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm), steps = steps_of(c);
    double w = start, after[STEPS], probes[PROBES];
    for (int i = 0; i < steps; i++) {
        check_returned(c, my_toy_step(comm, &w, x_of(c, rank), y_of(c, rank), rate_of(c), c->op));
        if (c->fails) return;
        after[i] = w;
    }
    check_report(c, "w after each step", after, (size_t)steps, DTYPE_F64);
    for (int i = 0; i < PROBES; i++) {
        probes[i] = start;
        my_toy_step(comm, &probes[i], probe_x(c, rank), probe_y(c, rank), probe_rate, i == 0 ? OP_SUM : OP_MEAN);
    }
    check_report(c, "probes", probes, PROBES, DTYPE_F64);
}

/* ---- In learn: the same on one rank ---- */

static double gradient_of(const check_case *c, int rank, double w)
{
    return 2 * x_of(c, rank) * (w * x_of(c, rank) - y_of(c, rank));
}

static double combined(const check_case *c, double w, bool mean)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += gradient_of(c, q, w);
    return mean ? sum / c->ranks : sum;
}

static size_t steps_count(const check_case *c, int rank)
{
    (void)rank;
    return (size_t)steps_of(c);
}

static double want(const check_case *c, int rank, size_t index)
{
    double w = start;
    (void)rank;
    for (size_t i = 0; i <= index; i++) w -= rate_of(c) * combined(c, w, c->op == OP_MEAN);
    return w;
}

static bool close_enough(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        if (check_elements(c, rank, "w after each step") != (size_t)steps_of(c)) return false;
        for (size_t i = 0; i < (size_t)steps_of(c); i++)
            if (!(fabs(check_element(c, rank, "w after each step", i) - want(c, rank, i)) <= 1e-9)) return false;
    }
    return true;
}

/* ---- In learn: what a wrong step is made of. Three things can be wrong: what is combined, how, and what becomes of it. ---- */

enum what { GRADIENT, NO_TWO, NO_X, NEITHER, LOSS, Y_ALONE, BY_X, NO_INNER_X, PLUS_Y, FOUR, WHATS };
enum how {
    AS_ASKED,
    ERRORS,
    ALWAYS_SUM,
    ALWAYS_MEAN,
    DIVIDED_TWICE,
    DIVIDED_ONCE_MORE,
    OWN,
    OWN_BUT_RANK_0,
    OF_RANK_0,
    AGAIN,
    OWN_TOO,
    OF_COMBINED_EXAMPLES,
    HOWS
};
enum then { SUBTRACTED, ADDED, WITHOUT_RATE, OF_W, ASSIGNED, MINUS_ASSIGNED, THENS };

static const char *const whats[WHATS] = {
    [GRADIENT] = "",
    [NO_TWO] = "the factor 2 is missing in the gradient",
    [NO_X] = "the factor x is missing in the gradient",
    [NEITHER] = "the factor 2 x is missing in the gradient",
    [LOSS] = "the losses were combined, (w x - y)^2, not the gradients",
    [BY_X] = "that is the derivative by x, 2 w (w x - y); by w it is 2 x (w x - y)",
    [NO_INNER_X] = "the error is w x - y, and here it is w - y: its x is missing",
    [PLUS_Y] = "the error is w x - y, and here it is w x + y",
    [FOUR] = "the gradient has twice its factor 2: it is twice as long as it should be",
    [Y_ALONE] = "y is not multiplied by x: the gradient is 2 x (w x - y), and this is 2 x w x - y"};
static const char *const hows[HOWS] = {
    [AS_ASKED] = "",
    [ERRORS] = "the errors w x - y were combined, and then multiplied by this rank's x: each gradient has its own",
    [ALWAYS_SUM] = "combined the gradients with sum, not with op, which is OP_MEAN here",
    [ALWAYS_MEAN] = "combined the gradients with mean, not with op, which is OP_SUM here",
    [DIVIDED_TWICE] = "the step is 1/%d of what it should be: OP_MEAN divides already, do not divide again",
    [DIVIDED_ONCE_MORE] =
        ("the step is 1/%d of what it should be, with OP_SUM and with OP_MEAN: only OP_MEAN divides, and "
         "does so already"),
    [OWN] = "followed its own gradient, %.4g; those of the other ranks are not in it. Combined with %s it is %.4g",
    [AGAIN] = "the gradients were combined twice: what is the sum already was added up again",
    [OWN_TOO] = "went two steps: one along its own gradient, and another along the combined one",
    [OF_COMBINED_EXAMPLES] =
        ("the examples were combined, x and y, and then the gradient was taken: that is not the combination of the "
         "gradients, for x comes in it squared"),
    [OWN_BUT_RANK_0] =
        ("followed its own gradient, %.4g; those of the other ranks are not in it, only rank 0 has them. Combined "
         "with %s it is %.4g"),
    [OF_RANK_0] =
        "followed the gradient of rank 0 alone; those of the other ranks are not in it. Combined with %s it is %.4g"};
static const char *const thens[THENS] = {
    [ASSIGNED] = "w became rate times the gradient: the step is taken from w, it does not take its place",
    [MINUS_ASSIGNED] = ("w became minus rate times the gradient: the step is taken from w, it does not take its place"),
    [SUBTRACTED] = "",
    [ADDED] = "went uphill: the gradient has the other sign, or was added to w",
    [WITHOUT_RATE] = "the gradient was not multiplied by rate",
    [OF_W] =
        ("w itself was combined, after a step of each rank's own: with sum that is about n times w. The gradients are "
         "to be combined")};

static double part_of(const check_case *c, int rank, enum what what)
{
    double x = probe_x(c, rank), y = probe_y(c, rank), error = start * x - y;
    switch (what) {
    case NO_TWO: return x * error;
    case NO_X: return 2 * error;
    case NEITHER: return error;
    case LOSS: return error * error;
    case BY_X: return 2 * start * error;
    case Y_ALONE: return 2 * x * start * x - y;
    case NO_INNER_X: return 2 * x * (start - y);
    case PLUS_Y: return 2 * x * (start * x + y);
    case FOUR: return 4 * x * error;
    default: return 2 * x * error;
    }
}

static double of_combined_examples(const check_case *c, enum op op)
{
    double x = 0, y = 0, divisor = op == OP_MEAN ? c->ranks : 1;
    for (int q = 0; q < c->ranks; q++) x += probe_x(c, q) / divisor, y += probe_y(c, q) / divisor;
    return 2 * x * (start * x - y);
}

static double errors_times_x(const check_case *c, int rank, enum op op)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += start * probe_x(c, q) - probe_y(c, q);
    return 2 * probe_x(c, rank) * (op == OP_MEAN ? sum / c->ranks : sum);
}

static double whole_of(const check_case *c, int rank, enum op op, enum what what, enum how how)
{
    double sum = 0, n = c->ranks;
    for (int q = 0; q < c->ranks; q++) sum += part_of(c, q, what);
    double asked = op == OP_MEAN ? sum / n : sum;
    switch (how) {
    case ERRORS: return errors_times_x(c, rank, op);
    case ALWAYS_SUM: return sum;
    case ALWAYS_MEAN: return sum / n;
    case DIVIDED_TWICE: return op == OP_MEAN ? asked / n : asked;
    case DIVIDED_ONCE_MORE: return asked / n;
    case OWN: return part_of(c, rank, what);
    case OWN_BUT_RANK_0: return rank ? part_of(c, rank, what) : asked;
    case OF_RANK_0: return part_of(c, 0, what);
    case AGAIN: return op == OP_MEAN ? asked : asked * n;
    case OWN_TOO: return part_of(c, rank, what) + asked;
    case OF_COMBINED_EXAMPLES: return of_combined_examples(c, op);
    default: return asked;
    }
}

static double probe_after(const check_case *c, int rank, enum op op, enum what what, enum how how, enum then then)
{
    double whole = whole_of(c, rank, op, what, how);
    switch (then) {
    case ADDED: return start + probe_rate * whole;
    case WITHOUT_RATE: return start - whole;
    case ASSIGNED: return probe_rate * whole;
    case MINUS_ASSIGNED: return -probe_rate * whole;
    case OF_W: return (op == OP_MEAN ? 1 : c->ranks) * start - probe_rate * whole;
    default: return start - probe_rate * whole;
    }
}

static bool explains(const check_case *c, enum what what, enum how how, enum then then, double error)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int i = 0; i < PROBES; i++) {
            double right = probe_after(c, rank, i == 0 ? OP_SUM : OP_MEAN, what, how, then);
            if (!(fabs(check_element(c, rank, "probes", (size_t)i) - right) <= error * fmax(1, fabs(right))))
                return false;
        }
    return true;
}

static int first_wrong(const check_case *c)
{
    int rank = 0;
    while (rank < c->ranks - 1 && fabs(check_element(c, rank, "w after each step", 0) - want(c, rank, 0)) <= 1e-9)
        rank++;
    return rank;
}

static const char *key_of(enum what what, enum how how, enum then then)
{
    static const char *const keys[HOWS] = {"",      "examples", "op",    "op",    "divided_twice", "divided_twice",
                                           "local", "local",    "local", "again", "own_too",       "examples"};
    if (then == OF_W) return "weights";
    if (then >= ASSIGNED) return "assigned";
    if (then) return then == ADDED ? "uphill" : "rate";
    if (how) return keys[how];
    return what == LOSS ? "loss" : what == NO_TWO ? "half" : what == FOUR ? "double" : "gradient";
}

static void say(const check_case *c, enum what what, enum how how, enum then then)
{
    char text[400] = "", combination[300] = "";
    int rank = first_wrong(c);
    bool mean = c->op == OP_MEAN;
    double all = combined(c, start, mean);
    if (how == OWN || how == OWN_BUT_RANK_0)
        snprintf(combination, sizeof combination, how == OWN ? hows[OWN] : hows[OWN_BUT_RANK_0],
                 gradient_of(c, rank, start), mean ? "mean" : "sum", all);
    else if (how == OF_RANK_0)
        snprintf(combination, sizeof combination, hows[OF_RANK_0], mean ? "mean" : "sum", all);
    else if (how == DIVIDED_TWICE || how == DIVIDED_ONCE_MORE)
        snprintf(combination, sizeof combination, how == DIVIDED_TWICE ? hows[DIVIDED_TWICE] : hows[DIVIDED_ONCE_MORE],
                 c->ranks);
    else
        snprintf(combination, sizeof combination, "%s", hows[how]);
    snprintf(text, sizeof text, "%s%s%s%s%s", whats[what], *whats[what] && how ? "; " : "", combination,
             (what || how) && then ? "; " : "", thens[then]);
    const char * or = what == NO_TWO && !how && c->ranks == 2 ? ", or the step was divided by the 2 ranks" : "";
    bool doing = (!what &&
                  (how == ALWAYS_SUM || how == ALWAYS_MEAN || (how >= OWN && how <= OF_RANK_0) || how == OWN_TOO)) ||
                 (!what && !how && then == ADDED);
    check_fail(c, * or ? "half.either" : key_of(what, how, then), "Rank %d%s %s%s.", rank, doing ? "" : ":", text, or);
}

/* The explanation with the fewest mistakes that fits all that the probes have found. */
static bool explain_by_probes(const check_case *c)
{
    for (int mistakes = 1; mistakes <= 3; mistakes++)
        for (int code = 1; code < WHATS * HOWS * THENS; code++) {
            enum what what = (enum what)(code % WHATS);
            enum how how = (enum how)(code / WHATS % HOWS);
            enum then then = (enum then)(code / WHATS / HOWS);
            if (!!what + !!how + !!then != mistakes || !explains(c, what, how, then, 1e-9)) continue;
            say(c, what, how, then);
            return true;
        }
    return false;
}

static void explain(const check_case *c)
{
    int rank = first_wrong(c);
    bool mean = c->op == OP_MEAN;
    if (explain_by_probes(c)) return;
    if (c->ranks > 1 && explains(c, GRADIENT, OWN, SUBTRACTED, 1e-5))
        check_fail(c, "half_of_it",
                   "Rank %d followed its own gradient, but for its last digits. A double has 8 bytes, and it is as if "
                   "4 of them had been combined: those of a float. The type of an all-reduce is that of its numbers.",
                   rank);
    else if (explains(c, GRADIENT, AS_ASKED, SUBTRACTED, 1e-6))
        check_fail(
            c, "float",
            "Rank %d has the first seven digits right: a float has no more, and w is a double. The gradient, too, "
            "must be a double all the way, and travel as DTYPE_F64.",
            rank);
    else
        check_fail(c, "values",
                   "Rank %d's gradient is %.4g at the start; combined it should be %.4g, and w %.4g - %g x %.4g.", rank,
                   gradient_of(c, rank, start), combined(c, start, mean), start, rate_of(c), combined(c, start, mean));
}

static void judge(const check_case *c)
{
    if (!close_enough(c)) {
        if (!check_values(c, "values", "w after each step", NULL, steps_count, want)) explain(c);
        return;
    }
    check_same_bits(c, "bits", "w after each step");
}

static const char *const files[] = {"toy_model.c", NULL};

const check_exercise check_18_toy_model = {.name = "18_toy_model",
                                           .idea = "one parameter, one step: gradients summed or averaged",
                                           .call = "my_toy_step",
                                           .files = files,
                                           .hands_on_errors = true,
                                           .library = CHECK_LIBRARY_ALL,
                                           .cases = cases,
                                           .run = run,
                                           .judge = judge};
