/* SPDX-License-Identifier: MIT */
/* The test of exercise K5: rows with mean 0 and variance 1, each number read twice, and no precision lost to a large mean. */
#include "exercises/kernels.h"
#include "tests/exercises/device.h"

#pragma weak my_norm

static const device_size sizes[] = {
    {{3, 64}, {64, 1}, DEVICE_FORWARD, "3 rows of 64, groups of 64"},
    {{4, 100}, {32, 1}, DEVICE_FORWARD, "4 rows of 100, groups of 32"},
    {{4, 100}, {32, 1}, DEVICE_BACKWARD, "4 rows of 100, groups of 32, the last work-items first"},
    {{5, 7}, {16, 1}, DEVICE_FORWARD, "5 rows of 7, groups of 16"},
    {{2, 1}, {8, 1}, DEVICE_FORWARD, "2 rows of 1, groups of 8"},
    {{3, 50}, {1, 1}, DEVICE_FORWARD, "3 rows of 50, groups of 1"},
    {{3, 1000}, {256, 1}, DEVICE_SHUFFLED, "3 rows of 1000, groups of 256, work-items in any order"},
};

static void call(float *const at[])
{
    const work_argument *is = device_now()->arguments;
    my_norm(at[0], at[1], at[2], (int)is[3].count, is[4].value);
}

/* Numbers near 1000 that differ by about 1; those of the last row are equal. */
static double value(const check_case *c, const work *w, int argument, size_t i)
{
    (void)argument;
    size_t width = w->arguments[3].count, rows = w->arguments[0].count / width;
    return 1000 + (i / width + 1 == rows ? 0.25 : check_value(c, 0, i) / 64);
}

static const device_test test = {
    .sizes = sizes, .count = sizeof sizes / sizeof *sizes, .describe = work_norm, .value = value, .call = call};

static void cases(check_plan *plan)
{
    device_add(plan, &test);
}

static void run(p2p_comm *comm, const check_case *c)
{
    (void)comm;
    device_case(&test, c);
}

/* ---- In learn ---- */

static const double tolerance = 2e-3;

enum { MOST_ROWS = 8 };

typedef struct {
    double mean, variance, first; /* of x */
    double got_mean, used;        /* of y; the variance that it was divided by the root of, with eps */
    bool none, scaled, right;     /* numbers that are none; right but for a factor; right */
} row_facts;

static row_facts look_at(const check_case *c, size_t row)
{
    size_t width = sizes[c->variant].n[1], at = row * width;
    row_facts f = {.first = device_value(&test, c, 0, at), .scaled = true, .right = true};
    double top = 0, ratio = NAN;
    for (size_t i = 0; i < width; i++) f.mean += device_value(&test, c, 0, at + i) / (double)width;
    for (size_t i = 0; i < width; i++) {
        double d = device_value(&test, c, 0, at + i) - f.mean, is = check_element(c, 0, "y", at + i),
               should = device_want[at + i];
        f.variance += d * d / (double)width;
        f.got_mean += is / (double)width;
        f.none |= isnan(is) || isinf(is);
        f.right &= fabs(is - should) <= tolerance;
        if (fabs(should) > top) top = fabs(should), ratio = is / should;
    }
    for (size_t i = 0; i < width; i++)
        f.scaled &= fabs(check_element(c, 0, "y", at + i) - ratio * device_want[at + i]) <=
                    tolerance * (1 + fabs(ratio));
    f.used = (f.variance + work_eps) / (ratio * ratio);
    return f;
}

/* What y may have been divided by the square root of, beside the variance with eps. */
typedef enum {
    SQUARED,
    INVERSE,
    NOTHING,
    SAMPLE,
    UNDIVIDED,
    UNDIVIDED_SQUARES,
    ABOUT_FIRST,
    STANDARD,
    OUTSIDE,
    WITHOUT,
    SCALES
} scale;

