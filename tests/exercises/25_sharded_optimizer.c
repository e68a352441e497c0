/* SPDX-License-Identifier: MIT */
/* The test of exercise 25: the same parameters, to the bit, as after an all-reduce, with a part of the state on each
 * rank. */
#include "exercises/exercises.h"
#include "tests/exercises/collects.h"
#include "tests/exercises/mixes.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_sharded_step

enum { IN_PARAMETERS, IN_GRADIENT, IN_VELOCITY }; /* buffers */

/* Powers of two: multiplying by them does not round. Neither momentum, nor 1 - momentum, nor their ratio is what a division by
 * two or three ranks gives. */
static const double rate = 0.015625, momentum = 0.25;

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {5 * n, 5 * n + 1, 0, 1, n - 1, n + 1, 2 * n - 1, 1000};
    for (int i = 0; i < 8; i++)
        check_add(plan, (check_case){.count = counts[i], .dtype = DTYPE_F64, .shows = CHECK_SHOW_COUNT});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 3, 1, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        add_cases(plan, ranks[i]);
    }
}

/* Sums of these round. */
static double gradient_of(const check_case *c, int rank, size_t i)
{
    return check_value(c, rank, i) / 7;
}

static double velocity_of(const check_case *c, int rank, size_t i)
{
    return check_value(c, rank, c->count + i) / 7;
}

static double parameter_of(const check_case *c, size_t i)
{
    return check_common(c, i) / 7;
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t length = ring_length(c->count, c->ranks, rank);
    double *parameters = check_buffer(c, -1, c->count, DTYPE_F64), *gradient = check_buffer(c, -1, c->count, DTYPE_F64);
    double *velocity = check_buffer(c, -1, length, DTYPE_F64);
    for (size_t i = 0; i < c->count; i++) parameters[i] = parameter_of(c, i), gradient[i] = gradient_of(c, rank, i);
    for (size_t i = 0; i < length; i++) velocity[i] = velocity_of(c, rank, i);
    check_report(c, "before", parameters, c->count, DTYPE_F64);
    check_report(c, "velocity before", velocity, length, DTYPE_F64);
    collects_begin();
    collects_name(parameters, IN_PARAMETERS);
    collects_name(gradient, IN_GRADIENT);
    collects_name(velocity, IN_VELOCITY);
    check_returned(c, my_sharded_step(comm, parameters, gradient, velocity, c->count, rate, momentum));
    collects_report(c);
    check_report(c, "parameters", parameters, c->count, DTYPE_F64);
    check_report(c, "velocity", velocity, length, DTYPE_F64);
}

/* ---- In learn ---- */

enum {
    RIGHT,
    SUM,
    DIVIDED_TWICE,
    NOT_GATHERED,
    OWN,
    GRADIENT_FROM_0,
    ONLY_FIRST,
    ROUNDED,
    NO_MOMENTUM,
    NOT_YET,
    ALONE,
    UPHILL,
    FORGETS_RATE,
    DAMPED,
    RATE_INSIDE,
    RATE_TWICE,
    RATE_SQUARED,
    VELOCITY_ADDED,
    DECAYS_ALL,
    NESTEROV,
    EXCHANGED,
    SUBTRACTED,
    MINUS,
    GRADIENT_MINUS,
    UNCHANGED,
    SHORT,
    WAYS
};

