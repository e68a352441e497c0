/* SPDX-License-Identifier: MIT */
/*
 * check_values, check_near and check_same_bits: is what each rank has what it should have? If not: the table, and what can be seen in it
 * (looks.c).
 */
#include <math.h>
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

bool learn_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

double learn_wanted(const learn_question *q, int rank, size_t i)
{
    return stored(q->want(q->c, rank, i), check_dtype(q->c, rank, q->name));
}

/* ---- The table ---- */

enum { ROWS = 8, CELL = 80 };

/* "5 88 -1 7 ...": of a report; of what is wanted, if name is NULL. */
static void fill_cell(const learn_question *q, int rank, size_t from, size_t window, const char *name, char *cell)
{
    size_t count = name ? check_elements(q->c, rank, name) : learn_count_of(q, rank), used = 0;
    snprintf(cell, CELL, "%s", count ? "" : "nothing");
    for (size_t i = from; i < count && i < from + window; i++) {
        double value = name ? check_element(q->c, rank, name, i) : learn_wanted(q, rank, i);
        bool whole = floor(value) == value && fabs(value) < 1e15;
        snprintf(cell + used, CELL - used, whole ? "%s%.0f" : "%s%.9g", used ? " " : "", value);
        used = strlen(cell);
    }
    if (from + window < count) snprintf(cell + used, CELL - used, " ...");
}

enum { LABEL, HAD, HAS, SHOULD, CELLS };

typedef struct {
    int rank;
    size_t from; /* the index of its first element that is shown */
    char cells[CELLS][CELL];
} row;

/* Returns the longest line's length. */
static size_t make_rows(const learn_question *q, row rows[ROWS], int count, const int ranks[ROWS], size_t window,
                        size_t widths[CELLS])
{
    bool indexed = false;
    memset(widths, 0, CELLS * sizeof *widths);
    for (row *r = rows; r < rows + count; r++) {
        int rank = ranks[r - rows];
        /* Where the others begin, unless what is wrong here would not be seen. */
        bool seen = !q->wrong[rank] || q->first[rank] < q->from + window;
        *r = (row){.rank = rank, .from = seen ? q->from : q->first[rank]};
        indexed |= r->from > 0;
        snprintf(r->cells[LABEL], CELL, "[%zu] ", r->from);
        if (q->before) fill_cell(q, rank, r->from, window, q->before, r->cells[HAD]);
        fill_cell(q, rank, r->from, window, q->name, r->cells[HAS]);
        fill_cell(q, rank, r->from, window, NULL, r->cells[SHOULD]);
        for (int i = 0; i < CELLS; i++)
            if (strlen(r->cells[i]) > widths[i]) widths[i] = strlen(r->cells[i]);
    }
    if (!indexed) widths[LABEL] = 0;
    return widths[LABEL] + widths[HAD] + widths[HAS] + widths[SHOULD] +
           strlen("  rank 0       had    has    should have    <- wrong");
}

/*
 * What each rank had, has and should have: a line each. Free it.
 *
 *      rank 0       had 12 -7 3 ...   has 12 -7 3 ...   should have 5 88 -1 ...   <- wrong
 */
static char *table_of(const learn_question *q)
{
    row rows[ROWS];
    int ranks[ROWS] = {0}, count = 0;
    size_t widths[CELLS], window = LEARN_WINDOW;
    learn_text t = {0};
    /* Only wrong ranks, if not all can be shown. */
    for (int rank = 0; rank < q->c->ranks && count < ROWS; rank++)
        if (q->c->ranks <= ROWS || q->wrong[rank]) ranks[count++] = rank;
    while (make_rows(q, rows, count, ranks, window, widths) > learn_columns() && window > 1) window--;
    for (const row *r = rows; r < rows + count; r++) {
        learn_add(&t, "rank %-8d%-*s", r->rank, (int)widths[LABEL], widths[LABEL] ? r->cells[LABEL] : "");
        if (q->before) learn_add(&t, "had %-*s   ", (int)widths[HAD], r->cells[HAD]);
        learn_add(&t, "has %-*s   should have %-*s%s\n", (int)widths[HAS], r->cells[HAS], (int)widths[SHOULD],
                  r->cells[SHOULD], q->wrong[r->rank] ? "   <- wrong" : "");
    }
    return t.text;
}

/* ---- The checks ---- */

static bool is_right(const learn_question *q, double has, double should)
{
    return learn_equal(has, should) || (q->near && fabs(has - should) <= 1e-9 * fmax(1, fabs(should)));
}

static bool ask(learn_question q, const char *key)
{
    const check_case *c = q.c;
    const char *name = q.name;
    q.from = SIZE_MAX;
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
        enum dtype dtype = check_dtype(c, rank, name);
        const void *data = check_data(c, rank, name);
        while (i < end && is_right(&q, check_get(data, i, dtype), stored(q.want(c, rank, i), dtype))) i++;
        if (i == end) continue;
        q.wrong[rank] = true;
        q.first[rank] = i;
        if (i < q.from) q.from = i;
    }
    if (q.from == SIZE_MAX) return true;
    if (q.from < LEARN_WINDOW) q.from = 0;
    OWNED_TEXT broke = {0};
    const char *sure = learn_look(&q, &broke);
    OWNED char *table = table_of(&q);
    learn_judge_fail(sure ? sure : key, table, learn_string(&broke));
    return false;
}

bool check_values(const check_case *c, const char *key, const char *name, const char *before, check_count *count,
                  check_want *want)
{
    return ask((learn_question){.c = c, .name = name, .before = before, .count = count, .want = want}, key);
}

bool check_near(const check_case *c, const char *key, const char *name, const char *before, check_count *count,
                check_want *want)
{
    return ask((learn_question){.c = c, .name = name, .before = before, .near = true, .count = count, .want = want},
               key);
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
