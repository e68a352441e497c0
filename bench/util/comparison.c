/* SPDX-License-Identifier: MIT */
#include "bench/util/comparison.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/util/bandwidth.h"
#include "bench/util/wide.h"

/* ---- Numbers ---- */

static double median(const samples *sorted)
{
    return samples_percentile(sorted, 50);
}

double comparison_time_us(const comparison *c, size_t size, size_t algorithm)
{
    const comparison_cell *cell = &c->cells[size][algorithm];

    return median(c->network ? &cell->virtual_us : &cell->us);
}

int comparison_find(const comparison *c, const char *algorithm)
{
    for (size_t i = 0; i < c->algorithm_count; i++)
        if (strcmp(c->algorithms[i], algorithm) == 0) return (int)i;
    return COMPARISON_NONE;
}

static double elements_of(const comparison *c, size_t size)
{
    size_t count = c->bytes[size] / dtype_size(c->dtype);

    return (double)count;
}

double comparison_factor(const comparison *c, size_t size, size_t algorithm)
{
    int naive = comparison_find(c, "naive");
    double own = comparison_time_us(c, size, algorithm);

    return naive != COMPARISON_NONE && own > 0 ? comparison_time_us(c, size, (size_t)naive) / own : 0;
}

static double limit_us(const comparison *c, size_t size)
{
    return limits_all_reduce_us(&c->limits[size], c->ranks, costs_cores());
}

double comparison_distance(const comparison *c, size_t size, size_t algorithm)
{
    double limit = limit_us(c, size);

    return c->network || limit <= 0 ? 0 : comparison_time_us(c, size, algorithm) / limit;
}

void comparison_settle(comparison *c)
{
    if (c->has_costs) costs_settle(&c->costs);
    for (size_t s = 0; s < c->size_count; s++) {
        limits_settle(&c->limits[s]);
        for (size_t a = 0; a < c->algorithm_count; a++) {
            comparison_cell *cell = &c->cells[s][a];
            samples_sort(&cell->us);
            samples_sort(&cell->virtual_us);
            cell->has_model = c->has_costs &&
                              model_all_reduce(&c->costs, c->algorithms[a], c->ranks, c->bytes[s], &cell->model);
        }
    }
}

void comparison_free(comparison *c)
{
    costs_free(&c->costs);
    for (size_t s = 0; s < c->size_count; s++) {
        limits_free(&c->limits[s]);
        for (size_t a = 0; a < c->algorithm_count; a++) {
            samples_free(&c->cells[s][a].us);
            samples_free(&c->cells[s][a].virtual_us);
        }
    }
}

uint64_t comparison_wrong(const comparison *c)
{
    uint64_t wrong = 0;

    for (size_t s = 0; s < c->size_count; s++)
        for (size_t a = 0; a < c->algorithm_count; a++) wrong += c->cells[s][a].wrong;
    return wrong;
}

/* ---- For programs ---- */

static const report_column columns[] = {
    {"world", "", 8, REPORT_TEXT, false},
    {"algorithm", "", 9, REPORT_TEXT, false},
    {"ranks", "", 5, 0, false},
    {"bytes", "(B)", 10, 0, false},
    {"count", "", 10, 0, false},
    {"dtype", "", 5, REPORT_TEXT, false},
    {"op", "", 4, REPORT_TEXT, false},
    {"us_min", "(us)", 11, 3, false},
    {"us_median", "(us)", 11, 3, false},
    {"us_p99", "(us)", 11, 3, false},
    {"algbw_GBps", "(1e9 B/s)", 10, 6, false},
    {"busbw_GBps", "(1e9 B/s)", 10, 6, false},
    {"max_messages_sent", "", 17, 0, false},
    {"max_bytes_sent", "(B)", 14, 0, false},
    {"wrong", "", 6, 0, false},
    {"limit_us", "(us)", 11, 3, false},
    {"x_limit", "", 8, 2, false},
};

/* Virtual time has no limit but the network's. */
static const report_column virtual_column = {"virtual_us", "(us)", 14, 6, false};

enum { RECORD_COUNT = sizeof columns / sizeof *columns };

/* Of ranks on several hosts, behind all others. */
static const report_column left_column = {"max_bytes_left_host", "", 0, 0, false};

/* Bandwidths are computed from us_median, on a virtual network too: a column always means the same. */
static void print_record(report *out, const comparison *c, size_t size, size_t algorithm)
{
    const comparison_cell *cell = &c->cells[size][algorithm];
    double us = median(&cell->us), algbw = bandwidth_GBps(c->bytes[size], us),
           distance = comparison_distance(c, size, algorithm);
    report_cell cells[] = {
        {c->world, 0},
        {c->algorithms[algorithm], 0},
        {NULL, c->ranks},
        {NULL, (double)c->bytes[size]},
        {NULL, elements_of(c, size)},
        {dtype_name(c->dtype), 0},
        {op_name(c->op), 0},
        {NULL, samples_percentile(&cell->us, 0)},
        {NULL, us},
        {NULL, samples_percentile(&cell->us, 99)},
        {NULL, algbw},
        {NULL, algbw * bandwidth_all_reduce_factor(c->ranks)},
        {NULL, (double)cell->messages},
        {NULL, (double)cell->bytes},
        {NULL, (double)cell->wrong},
        {NULL, c->network ? median(&cell->virtual_us) : limit_us(c, size)},
        {distance > 0 ? NULL : "-", distance},
        {NULL, (double)cell->left},
    };
    if (c->network) cells[RECORD_COUNT - 1] = cells[RECORD_COUNT];

    report_row(out, cells);
}

