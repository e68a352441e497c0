/* SPDX-License-Identifier: MIT */
/*
 * growth: what more ranks cost: how long a job takes to start and to end, how much memory a rank needs, and how long an
 * all-reduce of 8 bytes takes then.
 *
 *      build/bench/growth
 *      build/bench/growth --ranks 32,64 --rounds 9
 *
 * A round is a job for each number of ranks. It has started when all ranks have been through a barrier; it ends when the
 * call that started it returns. Memory is each rank's proportional share (Pss in /proc/self/smaps_rollup: of a page that k
 * processes share, each has 1/k) after the all-reduces, divided by the ranks; the supervisor's is not for ranks to see. What is
 * printed: medians over the rounds; of an all-reduce, of the medians of rank 0's times.
 *
 * Beside it stands the least that it can take here: each rank writes a number, reads those of all others, and lets other
 * processes have its core while one is missing. That is nothing but what the system takes to give each rank a core.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "collectives/collectives.h"
#include "p2p/message/cores.h"
#include "p2p/shared/clock.h"

enum { MOST_LISTED = 16, WARMUP = 3, LEAST_OPERATIONS = 5, MOST_OPERATIONS = 2000 };

static const double operations_seconds = 0.2;

typedef struct {
    report_format format;
    long ranks[MOST_LISTED], rounds;
    size_t rank_count;
} settings;

/* What a rank has written, the how many-th time; twice, for one may be in the next exchange before all have left this. */
typedef struct {
    _Alignas(64) _Atomic uint64_t number;
    double value;
} written;

/* Of one job, in memory that all its processes share. */
typedef struct {
    int cores;
    uint64_t started, left;      /* ns */
    double us, least_us;         /* an all-reduce of 8 bytes; the least */
    double bytes[P2P_MAX_RANKS]; /* of each rank; negative: not known */
    written by[2][P2P_MAX_RANKS];
} job;

/* ---- In the ranks ---- */

static double own_memory(void)
{
    unsigned long long kib;
    char line[200];
    double bytes = -1;

    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %llu kB", &kib) == 1) bytes = 1024.0 * (double)kib;
    if (file) fclose(file);
    return bytes;
}

static void all_reduce(p2p_comm *world, job *j)
{
    float both[2] = {1, 2};

    (void)j;
    coll_all_reduce(world, both, 2, DTYPE_F32, OP_SUM);
}

static void exchange(p2p_comm *world, job *j)
{
    static uint64_t number;
    int n = p2p_size(world), rank = p2p_rank(world);
    written *by = j->by[++number % 2];
    double sum = 0;

    by[rank].value = 1;
    atomic_store_explicit(&by[rank].number, number, memory_order_release);
    for (int q = 0; q < n; q++) {
        while (atomic_load_explicit(&by[q].number, memory_order_acquire) != number)
            if (n > j->cores) sched_yield();
        sum += by[q].value;
    }
    if (sum != n) p2p_abort(world, 1);
}

/* In seconds. */
static double timed(void (*operation)(p2p_comm *world, job *j), p2p_comm *world, job *j)
{
    uint64_t began = p2p__now();

    operation(world, j);
    return (double)(p2p__now() - began) * 1e-9;
}

static double median_us(void (*operation)(p2p_comm *world, job *j), p2p_comm *world, job *j)
{
    samples all = {NULL, 0, 0};
    double seconds = 0;

    for (int i = 0; i < WARMUP; i++) seconds = timed(operation, world, j);
    double fit = operations_seconds / (seconds > 1e-7 ? seconds : 1e-7);
    size_t count = ranks_agree(world, fit < LEAST_OPERATIONS  ? LEAST_OPERATIONS
                                      : fit > MOST_OPERATIONS ? MOST_OPERATIONS
                                                              : (size_t)fit);
    for (size_t i = 0; i < count; i++) {
        seconds = timed(operation, world, j) * 1e6;
        samples_add(&all, &seconds, 1);
    }
    samples_sort(&all);
    double median = samples_percentile(&all, 50);
    samples_free(&all);
    return median;
}