static const struct {
    const char *key, *words;
} words[WAYS] = {
    [SUM] = {"sum", "The gradients of all ranks were added up, and not divided by the number of ranks."},
    [DIVIDED_TWICE] = {"divided_twice", "The mean gradient was divided by the number of ranks once more."},
    [NOT_GATHERED] = {"gather", "Each rank's own chunk is right; the chunks of the others are as they were before."},
    [OWN] = {"own", "Each chunk has moved by its owner's gradient only: those of the other ranks are not in it."},
    [GRADIENT_FROM_0] = {"place.gradient",
                         "Chunk 0 is right; the others have moved by what lies at the beginning of the gradient: the "
                         "mean of chunk r lies at `first`, on rank r."},
    [ONLY_FIRST] = {"place.parameters",
                    "Chunk 0 is right, the others are as they were before. Were the first numbers of the "
                    "parameters changed on each rank, which are rank 0's chunk, or none, since the loop does "
                    "not go from 0 to length - 1?"},
    [ROUNDED] = {"lost",
                 "The chunks were taken to be count / n long, rounded down, one behind the other: here the first "
                 "count mod n chunks are longer by one."},
    [NO_MOMENTUM] = {"momentum", "The step is rate times the gradient: the velocity is not in it."},
    [NOT_YET] = {"momentum.late", "The step is rate times the velocity as it was before: first the velocity becomes "
                                  "momentum times itself plus the gradient, then the step is taken."},
    [ALONE] = {"alone", "The step is momentum times the velocity, without any gradient."},
    [UPHILL] = {"uphill", "The step goes the wrong way: it is added, where it is to be subtracted."},
    [FORGETS_RATE] = {"rate", "The step is the velocity itself: it was not multiplied by the rate."},
    [DAMPED] = {"momentum", "The gradient was multiplied by 1 - momentum: here it is not."},
    [SHORT] = {"lost",
               "The first count mod n chunks are longer by one than count / n, and there the last number has not "
               "moved: the loop goes from 0 to length - 1."},
    [RATE_INSIDE] = {"rate", "The rate was multiplied into the velocity, with the gradient. It belongs to the step."},
    [RATE_TWICE] = {"rate",
                    "The gradient was multiplied by the rate twice: once into the velocity, once in the step. The "
                    "rate belongs to the step only."},
    [RATE_SQUARED] = {"rate", "The step was multiplied by the rate twice. Once is enough: rate * velocity."},
    [VELOCITY_ADDED] = {"momentum.added", "The velocity was added to itself: it becomes momentum times itself plus the "
                                          "gradient, and what it was before is in that already."},
    [DECAYS_ALL] = {"momentum.all", "The gradient was multiplied by the momentum as well: only the velocity is, as it "
                                    "was before."},
    [NESTEROV] = {"momentum.ahead",
                  "The step is rate times (gradient + momentum * velocity), which is Nesterov's. Here "
                  "it is rate times the velocity."},
    [EXCHANGED] = {"momentum.exchanged",
                   "rate and momentum were exchanged: the velocity was multiplied by the rate, and "
                   "the step by the momentum."},
    [SUBTRACTED] = {"momentum.sign", "The velocity became momentum times itself minus rate times the gradient, and was "
                                     "added. Here the velocity has neither the rate nor the sign in it: both belong to "
                                     "the step."},
    [MINUS] = {"momentum.sign", "The velocity became momentum times itself minus the gradient, and was added to the "
                                "parameters. Here the gradient is added to the velocity, and the step is subtracted."},
    [GRADIENT_MINUS] = {"momentum.sign",
                        "The gradient was subtracted from the velocity. It is added: the minus belongs to the step."},
    [UNCHANGED] = {"place.unchanged",
                   "No parameter has changed: what a rank gathers is its own chunk, and that was as it "
                   "was before. Was another chunk changed, or none, or by 0?"}};

/* The sum in the order of the ring, which begins behind the owner. */
static double sum_of(const check_case *c, int owner, size_t i)
{
    double sum = gradient_of(c, (owner + 1) % c->ranks, i);
    for (int step = 2; step <= c->ranks; step++) sum += gradient_of(c, (owner + step) % c->ranks, i);
    return sum;
}

