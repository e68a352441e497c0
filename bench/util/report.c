/* SPDX-License-Identifier: MIT */
#include "bench/util/report.h"
#include "bench/util/busy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

/* Is there a number? Where there is none the cell has a text, "-". */
static bool has_number(const report_cell *cell)
{
    return !cell->text && isfinite(cell->number);
}

static void print_aligned(const report *r, const report_cell cells[])
{
    for (size_t i = 0; i < r->count; i++) {
        const report_column *c = &r->columns[i];
        if (c->decimals == REPORT_TEXT || !has_number(&cells[i]))
            printf(" %*s", c->width, cells[i].text ? cells[i].text : "-");
        else
            printf(" %*.*f", c->width, c->decimals, cells[i].number);
    }
    putchar('\n');
}

void report_quoted(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (const char *at = text; *at; at++) fprintf(file, *at == '"' ? "\"\"" : "%c", *at);
    putc('"', file);
}

static void print_json_text(const char *text)
{
    putchar('"');
    for (const char *at = text; *at; at++) printf(strchr("\"\\", *at) ? "\\%c" : "%c", *at);
    putchar('"');
}

/* What is not known is null in JSON and empty in CSV. */
static void print_value(const report_column *c, const report_cell *cell, bool json)
{
    const char *text = cell->text ? cell->text : "-";
    if (c->decimals != REPORT_TEXT && has_number(cell))
        printf("%.*f", c->decimals, cell->number);
    else if (c->decimals != REPORT_TEXT)
        fputs(json ? "null" : "", stdout);
    else if (json)
        print_json_text(text);
    else
        report_quoted(stdout, text);
}

static void print_separated(const report *r, const report_cell cells[])
{
    bool json = r->format == REPORT_JSON;
    const char *comma = "";

    if (json) printf("%s\n  {", r->rows ? "," : "");
    for (size_t i = 0; i < r->count; i++) {
        if (r->columns[i].people_only) continue;
        printf("%s", comma);
        if (json) printf("\"%s\": ", r->columns[i].name);
        print_value(&r->columns[i], &cells[i], json);
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

/* Once in a program; beside CSV and JSON on stderr. */
static void tell_busy(const report *r)
{
    static bool told;
    char words[200];
    if (told || !busy_words(words, sizeof words)) return;
    told = true;
    if (r->format == REPORT_TABLE)
        report_note(r, "%s", words);
    else
        fprintf(stderr, "note: %s\n", words);
}

void report_end(report *r)
{
    tell_busy(r);
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