static void print_records(const comparison c[], size_t worlds, report_format format)
{
    report_column shown[RECORD_COUNT + 1];
    report out;

    size_t count = RECORD_COUNT - (c->network ? 1 : 0);

    memcpy(shown, columns, sizeof columns);
    if (c->network) shown[RECORD_COUNT - 2] = virtual_column;
    if (c->hosts > 1) shown[count++] = left_column;
    report_begin(&out, format, shown, count);
    for (size_t s = 0; s < c->size_count; s++)
        for (size_t w = 0; w < worlds; w++)
            for (size_t a = 0; a < c->algorithm_count; a++) print_record(&out, &c[w], s, a);
    report_end(&out);
}

/* ---- For people: as nccl-tests prints it ---- */

static const report_column people_columns[] = {
    {"size", "(B)", 9, 0, true},      {"count", "(elem)", 9, 0, true}, {"type", "", 4, REPORT_TEXT, true},
    {"op", "", 4, REPORT_TEXT, true}, {"root", "", 4, 0, true},        {"algorithm", "", 9, REPORT_TEXT, true},
    {"time", "(us)", 9, 1, true},     {"p99", "(us)", 9, 1, true},     {"algbw", "(GB/s)", 7, 3, true},
    {"busbw", "(GB/s)", 7, 3, true},  {"#wrong", "", 6, 0, true},      {"msgs", "(sent)", 6, 0, true},
    {"bytes", "(sent)", 9, 0, true},  {"x naive", "", 7, 2, true},     {"model", "(us)", 9, 1, true},
    {"time/", "model", 6, 2, true},   {"time/", "limit", 6, 2, true},
};

static const report_column wall_column = {"wall", "(us)", 9, 1, true};

enum { PEOPLE_COUNT = sizeof people_columns / sizeof *people_columns, P99 = 7 };

/* Where there is no room for all columns, these. */
static const int few[] = {0, 5, 6, 7, 8, 9, 10, 13};

enum { FEW = sizeof few / sizeof *few, ALGORITHM = 5 };

static void print_line(report *out, const comparison *c, size_t size, size_t algorithm, bool narrow)
{
    const comparison_cell *cell = &c->cells[size][algorithm];
    double us = comparison_time_us(c, size, algorithm), algbw = bandwidth_GBps(c->bytes[size], us),
           better = comparison_factor(c, size, algorithm), distance = comparison_distance(c, size, algorithm);
    bool has_model = cell->has_model && cell->model.us > 0;
    report_cell cells[] = {
        {NULL, (double)c->bytes[size]},
        {NULL, elements_of(c, size)},
        {dtype_name(c->dtype), 0},
        {op_name(c->op), 0},
        {NULL, -1},
        {c->algorithms[algorithm], 0},
        {NULL, us},
        {NULL, c->network ? median(&cell->us) : samples_percentile(&cell->us, 99)},
        {NULL, algbw},
        {NULL, algbw * bandwidth_all_reduce_factor(c->ranks)},
        {NULL, (double)cell->wrong},
        {NULL, (double)cell->messages},
        {NULL, (double)cell->bytes},
        {better > 0 ? NULL : "-", better},
        {has_model ? NULL : "-", has_model ? cell->model.us : 0},
        {has_model ? NULL : "-", has_model ? us / cell->model.us : 0},
        {distance > 0 ? NULL : "-", distance},
    };
    if (c->hosts > 1) cells[PEOPLE_COUNT - 1] = (report_cell){NULL, (double)cell->left};

    for (int i = 0; narrow && i < FEW; i++) cells[i] = cells[few[i]];
    report_row(out, cells);
}

static int width_of(const report_column *shown, size_t count)
{
    int width = 0;
    for (size_t i = 0; i < count; i++) width += shown[i].width + 1;
    return width;
}

static int longest_name(const comparison *c, int least)
{
    for (size_t a = 0; a < c->algorithm_count; a++)
        if ((int)strlen(c->algorithms[a]) > least) least = (int)strlen(c->algorithms[a]);
    return least;
}

/* True if only few of them have room. */
static bool leave_out(report_column *shown)
{
    if (width_of(shown, PEOPLE_COUNT) <= wide_columns()) return false;
    for (int i = 0; i < FEW; i++) shown[i] = shown[few[i]];
    return true;
}

