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

bool check_values(const check_case *c, const char *key, const char *name, const char *before, check_count *count,
                  check_want *want)
{
    learn_question q = {.c = c, .name = name, .before = before, .count = count, .want = want, .from = SIZE_MAX};
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t has = check_elements(c, rank, name), should = learn_count_of(&q, rank);
        if (should && !check_data(c, rank, name))
            return check_fail(c, "checker", "The test knows nothing of %s on rank %d: it was not reported.", name,
                              rank);
        if (has != should)
            return check_fail(c, key, "%s has %zu element%s on rank %d, and should have %zu.", name, has,
                              has == 1 ? "" : "s", rank, should);
    }
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t i = 0, end = learn_count_of(&q, rank);
        enum dtype dtype = learn_dtype_of(&q, rank);
        const void *data = check_data(c, rank, name);
        while (i < end && learn_equal(check_get(data, i, dtype), stored(want(c, rank, i), dtype))) i++;
        if (i == end) continue;
        q.wrong[rank] = true;
        q.first[rank] = i;
        if (i < q.from) q.from = i;
    }
    if (q.from == SIZE_MAX) return true;
    if (q.from < LEARN_WINDOW) q.from = 0;
    OWNED_TEXT broke = {0};
    const char *sure = learn_look(&q, &broke);
    OWNED char *table = learn_table(&q);
    learn_judge_fail(sure ? sure : key, table, learn_string(&broke));
    return false;
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
        OWNED_TEXT table = {0};
        for (int i = 0; i < 2; i++) {
            const unsigned char *element = (const unsigned char *)(i ? other : first) + index * each;
            learn_add(&table, "rank %-8d%s[%zu] is %-14.9g bits ", i ? rank : 0, name, index,
                      check_element(c, i ? rank : 0, name, index));
            for (size_t k = each; k > 0; k--) learn_add(&table, "%02x", element[k - 1]); /* most significant first */
            learn_add(&table, "%s\n", i ? "   <- differs" : "");
        }
        OWNED char *broke = learn_format(
            "Rank %d does not have the same bits as rank 0. Rounding depends on the order in which numbers "
            "are added, so every rank must combine them in the same order.",
            rank);
        learn_judge_fail(key, learn_string(&table), broke);
        return false;
    }
    return true;
}
