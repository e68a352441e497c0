/* SPDX-License-Identifier: MIT */
/*
 * all_reduce_mpi: MPI_Allreduce in place, timed by the same loop as ours (bench/util/loop.h), with the same data and
 * the same check of every element. bench/peers/peers.sh compiles it for each MPI library that is installed.
 *
 *      mpirun -n 4 all_reduce_mpi --min 8 --max 16M --factor 8 --seconds 3
 *
 * Prints CSV: library,ranks,bytes,us_min,us_median,us_p99,wrong. Status 1 if any element is wrong.
 */
#include <argp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers/library.h"
#include "bench/util/loop.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"

enum { MOST_ITERS = 20000 };

/* ---- What differs from ours ---- */

static void mpi_barrier(void *state)
{
    (void)state;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void mpi_operate(void *state, void *buf, size_t count)
{
    (void)state;
    MPI_Allreduce(MPI_IN_PLACE, buf, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static size_t mpi_agree(void *state, size_t number)
{
    unsigned long agreed = number;

    (void)state;
    MPI_Bcast(&agreed, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    return agreed;
}

/* ---- Settings ---- */

typedef struct {
    size_t min, max;
    long factor, seconds;
} settings;

static void check(bool fine, const char *name, const char *text, struct argp_state *state)
{
    if (!fine) argp_error(state, "--%s: '%s' is not valid", name, text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case 'b': check(size_parse(arg, &s->min) && s->min >= sizeof(float), "min", arg, state); return 0;
    case 'e': check(size_parse(arg, &s->max), "max", arg, state); return 0;
    case 'f': check(count_parse(arg, 2, 1 << 20, &s->factor), "factor", arg, state); return 0;
    case 's': check(count_parse(arg, 1, 1000000, &s->seconds), "seconds", arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"min", 'b', "SIZE", 0, "Smallest buffer, in bytes; K, M, G are powers of 1024 (default 8)", 0},
        {"max", 'e', "SIZE", 0, "Largest buffer (default 16M)", 0},
        {"factor", 'f', "N", 0, "Each size is N times the one before (default 8)", 0},
        {"seconds", 's', "N", 0, "About how long to measure (default 3)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = "Measure MPI_Allreduce, in place, f32, sum."};
    settings s = {.min = 8, .max = 16 << 20, .factor = 8, .seconds = 3};

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    return s;
}

static size_t count_sizes(const settings *s)
{
    size_t count = 0;

    for (size_t bytes = s->min; bytes <= s->max; bytes *= (size_t)s->factor) count++;
    return count;
}

/* ---- Measuring ---- */

/* On rank 0: prints; returns the wrong elements on all ranks. */
static uint64_t print_row(const loop_result *result, double *slowest, size_t bytes, int rank, int ranks)
{
    const library with = library_find();
    unsigned long mine = result->wrong, wrong = 0;
    samples us = {NULL, 0, 0};

    MPI_Reduce(result->us, slowest, (int)result->count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &wrong, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) return wrong;
    samples_add(&us, slowest, result->count);
    samples_sort(&us);
    printf("%s,%d,%zu,%.3f,%.3f,%.3f,%lu\n", with.name, ranks, bytes, samples_percentile(&us, 0),
           samples_percentile(&us, 50), samples_percentile(&us, 99), wrong);
    fflush(stdout);
    samples_free(&us);
    return wrong;
}

static uint64_t measure(const settings *s, int rank, int ranks)
{
    static elements what;
    static double us[MOST_ITERS], unused[MOST_ITERS], slowest[MOST_ITERS];
    loop_calls calls = {.barrier = mpi_barrier, .operate = mpi_operate, .agree = mpi_agree};
    loop_plan plan = {.elements = &what, .buf = calloc(1, s->max), .warmup = LOOP_BY_TIME, .iters = MOST_ITERS};
    loop_result result = {.us = us, .virtual_us = unused};
    uint64_t wrong = 0;

    if (!plan.buf) {
        fprintf(stderr, "all_reduce_mpi: no memory for a buffer of %zu bytes\n", s->max);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    plan.seconds = (double)s->seconds / (double)count_sizes(s);
    elements_init(&what, DTYPE_F32, OP_SUM, rank, ranks);
    plan.count = s->min / sizeof(float);
    loop_run(&calls, &plan, &result); /* processes that have just started may not have a core of their own yet */
    wrong += result.wrong;
    for (size_t bytes = s->min; bytes <= s->max; bytes *= (size_t)s->factor) {
        plan.count = bytes / sizeof(float);
        loop_run(&calls, &plan, &result);
        wrong += print_row(&result, slowest, bytes, rank, ranks);
    }
    free(plan.buf);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks;

    settings s = read_settings(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) printf("library,ranks,bytes,us_min,us_median,us_p99,wrong\n");
    uint64_t wrong = measure(&s, rank, ranks);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
