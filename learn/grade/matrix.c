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
#include "p2p/shared/json.h"

enum { NAME_WIDTH = 16 };

/* Columns that a character of UTF-8 takes: none, if it is put over the one before; two, if it is East Asian or a picture. */
static int columns_of(const char *at, size_t bytes)
{
    static const unsigned wide[][2] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x1f9ff}, {0x20000, 0x3fffd}};
    unsigned code = (unsigned char)at[0] & (0x7fu >> bytes);
    if (bytes < 2) return 1;
    for (size_t i = 1; i < bytes; i++) code = code << 6 | ((unsigned char)at[i] & 0x3f);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (code >= wide[i][0] && code <= wide[i][1]) return 2;
    return code >= 0x300 && code <= 0x36f ? 0 : 1;
}

void learn_print_plain(const char *text, int least, int most)
{
    int column = 0;
    while (*text && *text != '\n') {
        size_t bytes = p2p__utf8_length((const unsigned char *)text);
        bool plain = bytes && !iscntrl((unsigned char)*text) && !(bytes == 2 && *text == '\xc2' && text[1] < '\xa0');
        int columns = plain ? columns_of(text, bytes) : 1;
        if (column + columns > most) break;
        if (plain)
            fwrite(text, 1, bytes, stdout);
        else
            putchar('?');
        column += columns;
        text += bytes ? bytes : 1;
    }
    printf("%*s", column < least ? least - column : 0, "");
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
