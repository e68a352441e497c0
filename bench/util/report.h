/* SPDX-License-Identifier: MIT */
/*
 * report: one table, three ways to print it: for people (a `#` header with units, aligned columns), as CSV (the first
 * line is exactly the column names) and as JSON (an array of objects). Rows are printed as they come.
 */
#ifndef PAIRWISE_BENCH_REPORT_H
#define PAIRWISE_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum { REPORT_TABLE, REPORT_CSV, REPORT_JSON } report_format;

typedef struct {
    const char *name; /* of the column; the key in JSON */
    const char *unit; /* for people, under the name */
    int width;
    int decimals;     /* of a number; 0: a whole number; TEXT: a text */
    bool people_only; /* in the table, not in CSV and JSON */
} report_column;

enum { REPORT_TEXT = -1 };

typedef struct {
    report_format format;
    const report_column *columns;
    size_t count, rows;
} report;

/* A cell: text for a text column, number for the others; with a text, "-", where there is no number. */
typedef struct {
    const char *text;
    double number;
} report_cell;

void report_begin(report *r, report_format format, const report_column *columns, size_t count);
void report_row(report *r, const report_cell cells[]);
void report_end(report *r);

/* A text as one field of CSV, whatever it holds. */
void report_quoted(FILE *file, const char *text);

/* A line for people, "# " in front: not in CSV and JSON. */
void report_note(const report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How far we are, on stderr: only on a terminal, and only after two seconds. Done when done == total. */
void report_progress(size_t done, size_t total);

#endif
