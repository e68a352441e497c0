/* SPDX-License-Identifier: MIT */
/*
 * check_values and check_same_bits: the table of what each rank had, has and should have, and what can be seen in it: that a
 * buffer was not touched, that it is zero, that it holds another rank's data.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/explain/values.h"

size_t learn_count_of(const learn_question *q, int rank)
{
    return q->count ? q->count(q->c, rank) : q->c->count;
}

/* A number as it is after being stored in that type. */
static double stored(double value, enum dtype dtype)
{
    char room[8];
    check_put(room, 0, dtype, value);
    return check_get(room, 0, dtype);
}

static enum dtype dtype_of(const learn_question *q, int rank)
{
    return check_dtype(q->c, rank, q->name);
}

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

double learn_wanted(const learn_question *q, int rank, size_t i)
{
    return stored(q->want(q->c, rank, i), dtype_of(q, rank));
}

/* ---- What can be seen in it ---- */

enum look {
    LOOK_UNCHANGED,
    LOOK_ZERO,
    LOOK_OTHERS,
    LOOK_UNFILLED,
    LOOK_FACTOR,
    LOOK_SHIFTED,
    LOOK_PART,
    LOOK_LATER,
    LOOK_NOTHING
};

enum { FILL = 0xbe }; /* with which the sanitizer fills what malloc gives */

static bool all_zero(const learn_question *q, int rank)
{
    size_t count = check_elements(q->c, rank, q->name);
    for (size_t i = 0; i < count; i++)
        if (check_element(q->c, rank, q->name, i) != 0) return false;
    return count > 0;
}

static bool same_report(const learn_question *q, int rank, int other, const char *name)
{
    size_t count = check_elements(q->c, rank, q->name);
    if (!count || count != check_elements(q->c, other, name)) return false;
    const void *a = check_data(q->c, rank, q->name), *b = check_data(q->c, other, name);
    return dtype_of(q, rank) == check_dtype(q->c, other, name) &&
           memcmp(a, b, count * dtype_size(dtype_of(q, rank))) == 0;
}

/* Is the first wrong element memory that nobody wrote to, or what should be there with such memory added? */
static bool is_unfilled(const learn_question *q, int rank)
{
    char fill[8];
    size_t i = q->first[rank];
    enum dtype dtype = dtype_of(q, rank);
    memset(fill, FILL, sizeof fill);
    double has = check_element(q->c, rank, q->name, i), nothing = check_get(fill, 0, dtype);
    double sum = learn_wanted(q, rank, i) + nothing;
    return has == nothing || (dtype != DTYPE_U8 && fabs(has - sum) <= 1e-6 * fabs(nothing) + 1e-7 * fabs(sum) &&
                              fabs(sum - learn_wanted(q, rank, i)) > 1e-7 * fabs(sum));
}

/* By which factor every element is wrong; 0 if it is not the same, or two elements do not tell. */
static double factor_of(const learn_question *q, int rank)
{
    size_t count = learn_count_of(q, rank), telling = 0;
    double factor = 0;
    for (size_t i = 0; i < count; i++) {
        double has = check_element(q->c, rank, q->name, i), should = learn_wanted(q, rank, i);
        if (should == 0 && has == 0) continue;
        if (should == 0 || has == 0 || !isfinite(has)) return 0;
        if (!telling++) factor = has / should;
        if (fabs(has - factor * should) > 1e-5 * fabs(has)) return 0;
    }
    return telling > 1 ? factor : 0;
}

/* Each element one place too early (-1) or too late (1); 0: neither. */
static int shift_of(const learn_question *q, int rank)
{
    size_t count = learn_count_of(q, rank);
    for (int by = -1; by <= 1 && count > 3; by += 2) {
        size_t i = 1;
        while (i + 1 < count && check_element(q->c, rank, q->name, i) == learn_wanted(q, rank, by < 0 ? i + 1 : i - 1))
            i++;
        if (i + 1 == count) return by;
    }
    return 0;
}

/* From the first wrong element on, is it as it was before? */
static bool is_part(const learn_question *q, int rank)
{
    size_t count = learn_count_of(q, rank);
    if (!q->before || !q->first[rank] || check_elements(q->c, rank, q->before) != count) return false;
    for (size_t i = q->first[rank]; i < count; i++)
        if (!equal(check_element(q->c, rank, q->name, i), check_element(q->c, rank, q->before, i))) return false;
    return true;
}

static enum look look_closer(const learn_question *q, int rank)
{
    if (is_unfilled(q, rank)) return LOOK_UNFILLED;
    if (factor_of(q, rank) != 0) return LOOK_FACTOR;
    if (shift_of(q, rank)) return LOOK_SHIFTED;
    if (is_part(q, rank)) return LOOK_PART;
    return q->first[rank] >= LEARN_WINDOW ? LOOK_LATER : LOOK_NOTHING;
}

