/* SPDX-License-Identifier: MIT */
#include "bench/util/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool progress_shown;

static void clear_progress(void)
{
    if (progress_shown) fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void report_progress(size_t done, size_t total)
{
    static double started;

    if (started <= 0) started = seconds();
    clear_progress();
    if (!isatty(STDERR_FILENO) || done == total || seconds() - started < 2) return;
    fprintf(stderr, "%3zu %% of the measurements", 100 * done / total);
    fflush(stderr);
    progress_shown = true;
}

static void print_header(const report *r, bool units)
{
    putchar('#');
    for (size_t i = 0; i < r->count; i++) {
        const report_column *c = &r->columns[i];
        printf(" %*s", i ? c->width : c->width - 1, units ? c->unit : c->name); /* the # stands in the first */
    }
    putchar('\n');
}

static void print_names(const report *r)
{
    const char *comma = "";

    for (size_t i = 0; i < r->count; i++) {
        if (r->columns[i].people_only) continue;
        printf("%s%s", comma, r->columns[i].name);
        comma = ",";
    }
    putchar('\n');
}

void report_begin(report *r, report_format format, const report_column *columns, size_t count)
{
    *r = (report){format, columns, count, 0};
    if (format == REPORT_CSV) print_names(r);
    if (format == REPORT_JSON) printf("[");
    if (format != REPORT_TABLE) return;
    print_header(r, false);
    print_header(r, true);
}

static void print_cell(const report_column *c, const report_cell *cell, int width)
{
    if (c->decimals == REPORT_TEXT)
        printf("%*s", width, cell->text ? cell->text : "-");
    else
        printf("%*.*f", width, c->decimals, cell->number);
}

static void print_aligned(const report *r, const report_cell cells[])
{
    for (size_t i = 0; i < r->count; i++) {
        putchar(' ');
        if (cells[i].text && r->columns[i].decimals != REPORT_TEXT) /* "-" where there is no number */
            printf("%*s", r->columns[i].width, cells[i].text);
        else
            print_cell(&r->columns[i], &cells[i], r->columns[i].width);
    }
    putchar('\n');
}

static void print_separated(const report *r, const report_cell cells[])
{
    bool json = r->format == REPORT_JSON;
    const char *comma = "";

    if (json) printf("%s\n  {", r->rows ? "," : "");
    for (size_t i = 0; i < r->count; i++) {
        bool quoted = json && r->columns[i].decimals == REPORT_TEXT;
        if (r->columns[i].people_only) continue;
        printf("%s", comma);
        if (json) printf("\"%s\": %s", r->columns[i].name, quoted ? "\"" : "");
        print_cell(&r->columns[i], &cells[i], 0);
        if (quoted) putchar('"');
        comma = json ? ", " : ",";
    }
    printf(json ? "}" : "\n");
}

void report_row(report *r, const report_cell cells[])
{
    clear_progress();
    if (r->format == REPORT_TABLE)
        print_aligned(r, cells);
    else
        print_separated(r, cells);
    r->rows++;
    fflush(stdout);
}

void report_end(report *r)
{
    if (r->format == REPORT_JSON) printf("%s]\n", r->rows ? "\n" : "");
    fflush(stdout);
}

void report_note(const report *r, const char *format, ...)
{
    va_list args;

    if (r->format != REPORT_TABLE) return;
    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}
