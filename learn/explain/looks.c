/* SPDX-License-Identifier: MIT */
/*
 * What can be seen in wrong numbers: that a buffer was not touched, that it is zero, that it holds another rank's data, memory
 * that was never filled, another factor, another place.
 */
#include <math.h>
#include <string.h>

#include "learn/explain/values.h"

enum look { UNCHANGED, ZEROS, OTHERS, UNFILLED, UNSET, FACTOR, SHIFTED, PART, LATER, NOTHING };

/* With which the sanitizer fills what malloc gives, and the compiler variables that are not set (gcc, clang). */
enum { OF_MALLOC = 0xbe, OF_GCC = 0xfe, OF_CLANG = 0xaa };

static bool same_report(const learn_question *q, int rank, int other, const char *name)
{
    size_t count = check_elements(q->c, rank, q->name);
    if (!count || count != check_elements(q->c, other, name)) return false;
    const void *a = check_data(q->c, rank, q->name), *b = check_data(q->c, other, name);
    return check_dtype(q->c, rank, q->name) == check_dtype(q->c, other, name) &&
           memcmp(a, b, count * dtype_size(check_dtype(q->c, rank, q->name))) == 0;
}

static double filled_with(int byte, enum dtype dtype)
{
    char fill[8];
    memset(fill, byte, sizeof fill);
    return check_get(fill, 0, dtype);
}

/* Is the first wrong element memory that holds this byte, or what should be there with such memory added? */
static bool is_filled(const learn_question *q, int rank, int byte)
{
    size_t i = q->first[rank];
    enum dtype dtype = check_dtype(q->c, rank, q->name);
    double has = check_element(q->c, rank, q->name, i), nothing = filled_with(byte, dtype);
    double sum = learn_wanted(q, rank, i) + nothing;
    return has == nothing || (dtype != DTYPE_U8 && fabs(has - sum) <= 1e-6 * fabs(nothing) + 1e-7 * fabs(sum) &&
                              fabs(sum - learn_wanted(q, rank, i)) > 1e-7 * fabs(sum));
}

/* A variable that was never set, or what was computed from it: no test has numbers as large. */
static bool is_unset(const learn_question *q, int rank)
{
    enum dtype dtype = check_dtype(q->c, rank, q->name);
    double has = fabs(check_element(q->c, rank, q->name, q->first[rank]));
    if (dtype == DTYPE_F64 && has > 1e290 && isfinite(has)) return true;
    if (dtype == DTYPE_F32 && has > 1e36 && isfinite(has)) return true;
    return is_filled(q, rank, OF_GCC) || is_filled(q, rank, OF_CLANG);
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
        if (!learn_equal(check_element(q->c, rank, q->name, i), check_element(q->c, rank, q->before, i))) return false;
    return true;
}

static enum look look_at(const learn_question *q, int rank, int *other)
{
    size_t count = check_elements(q->c, rank, q->name), zeros = 0;
    if (q->before && same_report(q, rank, rank, q->before)) return UNCHANGED;
    while (zeros < count && check_element(q->c, rank, q->name, zeros) == 0) zeros++;
    if (count && zeros == count) return ZEROS;
    for (*other = 0; q->before && *other < q->c->ranks; ++*other)
        if (*other != rank && same_report(q, rank, *other, q->before)) return OTHERS;
    if (is_filled(q, rank, OF_MALLOC)) return UNFILLED;
    if (is_unset(q, rank)) return UNSET;
    if (factor_of(q, rank) != 0) return FACTOR;
    if (shift_of(q, rank)) return SHIFTED;
    if (is_part(q, rank)) return PART;
    return q->first[rank] >= LEARN_WINDOW ? LATER : NOTHING;
}

void learn_add_numbers(learn_text *t, const bool in[], int count)
{
    int left = 0;
    for (int i = 0; i < count; i++) left += in[i];
    for (int i = 0; i < count; i++)
        if (in[i]) learn_add(t, "%d%s", i, --left > 1 ? ", " : left ? " and " : "");
}

void learn_add_ranks(learn_text *t, const bool in[], int ranks)
{
    int count = 0, missing = 0;
    for (int i = 0; i < ranks; i++) {
        count += in[i];
        if (!in[i]) missing = i;
    }
    if (count == ranks && ranks > 1) {
        learn_add(t, "every rank");
    } else if (count == ranks - 1 && ranks > 3) {
        learn_add(t, "every rank but %d", missing);
    } else {
        learn_add(t, "rank%s ", count == 1 ? "" : "s");
        learn_add_numbers(t, in, ranks);
    }
}