static enum look look_at(const learn_question *q, int rank, int *other)
{
    if (q->before && same_report(q, rank, rank, q->before)) return LOOK_UNCHANGED;
    if (all_zero(q, rank)) return LOOK_ZERO;
    for (*other = 0; q->before && *other < q->c->ranks; ++*other)
        if (*other != rank && same_report(q, rank, *other, q->before)) return LOOK_OTHERS;
    return look_closer(q, rank);
}

void learn_add_ranks(learn_text *t, const bool in[], int ranks)
{
    int count = 0, out = 0, missing = 0, shown = 0;
    for (int i = 0; i < ranks; i++) {
        count += in[i];
        if (!in[i]) missing = i, out++;
    }
    if (!out && ranks > 1) {
        learn_add(t, "every rank");
    } else if (out == 1 && ranks > 3) {
        learn_add(t, "every rank but %d", missing);
    } else {
        learn_add(t, "rank%s ", count == 1 ? "" : "s");
        for (int i = 0; i < ranks; i++) {
            if (!in[i]) continue;
            learn_add(t, "%s%d", !shown ? "" : shown == count - 1 ? " and " : ", ", i);
            shown++;
        }
    }
}

/* The ranks that are wrong in the same way as `first`: what their buffers look like. */
typedef struct {
    enum look look;
    int other; /* LOOK_OTHERS: whose data it is */
    bool in[CHECK_MAX_RANKS];
} group;

static group group_of(const learn_question *q, int first)
{
    group g = {.other = 0};
    g.look = look_at(q, first, &g.other);
    for (int rank = first; rank < q->c->ranks; rank++) {
        int other = 0;
        if (!q->wrong[rank] || look_at(q, rank, &other) != g.look) continue;
        if (g.look == LOOK_OTHERS && other != g.other) continue;
        if ((g.look == LOOK_LATER || g.look == LOOK_PART) && q->first[rank] != q->first[first]) continue;
        if (g.look == LOOK_FACTOR && fabs(factor_of(q, rank) - factor_of(q, first)) > 1e-5) continue;
        if (g.look == LOOK_SHIFTED && shift_of(q, rank) != shift_of(q, first)) continue;
        g.in[rank] = true;
    }
    return g;
}

/* 3 times, or a third: and what that may come from. */
static void describe_factor(const learn_question *q, double factor, learn_text *t)
{
    int n = q->c->ranks;
    double over = 1 / factor;
    if (fabs(over) > 1.5 && fabs(over - round(over)) < 1e-4)
        learn_add(t, "every element of %s is what it should be divided by %.0f", q->name, over);
    else
        learn_add(t, "every element of %s is %.6g times what it should be", q->name, factor);
    if (n > 1 && (fabs(fabs(factor) - n) < 1e-4 || fabs(fabs(over) - n) < 1e-4))
        learn_add(t, ", and there are %d ranks,", n);
}

/* Unfilled memory is what it holds, or has gone into a sum. */
static bool added_to(const learn_question *q, int rank)
{
    char fill[8];
    memset(fill, FILL, sizeof fill);
    return check_element(q->c, rank, q->name, q->first[rank]) != check_get(fill, 0, dtype_of(q, rank));
}

static bool on_all(const learn_question *q, const group *g)
{
    int rank = 0;
    while (rank < q->c->ranks && g->in[rank]) rank++;
    return rank == q->c->ranks && rank > 1;
}

static void describe_group(const learn_question *q, const group *g, int first, learn_text *t)
{
    size_t index = q->first[first];
    switch (g->look) {
    case LOOK_UNCHANGED:
        if (on_all(q, g)) {
            learn_add(t, "%s has changed on no rank.", q->name);
            return;
        }
        learn_add(t, "%s has not changed on ", q->name);
        break;
    case LOOK_ZERO: learn_add(t, "%s is all zeros on ", q->name); break;
    case LOOK_OTHERS: learn_add(t, "%s holds what rank %d had, and should not, on ", q->name, g->other); break;
    case LOOK_UNFILLED:
        learn_add(t, "%s[%zu] is %.9g on rank %d, which is memory that nobody has filled%s; %s is wrong on ", q->name,
                  index, check_element(q->c, first, q->name, index), first,
                  added_to(q, first) ? " (as it comes from malloc), added to what should be there"
                                     : ": so it comes from malloc",
                  q->name);
        break;
    case LOOK_FACTOR:
        describe_factor(q, factor_of(q, first), t);
        learn_add(t, " on ");
        break;
    case LOOK_SHIFTED:
        learn_add(t, "every element of %s stands one place too %s on ", q->name,
                  shift_of(q, first) < 0 ? "early" : "late");
        break;
    case LOOK_PART:
        learn_add(t, "only the first %zu of %zu elements of %s have come; the rest is as it was before, on ", index,
                  learn_count_of(q, first), q->name);
        break;
    case LOOK_LATER:
        learn_add(t, "%s is right up to index %zu, and wrong at %zu, on ", q->name, index - 1, index);
        break;
    case LOOK_NOTHING:
        learn_add(t, "%s[%zu] is %.9g on rank %d, and should be %.9g; %s is wrong on ", q->name, index,
                  check_element(q->c, first, q->name, index), first, learn_wanted(q, first, index), q->name);
        break;
    }
    learn_add_ranks(t, g->in, q->c->ranks);
    learn_add(t, ".");
}

