/* SPDX-License-Identifier: MIT */
/* The test of exercise 24: one step over many small batches, as one rank with all examples takes it, and one
 * all-reduce. */
#include "exercises/exercises.h"
#include "tests/exercises/collects.h"
#include "tests/exercises/mixes.h"
#include "tests/exercises/ways.h"

#pragma weak my_accumulated_step

/* No two of these are equal: what was taken for what can be told. */
enum { FEATURES = 12, NUMBERS = FEATURES + 1, MOST_BATCHES = 10, MOST_EXAMPLES = 5, STRIDE = 100 };
enum { FOUR, UNLIKE, NONE_ON_LAST, SOME_EMPTY, NO_EXAMPLES, VARIANTS };

enum { IN_PARAMETERS }; /* buffers */

static const double rate = 0.02;
static const char *const words[VARIANTS] = {"four batches on each rank", "rank r has r + 1 batches",
                                            "the last rank has no batch",
                                            "every other batch is empty, the first one too", "no batch has an example"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8}, order[] = {NO_EXAMPLES, FOUR, UNLIKE, NONE_ON_LAST, SOME_EMPTY};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        for (int k = 0; k < VARIANTS; k++) {
            int variant = order[(k + 1) % VARIANTS];
            check_add(plan, (check_case){.variant = variant, .count = variant != NO_EXAMPLES, .what = words[variant]});
        }
    }
}

static size_t batches_of(const check_case *c, int rank)
{
    if (c->variant == UNLIKE) return (size_t)rank + 1;
    return c->variant == NONE_ON_LAST && c->ranks > 1 && rank == c->ranks - 1 ? 0 : 4;
}

static size_t length_of(const check_case *c, int rank, size_t batch)
{
    bool empty = rank % 3 == 2 || (batch + (size_t)rank) % 2 == 0; /* rank 2 has nothing else */
    if (c->variant == NO_EXAMPLES || (c->variant == SOME_EMPTY && empty)) return 0;
    return 1 + (2 * (size_t)rank + 3 * batch) % MOST_EXAMPLES;
}

typedef struct {
    double x[MOST_EXAMPLES * FEATURES], y[MOST_EXAMPLES];
} examples;

static my_examples fill(const check_case *c, int rank, size_t batch, examples *e)
{
    my_examples filled = {.count = length_of(c, rank, batch), .features = FEATURES, .x = e->x, .y = e->y};
    for (size_t i = 0; i < filled.count; i++) {
        e->y[i] = check_value(c, rank, batch * STRIDE + i) / 30;
        for (size_t f = 0; f < FEATURES; f++)
            e->x[i * FEATURES + f] = check_value(c, rank, batch * STRIDE + 20 + i * FEATURES + f) / 50;
    }
    return filled;
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t count = batches_of(c, rank);
    examples e[MOST_BATCHES];
    my_examples batches[MOST_BATCHES];
    double *parameters = check_buffer(c, -1, NUMBERS, DTYPE_F64);
    for (size_t b = 0; b < count; b++) batches[b] = fill(c, rank, b, &e[b]);
    for (size_t i = 0; i < NUMBERS; i++) parameters[i] = check_common(c, i) / 100;
    check_report(c, "before", parameters, NUMBERS, DTYPE_F64);
    collects_begin();
    collects_name(parameters, IN_PARAMETERS);
    check_returned(c, my_accumulated_step(comm, parameters, FEATURES, batches, count, rate));
    collects_report(c);
    check_report(c, "parameters", parameters, NUMBERS, DTYPE_F64);
}

/* ---- In learn: something was added up, and divided by something ---- */

