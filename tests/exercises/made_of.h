/* SPDX-License-Identifier: MIT */
/*
 * made_of: what a wrong sum, mean, minimum or maximum is made of, told from known data. Each explanation is checked against
 * all that is wrong before it is given:
 *
 *      weights     so many times what each rank had: a part is missing, twice, divided by another number
 *      operator    another one; or not over all ranks
 *      beginning   right up to an element, and then as it was before, or what malloc leaves
 *
 *      in learn     made_of_explain, made_of_weights; expected_explain, expected_explain_all
 */
#ifndef PAIRWISE_TESTS_EXERCISES_MADE_OF_H
#define PAIRWISE_TESTS_EXERCISES_MADE_OF_H

#include "tests/exercises/expected.h"

enum { MADE_OF_MOST_RANKS = 8, MADE_OF_LEAST = 3, MADE_OF_LOOK = 40 };

/* Elements [first, first + length) of a rank's report, which should be the combination of everyone's part. */
typedef struct {
    const check_case *c;
    int rank;
    const char *of; /* "" or words such as "In chunk 2, " */
    const char *name;
    size_t first, length;
    enum dtype dtype;
    enum op op;
    check_want *part; /* what rank q had at an index of the report */
} made_of;

/* What a result is made of: so many times each rank's part. */
typedef struct {
    double of[CHECK_MAX_RANKS];
} made_of_mix;

static inline double made_of_got(const made_of *m, size_t i)
{
    return check_element(m->c, m->rank, m->name, i);
}

static inline double made_of_combined(const made_of *m, enum op op, unsigned ranks, size_t i)
{
    double result = NAN;
    for (int q = 0; q < m->c->ranks; q++) {
        if (!(ranks & 1u << q)) continue;
        double part = m->part(m->c, q, i);
        if (isnan(result))
            result = part;
        else
            result = op == OP_MIN ? fmin(result, part) : op == OP_MAX ? fmax(result, part) : result + part;
    }
    return op == OP_MEAN ? result / m->c->ranks : result;
}

static inline unsigned made_of_all(const made_of *m)
{
    return (1u << m->c->ranks) - 1;
}

static inline bool made_of_is(const made_of *m, enum op op, unsigned ranks, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (!expected_close(m->dtype, made_of_got(m, i), made_of_combined(m, op, ranks, i))) return false;
    return true;
}

static inline const char *made_of_who(const made_of *m)
{
    return *m->of ? "rank" : "Rank";
}

/* ---- Weights ---- */

static inline bool made_of_is_mix(const made_of *m, const made_of_mix *mix)
{
    for (size_t i = m->first; i < m->first + m->length; i++) {
        double sum = 0, size = 1;
        for (int q = 0; q < m->c->ranks; q++) {
            double part = mix->of[q] * m->part(m->c, q, i);
            sum += part, size += fabs(part);
        }
        if (!(fabs(made_of_got(m, i) - sum) <= (m->dtype == DTYPE_F32 ? 1e-5 : 1e-9) * size)) return false;
    }
    return true;
}

/* Each rank's part up to twice, for results that are too short for more. */
static inline bool made_of_small_weights(const made_of *m, double divisor, made_of_mix *mix)
{
    int codes = 1;
    for (int q = 0; q < m->c->ranks; q++) codes *= 3;
    for (int code = 0; code < codes; code++) {
        for (int q = 0, rest = code; q < m->c->ranks; q++, rest /= 3) mix->of[q] = rest % 3 / divisor;
        if (made_of_is_mix(m, mix)) return true;
    }
    return false;
}

/* Gauss: a (rows of n + 1 numbers, the last the right-hand side) becomes the solution. False if there are many. */
static inline bool made_of_solve(double a[][CHECK_MAX_RANKS + 1], int n)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int row = k + 1; row < n; row++)
            if (fabs(a[row][k]) > fabs(a[best][k])) best = row;
        if (fabs(a[best][k]) < 1e-6) return false;
        for (int j = 0; j <= n; j++) {
            double kept = a[k][j];
            a[k][j] = a[best][j], a[best][j] = kept;
        }
        for (int row = 0; row < n; row++) {
            double times = row == k ? 0 : a[row][k] / a[k][k];
            for (int j = k; j <= n; j++) a[row][j] -= times * a[k][j];
        }
    }
    for (int k = 0; k < n; k++) a[k][n] /= a[k][k];
    return true;
}