/* Number i of chunk `owner`, as the owner has it after the step. */
static double stepped(const check_case *c, int way, int owner, size_t i)
{
    size_t first = ring_begin(c->count, c->ranks, owner), at = i - first;
    size_t even = c->count / (size_t)c->ranks, from = even * (size_t)owner;
    double begin = parameter_of(c, i), mean = sum_of(c, owner, i) / c->ranks, v = velocity_of(c, owner, at);
    if (way == ROUNDED) { /* a part of the next chunk lies there as well */
        if (i < from || i >= from + even) return begin;
        v = velocity_of(c, owner, i - from);
    }
    if (way == SHORT && at >= even) return begin;
    if (way == SUM) mean *= c->ranks;
    if (way == DIVIDED_TWICE) mean /= c->ranks;
    if (way == OWN) mean = gradient_of(c, owner, i);
    if (way == GRADIENT_FROM_0 && owner) mean = gradient_of(c, owner, at);
    if (way == ALONE) mean = 0;
    if (way == ONLY_FIRST && owner) return begin;
    if (way == DAMPED) mean *= 1 - momentum;
    if (way == RATE_INSIDE) return begin - (momentum * v + rate * mean);
    if (way == EXCHANGED) return begin - momentum * (rate * v + mean);
    if (way == SUBTRACTED) return begin + (momentum * v - rate * mean);
    if (way == MINUS) return begin + rate * (momentum * v - mean);
    if (way == GRADIENT_MINUS) return begin - rate * (momentum * v - mean);
    if (way == UNCHANGED) return begin;
    if (way == RATE_TWICE) return begin - rate * (momentum * v + rate * mean);
    if (way == RATE_SQUARED) return begin - rate * rate * (momentum * v + mean);
    if (way == VELOCITY_ADDED) return begin - rate * (v + momentum * v + mean);
    if (way == DECAYS_ALL) return begin - rate * momentum * (v + mean);
    if (way == NESTEROV) return begin - rate * (mean + momentum * (momentum * v + mean));
    v = way == NOT_YET ? v : way == NO_MOMENTUM ? mean : momentum * v + mean;
    return begin - (way == UPHILL ? -rate : way == FORGETS_RATE ? 1 : rate) * v;
}

static void compute(const check_case *c, int way, int rank, double *parameters)
{
    for (int owner = 0; owner < c->ranks; owner++) {
        size_t first = ring_begin(c->count, c->ranks, owner), length = ring_length(c->count, c->ranks, owner);
        for (size_t i = first; i < first + length; i++)
            parameters[i] = way == NOT_GATHERED && owner != rank ? parameter_of(c, i) : stepped(c, way, owner, i);
    }
}

static size_t count_all(const check_case *c, int rank)
{
    (void)rank;
    return c->count;
}

static size_t count_own(const check_case *c, int rank)
{
    return ring_length(c->count, c->ranks, rank);
}

static double want_velocity(const check_case *c, int rank, size_t i)
{
    double mean = sum_of(c, rank, ring_begin(c->count, c->ranks, rank) + i) / c->ranks;
    return momentum * velocity_of(c, rank, i) + mean;
}

static const ways_result parameters = {"parameters", count_all, WAYS, compute};

/* Fewer bytes than both halves have: a part was left out. */
static void explain_bytes(const check_case *c)
{
    unsigned long long sent = 0, whole = 2 * (uint64_t)(c->ranks - 1) * c->count * sizeof(double);
    for (int rank = 0; rank < c->ranks; rank++) sent += check_sent(c, rank).bytes_sent;
    if (sent && sent < whole)
        check_fail(c, "count",
                   "All ranks together sent %llu bytes; a reduce-scatter "
                   "and an all-gather of %zu numbers are %llu: is one of them called with the length of a chunk?",
                   sent, c->count, whole);
}

/* How much less a parameter became, on rank 0: so many times what? */
static double part_of_step(const check_case *c, int rank, size_t row, size_t i)
{
    int owner = ring_owner(c->count, c->ranks, i);
    switch (row) {
    case 0: return velocity_of(c, owner, i - ring_begin(c->count, c->ranks, owner));
    case 1: return sum_of(c, owner, i) / c->ranks;
    case 2: return gradient_of(c, owner, i);
    default: return parameter_of(c, i) - check_element(c, rank, "parameters", i);
    }
}

static bool explain_step(const check_case *c)
{
    static const char *const names[] = {"the velocity as it was", "the mean gradient", "this rank's own gradient"};
    static const double should[] = {rate * momentum, rate, 0};
    const mixes step = {"What was subtracted from a parameter", names, should, 3, c->count, part_of_step};
    return mixes_explain(&step, c, 0, "momentum.mix");
}