enum sum {
    EXAMPLES,
    MEANS,
    LAST,
    LAST_MEAN,
    LAST_FOR_ALL,
    OWN,
    OWN_MEANS,
    AGAIN,
    MEANS_AGAIN,
    FIRST_WEIGHT,
    RANK_MEANS,
    OWN_LAST,
    FIRST_BATCH,
    INVERSE,
    SQUARE,
    BY_FEATURES,
    RATE_TWICE,
    NO_RATE,
    WITHOUT_LAST,
    WITHOUT_FIRST,
    UNTIL_EMPTY,
    ONLY_FIRST,
    OF_RANK_0,
    OF_LAST_RANK,
    NOTHING,
    SUMS
};
enum divisor {
    ALL,
    COUNT_AGAIN,
    ONE,
    RANKS,
    BATCHES,
    ALL_BATCHES,
    OWN_EXAMPLES,
    ALL_AND_RANKS,
    ALL_AND_BATCHES,
    LAST_EXAMPLES,
    OWN_AND_RANKS,
    ALL_BY_NUMBERS,
    BATCHES_BY_NUMBERS,
    OF_BIAS,
    DIVISORS
};
enum {
    STEP_PER_BATCH = SUMS * DIVISORS,
    STEP_PER_BATCH_ALONE,
    UPHILL,
    UNFILLED,
    UNFILLED_BUT_COUNT,
    STAYS,
    LARGEST,
    SMALLEST,
    PARAMETERS_MEAN,
    PARAMETERS_SUM,
    COUNT_IN_BIAS,
    WAYS
};

static const struct {
    const char *key, *words;
} sums[SUMS] = {
    [EXAMPLES] = {"divisor", "the gradients of all examples of all batches were added up,"},
    [MEANS] = {"means", "the means of the batches were added up as if all batches had the same number of examples,"},
    [LAST] = {"last", "only each rank's last batch counts: the others' gradients were overwritten, not added to,"},
    [LAST_MEAN] = {"last",
                   "only the mean of each rank's last batch counts: the others were overwritten, not added to,"},
    [LAST_FOR_ALL] = {"last", "the mean of each rank's last batch was taken for that of all its batches "
                              "(my_model_gradient sets its third argument, it does not add to it),"},
    [OWN] = {"local", "this rank's own batches were added up, and no other rank's,"},
    [OWN_MEANS] = {"local", "the means of this rank's own batches were added up, and no other rank's,"},
    [AGAIN] = {"again", "the sum was all-reduced after each batch, so what was in it already was added up over the "
                        "ranks again and again,"},
    [MEANS_AGAIN] = {"again", "the sum was all-reduced after each batch, so what was in it already was added up over "
                              "the ranks again and again,"},
    [FIRST_WEIGHT] = {"weight", "each batch's mean was multiplied by the number of examples of batch 0,"},
    [RANK_MEANS] = {"ranks", "each rank's mean over its own examples was added up, as if all ranks had the same number "
                             "of examples,"},
    [OWN_LAST] = {"last", "the gradient of this rank's last batch was taken, and no other,"},
    [FIRST_BATCH] = {"batch", "the gradient of batch 0 was taken for each batch,"},
    [INVERSE] = {"weight", "each batch's mean was divided by its number of examples, not multiplied,"},
    [SQUARE] = {"weight", "each batch's mean was multiplied by its number of examples twice,"},
    [BY_FEATURES] = {"weight", "each batch's mean was multiplied by the number of features, not of examples,"},
    [RATE_TWICE] = {"rate", "what was added up had been multiplied by rate before, which is done once more,"},
    [NO_RATE] = {"rate", "what was added up was not multiplied by rate,"},
    [WITHOUT_LAST] = {"left_out", "the gradients of all batches but each rank's last one were added up,"},
    [WITHOUT_FIRST] = {"left_out", "the gradients of all batches but each rank's batch 0 were added up,"},
    [ONLY_FIRST] = {"left_out", "each rank's batch 0 was taken, and no other,"},
    [UNTIL_EMPTY] = {"left_out", "each rank's batches were added up until one came that is empty, and none behind it,"},
    [OF_RANK_0] = {"copied", "rank 0's batches were added up, and on every rank no other's: what came from rank 0 was "
                             "copied, not added,"},
    [OF_LAST_RANK] = {"copied", "the last rank's batches were added up, and on every rank no other's: what came from "
                                "it was written over the sum, not added to it,"},
    [NOTHING] = {"nothing", "nothing has changed"}};

