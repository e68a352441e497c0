/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 34: numbers as bf16, to the bit; sums that went as bf16, several in a row, so that what rounding
 * took away from one must be in the next; a toy model that arrives only then; and how many bytes were sent.
 *
 * Gradients are whole 64ths, and few enough bits that no sum of floats rounds: they come out the same in any order.
 */
#include "exercises/exercises.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_to_bf16
#pragma weak my_from_bf16
#pragma weak my_half_sum

enum { TO_BF16, FROM_BF16, SUMS, TOY, VARIANTS };
enum { CALLS = 3, STRIDE = 5000, MOST_COUNT = 100, CONVERTED = 48, PARAMETERS = 8, STEPS = 80, OF_TARGET = 30000 };

#define RATE 0.125
#define NEAR_ENOUGH 0.5

static const char *const calls[VARIANTS] = {"my_to_bf16", "my_from_bf16", "my_half_sum", "my_half_sum"};

static void add_sums(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {100, 0, 1, 5 * n, n - 1, 3 * n + 1};
    for (int i = 5; i >= 0; i--)
        check_add(plan, (check_case){.variant = SUMS,
                                     .count = counts[5 - i],
                                     .dtype = DTYPE_F32,
                                     .call = calls[SUMS],
                                     .what = "three calls in a row",
                                     .shows = CHECK_SHOW_COUNT});
}

static void add_toy(check_plan *plan)
{
    check_add(plan, (check_case){.variant = TOY,
                                 .count = PARAMETERS,
                                 .dtype = DTYPE_F32,
                                 .call = calls[TOY],
                                 .what = "a toy model, 80 steps"});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 3, 1, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        for (int k = TO_BF16; k <= FROM_BF16 && i < 2; k++)
            check_add(plan, (check_case){.variant = k, .count = CONVERTED, .dtype = DTYPE_F32, .call = calls[k]});
        add_sums(plan, ranks[i]);
        if (i < 2 || i == 3) add_toy(plan);
    }
}

/* ---- Data ---- */

static float gradient_of(const check_case *c, int rank, size_t call, size_t i)
{
    size_t at = call * STRIDE + 2 * i;
    return (float)((check_value(c, rank, at) * 1000 + check_value(c, rank, at + 1)) / 64);
}