/* Has no rank but rank 0 a new velocity? */
static bool only_rank_0(const check_case *c)
{
    for (int rank = 1; rank < c->ranks; rank++)
        for (size_t i = 0; i < count_own(c, rank); i++)
            if (check_element(c, rank, "velocity", i) != velocity_of(c, rank, i)) return false;
    return true;
}

static const char *const buffer_names[COLLECTS_NAMES] = {"the parameters", "the gradient", "the velocity"};

/* Each chunk is right or as it was: on which ranks was no step taken? */
static bool explain_chunks(const check_case *c)
{
    unsigned right = 0, none = 0;
    char some[100], others[100];
    double *numbers = ways_computed(&parameters, c, RIGHT, 0);
    for (int owner = 0; owner < c->ranks; owner++) {
        size_t first = ring_begin(c->count, c->ranks, owner), end = first + ring_length(c->count, c->ranks, owner);
        bool is_right = true, is_old = true;
        for (size_t i = first; i < end; i++) {
            is_right = is_right && ways_near(check_element(c, 0, "parameters", i), numbers[i]);
            is_old = is_old && ways_near(check_element(c, 0, "parameters", i), parameter_of(c, i));
        }
        right |= is_right ? 1u << owner : 0;
        none |= !is_right && is_old ? 1u << owner : 0;
    }
    free(numbers);
    if (!none || !right || (right | none) != (1u << c->ranks) - 1) return false;
    return !check_fail(
        c, "chunks",
        "The chunk%s of %s %s right, and no step was taken for what belongs to %s. Are first and length, "
        "in this order, what ring_reduce_scatter sets, and does the loop go over all of this rank's "
        "chunk, on every rank?",
        right & (right - 1) ? "s" : "", expected_ranks(some, sizeof some, right), right & (right - 1) ? "are" : "is",
        expected_ranks(others, sizeof others, none));
}

/* What a rank has taken the step for is right on that rank, and not on the others. */
static bool explain_gather(const check_case *c)
{
    double *numbers = ways_computed(&parameters, c, RIGHT, 0);
    bool right = c->ranks > 1, everywhere = true;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < c->count; i++) {
            bool is = ways_near(check_element(c, rank, "parameters", i), numbers[i]);
            if (ring_owner(c->count, c->ranks, i) == rank) right = right && is;
            everywhere = everywhere && is;
        }
    free(numbers);
    return right && !everywhere &&
           !check_fail(c, "gather",
                       "Each rank's own chunk is right on that rank; what it has of the others' is not what they "
                       "have: each has the velocity of its own chunk only, and the others' parameters have "
                       "to come from them.");
}

static bool explain_calls(const check_case *c)
{
    const collects_call calls[] = {{"ring_reduce_scatter", IN_GRADIENT, IN_GRADIENT, c->count, OP_MEAN},
                                   {"ring_all_gather", IN_PARAMETERS, IN_PARAMETERS, c->count, OP_SUM}};
    for (int rank = 0; rank < c->ranks; rank++)
        if (collects_explain(c, rank, calls, 2, buffer_names)) return true;
    return collects_extra(c, calls, 2, buffer_names);
}

/* The velocities are what that gives, on every rank, and something else than before. */
enum { V_BEFORE, V_MEAN, V_RIGHT };

static bool velocity_is(const check_case *c, int what)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < count_own(c, rank); i++) {
            double before = velocity_of(c, rank, i), right = want_velocity(c, rank, i);
            double is = what == V_BEFORE ? before : what == V_RIGHT ? right : right - momentum * before;
            if (!ways_near(check_element(c, rank, "velocity", i), is)) return false;
        }
    return true;
}

/* A step without momentum: what has become of the velocity? */
static void explain_momentum(const check_case *c)
{
    bool lost = velocity_is(c, V_MEAN);
    check_fail(c, lost ? "momentum.lost" : words[NO_MOMENTUM].key, "%s%s", words[NO_MOMENTUM].words,
               lost ? " velocity[] has the gradient alone: what it was before the call is lost. Was it set to zero, or "
                      "written over, in place of being multiplied by momentum?"
                    : "");
    if (lost) return;
    if (velocity_is(c, V_RIGHT))
        check_also(c, "velocity[] itself is right: it is to be subtracted, and the gradient was.");
    else if (velocity_is(c, V_BEFORE))
        check_also(c, "And velocity[] is as it was before.");
}

