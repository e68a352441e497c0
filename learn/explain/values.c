/* SPDX-License-Identifier: MIT */
/*
 * check_values and check_same_bits: is what each rank has what it should have? If not: the table, and what can be seen in it
 * (looks.c).
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

enum dtype learn_dtype_of(const learn_question *q, int rank)
{
    return check_dtype(q->c, rank, q->name);
}

bool learn_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

double learn_wanted(const learn_question *q, int rank, size_t i)
{
    return stored(q->want(q->c, rank, i), learn_dtype_of(q, rank));
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
    enum dtype dtype = learn_dtype_of(q, rank);
    const void *data = check_data(q->c, rank, q->name);
    for (size_t i = 0; i < count; i++) {
        if (learn_equal(check_get(data, i, dtype), stored(q->want(q->c, rank, i), dtype))) continue;
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
    const char *sure = learn_look(&q, &broke);
    char *table = learn_table(&q);
    learn_judge_fail(sure ? sure : key, table, learn_string(&broke));
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