static const char *const divisors[DIVISORS] = {
    [ALL] = "and divided by the number of all examples",
    [ONE] = "and not divided by the number of all examples",
    [RANKS] = "and divided by the number of ranks",
    [BATCHES] = "and divided by the number of this rank's batches only",
    [ALL_BATCHES] = "and divided by the number of batches",
    [OWN_EXAMPLES] = "and divided by the number of this rank's examples",
    [ALL_AND_RANKS] = "and divided by the number of all examples, and by the number of ranks as well",
    [ALL_AND_BATCHES] = "and divided by the number of all examples, and by that of this rank's batches as well",
    [LAST_EXAMPLES] = "and divided by the number of examples in the last batches only",
    [OWN_AND_RANKS] = "and divided by the number of this rank's examples, and by the number of ranks as well",
    [COUNT_AGAIN] = "and divided by the count, to which the same was done",
    [ALL_BY_NUMBERS] =
        "and divided by features + 1 times the number of all examples: is it added once for each of the numbers",
    [BATCHES_BY_NUMBERS] =
        "and divided by features + 1 times the number of batches: is 1 added once for each of the numbers",
    [OF_BIAS] = "and divided by the bias's sum, which is the last number of the gradient: the count lies behind it"};

static double examples_of(const check_case *c, int rank)
{
    double all = 0;
    for (size_t b = 0; b < batches_of(c, rank); b++) all += (double)length_of(c, rank, b);
    return all;
}

static bool empty_until(const check_case *c, int rank, size_t batch)
{
    for (size_t b = 0; b < batch; b++)
        if (!length_of(c, rank, b)) return true;
    return false;
}

static double weight_of(const check_case *c, enum sum what, int rank, int q, size_t b)
{
    double length = (double)length_of(c, q, b), again = pow(c->ranks, (double)(batches_of(c, q) - 1 - b));
    bool last = b + 1 == batches_of(c, q);
    switch (what) {
    case EXAMPLES: return length;
    case MEANS: return 1;
    case LAST: return last ? length : 0;
    case LAST_MEAN: return last;
    case LAST_FOR_ALL: return last ? examples_of(c, q) : 0;
    case OWN: return q == rank ? length : 0;
    case OWN_MEANS: return q == rank;
    case AGAIN: return length * again;
    case MEANS_AGAIN: return again;
    case FIRST_WEIGHT: return (double)length_of(c, q, 0);
    case OWN_LAST: return q == rank && last;
    case FIRST_BATCH: return length;
    case INVERSE: return length > 0 ? 1 / length : 0;
    case SQUARE: return length * length;
    case BY_FEATURES: return FEATURES;
    case RATE_TWICE: return length * rate;
    case NO_RATE: return length / rate;
    case WITHOUT_LAST: return last ? 0 : length;
    case WITHOUT_FIRST: return b ? length : 0;
    case ONLY_FIRST: return b ? 0 : length;
    case UNTIL_EMPTY: return empty_until(c, q, b) ? 0 : length;
    case OF_RANK_0: return q ? 0 : length;
    case OF_LAST_RANK: return q == c->ranks - 1 ? length : 0;
    case RANK_MEANS: return examples_of(c, q) > 0 ? length / examples_of(c, q) : 0;
    default: return 0;
    }
}

static double divisor_of(const check_case *c, enum sum what, enum divisor by, int rank)
{
    enum sum counted = what >= WITHOUT_LAST ? what : AGAIN;
    double all = 0, all_batches = 0, last = 0, again = 0, batches = (double)batches_of(c, rank);
    for (int q = 0; q < c->ranks; q++) {
        size_t count = batches_of(c, q);
        all += examples_of(c, q);
        all_batches += (double)count;
        last += count ? (double)length_of(c, q, count - 1) : 0;
        for (size_t b = 0; b < count; b++) again += weight_of(c, counted, rank, q, b);
    }
    switch (by) {
    case ALL: return all;
    case RANKS: return c->ranks;
    case BATCHES: return batches;
    case ALL_BATCHES: return all_batches;
    case OWN_EXAMPLES: return examples_of(c, rank);
    case ALL_AND_RANKS: return all * c->ranks;
    case ALL_AND_BATCHES: return all * batches;
    case OWN_AND_RANKS: return examples_of(c, rank) * c->ranks;
    case LAST_EXAMPLES: return last;
    case COUNT_AGAIN: return again;
    case ALL_BY_NUMBERS: return all * NUMBERS;
    case BATCHES_BY_NUMBERS: return all_batches * NUMBERS;
    default: return 1;
    }
}

