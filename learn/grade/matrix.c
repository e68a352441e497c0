/* SPDX-License-Identifier: MIT */
/*
 * The grades of a class at a glance: a row for each submission, a column for each exercise; and for each exercise what went
 * wrong most often.
 *
 *                       08  10
 *      ada               +   -
 *      bob               +   .
 *      right           2/2 0/2
 */
#include <ctype.h>
#include <string.h>

#include "learn/grade/formats.h"

static const char marks[] = {[LEARN_RIGHT] = '+', [LEARN_WRONG] = '-', [LEARN_UNTOUCHED] = '.', [LEARN_MISSING] = ' '};

enum { NAME_WIDTH = 16 };

/* The exercise of each column: grades of one submission stand together, so the first submission's name all of them. */
static size_t columns(const learn_grades *all)
{
    size_t count = 0;
    while (count < all->count && all->grades[count].submission == all->grades[0].submission) count++;
    return count;
}

static void print_name(const char *name)
{
    for (int i = 0; i < NAME_WIDTH; i++)
        putchar(!*name ? ' ' : iscntrl((unsigned char)*name) ? (name++, '?') : *name++);
}

static void print_rows(const learn_grades *all, size_t width)
{
    printf("\n%*s", NAME_WIDTH, "");
    for (size_t i = 0; i < width; i++) printf("  %02d", all->grades[i].e->number);
    for (size_t i = 0; i < all->count; i++) {
        const learn_grade *g = &all->grades[i];
        if (i % width == 0) putchar('\n'), print_name(g->submission);
        printf("   %c", marks[g->verdict]);
    }
    printf("\n%-*s", NAME_WIDTH, "right");
    for (size_t i = 0; i < width; i++) {
        size_t right = 0;
        for (size_t at = i; at < all->count; at += width) right += all->grades[at].verdict == LEARN_RIGHT;
        printf(" %3zu", right);
    }
    printf("   of %zu     + right   - wrong   . not started\n", all->submissions);
}

/* How many in this column are wrong in the same way. */
static size_t alike(const learn_grades *all, size_t width, size_t column, const char *kind)
{
    size_t count = 0;
    for (size_t at = column; at < all->count; at += width)
        count += all->grades[at].verdict == LEARN_WRONG && strcmp(all->grades[at].kind, kind) == 0;
    return count;
}

static void print_reason(const learn_grades *all, size_t width, size_t column)
{
    size_t most = 0, wrong = 0;
    const learn_grade *example = NULL;
    for (size_t at = column; at < all->count; at += width) {
        const learn_grade *g = &all->grades[at];
        if (g->verdict != LEARN_WRONG) continue;
        size_t count = alike(all, width, column, g->kind);
        if (count > most) most = count, example = g;
        wrong++;
    }
    if (!example) return;
    printf("  %02d  %zu of %zu  ", example->e->number, most, wrong);
    for (const char *at = example->reason; *at; at++) putchar(iscntrl((unsigned char)*at) ? '?' : *at);
    putchar('\n');
}

void learn_print_matrix(const learn_grades *all)
{
    size_t width = columns(all), wrong = 0;
    if (all->submissions < 2 || !width || all->count % width) return;
    print_rows(all, width);
    for (size_t i = 0; i < all->count; i++) wrong += all->grades[i].verdict == LEARN_WRONG;
    if (!wrong) return;
    puts("\nwhat went wrong most often, with an example:");
    for (size_t i = 0; i < width; i++) print_reason(all, width, i);
}