/* The loss of a rank is the square of the distance to its own target: far from those of the others. */
static float target_of(const check_case *c, int rank, size_t i)
{
    return (float)(check_value(c, rank, OF_TARGET + 2 * i) * 8 + check_value(c, rank, OF_TARGET + 2 * i + 1) / 64);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Some that are hard: ties to even, up and down; the largest; infinite; several that are no numbers; zeros. */
static uint32_t bits_of(const check_case *c, size_t i)
{
    static const uint32_t hard[] = {0x3f800000, 0x3f808000, 0x3f818000, 0xbf808000, 0xbf818000, 0x3f808001,
                                    0x3f807fff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                    0x7fffffff, 0x80000000, 0x00000001, 0x00008000, 0x0000ffff, 0x437fff00};
    enum { HARD = sizeof hard / sizeof *hard };
    if (i >= CONVERTED - HARD) return hard[i - (CONVERTED - HARD)];
    float x = (float)(check_common(c, 2 * i) * 1000 + check_common(c, 2 * i + 1)) / 64;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- In a rank ---- */

static void convert(const check_case *c)
{
    int32_t halves[CONVERTED];
    float floats[CONVERTED];
    for (size_t i = 0; i < CONVERTED; i++) {
        if (c->variant == TO_BF16) halves[i] = my_to_bf16(float_of(bits_of(c, i)));
        if (c->variant == FROM_BF16) floats[i] = my_from_bf16((uint16_t)(bits_of(c, i) >> 16));
    }
    if (c->variant == TO_BF16) check_report(c, "bf16", halves, CONVERTED, DTYPE_I32);
    if (c->variant == FROM_BF16) check_report(c, "floats", floats, CONVERTED, DTYPE_F32);
}

static void train(p2p_comm *comm, const check_case *c, float *error, float *sum_error)
{
    float *gradient = check_buffer(c, -1, PARAMETERS, DTYPE_F32), w[PARAMETERS] = {0};
    p2p_err err = P2P_OK;
    for (int step = 0; step < STEPS && !err; step++) {
        for (size_t i = 0; i < PARAMETERS; i++) gradient[i] = w[i] - target_of(c, p2p_rank(comm), i);
        err = my_half_sum(comm, gradient, PARAMETERS, error, sum_error);
        for (size_t i = 0; i < PARAMETERS; i++) w[i] -= (float)RATE * gradient[i] / (float)c->ranks;
    }
    check_returned(c, err);
    check_report(c, "w", w, PARAMETERS, DTYPE_F32);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    char name[16];
    if (c->variant < SUMS) {
        convert(c);
        return;
    }
    float *error = check_buffer(c, -1, c->count, DTYPE_F32),
          *sum_error = check_buffer(c, -1, ring_length(c->count, c->ranks, rank), DTYPE_F32);
    if (c->variant == TOY) {
        train(comm, c, error, sum_error);
        return;
    }
    p2p_err err = P2P_OK;
    for (size_t call = 0; call < CALLS && !err; call++) {
        float *gradient = check_buffer(c, -1, c->count, DTYPE_F32);
        for (size_t i = 0; i < c->count; i++) gradient[i] = gradient_of(c, rank, call, i);
        err = my_half_sum(comm, gradient, c->count, error, sum_error);
        snprintf(name, sizeof name, "sum %zu", call + 1);
        check_report(c, name, gradient, c->count, DTYPE_F32);
    }
    check_returned(c, err);
}

/* ---- In learn: conversions ---- */

enum { NEAREST, TRUNCATED, HALF_UP, HALF_DOWN, LOWER, CONVERSIONS };

static uint32_t bf16_of(uint32_t bits, int way)
{
    switch (way) {
    case TRUNCATED: return bits >> 16;
    case HALF_UP: return ((bits + 0x8000) >> 16) & 0xffff;
    case HALF_DOWN: return ((bits + 0x7fff) >> 16) & 0xffff;
    case LOWER: return bits & 0xffff;
    default: return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) & 0xffff;
    }
}

static float rounded(float x, int way)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return float_of(bf16_of(bits, way) << 16);
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Is a number converted that way, NANs aside? */
static bool converted(const check_case *c, int way)
{
    for (size_t i = 0; i < CONVERTED; i++) {
        uint32_t bits = bits_of(c, i);
        if (!is_nan(bits) && (uint32_t)check_element(c, 0, "bf16", i) != bf16_of(bits, way)) return false;
    }
    return true;
}

static void judge_to(const check_case *c)
{
    static const char *const words[CONVERSIONS] = {
        [TRUNCATED] = "The lower half was cut off: what is left is never farther from 0 than x, so all sums become too "
                      "small. It is rounded to the nearest.",
        [HALF_UP] = "What lies in the middle between two was rounded up, always: that adds up over many numbers. Of "
                    "two that are equally near the one whose last bit is 0 is taken.",
        [HALF_DOWN] = "What lies in the middle between two was rounded down, always. Of two that are equally near the "
                      "one whose last bit is 0 is taken.",
        [LOWER] = "These are the lower 16 bits. Sign and exponent are in the upper ones."};
    for (int way = TRUNCATED; way < CONVERSIONS; way++)
        if (converted(c, way)) {
            check_fail(c, "rounding", "%s", words[way]);
            return;
        }
    for (size_t i = 0; i < CONVERTED; i++) {
        uint32_t bits = bits_of(c, i), has = (uint32_t)check_element(c, 0, "bf16", i);
        if (is_nan(bits) ? is_nan(has << 16) : has == bf16_of(bits, NEAREST)) continue;
        if (is_nan(bits))
            check_fail(c, "nan",
                       "The float with the bits 0x%08x, a NAN, became 0x%04x, which is %g. Rounding can carry from its "
                       "fraction into its exponent: a NAN is not rounded, and a bit of its fraction must remain.",
                       bits, has, (double)float_of(has << 16));
        else
            check_fail(c, "rounding", "%g, bits 0x%08x, became 0x%04x, which is %g; the nearest is 0x%04x, %g.",
                       (double)float_of(bits), bits, has, (double)float_of(has << 16), bf16_of(bits, NEAREST),
                       (double)rounded(float_of(bits), NEAREST));
        return;
    }
}

static void judge_from(const check_case *c)
{
    for (size_t i = 0; i < CONVERTED; i++) {
        uint32_t half = bits_of(c, i) >> 16;
        double has = check_element(c, 0, "floats", i), should = float_of(half << 16);
        if (has == should || (isnan(should) && isnan(has))) continue;
        check_fail(c, "from", "0x%04x became %g, and is %g: the bits are the upper half of the float's.", half, has,
                   should);
        return;
    }
}

/* ---- Sums ---- */

enum {
    RIGHT,
    NO_FEEDBACK,
    NO_ERROR,
    NO_SUM_ERROR,
    OPPOSITE,
    OF_GRADIENT,
    TWICE,
    OWN_EXACT,
    OWN_MISSING,
    NOT_ROUNDED,
    MEAN,
    CUT_OFF,
    OWNER_EXACT,
    NOT_ZEROED,
    FIRST_ONLY,
    BITS,
    LEFT,
    LEFT_ROUNDED,
    IN_TURN,
    WAYS
};

static const struct {
    const char *key, *words;
} ways[WAYS] = {
    [NO_FEEDBACK] = {"feedback", "What rounding took away before was not added: it is lost."},
    [NO_ERROR] = {"feedback", "What rounding took away from the ranks' gradients before was not added: error is lost."},
    [NO_SUM_ERROR] = {"sum_error",
                      "What rounding took away from the sum before was not added: sum_error is lost. Does round_off "
                      "get the sum as it is, in floats? One that has been rounded before, in each addition or on its "
                      "way round a ring, has no error any more."},
    [OPPOSITE] = {"opposite", "What rounding took away was subtracted, and is to be added: error is what should have "
                              "been sent, minus what was."},
    [OF_GRADIENT] = {"of_gradient", "What is kept is the difference between the gradient and what was sent. But what "
                                    "was sent had the earlier error in it: it is the difference to gradient + error."},
    [TWICE] = {"again", "What rounding took away was added to the error that was there. That has been sent by now, "
                        "with the gradient: the new one takes its place."},
    [OWN_EXACT] = {"own", "Each rank has added its own part of its chunk as a float, and what rounding takes away from "
                          "it is in error as well: so it counts twice. The own part is rounded like all others."},
    [OWN_MISSING] = {"own", "Each rank has left its own part of its chunk out of the sum."},
    [NOT_ROUNDED] = {"sum", "The sum was not rounded to bf16 on its way to the ranks: 2 bytes a number go there, too."},
    [MEAN] = {"mean", "This is the mean of the ranks' gradients, and should be their sum."},
    [CUT_OFF] = {"rounding", "Numbers were cut off on their way, and not rounded to the nearest: by my_to_bf16."},
    [OWNER_EXACT] = {"bits", "The owner of a chunk has the sum as it was before it was rounded, and all others what "
                             "was sent: the ranks do not have the same bits."},
    [NOT_ZEROED] = {"zero", "The sum was begun with what is in gradient: the owner's own part of each chunk is in it "
                            "twice, once as it came, and once as it was."},
    [FIRST_ONLY] = {"first", "What rank 0 has sent was added as often as there are ranks: the parts of the others lie "
                             "behind it in come, length numbers further on each."},
    [LEFT] = {"left",
              "A rank has the sum of its own chunk, and elsewhere still its own gradient: what has come to whole "
              "was not put into gradient."},
    [LEFT_ROUNDED] = {"left",
                      "A rank has what was sent for its own chunk, and elsewhere still its own gradient: all of whole "
                      "is to be put into gradient."},
    [IN_TURN] = {"first", "The parts in come were read in turn, a number of each rank: they lie one behind the other, "
                          "each of them `length` numbers."},
    [BITS] = {"numbers",
              "The 16 bits of each bf16 were taken for a whole number: my_from_bf16 makes a float of them."}};

/* What is sent of x, and what of it is kept in *error. */
static float sent_of(float x, int way, bool of_sum, float *error)
{
    bool lost = way == NO_FEEDBACK || way == (of_sum ? NO_SUM_ERROR : NO_ERROR);
    float all = lost ? x : x + *error, out = rounded(all, way == CUT_OFF ? TRUNCATED : NEAREST), before = *error;
    if (of_sum && way == NOT_ROUNDED) out = all;
    *error = way == OPPOSITE ? out - all : way == OF_GRADIENT ? x - out : way == TWICE ? before + all - out : all - out;
    return out;
}

/* One number, whose chunk is `owner`'s: its sum on a rank, from what each rank has, and the errors, which change. */
static float sum_of(const check_case *c, int way, int owner, int rank, const float *x, float *errors, float *sum_error)
{
    float sum = way == NOT_ZEROED ? x[owner] : 0;
    for (int q = 0; q < c->ranks; q++) {
        float all = x[q] + errors[q], out = sent_of(x[q], way, false, &errors[q]);
        if (q == owner && way == OWN_MISSING) continue;
        float first = q ? sum / (float)q : out; /* what rank 0 has sent */
        sum += q == owner && way == OWN_EXACT ? all : way == FIRST_ONLY ? first : out;
    }
    if (way == MEAN) sum /= (float)c->ranks;
    float before = sum, all = sum + *sum_error, out = sent_of(sum, way, true, sum_error);
    uint32_t bits;
    memcpy(&bits, &out, sizeof bits);
    if (way == LEFT) return rank == owner ? before : x[rank];
    if (way == LEFT_ROUNDED && rank != owner) return x[rank];
    return way == OWNER_EXACT && rank == owner ? all : way == BITS ? (float)(bits >> 16) : out;
}

static size_t call_judged;

/* In the first call, where nothing was kept: number i, from parts that are read as come[q + k * n]. */
static double in_turn(const check_case *c, size_t i)
{
    int owner = ring_owner(c->count, c->ranks, i);
    size_t n = (size_t)c->ranks, first = ring_begin(c->count, c->ranks, owner),
           length = ring_length(c->count, c->ranks, owner);
    float sum = 0;
    for (size_t q = 0; q < n; q++) {
        size_t place = q + (i - first) * n;
        sum += rounded(gradient_of(c, (int)(place / length), 0, first + place % length), NEAREST);
    }
    return (double)rounded(sum, NEAREST);
}

static void compute(const check_case *c, int way, int rank, double *numbers)
{
    for (size_t i = 0; i < c->count && way == IN_TURN; i++) numbers[i] = in_turn(c, i);
    if (way == IN_TURN) return;
    for (size_t i = 0; i < c->count; i++) {
        float x[CHECK_MAX_RANKS], errors[CHECK_MAX_RANKS] = {0}, sum_error = 0;
        for (size_t call = 0; call <= call_judged; call++) {
            for (int q = 0; q < c->ranks; q++) x[q] = gradient_of(c, q, call, i);
            numbers[i] = (double)sum_of(c, way, ring_owner(c->count, c->ranks, i), rank, x, errors, &sum_error);
        }
    }
}

/* How far a toy model is from its minimum in the end, at most. */
static double distance_of(const check_case *c, int way)
{
    double most = 0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        float x[CHECK_MAX_RANKS], errors[CHECK_MAX_RANKS] = {0}, sum_error = 0, w = 0, all = 0;
        for (int step = 0; step < STEPS; step++) {
            for (int q = 0; q < c->ranks; q++) x[q] = w - target_of(c, q, i);
            w -= (float)RATE * sum_of(c, way, 0, 0, x, errors, &sum_error) / (float)c->ranks;
        }
        for (int q = 0; q < c->ranks; q++) all += target_of(c, q, i);
        most = fmax(most, fabs((double)(w - all / (float)c->ranks)));
    }
    return most;
}

