/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 20: n ranks, with shards of different lengths, train as one rank that has all examples would; the
 * first step and tensor that differ are named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/made_of.h"

#pragma weak my_share_parameters
#pragma weak my_data_parallel_step

enum { FEATURES = 3, NUMBERS = FEATURES + 1, STEPS = 4, MOST = 64 };
enum { UNEVEN, EVEN, ONE_EMPTY, NO_RANK, SPREADS }; /* variants: how the examples are spread */

static const double rate = 0.02;
static const char *const spreads[] = {"shards of 2, 3, 4, ... examples", "shards of equal length",
                                      "the last rank has no example", "no rank has an example"};

static size_t length_of(const check_case *c, int rank)
{
    if (c->variant == EVEN) return 3;
    if (c->variant == NO_RANK) return 0;
    if (c->variant == ONE_EMPTY && rank == c->ranks - 1 && c->ranks > 1) return 0;
    return (size_t)rank + 2;
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8}; /* one rank leaves too much open to begin with */
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 0, NULL);
        for (int variant = UNEVEN; variant < SPREADS; variant++)
            check_add(plan, (check_case){.variant = variant, .what = spreads[variant]});
    }
    check_add(plan, (check_case){.call = "my_share_parameters"});
}

/* Rank's examples, behind one another in x and y; what is predicted is nearly linear. */
static size_t fill(const check_case *c, int rank, double *x, double *y)
{
    size_t count = length_of(c, rank);
    for (size_t i = 0; i < count; i++) {
        y[i] = 1;
        for (size_t f = 0; f < FEATURES; f++) {
            x[i * FEATURES + f] = check_value(c, rank, 10 + i * FEATURES + f) / 50;
            y[i] += (double)(f + 1) * x[i * FEATURES + f] + check_value(c, rank, i) / 200;
        }
    }
    return count;
}

static double first_parameter(const check_case *c, int rank, size_t i)
{
    return check_value(c, rank, 1000 + i) / 100;
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    double x[MOST * FEATURES], y[MOST], *parameters = check_buffer(c, -1, NUMBERS, DTYPE_F64), steps[STEPS * NUMBERS];
    my_examples mine = {.features = FEATURES, .x = x, .y = y, .count = fill(c, rank, x, y)};

    for (size_t i = 0; i < NUMBERS; i++) parameters[i] = first_parameter(c, rank, i);
    if (c->call || !c->fails) check_returned(c, my_share_parameters(comm, parameters, NUMBERS));
    check_report(c, "shared parameters", parameters, NUMBERS, DTYPE_F64);
    if (c->call) return;
    for (int step = 0; step < (c->fails ? 1 : STEPS); step++) {
        check_returned(c, my_data_parallel_step(comm, parameters, &mine, rate));
        memcpy(steps + step * NUMBERS, parameters, NUMBERS * sizeof *parameters);
    }
    check_report(c, "parameters", steps, STEPS * NUMBERS, DTYPE_F64);
}

/* ---- In learn: one rank with all examples, and ways to go wrong: something was added up, and divided by something ---- */

enum sum { EXAMPLES, MEANS, TWICE_WEIGHTED, WEIGHTED_LATE, OWN_MEAN, OWN_EXAMPLES, NOTHING, SUMS };
enum divisor { ALL, ONE, RANKS, ALL_TIMES_RANKS, OWN_COUNT, LONGEST, PARAMETERS, DIVISORS };

static const char *const sums[SUMS] = {
    [EXAMPLES] = "the gradients of all examples were added up,",
    [MEANS] = "the ranks' means were added up,",
    [TWICE_WEIGHTED] = "the ranks' means were multiplied by their counts twice, and added up,",
    [WEIGHTED_LATE] = "the ranks' means were added up, and only then multiplied, by this rank's count,",
    [OWN_EXAMPLES] = "its own examples' gradients were added up, and no other rank's,",
    [OWN_MEAN] = "it followed the gradient of its own examples only",
    [NOTHING] = "nothing has changed: the gradient is 0"};
static const char *const divisors[DIVISORS] = {
    [ALL] = "and divided by the number of all examples",
    [RANKS] = "and divided by the number of ranks",
    [ONE] = "and not divided by their number",
    [ALL_TIMES_RANKS] = "and divided by the number of all examples, and by the number of ranks as well",
    [OWN_COUNT] = "and divided by the number of this rank's examples",
    [PARAMETERS] = "and divided by the number of parameters",
    [LONGEST] = "and divided by the largest number of examples that a rank has"};

static void add_weighted(double *sum, const double *part, double weight)
{
    for (size_t i = 0; i < NUMBERS; i++) sum[i] += weight * part[i];
}

static double weight_of(const check_case *c, int rank, int q, enum sum what)
{
    double count = (double)length_of(c, q);
    switch (what) {
    case EXAMPLES: return count;
    case MEANS: return 1;
    case TWICE_WEIGHTED: return count * count;
    case WEIGHTED_LATE: return count > 0 ? (double)length_of(c, rank) : 0;
    case OWN_EXAMPLES: return q == rank ? count : 0;
    case OWN_MEAN: return q == rank;
    default: return 0;
    }
}