/* The weights that fit best, by least squares. */
static inline bool made_of_best_weights(const made_of *m, made_of_mix *mix)
{
    double a[CHECK_MAX_RANKS][CHECK_MAX_RANKS + 1] = {{0}};
    int n = m->c->ranks;
    size_t look = m->length < MADE_OF_LOOK ? m->length : MADE_OF_LOOK;
    for (size_t i = m->first; i < m->first + look; i++)
        for (int row = 0; row < n; row++) {
            double part = m->part(m->c, row, i);
            for (int q = 0; q < n; q++) a[row][q] += part * m->part(m->c, q, i);
            a[row][n] += part * made_of_got(m, i);
        }
    if (!made_of_solve(a, n)) return false;
    for (int q = 0; q < n; q++) mix->of[q] = fabs(a[q][n]) < 1e-6 ? 0 : a[q][n];
    return true;
}

/* False if it is no mixture of what the ranks had, or too short to tell. */
static inline bool made_of_weights(const made_of *m, made_of_mix *mix)
{
    double n = m->c->ranks;
    *mix = (made_of_mix){{0}};
    if (n > MADE_OF_MOST_RANKS || m->length < MADE_OF_LEAST) return false;
    if ((double)m->length > n) return made_of_best_weights(m, mix) && made_of_is_mix(m, mix);
    return made_of_small_weights(m, 1, mix) || (m->op == OP_MEAN && made_of_small_weights(m, n, mix));
}

static inline unsigned made_of_set(const made_of *m, const made_of_mix *mix, double weight)
{
    unsigned set = 0;
    for (int q = 0; q < m->c->ranks; q++)
        if (fabs(mix->of[q] - weight) < 1e-4) set |= 1u << q;
    return set;
}