/* numbers += times the gradient at `at` of rank q's batch. */
static void add(const check_case *c, int q, size_t batch, double times, const double *at, double *numbers)
{
    double gradient[NUMBERS];
    examples e;
    my_examples filled = fill(c, q, batch, &e);
    my_model_gradient(at, &filled, gradient);
    for (size_t i = 0; i < NUMBERS; i++) numbers[i] += times * gradient[i];
}

/* A step after each batch, of all ranks' together, or of one's own. */
static void step_by_step(const check_case *c, int only, double *parameters)
{
    for (size_t b = 0; b < MOST_BATCHES; b++) {
        double sum[NUMBERS] = {0}, all = 0;
        for (int q = 0; q < c->ranks; q++) {
            if (b >= batches_of(c, q) || (only >= 0 && q != only)) continue;
            add(c, q, b, (double)length_of(c, q, b), parameters, sum);
            all += (double)length_of(c, q, b);
        }
        for (size_t i = 0; i < NUMBERS && all > 0; i++) parameters[i] -= rate * sum[i] / all;
    }
}

/* Each rank steps with its own batches, and then parameters are added up over the ranks, not gradients. */
static void combine_parameters(const check_case *c, int way, const double *begin, double *parameters)
{
    for (size_t i = 0; i < NUMBERS; i++) parameters[i] = 0;
    for (int q = 0; q < c->ranks; q++) {
        double own[NUMBERS];
        memcpy(own, begin, sizeof own);
        step_by_step(c, q, own);
        for (size_t i = 0; i < NUMBERS; i++) parameters[i] += own[i] / (way == PARAMETERS_MEAN ? c->ranks : 1);
    }
}

/* OP_MAX or OP_MIN of what the ranks have added up, of the number of examples as well. */
static void extreme(const check_case *c, int way, const double *begin, double *parameters)
{
    double most[NUMBERS + 1] = {0};
    for (int q = 0; q < c->ranks; q++) {
        double own[NUMBERS + 1] = {0};
        for (size_t b = 0; b < batches_of(c, q); b++) add(c, q, b, (double)length_of(c, q, b), begin, own);
        own[NUMBERS] = examples_of(c, q);
        for (size_t i = 0; i <= NUMBERS; i++)
            most[i] = q == 0 ? own[i] : way == LARGEST ? fmax(most[i], own[i]) : fmin(most[i], own[i]);
    }
    for (size_t i = 0; i < NUMBERS && most[NUMBERS] > 0; i++) parameters[i] -= rate * most[i] / most[NUMBERS];
}

static void compute(const check_case *c, int way, int rank, double *parameters)
{
    double sum[NUMBERS] = {0}, begin[NUMBERS];
    int of = way < STEP_PER_BATCH ? way : 0;
    for (size_t i = 0; i < NUMBERS; i++) parameters[i] = begin[i] = check_common(c, i) / 100;
    if (way == STEP_PER_BATCH || way == STEP_PER_BATCH_ALONE) {
        step_by_step(c, way == STEP_PER_BATCH ? -1 : rank, parameters);
        return;
    }
    if (way == LARGEST || way == SMALLEST) {
        extreme(c, way, begin, parameters);
        return;
    }
    if (way == PARAMETERS_MEAN || way == PARAMETERS_SUM) {
        combine_parameters(c, way, begin, parameters);
        return;
    }
    if (way == STAYS && !batches_of(c, rank)) return;
    for (int q = 0; q < c->ranks; q++)
        for (size_t b = 0; b < batches_of(c, q); b++)
            add(c, q, of / DIVISORS == FIRST_BATCH ? 0 : b, weight_of(c, (enum sum)(of / DIVISORS), rank, q, b), begin,
                sum);
    double divisor = divisor_of(c, (enum sum)(of / DIVISORS), (enum divisor)(of % DIVISORS), rank);
    if (of % DIVISORS == OF_BIAS) divisor = sum[NUMBERS - 1];
    if (way == UPHILL) divisor = -divisor;
    if (way == COUNT_IN_BIAS) divisor = sum[NUMBERS - 1] += divisor;
    double more = way == UNFILLED || way == UNFILLED_BUT_COUNT ? c->ranks * made_of_fresh(DTYPE_F64)
                                                               : 0; /* what lay in the memory of each rank */
    for (size_t i = 0; i < NUMBERS; i++) sum[i] += more;
    if (way == UNFILLED) divisor += more;
    for (size_t i = 0; i < NUMBERS && divisor != 0; i++) parameters[i] -= rate * sum[i] / divisor;
}

