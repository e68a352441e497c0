/* SPDX-License-Identifier: MIT */
/*
 * comparison: what bench/all_reduce found, and how it is printed: rows as nccl-tests has them, the algorithms side by
 * side, and what the model says, in numbers and in words; or the same rows as CSV or JSON.
 */
#ifndef PAIRWISE_BENCH_COMPARISON_H
#define PAIRWISE_BENCH_COMPARISON_H

#include <stdint.h>

#include "bench/util/limits.h"
#include "bench/util/model.h"
#include "bench/util/report.h"
#include "bench/util/stats.h"
#include "dtype/dtype.h"

enum { COMPARISON_MOST_ALGORITHMS = 8, COMPARISON_MOST_SIZES = 64, COMPARISON_NONE = -1 };

/* Of one algorithm at one size: samples are those of the slowest rank, an operation each. */
typedef struct {
    samples us, virtual_us;
    uint64_t messages, bytes, wrong; /* sent by the busiest rank in one operation; wrong elements on all ranks */
    uint64_t left;                   /* bytes to other hosts, from the host that they are the most from */
    bool has_model;
    model_time model;
} comparison_cell;

typedef struct {
    const char *world, *network; /* network: NULL for none */
    int ranks, hosts;            /* hosts: that they live on */
    bool dealt;                  /* numbered round them */
    bool cold;                   /* buffers are filled before each operation */
    enum dtype dtype;
    enum op op;
    size_t size_count, algorithm_count;
    size_t bytes[COMPARISON_MOST_SIZES]; /* whole elements */
    const char *algorithms[COMPARISON_MOST_ALGORITHMS];
    comparison_cell cells[COMPARISON_MOST_SIZES][COMPARISON_MOST_ALGORITHMS];
    limits limits[COMPARISON_MOST_SIZES]; /* of the machine, here; not on a virtual network */
    costs costs;
    bool has_costs;
} comparison;

/* Once all samples are there: sorts them, and asks the model. */
void comparison_settle(comparison *c);
void comparison_free(comparison *c);

/* Median microseconds of what is compared: virtual time, where there is one. */
double comparison_time_us(const comparison *c, size_t size, size_t algorithm);

/* How many times as fast as naive; 0 if that was not measured. */
double comparison_factor(const comparison *c, size_t size, size_t algorithm);

/* Which algorithm has this name, or COMPARISON_NONE. */
int comparison_find(const comparison *c, const char *algorithm);

/* Wrong elements in all of it. */
uint64_t comparison_wrong(const comparison *c);

/* How many times the machine's limit it took; 0 on a virtual network, or for a rank alone. */
double comparison_distance(const comparison *c, size_t size, size_t algorithm);

/* Of several worlds, one after the other; one table for programs. */
void comparison_print(const comparison c[], size_t worlds, report_format format);

/* The explanation in words, for people: part of comparison_print (explain.c). */
void comparison_explain(const comparison *c);

/* The model's lines as CSV, with what was measured beside them (virtual time, where there is one): see the first line.
 * False, and why on stderr, if it cannot be written. */
bool comparison_write_model(const comparison c[], size_t worlds, const char *path);

#endif