/* One sentence for each way of being wrong; two are enough. */
static void describe(const learn_question *q, learn_text *t)
{
    bool told[CHECK_MAX_RANKS] = {false};
    for (int rank = 0, sentences = 0; rank < q->c->ranks && sentences < 2; rank++) {
        if (!q->wrong[rank] || told[rank]) continue;
        group g = group_of(q, rank);
        if (sentences++) learn_add(t, " ");
        size_t begin = t->used;
        describe_group(q, &g, rank, t);
        if (g.look == LOOK_FACTOR || g.look == LOOK_SHIFTED || g.look == LOOK_PART) t->text[begin] ^= 'a' ^ 'A';
        for (int i = 0; i < q->c->ranks; i++) told[i] |= g.in[i];
    }
}

/* ---- The checks ---- */

static bool length_right(const learn_question *q, int rank, const char *key)
{
    size_t has = check_elements(q->c, rank, q->name), should = learn_count_of(q, rank);
    if (should && !check_data(q->c, rank, q->name))
        return check_fail(q->c, "checker", "The test knows nothing of %s on rank %d: it was not reported.", q->name,
                          rank);
    if (has == should) return true;
    return check_fail(q->c, key, "%s has %zu element%s on rank %d, and should have %zu.", q->name, has,
                      has == 1 ? "" : "s", rank, should);
}

static bool compare(learn_question *q, int rank)
{
    size_t count = learn_count_of(q, rank);
    enum dtype dtype = dtype_of(q, rank);
    const void *data = check_data(q->c, rank, q->name);
    for (size_t i = 0; i < count; i++) {
        if (equal(check_get(data, i, dtype), stored(q->want(q->c, rank, i), dtype))) continue;
        q->wrong[rank] = true;
        q->first[rank] = i;
        return false;
    }
    return true;
}

bool check_values(const check_case *c, const char *key, const char *name, const char *before, check_count *count,
                  check_want *want)
{
    learn_question q = {.c = c, .name = name, .before = before, .count = count, .want = want, .from = SIZE_MAX};
    bool good = true;
    for (int rank = 0; rank < c->ranks; rank++)
        if (!length_right(&q, rank, key)) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        good = compare(&q, rank) && good;
        if (q.wrong[rank] && q.first[rank] < q.from) q.from = q.first[rank];
    }
    if (good) return true;
    q.from = q.from < LEARN_WINDOW ? 0 : q.from;
    learn_text broke = {0};
    describe(&q, &broke);
    char *table = learn_table(&q);
    bool unfilled = false;
    for (int rank = 0; rank < c->ranks; rank++)
        unfilled |= q.wrong[rank] && look_at(&q, rank, &(int){0}) == LOOK_UNFILLED;
    learn_judge_fail(unfilled ? "unfilled" : key, table, learn_string(&broke));
    learn_text_free(&broke);
    free(table);
    return false;
}

/* The bytes of one element, most significant first. */
static void add_bits(learn_text *t, const void *element, size_t bytes)
{
    const unsigned char *byte = element;
    for (size_t i = bytes; i > 0; i--) learn_add(t, "%02x", byte[i - 1]);
}

static void show_difference(const check_case *c, const char *name, int rank, size_t index, learn_text *table)
{
    size_t each = dtype_size(check_dtype(c, rank, name));
    const int both[] = {0, rank};
    for (int i = 0; i < 2; i++) {
        const char *data = check_data(c, both[i], name);
        learn_add(table, "rank %-8d%s[%zu] is %-14.9g bits ", both[i], name, index,
                  check_element(c, both[i], name, index));
        add_bits(table, data + index * each, each);
        learn_add(table, "%s\n", i ? "   <- differs" : "");
    }
}

bool check_same_bits(const check_case *c, const char *key, const char *name)
{
    size_t count = check_elements(c, 0, name), each = dtype_size(check_dtype(c, 0, name));
    const char *first = check_data(c, 0, name);
    for (int rank = 1; rank < c->ranks; rank++) {
        const char *other = check_data(c, rank, name);
        if (check_elements(c, rank, name) != count || !first || !other ||
            check_dtype(c, rank, name) != check_dtype(c, 0, name))
            return check_fail(
                c, key, "%s on rank %d cannot be compared with rank 0's: it is of another length or type.", name, rank);
        if (!count || memcmp(first, other, count * each) == 0) continue;
        size_t index = 0;
        while (memcmp(first + index * each, other + index * each, each) == 0) index++;
        learn_text table = {0};
        show_difference(c, name, rank, index, &table);
        char *broke = learn_format(
            "Rank %d does not have the same bits as rank 0. Rounding depends on the order in which numbers "
            "are added, so every rank must combine them in the same order.",
            rank);
        learn_judge_fail(key, learn_string(&table), broke);
        free(broke);
        learn_text_free(&table);
        return false;
    }
    return true;
}