static size_t count_numbers(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return NUMBERS;
}

static const ways_result parameters = {"parameters", count_numbers, WAYS, compute};

static void say(const check_case *c, int way)
{
    int rank;
    ways_first(&parameters, c, &rank);
    check_fail(c,
               rank                                                  ? "reduce"
               : way / DIVISORS == EXAMPLES && way % DIVISORS == ONE ? "sum"
                                                                     : sums[way / DIVISORS].key,
               "In the step %s %s.", sums[way / DIVISORS].words, divisors[way % DIVISORS]);
    if (strcmp(sums[way / DIVISORS].key, "local") == 0 && check_sent(c, rank).messages_sent)
        check_also(c, "Messages were sent: was another buffer all-reduced than the one that is used then?");
    if (way % DIVISORS == ALL_AND_RANKS && c->ranks == 2 && check_sent(c, 0).messages_sent > 1)
        check_also(c, "Or was the number of all examples all-reduced twice?");
    ways_explain_rest(&parameters, c);
}

/* How much less a number became, divided by rate: so many times each batch's mean? */
static double part_of_step(const check_case *c, int rank, size_t row, size_t i)
{
    double begin[NUMBERS], gradient[NUMBERS] = {0};
    size_t batches = batches_of(c, 0);
    for (size_t k = 0; k < NUMBERS; k++) begin[k] = check_common(c, k) / 100;
    if (row == batches * (size_t)c->ranks) return (begin[i] - check_element(c, rank, "parameters", i)) / rate;
    add(c, (int)(row / batches), row % batches, 1, begin, gradient);
    return gradient[i];
}

/* On each rank no batch counts less than the one before it, by what it should, and the last counts more than the first. */
static bool later_count_more(const mixes *step, const check_case *c)
{
    double times[MIXES_MOST], before = 0, first = 0;
    if (!mixes_fit(step, c, 0, times)) return false;
    for (size_t k = 0; k < step->rows; k++) {
        double part = times[k] / step->should[k];
        if (k % 4 == 0) first = part;
        if (k % 4 && !(part > 0.99 * before)) return false;
        if (k % 4 == 3 && !(part > 1.5 * first)) return false;
        before = part;
    }
    return true;
}

/* Of each rank's batches only the last one counts, by whatever. */
static bool only_last_count(const mixes *step, const check_case *c)
{
    double times[MIXES_MOST];
    if (!mixes_fit(step, c, 0, times)) return false;
    for (size_t k = 0; k < step->rows; k++)
        if ((fabs(times[k]) > 1e-9) != (k % 4 == 3)) return false;
    return true;
}

static bool explain_weights(const check_case *c)
{
    static const char *const names[] = {"the mean of rank 0's batch 0", "batch 1's", "batch 2's", "batch 3's",
                                        "that of rank 1's batch 0",     "batch 1's", "batch 2's", "batch 3's"};
    double should[8];
    const mixes step = {"What was subtracted, divided by rate,", names, should, 8, NUMBERS, part_of_step};
    if (c->variant != FOUR || c->ranks != 2) return false;
    for (size_t k = 0; k < 8; k++)
        should[k] = (double)length_of(c, (int)k / 4, k % 4) / divisor_of(c, EXAMPLES, ALL, 0);
    if (!mixes_explain(&step, c, 0, "weight")) return false;
    if (only_last_count(&step, c))
        check_because(c, "last",
                      "Only each rank's last batch counts: my_model_gradient sets its third argument, it does not add "
                      "to it.");
    else if (later_count_more(&step, c))
        check_also(c, "The later a batch comes, the more it counts: is what was added up before changed in the loop, "
                      "divided for instance? That is for the end.");
    check_also(c, "A batch counts as many times as it has examples, of all there are.");
    return true;
}