static double divisor_of(const check_case *c, int rank, enum divisor what)
{
    double all = 0, longest = 0;
    for (int q = 0; q < c->ranks; q++) {
        all += (double)length_of(c, q);
        longest = fmax(longest, (double)length_of(c, q));
    }
    switch (what) {
    case ALL: return all;
    case RANKS: return c->ranks;
    case ALL_TIMES_RANKS: return all * c->ranks;
    case OWN_COUNT: return (double)length_of(c, rank);
    case LONGEST: return longest;
    case PARAMETERS: return NUMBERS;
    default: return 1;
    }
}

static void one_step(const check_case *c, int rank, enum sum what, enum divisor by, double *parameters)
{
    double sum[NUMBERS] = {0}, gradient[NUMBERS], x[MOST * FEATURES], y[MOST], divisor = divisor_of(c, rank, by);
    for (int q = 0; q < c->ranks; q++) {
        my_examples shard = {.features = FEATURES, .x = x, .y = y, .count = fill(c, q, x, y)};
        my_model_gradient(parameters, &shard, gradient);
        add_weighted(sum, gradient, weight_of(c, rank, q, what));
    }
    if (divisor > 0) add_weighted(parameters, sum, -rate / divisor);
}

static double after(const check_case *c, int rank, enum sum what, enum divisor by, size_t step, size_t i)
{
    double parameters[NUMBERS];
    for (size_t k = 0; k < NUMBERS; k++) parameters[k] = first_parameter(c, 0, k);
    for (size_t s = 0; s <= step; s++) one_step(c, rank, what, by, parameters);
    return parameters[i];
}

static double want(const check_case *c, int rank, size_t index)
{
    return after(c, rank, EXAMPLES, ALL, index / NUMBERS, index % NUMBERS);
}

static double want_at_start(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return first_parameter(c, 0, index);
}

static size_t count_numbers(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return NUMBERS;
}

static size_t count_steps(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return STEPS * NUMBERS;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* The first step's numbers [from, end). */
static bool went(const check_case *c, int rank, enum sum what, enum divisor by, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (!close_to(check_element(c, rank, "parameters", i), after(c, rank, what, by, 0, i))) return false;
    return true;
}

static void say(const check_case *c, const char *where, enum sum what, enum divisor by, const char *of)
{
    if (what == MEANS && by == RANKS)
        check_fail(
            c, "means",
            "%s The ranks' means were averaged as if all ranks had the same number of examples. They have not: so an "
            "example on a rank with few counts for more. Weight each mean by its number of examples.",
            where);
    else if (what == OWN_MEAN && by == ONE)
        check_fail(c, "local",
                   "%s%s It followed the gradient of its own examples only; the other ranks' are not in it.", where,
                   of);
    else if (what == NOTHING)
        check_fail(c, "nothing",
                   "%s%s It has not changed: what was taken from it is 0. Is a count divided by a count in whole "
                   "numbers? 1 / 3 is 0 in C.",
                   where, of);
    else
        check_fail(c,
                   what == WEIGHTED_LATE ? "late"
                   : by == ONE           ? "sum"
                                         : "divisor",
                   "%s%s There %s %s%s.", where, of, sums[what],
                   what == MEANS && by == ONE ? "and not divided" : divisors[by],
                   by == ONE && c->ranks == 1 ? ", or divided by the number of ranks, which is 1 here" : "");
}

/* Does that explain the numbers [from, end) of each rank that has wrong ones? */
static bool all_went(const check_case *c, enum sum what, enum divisor by, size_t from, size_t end)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (!went(c, rank, EXAMPLES, ALL, from, end) && !went(c, rank, what, by, from, end)) return false;
    return true;
}

/* What was added up, and what it was divided by. */
static bool find(const check_case *c, size_t from, size_t end, enum sum *what, enum divisor *by)
{
    for (*what = EXAMPLES; *what < SUMS; ++*what)
        for (*by = ALL; *by < DIVISORS; ++*by)
            if ((*what != EXAMPLES || *by != ALL) && all_went(c, *what, *by, from, end)) return true;
    return false;
}

/* "The whole step is 0.5 times what it should be": NAN if it is not the same for all. */
static double factor(const check_case *c, int rank)
{
    double first = NAN;
    for (size_t i = 0; i < NUMBERS; i++) {
        double begin = first_parameter(c, 0, i), right = want(c, rank, i) - begin;
        double times = (check_element(c, rank, "parameters", i) - begin) / right;
        if (i == 0) first = times;
        if (!(fabs(times - first) <= 1e-6 * fmax(1, fabs(first)))) return NAN;
    }
    return first;
}