static const char *const scales[SCALES] = {
    [SQUARED] = "y is divided by variance + eps: it should be by the square root of that.",
    [INVERSE] = "y is multiplied by the square root of variance + eps: it should be divided by it.",
    [NOTHING] = "y is x - mean: it should be divided by the square root of variance + eps.",
    [SAMPLE] = "The variance is divided by width - 1: here it is the mean of the squares, divided by width.",
    [UNDIVIDED] = "The sum of the squares was not divided by width.",
    [UNDIVIDED_SQUARES] =
        "The sum of the squares was not divided by width before the square of the mean was subtracted.",
    [ABOUT_FIRST] = ("The mean of the squares about origin is not the variance: the square of the mean, counted from "
                     "origin, must be subtracted."),
    [OUTSIDE] = "eps was added to 1 / sqrt(variance): it belongs under the root.",
    [WITHOUT] =
        ("eps was not added to the variance. The variance of a row whose numbers are all equal is 0, and eps is there "
         "for that."),
    [STANDARD] = "eps was added to the root: it belongs under it."};

static double used_by(const check_case *c, const row_facts *f, scale how)
{
    double width = (double)sizes[c->variant].n[1], right = f->variance + work_eps, away = f->mean - f->first,
           root = sqrt(f->variance) + work_eps;
    switch (how) {
    case SQUARED: return right * right;
    case INVERSE: return 1 / right;
    case NOTHING: return 1;
    case SAMPLE: return f->variance * width / (width - 1) + work_eps;
    case UNDIVIDED: return f->variance * width + work_eps;
    case UNDIVIDED_SQUARES: return (f->variance + away * away) * width - away * away + work_eps;
    case ABOUT_FIRST: return f->variance + away * away + work_eps;
    case STANDARD: return root * root;
    case WITHOUT: return f->variance;
    case OUTSIDE: return pow(1 / sqrt(f->variance) + work_eps, -2);
    default: return NAN;
    }
}

static bool is_scale(const check_case *c, const row_facts facts[], scale how)
{
    for (size_t row = 0; row < sizes[c->variant].n[0]; row++) {
        const row_facts *f = &facts[row];
        if (f->variance == 0) continue;
        double used = used_by(c, f, how);
        if (!f->scaled || !(fabs(f->used - used) <= 0.0015 * used)) return false;
    }
    return true;
}

/* Is this row the one that begins at `from`, normalised? */
static bool is_row_from(const check_case *c, size_t row, size_t from)
{
    size_t width = sizes[c->variant].n[1], all = width * sizes[c->variant].n[0];
    double mean = 0, variance = 0;
    if (from + width > all) return false;
    for (size_t i = 0; i < width; i++) mean += device_value(&test, c, 0, from + i) / (double)width;
    for (size_t i = 0; i < width; i++) variance += pow(device_value(&test, c, 0, from + i) - mean, 2) / (double)width;
    for (size_t i = 0; i < width; i++)
        if (!(fabs(check_element(c, 0, "y", row * width + i) -
                   (device_value(&test, c, 0, from + i) - mean) / sqrt(variance + work_eps)) <= tolerance))
            return false;
    return true;
}

/* Is what work-item 0 has written right, and what the others have is not? Of a row that it went through in turn. */
static bool knows_alone(const check_case *c, size_t row)
{
    size_t width = sizes[c->variant].n[1], group = sizes[c->variant].group[0];
    for (size_t i = 0; i < width; i++) {
        double is = check_element(c, 0, "y", row * width + i), should = device_want[row * width + i];
        bool right = fabs(is - should) <= tolerance;
        if (right != (i % group == 0) && fabs(should) > 10 * tolerance) return false;
    }
    return group > 1 && width > 1;
}

static void explain_mean(const check_case *c, size_t row, const row_facts *f)
{
    double root = sqrt(f->variance + work_eps), off = f->got_mean * root;
    check_fail(c, "mean", "In row %zu the mean of y is %.3g, and should be 0. %s", row, f->got_mean,
               fabs(off - f->mean) < 0.02    ? "The mean was not subtracted."
               : fabs(off - f->first) < 0.02 ? "The mean is counted from origin: origin must be subtracted, too."
               : fabs(off - (f->mean - f->first)) < 0.01
                   ? "origin was subtracted, and the mean, counted from it, was not."
                   : "Another mean was subtracted: is the sum divided by width, "
                     "and are the shares of all work-items in it, once?");
}