/* On every rank the step is so many times the right one; 0: it is not. */
static double times_right(const check_case *c)
{
    double right[NUMBERS], times = 0;
    compute(c, 0, 0, right);
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < NUMBERS; i++) {
            double begin = check_common(c, i) / 100, should = begin - right[i];
            double is = begin - check_element(c, rank, "parameters", i);
            if (times == 0 && fabs(should) > 1e-6) times = is / should;
            if (!(fabs(is - times * should) <= 1e-9 * fmax(1, fabs(times)))) return 0;
        }
    return times;
}

static const char *divisor_words(const check_case *c, double divisor)
{
    double most = 0, like_first = 0;
    for (int q = 0; q < c->ranks; q++) {
        most = fmax(most, examples_of(c, q));
        like_first += (double)(batches_of(c, q) * length_of(c, q, 0));
    }
    if (ways_near(divisor, most))
        return " So many has the rank that has most: was the largest number taken (OP_MAX), and not the sum?";
    if (ways_near(divisor, like_first)) return " So many there would be if all batches were as long as the first.";
    return "";
}

/* The gradient is right, and the step is too long or too short: by what was it divided? */
static bool explain_times(const check_case *c)
{
    double times = times_right(c), all = divisor_of(c, EXAMPLES, ALL, 0), batches = (double)batches_of(c, 0);
    if (!(times > 0)) return false;
    if (ways_near(times, batches))
        return !check_fail(
            c, "steps",
            "The step is %.4g times as long as it should be, and rank 0 has so many batches. Is it taken "
            "once for each of them?",
            times);
    return !check_fail(c, "divisor",
                       "The step has the right direction, and is %.4g times as long as it should be: the sum was "
                       "divided by %.6g, where there are %.0f examples.%s",
                       times, all / times, all, divisor_words(c, all / times));
}

static const char *const buffer_names[COLLECTS_NAMES] = {"the parameters"};

/* What was all-reduced, where that is none of what a step needs. */
static bool explain_call(const check_case *c)
{
    const double *facts = check_data(c, 0, "collects");
    for (size_t i = 0; i < collects_made(c, 0); i++, facts += COLLECTS_FIELDS) {
        if ((unsigned)facts[0] & 1u << IN_PARAMETERS)
            return !check_fail(c, "moving.averaged",
                               "The parameters were sent to the other ranks, and combined there. But what is added up "
                               "over the ranks is the gradients, before any parameter has moved.");
        if (facts[2] == FEATURES)
            return !check_fail(c, "bytes.features",
                               "A collective was called with %d numbers: there are so many features. The gradient has "
                               "one more, the bias, and behind it the number of examples is to travel as well.",
                               FEATURES);
    }
    return false;
}

/* A case is judged after those of fewer ranks: a first batch that is empty comes up with two. */
static const char *why_zero(const check_case *c)
{
    if (c->variant == NO_EXAMPLES) return ", for no batch has an example. Then nothing is to change";
    if (c->variant == NONE_ON_LAST)
        return ". The last rank has no batch: the number of its examples is 0, and nothing is divided by that";
    if (c->variant == SOME_EMPTY && c->ranks > 2)
        return ". All batches of rank 2 are empty: the number of its examples is 0, and nothing is divided by that";
    if (c->variant == SOME_EMPTY)
        return ". The first batch of rank 0 is empty: the number of its examples is 0, and so is the number of all "
               "examples up to there. In the loop nothing is divided by either of them";
    return "";
}

