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
#include <limits.h>

#include "learn/explain/autopsy.h"
#include "learn/grade/formats.h"

enum { NAME_WIDTH = 16 };

void learn_print_plain(const char *text, int least, int most)
{
    int count = 0;
    for (; *text && *text != '\n' && count < most; text++, count++)
        putchar(iscntrl((unsigned char)*text) ? '?' : *text);
    printf("%*s", count < least ? least - count : 0, "");
}

static bool is_wrong(const json_t *g)
{
    return learn_field_is(g, "verdict", "wrong");
}

static void print_rows(const json_t *all, size_t width, size_t count)
{
    const json_t *g;
    printf("\n%*s", NAME_WIDTH, "");
    for (size_t i = 0; i < width; i++) printf("  %s", learn_field(learn_grade_at(all, i), "code"));
    for (size_t i = 0; (g = learn_grade_at(all, i)); i++) {
        if (i % width == 0) putchar('\n'), learn_print_plain(learn_field(g, "submission"), NAME_WIDTH, NAME_WIDTH);
        printf("   %c", learn_field_is(g, "verdict", "not started") ? '.' : "+-- "[learn_verdict_of(g)]);
    }
    printf("\n%-*s", NAME_WIDTH, "right");
    for (size_t i = 0; i < width; i++) {
        int right = 0;
        for (size_t at = i; at < count; at += width) right += learn_verdict_of(learn_grade_at(all, at)) == LEARN_RIGHT;
        printf(" %3d", right);
    }
    printf("   of %d     + right   - wrong   . not started\n", learn_field_number(all, "submissions"));
}

/* What went wrong most often in a column, how often, and an example. */
static void print_reason(const json_t *all, size_t width, size_t column)
{
    int most = 0, wrong = 0;
    const json_t *example = NULL, *g;
    for (size_t at = column; (g = learn_grade_at(all, at)); at += width) {
        const json_t *other;
        int alike = 0;
        if (!is_wrong(g)) continue;
        for (size_t i = column; (other = learn_grade_at(all, i)); i += width)
            alike += is_wrong(other) && learn_field_is(other, "kind", learn_field(g, "kind"));
        if (alike > most) most = alike, example = g;
        wrong++;
    }
    if (!example) return;
    printf("  %s  %d of %d  ", learn_field(example, "code"), most, wrong);
    learn_print_plain(learn_field(example, "reason"), 0, INT_MAX);
    putchar('\n');
}

void learn_print_matrix(const json_t *all)
{
    size_t width = 0, wrong = 0, count = json_array_size(json_object_get(all, "grades"));
    const char *first = learn_field(learn_grade_at(all, 0), "submission");
    while (width < count && learn_field_is(learn_grade_at(all, width), "submission", first)) width++;
    if (learn_field_number(all, "submissions") < 2 || !width || count % width) return;
    print_rows(all, width, count);
    for (size_t i = 0; i < count; i++) wrong += is_wrong(learn_grade_at(all, i));
    if (!wrong) return;
    puts("\nwhat went wrong most often, with an example:");
    for (size_t i = 0; i < width; i++) print_reason(all, width, i);
}
