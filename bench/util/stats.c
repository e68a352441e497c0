/* SPDX-License-Identifier: MIT */
#include "bench/util/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void samples_add(samples *list, const double *values, size_t count)
{
    if (list->count + count > list->room) {
        list->room = 2 * list->room + count;
        list->value = realloc(list->value, list->room * sizeof *list->value);
        if (!list->value) {
            fprintf(stderr, "out of memory for %zu samples\n", list->room);
            exit(1);
        }
    }
    memcpy(list->value + list->count, values, count * sizeof *values);
    list->count += count;
}

void samples_free(samples *list)
{
    free(list->value);
    *list = (samples){NULL, 0, 0};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void samples_sort(samples *list)
{
    if (list->count) qsort(list->value, list->count, sizeof *list->value, ascending);
}

double samples_percentile(const samples *sorted, double percent)
{
    if (sorted->count == 0) return 0;
    size_t above = (size_t)((100 - percent) / 100 * (double)sorted->count); /* how many lie above it */
    return sorted->value[above < sorted->count ? sorted->count - 1 - above : 0];
}