static size_t count_sum(const check_case *c, int rank)
{
    (void)rank;
    return c->count;
}

/* A rank that sent fewer numbers than are in other ranks' chunks. */
static void say_if_missing(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t others = c->count - ring_length(c->count, c->ranks, rank), least = CALLS * others * sizeof(uint16_t);
        unsigned long long bytes = check_sent(c, rank).bytes_sent;
        if (bytes >= least) continue;
        check_also(c,
                   "Rank %d sent %llu bytes, and its numbers in other ranks' chunks alone have %zu: were the counts of "
                   "what goes exchanged for those of what comes?",
                   rank, bytes, least);
        return;
    }
}

static bool sums(const check_case *c)
{
    char name[16];
    for (call_judged = 0; call_judged < CALLS; call_judged++) {
        snprintf(name, sizeof name, "sum %zu", call_judged + 1);
        ways_result sum = {name, count_sum, WAYS, compute};
        if (ways_right(&sum, c, NULL)) {
            if (!check_same_bits(c, "bits", name)) return false;
            continue;
        }
        int way = ways_find(&sum, c);
        if (way < 0) {
            check_also(c, "This is the sum of call %zu.", call_judged + 1);
            say_if_missing(c);
            return false;
        }
        check_fail(c, ways[way].key, "In call %zu: %s", call_judged + 1, ways[way].words);
        if (way == NO_FEEDBACK)
            check_also(c, "A toy model that is trained so stops %.2f away from its minimum; with both errors %.2f.",
                       distance_of(c, NO_FEEDBACK), distance_of(c, RIGHT));
        return false;
    }
    return true;
}