/* Would the variance be negative, if the sums were divided by another number than width? */
static bool is_negative_by(const check_case *c, size_t row, double divisor)
{
    size_t width = sizes[c->variant].n[1];
    double sum = 0, squares = 0, origin = device_value(&test, c, 0, row * width);
    for (size_t i = 0; i < width; i++) {
        double d = device_value(&test, c, 0, row * width + i) - origin;
        sum += d / divisor;
        squares += d * d / divisor;
    }
    return squares - sum * sum + work_eps < 0;
}

/* Are all rows no numbers, even the last, of equal numbers, where both sums are 0 if they are counted from origin? */
static bool are_all_none(const check_case *c)
{
    for (size_t i = 0; i < sizes[c->variant].n[0] * sizes[c->variant].n[1]; i++)
        if (!isnan(check_element(c, 0, "y", i))) return false;
    return true;
}

static void explain_row(const check_case *c, size_t row, const row_facts *f)
{
    size_t width = sizes[c->variant].n[1], group = sizes[c->variant].group[0];
    double most = device_count(c, 0, DEVICE_MOST_READS);
    if (group >= 4 && width >= 8 && most > (double)width)
        check_fail(c, "share",
                   "One work-item reads %.0f numbers of x, and the row has %zu: it is shared by %zu work-items.", most,
                   width, group);
    else if (f->none && is_negative_by(c, row, (double)group))
        check_fail(c, "divisor",
                   "In row %zu there are numbers that are none: the root of a negative variance. Are the sums "
                   "divided by %zu, the size of a group? The row has %zu numbers.",
                   row, group, width);
    else if (f->none && f->variance > 0 && are_all_none(c))
        check_fail(c, "from_0",
                   "No y is a number, not even in the last row, whose numbers are all equal. Is the variance negative "
                   "everywhere, the squares counted from origin, and the mean whose square is subtracted from 0?");
    else if (f->none)
        check_fail(c, "none", "In row %zu there are numbers that are none, or infinite%s", row,
                   f->variance == 0
                       ? ": all numbers of it are equal, its variance is 0, and eps is there for that."
                       : ": is the root of a negative variance taken (are all squares in their sum, once?), or is "
                         "something never set?");
    else if (knows_alone(c, row))
        check_fail(
            c, "alone",
            "In row %zu what work-item 0 has written is right, and what all others have is not: mean and variance "
            "must be known to each of them.",
            row);
    else if (row && is_row_from(c, row, 0))
        check_fail(c, "row", "Row %zu of y is row 0 of x, normalised: each group has a row of its own.", row);
    else if (row && is_row_from(c, row, row * group))
        check_fail(c, "row", "Row %zu of y comes from x[%zu] on: rows are width long, whatever the size of a group.",
                   row, row * group);
    else if (fabs(f->got_mean) > tolerance)
        explain_mean(c, row, f);
    else if (f->scaled && width > 1 && fabs(f->used - work_eps - f->variance) > 0.15)
        check_fail(c, "scale",
                   "In row %zu the mean is right, and the variance came out as %.4g, where it is %.4g: the mean of "
                   "the squares, less the square of the mean.",
                   row, f->used - work_eps, f->variance);
    else if (f->scaled && width > 1)
        check_fail(
            c, "precision",
            "In row %zu the mean is right, and the variance came out as %.4g, where it is %.4g. The numbers lie "
            "near %.0f: their squares are near a million, a float has seven digits, and the difference of two such "
            "sums keeps little of the variance.",
            row, f->used - work_eps, f->variance, f->mean);
    else
        check_fail(c, "values", "Row %zu is wrong: y[%zu] is %g, and should be %g.", row, row * width,
                   check_element(c, 0, "y", row * width), device_want[row * width]);
}

static bool is_right(const check_case *c)
{
    row_facts facts[MOST_ROWS];
    size_t rows = sizes[c->variant].n[0], wrong = rows;
    free(device_want);
    device_want = device_wanted(&test, c);
    for (size_t row = rows; row-- > 0;) {
        facts[row] = look_at(c, row);
        if (!facts[row].right) wrong = row;
    }
    if (wrong == rows) return true;
    for (int how = 0; how < SCALES && facts[wrong].variance > 0; how++)
        if (is_scale(c, facts, (scale)how)) return check_fail(c, "scale", "%s", scales[how]);
    explain_row(c, wrong, &facts[wrong]);
    return false;
}