static inline int made_of_count(unsigned set)
{
    int count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

static inline void made_of_tell_divisor(const made_of *m, double divisor)
{
    const check_case *c = m->c;
    int n = c->ranks, power = 1 << expected_log2_down(n);
    if (fabs(divisor - 1) < 1e-4)
        check_fail(c, "not_divided", "%s%s %d has the sum of all parts, not the mean: it was not divided by n = %d%s.",
                   m->of, made_of_who(m), m->rank, n, n == 2 ? " (or by n - 1, which is 1 here)" : "");
    else if (fabs(divisor - n * n) < 1e-4)
        check_fail(c, "divided_twice",
                   "%s%s %d has a mean that was divided twice: it has the sum of all parts / %d, where sum / %d is the "
                   "mean. Divide once, where the sum is complete.",
                   m->of, made_of_who(m), m->rank, n * n, n);
    else
        check_fail(
            c, "divisor", "%s%s %d has the sum of all parts divided by %.6g; the mean is the sum divided by n = %d.%s",
            m->of, made_of_who(m), m->rank, divisor, n,
            fabs(divisor - (n - 1)) < 1e-4 && divisor != power ? " n - 1 is the number of the others."
            : fabs(divisor - power) < 1e-4 ? " Only the ranks of the butterfly were counted, or each round halved it."
                                           : "");
}

/* All parts count the same, and not as they should. */
static inline bool made_of_tell_factor(const made_of *m, double weight)
{
    int n = m->c->ranks;
    if (m->op == OP_MEAN && n > 1) {
        made_of_tell_divisor(m, 1 / weight);
        return true;
    }
    if (fabs(weight * n - 1) < 1e-4 && n > 1)
        return !check_fail(m->c, "divided", "%s%s %d has the mean: the sum was divided by n = %d, though op is %s.",
                           m->of, made_of_who(m), m->rank, n, op_name(m->op));
    bool by_count = m->c->count > 1 && fabs(weight * (double)m->c->count - 1) < 1e-4;
    return !check_fail(m->c, fabs(weight - 2) < 1e-4 ? "twice" : "factor",
                       "%s%s %d has %.6g times what it should have: everyone's part is in its %s %.6g times.%s", m->of,
                       made_of_who(m), m->rank, weight, op_name(m->op), weight,
                       by_count ? " That is one part in count: divided by the number of elements, not of ranks?" : "");
}

static inline bool made_of_tell_missing(const made_of *m, unsigned none)
{
    char some[100], others[100];
    unsigned there = made_of_all(m) & ~none;
    const check_case *c = m->c;
    const char *word = op_name(m->op);
    if (!there)
        check_fail(c, "zero", "%s%s %d has only zeros: no rank's part is in its %s.", m->of, made_of_who(m), m->rank,
                   word);
    else if (there == 1u << m->rank)
        check_fail(c, check_sent(c, m->rank).messages_received ? "alone" : "alone.unreceived",
                   "%s%s %d has only its own part: nothing of the other ranks is in its %s.%s", m->of, made_of_who(m),
                   m->rank, word, check_sent(c, m->rank).messages_received ? "" : " No message has come to it.");
    else
        check_fail(c, "missing", "%s%s %d has the part%s of %s in its %s; what %s had is missing.%s", m->of,
                   made_of_who(m), m->rank, there & (there - 1) ? "s" : "", expected_ranks(some, sizeof some, there),
                   word, expected_ranks(others, sizeof others, none),
                   there & (there - 1) || !(none & 1u << m->rank)
                       ? ""
                       : " Was what came written over its own, in place of being combined with it?");
    return true;
}

static inline bool made_of_tell_twice(const made_of *m, unsigned twice, unsigned none)
{
    char some[100], others[100];
    return !check_fail(m->c, "twice", "%s%s %d has what %s had in its %s twice%s%s%s.", m->of, made_of_who(m), m->rank,
                       expected_ranks(some, sizeof some, twice), op_name(m->op), none ? ", and of " : "",
                       none ? expected_ranks(others, sizeof others, none) : "", none ? " nothing" : "");
}

/* "Rank 0 has 0.333 times what rank 0 had, 0.111 times what rank 1 had ...": no sentence fits better. */
static inline bool made_of_tell_list(const made_of *m, const made_of_mix *mix, double right)
{
    char text[400];
    size_t used = 0;
    bool divided = m->op == OP_MEAN;
    for (int q = 0; q < m->c->ranks && used < sizeof text; q++) {
        divided = divided && mix->of[q] > 0 && mix->of[q] < 1;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.3g times what rank %d had", q ? ", " : "",
                                 mix->of[q], q);
    }
    return !check_fail(m->c, divided ? "divided_on_the_way" : "weights",
                       "%s%s %d has %s; each should count %.3g times.%s", m->of, made_of_who(m), m->rank, text, right,
                       divided ? " Something is divided on the way, before all parts are in." : "");
}

/* Say what a mixture is. False if it is what it should be. */
static inline bool made_of_tell(const made_of *m, const made_of_mix *mix)
{
    unsigned all = made_of_all(m), none = made_of_set(m, mix, 0), same = made_of_set(m, mix, mix->of[0]);
    double right = m->op == OP_MEAN ? 1.0 / m->c->ranks : 1;
    unsigned once = made_of_set(m, mix, right), twice = made_of_set(m, mix, 2 * right);
    if (once == all) return false;
    if (none == all) return made_of_tell_missing(m, none);
    if (same == all && (twice != all || m->op == OP_MEAN)) return made_of_tell_factor(m, mix->of[0]);
    if ((once | twice | none) == all && twice) return made_of_tell_twice(m, twice, none);
    if ((once | none) == all) return made_of_tell_missing(m, none);
    unsigned whole = made_of_set(m, mix, 1); /* of a mean: parts that were not divided */
    if ((whole | none) == all) return made_of_tell_missing(m, none);
    return made_of_tell_list(m, mix, right);
}