static void explain(const check_case *c)
{
    int way = ways_is(&parameters, c, STAYS, false) ? STAYS : ways_find(&parameters, c), rank;
    size_t first = ways_first(&parameters, c, &rank);
    bool nan = isnan(check_element(c, rank, "parameters", first));
    if (!nan && collects_made(c, 0) == 1 && explain_call(c)) return;
    if (nan)
        check_fail(c, "nan", "Parameter %zu is not a number any more on rank %d: 0 / 0%s.", first, rank, why_zero(c));
    else if (way == UNFILLED || way == UNFILLED_BUT_COUNT)
        check_fail(
            c, "unfilled",
            "What malloc gave was in the sum to begin with: it holds anything. A sum begins with zeros (calloc).");
    else if (ways_is_float(&parameters, c))
        check_fail(c, "float", WAYS_FLOAT);
    else if (way == STEP_PER_BATCH || way == STEP_PER_BATCH_ALONE)
        check_fail(c, "moving",
                   "A step was taken after each batch%s: the gradient of the second was computed with parameters that "
                   "had moved already. All gradients of a step belong to the same parameters.",
                   way == STEP_PER_BATCH_ALONE ? ", of this rank's own" : "");
    else if (way == STAYS)
        check_fail(c, "stays",
                   "Rank %d, which has no batches of its own, has not taken the step, and all others have: all ranks' "
                   "parameters are the same, before and after.",
                   rank);
    else if (way == PARAMETERS_MEAN || way == PARAMETERS_SUM)
        check_fail(c, "moving.averaged",
                   "Each rank has taken steps with its own batches, one after each, and then the parameters of the "
                   "ranks were %s. What is added up over the ranks is the gradients, before any parameter has moved.",
                   way == PARAMETERS_MEAN ? "averaged" : "added up");
    else if (way == COUNT_IN_BIAS)
        check_fail(c, "divisor.in_bias",
                   "The number of examples was added to the bias's gradient, in one number: the gradient's numbers are "
                   "0 to features, the bias is the last of them, and the count belongs behind it.");
    else if (way == LARGEST || way == SMALLEST)
        check_fail(c, "op", "Of what the ranks have added up the %s was taken, number by number, and not the sum.",
                   way == LARGEST ? "largest" : "smallest");
    else if (way == UPHILL)
        check_fail(c, "uphill", "The step goes the wrong way: the gradient is added, where it is to be subtracted.");
    else if (way > 0 && way / DIVISORS == NOTHING && rank)
        check_fail(c, "rank_0",
                   "Rank 0 has taken the step, and is right; rank %d's parameters are as they were. All ranks have the "
                   "same sum after the all-reduce, and each takes the step with it.",
                   rank);
    else if (way > 0 && way / DIVISORS == NOTHING)
        check_fail(
            c, ways_judged.from ? "bias" : "nothing",
            ways_judged.from
                ? "The weight is right, and the bias has not changed: it is the last of features + 1 "
                  "numbers."
                : "The parameters have not changed: what was taken from them is 0. Is a count divided by a count in "
                  "whole numbers? 1 / 3 is 0 in C.");
    else if (way > 0)
        say(c, way);
    else if (!explain_call(c) && !explain_times(c) && !explain_weights(c)) {
        ways_explain_bytes(c, NUMBERS + 1);
        collects_list(c, buffer_names);
    }
}

static void judge(const check_case *c)
{
    if (!ways_right(&parameters, c, "before")) {
        explain(c);
        return;
    }
    if (!check_same_bits(c, "bits", "parameters")) return;
    ways_one_all_reduce(c, NUMBERS + 1,
                        c->variant == FOUR
                            ? "There are four batches: is there one all-reduce after each of them, or one for the "
                              "gradient and one for the count?"
                            : "Gradient and count can travel in one, after the last batch.");
}

static const char *const files[] = {"accumulate.c", NULL};

const check_exercise check_24_accumulate = {.name = "24_accumulate",
                                            .idea = "many small batches, one all-reduce: the same step",
                                            .call = "my_accumulated_step",
                                            .files = files,
                                            .hands_on_errors = true,
                                            .library = CHECK_LIBRARY_ALL,
                                            .cases = cases,
                                            .run = run,
                                            .judge = judge};