/* The ranks that are wrong in the same way as `first`: what their buffers look like. */
typedef struct {
    enum look look;
    int other; /* OTHERS: whose data it is */
    bool in[CHECK_MAX_RANKS];
} group;

static group group_of(const learn_question *q, int first)
{
    group g = {.other = 0};
    g.look = look_at(q, first, &g.other);
    for (int rank = first; rank < q->c->ranks; rank++) {
        int other = 0;
        if (!q->wrong[rank] || look_at(q, rank, &other) != g.look) continue;
        if (g.look == OTHERS && other != g.other) continue;
        if ((g.look == LATER || g.look == PART) && q->first[rank] != q->first[first]) continue;
        if (g.look == FACTOR && fabs(factor_of(q, rank) - factor_of(q, first)) > 1e-5) continue;
        if (g.look == SHIFTED && shift_of(q, rank) != shift_of(q, first)) continue;
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

static void describe_group(const learn_question *q, const group *g, int first, learn_text *t)
{
    size_t index = q->first[first];
    double has = check_element(q->c, first, q->name, index);
    int right = 0;
    switch (g->look) {
    case UNCHANGED:
        while (right < q->c->ranks && g->in[right]) right++;
        if (right == q->c->ranks && right > 1) {
            learn_add(t, "%s has changed on no rank.", q->name);
            return;
        }
        learn_add(t, "%s has not changed on ", q->name);
        break;
    case ZEROS: learn_add(t, "%s is all zeros on ", q->name); break;
    case OTHERS: learn_add(t, "%s holds what rank %d had, and should not, on ", q->name, g->other); break;
    case UNFILLED:
        learn_add(t, "%s[%zu] is %.9g on rank %d, which is memory that was never filled%s; %s is wrong on ", q->name,
                  index, has, first,
                  has == filled_with(OF_MALLOC, check_dtype(q->c, first, q->name))
                      ? ": so it comes from malloc"
                      : " (as it comes from malloc), added to what should be there",
                  q->name);
        break;
    case UNSET:
        learn_add(t, "%s[%zu] is %.9g on rank %d, which comes of a variable that was never set; %s is wrong on ",
                  q->name, index, has, first, q->name);
        break;
    case FACTOR:
        describe_factor(q, factor_of(q, first), t);
        learn_add(t, " on ");
        break;
    case SHIFTED:
        learn_add(t, "every element of %s stands one place too %s on ", q->name,
                  shift_of(q, first) < 0 ? "early" : "late");
        break;
    case PART:
        learn_add(t, "only the first %zu of %zu elements of %s have come; the rest is as it was before, on ", index,
                  learn_count_of(q, first), q->name);
        break;
    case LATER: learn_add(t, "%s is right up to index %zu, and wrong at %zu, on ", q->name, index - 1, index); break;
    case NOTHING:
        learn_add(t, "%s[%zu] is %.9g on rank %d, and should be %.9g; %s is wrong on ", q->name, index, has, first,
                  learn_wanted(q, first, index), q->name);
        break;
    }
    learn_add_ranks(t, g->in, q->c->ranks);
    learn_add(t, ".");
}

/* One sentence for each way of being wrong; two are enough. */
const char *learn_look(const learn_question *q, learn_text *t)
{
    bool told[CHECK_MAX_RANKS] = {false}, unfilled = false, unset = false;
    for (int rank = 0, sentences = 0; rank < q->c->ranks; rank++) {
        if (!q->wrong[rank] || told[rank]) continue;
        group g = group_of(q, rank);
        unfilled |= g.look == UNFILLED, unset |= g.look == UNSET;
        for (int i = 0; i < q->c->ranks; i++) told[i] |= g.in[i];
        if (++sentences > 2) continue;
        if (sentences == 2) learn_add(t, " ");
        size_t begin = t->used;
        describe_group(q, &g, rank, t);
        if (g.look == FACTOR || g.look == SHIFTED || g.look == PART) t->text[begin] ^= 'a' ^ 'A';
    }
    return unset ? "unset" : unfilled ? "unfilled" : NULL;
}