static void contract(const check_case *c)
{
    const device_size *s = &sizes[c->variant];
    double numbers = (double)(s->n[0] * s->n[1]), firsts = (double)(s->n[0] * s->group[0]),
           reads = device_count(c, 0, DEVICE_READS), local = device_count(c, 2, DEVICE_MOST_READS), levels = 0;
    for (size_t size = s->group[0]; size > 1; size /= 2) levels++;
    if (reads > 2 * numbers + firsts)
        check_fail(
            c, "passes",
            "x was read %.0f times; it has %.0f numbers, and two passes read each twice: once for both sums, once "
            "for y.",
            reads, numbers);
    else if (local > 4 * levels + 4)
        check_fail(c, "serial", "One work-item reads scratch %.0f times; two trees of %.0f levels take %.0f.", local,
                   levels, 4 * levels + 2);
}

/* Is the end of every row not written, as much of it as a group cannot share evenly? */
static bool leaves_rests(const check_case *c)
{
    size_t width = sizes[c->variant].n[1], rest = width % sizes[c->variant].group[0];
    for (size_t i = 0; i < width * sizes[c->variant].n[0]; i++)
        if (device_is_unwritten(c, i) != (i % width >= width - rest)) return false;
    if (rest)
        check_fail(c, "rest",
                   "The last %zu elements of each row of y were not written: %zu work-items do not divide %zu numbers "
                   "evenly.",
                   rest, sizes[c->variant].group[0], width);
    return rest > 0;
}

/* A work-item goes on behind the end of its row: in the next one, which is another group's, or behind the last one. */
static bool stays_in_its_row(const check_case *c)
{
    size_t width = sizes[c->variant].n[1], all = width * sizes[c->variant].n[0],
           at = (size_t)device_fact(c, DEVICE_ELEMENT);
    int kind = (int)device_fact(c, DEVICE_KIND), number = (int)device_fact(c, DEVICE_BUFFER);
    bool y = number == work_output(device_now()), writes = device_fact(c, DEVICE_WRITES) > 0;
    if (kind == DEVICE_BOUNDS && device_fact(c, DEVICE_ELEMENT) >= (double)all && (y || number == 0)) {
        check_because(c, "too_far",
                      "That lies behind the last row. A row has %zu numbers: does what a work-item goes through end "
                      "there? In the other rows it would go on in the next one.",
                      width);
        return false;
    }
    if (kind != DEVICE_RACE || !y || !writes || device_fact(c, DEVICE_GROUP_OF) == device_fact(c, DEVICE_OTHER_GROUP))
        return true;
    bool other = device_fact(c, DEVICE_OTHER_GROUP) < device_fact(c, DEVICE_GROUP_OF);
    double group = device_fact(c, other ? DEVICE_OTHER_GROUP : DEVICE_GROUP_OF),
           item = device_fact(c, other ? DEVICE_OTHER_ITEM : DEVICE_ITEM);
    if (group < 0 || at / width <= (size_t)group) return true;
    check_because(c, "too_far",
                  "Row %.0f ends at y[%.0f], and y[%zu] is in row %zu: work-item %.0f of group %.0f goes on behind the "
                  "end of its own row. Where its share ends, it ends at width at the latest: in the sums, too, or they "
                  "have numbers of the next row in them.",
                  group, (group + 1) * (double)width - 1, at, at / width, item, group);
    return false;
}

static void judge(const check_case *c)
{
    if (!device_is_fine(&test, c)) {
        stays_in_its_row(c);
        return;
    }
    if (leaves_rests(c)) return;
    if (!device_unwritten(c) && is_right(c)) contract(c);
}

static const char *const files[] = {"norm.cl", NULL};

const check_exercise check_K5_norm = {.name = "K5_norm",
                                      .idea = "two passes into one: mean and variance while the row is read once",
                                      .call = "my_norm",
                                      .files = files,
                                      .library = CHECK_LIBRARY_P2P,
                                      .opencl = true,
                                      .cases = cases,
                                      .run = run,
                                      .judge = judge};