/* ---- Operators ---- */

/* The most ranks whose minimum or maximum it is. */
static inline unsigned made_of_extreme_of(const made_of *m)
{
    unsigned best = 0;
    for (unsigned set = 1; set < made_of_all(m); set++)
        if (made_of_count(set) > made_of_count(best) && made_of_is(m, m->op, set, m->first, m->first + m->length))
            best = set;
    return best;
}

static inline bool made_of_is_divided(const made_of *m)
{
    for (size_t i = m->first; i < m->first + m->length; i++)
        if (!expected_close(m->dtype, made_of_got(m, i), made_of_combined(m, m->op, made_of_all(m), i) / m->c->ranks))
            return false;
    return m->c->ranks > 1;
}

static inline bool made_of_tell_operator(const made_of *m)
{
    static const enum op ops[] = {OP_SUM, OP_MEAN, OP_MIN, OP_MAX};
    if (m->length < MADE_OF_LEAST || m->c->ranks > MADE_OF_MOST_RANKS) return false;
    for (int i = 0; i < 4; i++)
        if (ops[i] != m->op && made_of_is(m, ops[i], made_of_all(m), m->first, m->first + m->length))
            return !check_fail(m->c, "op", "%s%s %d has the %s of all parts; op asks for the %s.", m->of,
                               made_of_who(m), m->rank, op_name(ops[i]), op_name(m->op));
    if ((m->op == OP_MIN || m->op == OP_MAX) && made_of_is_divided(m))
        return !check_fail(m->c, "divided", "%s%s %d has the %s divided by n = %d: only a mean is divided.", m->of,
                           made_of_who(m), m->rank, op_name(m->op), m->c->ranks);
    unsigned some = m->op == OP_MIN || m->op == OP_MAX ? made_of_extreme_of(m) : 0;
    return some && made_of_tell_missing(m, made_of_all(m) & ~some);
}

/* ---- Right at the beginning, and then no more ---- */

/* What a byte of memory from malloc holds before anything is written, under the sanitizer. */
enum { MADE_OF_FRESH = 0xbe };

static inline double made_of_fresh(enum dtype dtype)
{
    unsigned char bytes[8];
    memset(bytes, MADE_OF_FRESH, sizeof bytes);
    return check_get(bytes, 0, dtype);
}

static inline bool made_of_is_left(const made_of *m, size_t i, double add)
{
    double own = m->part(m->c, m->rank, i);
    return expected_close(m->dtype, made_of_got(m, i), own + add) || (add != 0 && made_of_got(m, i) == add);
}

static inline bool made_of_all_left(const made_of *m, size_t from, double add)
{
    for (size_t i = from; i < m->first + m->length; i++)
        if (!made_of_is_left(m, i, add)) return false;
    return true;
}

/* So many bytes of so many: a length in the wrong unit? */
static inline const char *made_of_unit(const made_of *m, size_t right)
{
    size_t element = dtype_size(m->dtype);
    if (m->length < MADE_OF_LEAST) return ""; /* too short to tell */
    if (element > 1 && right == m->length / element)
        return " That is one byte for each element: lengths of messages, and memcpy's, are in bytes, count * "
               "dtype_size(dtype).";
    if (element == 8 && right == m->length / 2)
        return " That is as if each element had 4 bytes; here it has 8: dtype_size(dtype).";
    return "";
}

static inline bool made_of_tell_beginning(const made_of *m)
{
    size_t end = m->first + m->length, from = m->first;
    double fresh = made_of_fresh(m->dtype);
    while (from < end && made_of_is(m, m->op, made_of_all(m), from, from + 1)) from++;
    size_t right = from - m->first,
           after = from + 1 < end && right == m->length / dtype_size(m->dtype) ? from + 1 : from;
    if (!right || from == end) return false; /* one element may be half right, if bytes were cut off */
    bool untouched = made_of_all_left(m, after, 0);
    if (!untouched && !made_of_all_left(m, after, fresh)) return false;
    return !check_fail(
        m->c, "beginning", "%s%s %d has the right %s in its first %zu of %zu elements; behind them is %s.%s", m->of,
        made_of_who(m), m->rank, op_name(m->op), right, m->length,
        untouched ? "what was there before" : "memory from malloc that nothing was written to", made_of_unit(m, right));
}

