/* SPDX-License-Identifier: MIT */
/*
 * check_values and check_same_bits: the table of what each rank had, has and should have, and what can be seen in it: that a
 * buffer was not touched, that it is zero, that it holds another rank's data.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/values.h"

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

enum look { LOOK_UNCHANGED, LOOK_ZERO, LOOK_OTHERS, LOOK_LATER, LOOK_NOTHING };

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

static enum look look_at(const learn_question *q, int rank, int *other)
{
    if (q->before && same_report(q, rank, rank, q->before)) return LOOK_UNCHANGED;
    if (all_zero(q, rank)) return LOOK_ZERO;
    for (*other = 0; q->before && *other < q->c->ranks; ++*other)
        if (*other != rank && same_report(q, rank, *other, q->before)) return LOOK_OTHERS;
    return q->first[rank] >= LEARN_WINDOW ? LOOK_LATER : LOOK_NOTHING;
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
        if (g.look == LOOK_LATER && q->first[rank] != q->first[first]) continue;
        g.in[rank] = true;
    }
    return g;
}

static void describe_group(const learn_question *q, const group *g, int first, learn_text *t)
{
    size_t index = q->first[first];
    switch (g->look) {
    case LOOK_UNCHANGED: learn_add(t, "%s has not changed on ", q->name); break;
    case LOOK_ZERO: learn_add(t, "%s is all zeros on ", q->name); break;
    case LOOK_OTHERS: learn_add(t, "%s holds what rank %d had, and should not, on ", q->name, g->other); break;
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
        describe_group(q, &g, rank, t);
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
    learn_judge_fail(key, table, learn_string(&broke));
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