static void explain(const check_case *c)
{
    int way = ways_find(&parameters, c);
    if ((way < 0 || way == OWN || way == NOT_GATHERED) && explain_calls(c)) return;
    if (way < 0 && (explain_gather(c) || explain_step(c) || explain_chunks(c))) return;
    if (way < 0) {
        explain_bytes(c);
        collects_list(c, buffer_names);
        return;
    }
    if (way == ONLY_FIRST && only_rank_0(c)) {
        check_fail(
            c, "alone_0",
            "Only rank 0 has taken a step: on other ranks neither the velocity nor the parameters of their chunk "
            "have changed. Does the loop begin at 0, and end at length, on every rank?");
        return;
    }
    if (way == UNCHANGED && c->ranks == 1) {
        check_fail(
            c, "alone_1",
            "With one rank no parameter has changed. There is nothing to send then, but the step is to be taken: "
            "the one rank has the only chunk, which is everything.");
        return;
    }
    if (way == NO_MOMENTUM) {
        explain_momentum(c);
        return;
    }
    check_fail(c, words[way].key, "%s", words[way].words);
    if (way == NOT_GATHERED && check_sent(c, 0).messages_sent >= 2 * (uint64_t)(c->ranks - 1))
        check_also(c, "As many messages were sent as for that, too: was something else gathered, or before the chunk "
                      "was changed?");
}

/* To nine digits the parameters are right. */
static bool bits(const check_case *c)
{
    if (!check_same_bits(c, "bits", "parameters")) return false;
    if (check_values(c, "bits.mean", "parameters", NULL, NULL, ways_want)) return true;
    return check_fail(c, "bits.mean",
                      "Nine digits are right, but not every bit: after ring_all_reduce with OP_MEAN the parameters are "
                      "others. Sums were added in another order, or divided in another way, such as sum * (1.0 / n).");
}

static bool right_bits(const check_case *c)
{
    double *numbers = ways_computed(&parameters, c, RIGHT, 0);
    for (int rank = 0; rank < c->ranks; rank++) ways_judged.right[rank] = numbers;
    bool right = bits(c);
    free(numbers);
    return right;
}

static bool contract(const check_case *c)
{
    unsigned long long lap = (unsigned long long)c->ranks - 1;
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        double buffer = (double)(c->count * sizeof(double)), share = 2.0 * (c->ranks - 1) / c->ranks;
        if (sent.messages_sent > 2 * lap) {
            return check_fail(
                c, "messages",
                "Rank %d sent %llu messages. A reduce-scatter is n-1 = %llu, and so is an all-gather: %llu "
                "together. An all-reduce is both of them already.",
                rank, (unsigned long long)sent.messages_sent, lap, 2 * lap);
        }
        if ((double)sent.bytes_sent > share * buffer + 2.0 * (double)lap * sizeof(double)) {
            return check_fail(c, "bytes",
                              "Rank %d sent %.4g times the parameters' bytes; 2(n-1)/n = %.4g times are enough.", rank,
                              (double)sent.bytes_sent / buffer, share);
        }
    }
    return true;
}

static void judge(const check_case *c)
{
    if (!ways_right(&parameters, c, "before")) {
        explain(c);
        return;
    }
    if (!check_near(c, "velocity", "velocity", "velocity before", count_own, want_velocity)) {
        check_also(c, "The parameters are right: what the next step needs is the velocity, which must be kept in "
                      "velocity[].");
        return;
    }
    if (right_bits(c) && !contract(c)) collects_list(c, buffer_names);
}

static const char *const files[] = {"sharded_optimizer.c", NULL};

const check_exercise check_25_sharded_optimizer = {
    .name = "25_sharded_optimizer",
    .idea = "each rank keeps and updates a part of the optimizer's state",
    .call = "my_sharded_step",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_ALL,
    .cases = cases,
    .run = run,
    .judge = judge};