/* ---- Another type ---- */

static inline float made_of_bits(double value)
{
    int32_t bits = (int32_t)value;
    float same;
    memcpy(&same, &bits, sizeof same);
    return same;
}

/* Are they whole numbers whose bits were taken for those of floats? */
static inline bool made_of_tell_floats(const made_of *m)
{
    for (size_t i = m->first; i < m->first + m->length; i++) {
        float result = made_of_bits(m->part(m->c, 0, i)), got = made_of_bits(made_of_got(m, i));
        for (int q = 1; q < m->c->ranks; q++) {
            float part = made_of_bits(m->part(m->c, q, i));
            if (m->op == OP_MIN || m->op == OP_MAX)
                result = isnan(result) || isnan(part) ? NAN : (m->op == OP_MIN) == (part < result) ? part : result;
            else
                result += part;
        }
        if (!(isnan(result) && isnan(got)) && result != got) return false;
    }
    return m->length >= MADE_OF_LEAST &&
           !check_fail(
               m->c, "dtype",
               "%s%s %d has what comes out if whole numbers are combined as if they were floats: the type is %s "
               "here, and dtype says so.",
               m->of, made_of_who(m), m->rank, dtype_name(m->dtype));
}

/* ---- All of it ---- */

/* Are they equal to the last bit? Or only up to rounding, because each part was divided, and not the sum? */
static inline bool made_of_is_exact(const made_of *m)
{
    char stored[8];
    for (size_t i = m->first; i < m->first + m->length; i++) {
        check_put(stored, 0, m->dtype, made_of_combined(m, m->op, made_of_all(m), i));
        if (made_of_got(m, i) != check_get(stored, 0, m->dtype)) return false;
    }
    return true;
}

/* If they are not the combination of all parts: what they are. Notes the failure and returns true if that can be told. */
static inline bool made_of_explain(const made_of *m)
{
    made_of_mix mix;
    if (made_of_is_exact(m)) return false;
    if (m->length && m->op == OP_MEAN && isinf(made_of_got(m, m->first)))
        return !check_fail(m->c, "divisor",
                           "%s%s %d has something divided by 0. The mean is the sum divided by n = %d.%s", m->of,
                           made_of_who(m), m->rank, m->c->ranks, m->c->ranks == 1 ? " n - 1 is 0 here." : "");
    if (!made_of_is(m, m->op, made_of_all(m), m->first, m->first + m->length)) {
        bool adds = m->op == OP_SUM || m->op == OP_MEAN;
        if (adds && made_of_weights(m, &mix)) return made_of_tell(m, &mix);
        return made_of_tell_operator(m) || made_of_tell_beginning(m) ||
               (m->dtype == DTYPE_I32 && made_of_tell_floats(m));
    }
    check_fail(m->c, "rounding",
               "%s%s %d has nearly the %s, but the last digits differ. Each division rounds: add all parts first, and "
               "divide the sum, once.",
               m->of, made_of_who(m), m->rank, op_name(m->op));
    return true;
}

/* The same for a report of which rank q had check_value(c, q, index). */
static inline bool expected_explain(const check_case *c, int rank, const char *of, const char *name, size_t first,
                                    size_t length)
{
    made_of m = {c, rank, of, name, first, length, c->dtype, c->op, expected_own};
    return made_of_explain(&m);
}

/* What the result of the first rank is made of that has a wrong one. */
static inline bool expected_explain_all(const check_case *c, const char *name)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_elements(c, rank, name) == c->count && expected_explain(c, rank, "", name, 0, c->count)) return true;
    return false;
}

#endif
