/* SPDX-License-Identifier: MIT */
#include "p2p/shared/spelling.h"

#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to be added, left out or replaced (Levenshtein 1966), a row of the table at a time. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], columns = strlen(b);
    for (size_t k = 0; k <= columns; k++) row[k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= columns; k++) {
            size_t above = row[k];
            row[k] = least(least(above, row[k - 1]) + 1, diagonal + (a[i - 1] != b[k - 1]));
            diagonal = above;
        }
    }
    return row[columns];
}

const char *p2p__nearest(const char *word, const char *const names[])
{
    const char *best = NULL;
    size_t nearest = LONGEST;
    if (strlen(word) > LONGEST) return NULL;
    for (; *names; names++) {
        size_t d = strlen(*names) <= LONGEST ? distance(word, *names) : LONGEST;
        if (d < nearest) nearest = d, best = *names;
    }
    return nearest <= 4 ? best : NULL;
}