static void print_lines(const comparison *c)
{
    report_column shown[PEOPLE_COUNT];
    report out;

    memcpy(shown, people_columns, sizeof shown);
    if (c->network) shown[P99] = wall_column;
    if (c->hosts > 1) shown[PEOPLE_COUNT - 1] = (report_column){"bytes", "left host", 10, 0, true};
    shown[ALGORITHM].width = longest_name(c, shown[ALGORITHM].width);
    bool narrow = leave_out(shown);
    report_begin(&out, REPORT_TABLE, shown, narrow ? FEW : PEOPLE_COUNT);
    for (size_t s = 0; s < c->size_count; s++)
        for (size_t a = 0; a < c->algorithm_count; a++) print_line(&out, c, s, a, narrow);
    report_end(&out);
    if (narrow)
        printf("# Wider, there are also count, type, operator and root, what was sent, and the model: COLUMNS=%d, or "
               "--csv.\n",
               width_of(people_columns, PEOPLE_COUNT) + longest_name(c, 0));
}

/* One line a size: time, and how many times as fast as naive, for each algorithm. */
static void print_side_by_side(const comparison *c)
{
    report_column shown[1 + 2 * COMPARISON_MOST_ALGORITHMS] = {{"size", "(B)", 10, 0, true}};
    report_cell cells[1 + 2 * COMPARISON_MOST_ALGORITHMS] = {{NULL, 0}};
    size_t n = c->algorithm_count;
    report out;

    for (size_t a = 0; a < n; a++) {
        int width = (int)strlen(c->algorithms[a]);
        shown[1 + 2 * a] = (report_column){c->algorithms[a], "(us)", width > 10 ? width : 10, 1, true};
        shown[2 + 2 * a] = (report_column){"", "x naive", 7, 2, true};
    }
    bool narrow = width_of(shown, 1 + 2 * n) > wide_columns(); /* only times, which are compared above */
    for (size_t a = 0; narrow && a < n; a++) shown[1 + a] = shown[1 + 2 * a];
    report_begin(&out, REPORT_TABLE, shown, narrow ? 1 + n : 1 + 2 * n);
    for (size_t s = 0; s < c->size_count; s++) {
        cells[0].number = (double)c->bytes[s];
        for (size_t a = 0; a < n; a++) {
            cells[1 + 2 * a] = (report_cell){NULL, comparison_time_us(c, s, a)};
            cells[2 + 2 * a] = (report_cell){comparison_factor(c, s, a) > 0 ? NULL : "-", comparison_factor(c, s, a)};
        }
        for (size_t a = 0; narrow && a < n; a++) cells[1 + a] = cells[1 + 2 * a];
        report_row(&out, cells);
    }
    report_end(&out);
}

/* ---- All of it ---- */

static void print_for_people(const comparison *c)
{
    printf("# all_reduce, in place%s: %d ranks, world %s%s%s; a time is that of the slowest rank after a barrier, "
           "median\n",
           c->cold ? ", cold" : "", c->ranks, c->world, c->network ? ", network " : "", c->network ? c->network : "");
    print_lines(c);
    if (c->algorithm_count > 1) {
        printf("#\n");
        print_side_by_side(c);
    }
    comparison_explain(c);
    printf("# wrong elements: %llu\n", (unsigned long long)comparison_wrong(c));
}

/* All that is written meanwhile is kept, and then printed as wide as there is room. */
static void print_wrapped(const comparison *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *kept = open_memstream(&text, &bytes), *output = stdout;
    if (kept) stdout = kept;
    print_for_people(c);
    stdout = output;
    if (kept && fclose(kept) == 0) wide_print(text);
    free(text);
}

void comparison_print(const comparison c[], size_t worlds, report_format format)
{
    if (format != REPORT_TABLE) print_records(c, worlds, format);
    for (size_t w = 0; w < worlds && format == REPORT_TABLE; w++) print_wrapped(&c[w]);
}

static void write_line(FILE *file, const comparison *c, size_t size, size_t algorithm)
{
    const model_time *t = &c->cells[size][algorithm].model;
    double us = comparison_time_us(c, size, algorithm), busy = bandwidth_all_reduce_factor(c->ranks);

    report_quoted(file, c->network ? c->network : c->world);
    fprintf(file, ",%s,%d,%zu,%.3f,%.3f,%.6f,%.6f,%.3f,%.3f\n", c->algorithms[algorithm], c->ranks, c->bytes[size], us,
            t->us, bandwidth_GBps(c->bytes[size], us) * busy, bandwidth_GBps(c->bytes[size], t->us) * busy, t->path_us,
            t->work_us);
}

bool comparison_write_model(const comparison c[], size_t worlds, const char *path)
{
    FILE *file = fopen(path, "w");

    if (file)
        fprintf(file, "where,algorithm,ranks,bytes,measured_us,predicted_us,measured_busbw_GBps,predicted_busbw_GBps,"
                      "path_us,work_us\n");
    for (size_t w = 0; w < worlds; w++)
        for (size_t a = 0; file && a < c->algorithm_count; a++)
            for (size_t s = 0; s < c->size_count; s++)
                if (c[w].cells[s][a].has_model) write_line(file, &c[w], s, a);
    if (file && fclose(file) == 0) return true;
    fprintf(stderr, "all_reduce: --model: %s: %s\n", path, strerror(errno));
    return false;
}
