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

/* Of a report; of what is wanted, if name is NULL. */
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

enum { LABEL, HAD, HAS, SHOULD, CELLS };

/* Returns the longest line's length. */
static size_t make_rows(const learn_question *q, row rows[ROWS], int count, const int ranks[ROWS], size_t window,
                        size_t widths[CELLS])
{
    bool indexed = false;
    memset(widths, 0, CELLS * sizeof *widths);
    for (int i = 0; i < count; i++) {
        int rank = ranks[i];
        row *r = &rows[i];
        /* Where the others begin, unless what is wrong here would not be seen. */
        bool seen = !q->wrong[rank] || q->first[rank] < q->from + window;
        *r = (row){.rank = rank, .from = seen ? q->from : q->first[rank]};
        indexed |= r->from > 0;
        snprintf(r->label, sizeof r->label, "[%zu] ", r->from);
        if (q->before) fill_cell(q, rank, r->from, window, q->before, r->had);
        fill_cell(q, rank, r->from, window, q->name, r->has);
        fill_cell(q, rank, r->from, window, NULL, r->should);
        widths[LABEL] = longer(widths[LABEL], r->label);
        widths[HAD] = longer(widths[HAD], r->had);
        widths[HAS] = longer(widths[HAS], r->has);
        widths[SHOULD] = longer(widths[SHOULD], r->should);
    }
    if (!indexed) widths[LABEL] = 0;
    return widths[LABEL] + widths[HAD] + widths[HAS] + widths[SHOULD] +
           strlen("  rank 0       had    has    should have    <- wrong");
}

char *learn_table(const learn_question *q)
{
    row rows[ROWS];
    int ranks[ROWS] = {0}, count = 0;
    size_t widths[CELLS], window = LEARN_WINDOW;
    learn_text t = {0};
    /* Only wrong ranks, if not all can be shown. */
    for (int rank = 0; rank < q->c->ranks && count < ROWS; rank++)
        if (q->c->ranks <= ROWS || q->wrong[rank]) ranks[count++] = rank;
    while (make_rows(q, rows, count, ranks, window, widths) > LINE && window > 2) window--;
    for (const row *r = rows; r < rows + count; r++) {
        learn_add(&t, "rank %-8d%-*s", r->rank, (int)widths[LABEL], widths[LABEL] ? r->label : "");
        if (q->before) learn_add(&t, "had %-*s   ", (int)widths[HAD], r->had);
        learn_add(&t, "has %-*s   should have %-*s%s\n", (int)widths[HAS], r->has, (int)widths[SHOULD], r->should,
                  q->wrong[r->rank] ? "   <- wrong" : "");
    }
    return t.text;
}