static int rank_main(p2p_comm *world, void *arg)
{
    job *j = arg;
    int rank = p2p_rank(world);

    coll_barrier(world);
    if (rank == 0) j->started = p2p__now();
    double us = median_us(all_reduce, world, j);
    j->bytes[rank] = own_memory();
    double least_us = median_us(exchange, world, j);
    if (rank == 0) j->us = us, j->least_us = least_us;
    coll_barrier(world);
    if (rank == 0) j->left = p2p__now();
    return 0;
}

/* ---- In the process that starts them ---- */

typedef struct {
    samples start_ms, end_ms, us, least_us, kib;
} findings;

static bool run_job(int ranks, const char *trace, job *j, findings *f)
{
    p2p_options launch = {.world = options_world(), .trace = trace};
    bool known = true;

    memset(j, 0, sizeof *j);
    j->cores = p2p__cores();
    uint64_t began = p2p__now();
    if (p2p_launch(ranks, rank_main, j, &launch)) return false;
    double start_ms = (double)(j->started - began) * 1e-6, end_ms = (double)(p2p__now() - j->left) * 1e-6;
    double bytes = 0;
    for (int rank = 0; rank < ranks; rank++) {
        bytes += j->bytes[rank];
        known = known && j->bytes[rank] >= 0;
    }
    double kib = known ? bytes / ranks / 1024 : 0;
    samples_add(&f->start_ms, &start_ms, 1);
    samples_add(&f->end_ms, &end_ms, 1);
    samples_add(&f->us, &j->us, 1);
    samples_add(&f->least_us, &j->least_us, 1);
    samples_add(&f->kib, &kib, 1);
    return true;
}

/* ---- Settings and table ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'r': options_ranks(arg, 1, P2P_MAX_RANKS, MOST_LISTED, s->ranks, &s->rank_count, state); return 0;
    case 'n':
        if (!count_parse(arg, 1, 10000, &s->rounds)) argp_error(state, "--rounds: '%s' is not a number from 1", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"ranks", 'r', "LIST", 0, "Numbers of ranks (default 2,4,8,16,32,64,128,256,512,1024)", 0},
        {"rounds", 'n', "N", 0, "How often each is measured (default 3)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .children = children,
        .doc = "Measure how long jobs of more and more ranks take to start and to end, how much "
               "memory a rank needs, and how long an all-reduce of 8 bytes takes."};
    settings s = {.ranks = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, .rank_count = 10, .rounds = 3};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static const report_column columns[] = {
    {"ranks", "", 6, 0, false},   {"start_ms", "(ms)", 10, 1, false}, {"end_ms", "(ms)", 9, 1, false},
    {"us", "(us)", 11, 2, false}, {"least_us", "(us)", 11, 2, false}, {"memory_kib", "(KiB a rank)", 13, 0, false},
};

static double take_median(samples *list)
{
    samples_sort(list);
    double median = samples_percentile(list, 50);
    samples_free(list);
    return median;
}

static bool measure(const settings *s, job *j, report *out)
{
    findings of[MOST_LISTED];
    size_t count = s->rank_count; /* up to the first that this machine refuses */
    size_t done = 0, total = count * (size_t)s->rounds;

    memset(of, 0, sizeof of);
    for (long round = 0; round < s->rounds; round++)
        for (size_t i = 0; i < count; i++) {
            if (!run_job((int)s->ranks[i], options_trace(done + 1 == total), j, &of[i])) count = i;
            report_progress(++done, total);
        }
    for (size_t i = 0; i < count; i++) {
        report_cell cells[] = {{NULL, (double)s->ranks[i]},          {NULL, take_median(&of[i].start_ms)},
                               {NULL, take_median(&of[i].end_ms)},   {NULL, take_median(&of[i].us)},
                               {NULL, take_median(&of[i].least_us)}, {NULL, take_median(&of[i].kib)}};
        report_row(out, cells);
    }
    return count == s->rank_count;
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    job *j = mmap(NULL, sizeof *j, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    report out;

    ranks_need_own_jobs("growth");
    if (j == MAP_FAILED) {
        fprintf(stderr, "growth: no memory to share: %s\n", strerror(errno));
        return 1;
    }
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    bool fine = measure(&s, j, &out);
    report_note(&out, "us: an all-reduce of 8 bytes; least_us: ranks that only wait for each other; memory_kib: with a "
                      "rank's part of what is shared");
    report_end(&out);
    return fine ? 0 : 1;
}
