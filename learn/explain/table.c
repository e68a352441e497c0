/* SPDX-License-Identifier: MIT */
/*
 * The table of a check_values that failed:
 *
 *      rank 0       had 12 -7 3 ...   has 12 -7 3 ...   should have 5 88 -1 ...   <- wrong
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/explain/values.h"

enum { ROWS = 8, CELL = 80, LINE = 106 };

/* ---- Cells: "5 88 -1 7 ..." ---- */

static void add_number(char *cell, double value)
{
    size_t used = strlen(cell);
    bool whole = floor(value) == value && fabs(value) < 1e15;
    snprintf(cell + used, CELL - used, whole ? "%s%.0f" : "%s%.9g", used ? " " : "", value);
}

static void add_end(char *cell, size_t from, size_t count, size_t window)
{
    size_t used = strlen(cell);
    if (!count)
        snprintf(cell, CELL, "nothing");
    else if (from + window < count)
        snprintf(cell + used, CELL - used, " ...");
}

static void reported_cell(const learn_question *q, int rank, size_t from, size_t window, const char *name, char *cell)
{
    size_t count = check_elements(q->c, rank, name);
    cell[0] = '\0';
    for (size_t i = from; i < count && i < from + window; i++) add_number(cell, check_element(q->c, rank, name, i));
    add_end(cell, from, count, window);
}

static void wanted_cell(const learn_question *q, int rank, size_t from, size_t window, char *cell)
{
    size_t count = learn_count_of(q, rank);
    cell[0] = '\0';
    for (size_t i = from; i < count && i < from + window; i++) add_number(cell, learn_wanted(q, rank, i));
    add_end(cell, from, count, window);
}

/* ---- The table ---- */

typedef struct {
    int rank;
    size_t from; /* the index of its first element that is shown */
    char label[32], had[CELL], has[CELL], should[CELL];
} row;

static size_t longer(size_t width, const char *cell)
{
    return strlen(cell) > width ? strlen(cell) : width;
}

/* Wrong ranks first if not all can be shown; then in order. */
static int choose_ranks(const learn_question *q, int *ranks)
{
    int count = 0;
    bool all = q->c->ranks <= ROWS;
    for (int rank = 0; rank < q->c->ranks && count < ROWS; rank++)
        if (all || q->wrong[rank]) ranks[count++] = rank;
    return count;
}

enum { LABEL, HAD, HAS, SHOULD, CELLS };

static void add_row(learn_text *t, const learn_question *q, const row *r, const size_t widths[CELLS])
{
    learn_add(t, "rank %-8d%-*s", r->rank, (int)widths[LABEL], widths[LABEL] ? r->label : "");
    if (q->before) learn_add(t, "had %-*s   ", (int)widths[HAD], r->had);
    learn_add(t, "has %-*s   should have %-*s%s\n", (int)widths[HAS], r->has, (int)widths[SHOULD], r->should,
              q->wrong[r->rank] ? "   <- wrong" : "");
}

/* Where the others begin, unless what is wrong here would not be seen. */
static row make_row(const learn_question *q, int rank, size_t window)
{
    bool seen = !q->wrong[rank] || q->first[rank] < q->from + window;
    row r = {.rank = rank, .from = seen ? q->from : q->first[rank]};
    snprintf(r.label, sizeof r.label, "[%zu] ", r.from);
    if (q->before) reported_cell(q, rank, r.from, window, q->before, r.had);
    reported_cell(q, rank, r.from, window, q->name, r.has);
    wanted_cell(q, rank, r.from, window, r.should);
    return r;
}

/* Returns the longest line's length. */
static size_t make_rows(const learn_question *q, row rows[ROWS], int count, const int ranks[ROWS], size_t window,
                        size_t widths[CELLS])
{
    bool indexed = false;
    memset(widths, 0, CELLS * sizeof *widths);
    for (int i = 0; i < count; i++) {
        rows[i] = make_row(q, ranks[i], window);
        indexed |= rows[i].from > 0;
        widths[LABEL] = longer(widths[LABEL], rows[i].label);
        widths[HAD] = longer(widths[HAD], rows[i].had);
        widths[HAS] = longer(widths[HAS], rows[i].has);
        widths[SHOULD] = longer(widths[SHOULD], rows[i].should);
    }
    if (!indexed) widths[LABEL] = 0;
    return widths[LABEL] + widths[HAD] + widths[HAS] + widths[SHOULD] +
           strlen("  rank 0       had    has    should have    <- wrong");
}

char *learn_table(const learn_question *q)
{
    row rows[ROWS];
    int ranks[ROWS] = {0}, count = choose_ranks(q, ranks);
    size_t widths[CELLS], window = LEARN_WINDOW;
    learn_text t = {0};
    while (make_rows(q, rows, count, ranks, window, widths) > LINE && window > 2) window--;
    for (int i = 0; i < count; i++) add_row(&t, q, &rows[i], widths);
    return t.text;
}