static bool explain_part(const check_case *c, int rank, const char *where)
{
    enum sum what;
    enum divisor by;
    bool weight = went(c, rank, EXAMPLES, ALL, 0, FEATURES), bias = went(c, rank, EXAMPLES, ALL, FEATURES, NUMBERS);
    if (find(c, 0, NUMBERS, &what, &by)) {
        say(c, where, what, by, "");
        return true;
    }
    if (weight == bias || !find(c, weight ? FEATURES : 0, weight ? NUMBERS : FEATURES, &what, &by)) return false;
    say(c, where, what, by,
        weight ? " The weight is right, only the bias is not: it is the last of features + 1 numbers."
               : " The bias is right, only the weight is not.");
    return true;
}

static void explain(const check_case *c, int rank, size_t index)
{
    const char *tensor = index % NUMBERS < FEATURES ? "weight" : "bias";
    double got = check_element(c, rank, "parameters", index), times = factor(c, rank);
    char where[100];
    snprintf(where, sizeof where, "First different: step %zu, tensor %s, on rank %d.", index / NUMBERS + 1, tensor,
             rank);
    if (isnan(got))
        check_fail(c, "nan", "%s It is not a number any more: 0 / 0%s.", where,
                   c->variant == NO_RANK ? ", for no rank has an example. Then nothing is to change" : "");
    else if (fabs(got - want(c, rank, index)) < 1e-6 * fmax(1, fabs(got)))
        check_fail(
            c, "float",
            "%s It is %.9g; one rank with all examples gets %.9g. The first seven digits are right: a float has no "
            "more. Sums, counts and gradients are doubles here.",
            where, got, want(c, rank, index));
    else if (index >= NUMBERS || !explain_part(c, rank, where)) {
        bool uphill = index < NUMBERS && fabs(times + 1) < 1e-6, known = index < NUMBERS && !isnan(times);
        check_fail(c,
                   uphill  ? "uphill"
                   : known ? "factor"
                           : "values",
                   "%s It is %.9g; one rank with all examples gets %.9g.", where, got, want(c, rank, index));
        if (known)
            check_also(c, "The whole step is %.6g times what it should be%s.", times,
                       uphill ? ": the gradient is added, where it is to be subtracted" : "");
    }
    if (rank > 0 && index < NUMBERS && went(c, 0, EXAMPLES, ALL, 0, NUMBERS))
        check_also(c, "Rank 0 is right: the result must come to every rank.");
}

static bool follows(const check_case *c)
{
    for (size_t i = 0; i < STEPS * NUMBERS; i++)
        for (int rank = 0; rank < c->ranks; rank++) {
            if (close_to(check_element(c, rank, "parameters", i), want(c, rank, i))) continue;
            if (!check_values(c, "values", "parameters", NULL, count_steps, want)) explain(c, rank, i);
            return false;
        }
    return true;
}

/* What the parameters are that are not rank 0's. */
static void explain_begin(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        made_of m = {c, rank, "", "shared parameters", 0, NUMBERS, DTYPE_F64, OP_SUM, first_parameter};
        made_of_mix mix;
        size_t right = 0;
        while (right < NUMBERS && made_of_got(&m, right) == first_parameter(c, 0, right)) right++;
        if (right == NUMBERS) continue;
        if (right)
            check_also(c, "On rank %d the first %zu of %d numbers are rank 0's.%s", rank, right, NUMBERS,
                       right == NUMBERS - 1 ? " The last is the bias." : made_of_unit(&m, right));
        else if (c->ranks < NUMBERS && made_of_weights(&m, &mix)) {
            for (int q = 0; q < c->ranks; q++)
                if (made_of_set(&m, &mix, 1) == 1u << q && made_of_set(&m, &mix, 0) == (made_of_all(&m) & ~(1u << q)))
                    check_also(c, "Rank %d has rank %d's.", rank, q);
            if (made_of_set(&m, &mix, 1.0 / c->ranks) == made_of_all(&m))
                check_also(c, "Rank %d has the mean of all ranks'.", rank);
        }
        return;
    }
}

static void judge(const check_case *c)
{
    if (!check_values(c, "begin", "shared parameters", NULL, count_numbers, want_at_start)) {
        check_fail(
            c, "begin",
            "After my_share_parameters every rank must have rank 0's parameters: with different ones to begin with, "
            "the ranks train different models, and averaging their gradients means nothing.");
        explain_begin(c);
        return;
    }
    if (!c->call && follows(c)) check_same_bits(c, "bits", "parameters");
}

static const char *const files[] = {"data_parallel_step.c", NULL};

const check_exercise check_20_data_parallel_step = {.name = "20_data_parallel_step",
                                                    .idea = "n ranks train as one rank would",
                                                    .call = "my_share_parameters, then four my_data_parallel_step",
                                                    .files = files,
                                                    .hands_on_errors = true,
                                                    .library = CHECK_LIBRARY_ALL,
                                                    .cases = cases,
                                                    .run = run,
                                                    .judge = judge};