/* CALLS times: this rank's numbers for others, and the sum round the ring. */
static bool contract(const check_case *c)
{
    unsigned long long most = 2 * CALLS * ((unsigned long long)c->ranks - 1);
    size_t least = ring_length(c->count, c->ranks, c->ranks - 1);
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        size_t numbers = 2 * c->count - ring_length(c->count, c->ranks, rank) - least;
        unsigned long long bytes = c->ranks > 1 ? CALLS * numbers * sizeof(uint16_t) : 0;
        if (sent.bytes_sent > bytes)
            return check_fail(c, "bytes",
                              "Rank %d sent %llu bytes in %d calls; %llu are enough, 2 for each number that it sends: "
                              "all but its own chunk to their ranks, and the sum.%s",
                              rank, (unsigned long long)sent.bytes_sent, CALLS, bytes,
                              sent.bytes_sent >= 2 * bytes ? " These are as many as if floats were sent, or more."
                                                           : "");
        if (sent.messages_sent > most)
            return check_fail(
                c, "messages",
                "Rank %d sent %llu messages in %d calls; n-1 for the chunks and n-1 for the sum are %llu.", rank,
                (unsigned long long)sent.messages_sent, CALLS, most);
    }
    return true;
}

/* ---- The toy model ---- */

static void arrives(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < PARAMETERS; i++) {
            float all = 0;
            for (int q = 0; q < c->ranks; q++) all += target_of(c, q, i);
            double minimum = (double)all / c->ranks, w = check_element(c, rank, "w", i);
            if (fabs(w - minimum) <= NEAR_ENOUGH) continue;
            check_fail(c, "arrives",
                       "After %d steps parameter %zu is %.4g on rank %d; the minimum is at %.4g, and with both errors "
                       "it comes as near as %.2f. The ranks' gradients are large there and cancel: what rounding takes "
                       "away from them does not.",
                       STEPS, i, w, rank, minimum, distance_of(c, RIGHT));
            return;
        }
}

static void judge(const check_case *c)
{
    if (c->variant == TO_BF16) judge_to(c);
    if (c->variant == FROM_BF16) judge_from(c);
    if (c->variant == TOY) arrives(c);
    if (c->variant == SUMS && sums(c)) contract(c);
}

static const char *const files[] = {"half_on_the_wire.c", NULL};

const check_exercise check_34_half_on_the_wire = {.name = "34_half_on_the_wire",
                                                  .idea = "2 bytes a number, and what they lose is sent later",
                                                  .call = "my_half_sum",
                                                  .files = files,
                                                  .hands_on_errors = true,
                                                  .library = CHECK_LIBRARY_ALL,
                                                  .cases = cases,
                                                  .run = run,
                                                  .judge = judge};
