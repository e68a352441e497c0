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
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "collectives/collectives.h"
#include "p2p/shared/clock.h"

enum { MOST_LISTED = 16, WARMUP = 3, LEAST_OPERATIONS = 5, MOST_OPERATIONS = 2000 };

static const double operations_seconds = 0.2;

typedef struct {
    report_format format;
    long ranks[MOST_LISTED], rounds;
    size_t rank_count;
} settings;

/* Of one job, in memory that all its processes share. */
typedef struct {
    uint64_t started, left;      /* ns */
    double us;                   /* an all-reduce of 8 bytes */
    double bytes[P2P_MAX_RANKS]; /* of each rank; negative: not known */
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

/* Seconds of one all-reduce. */
static double operate(p2p_comm *world)
{
    float both[2] = {1, 2};
    uint64_t began = p2p__now();

    coll_all_reduce(world, both, 2, DTYPE_F32, OP_SUM);
    return (double)(p2p__now() - began) * 1e-9;
}

static double median_us(p2p_comm *world)
{
    samples all = {NULL, 0, 0};
    double seconds = 0;

    for (int i = 0; i < WARMUP; i++) seconds = operate(world);
    double fit = operations_seconds / (seconds > 1e-7 ? seconds : 1e-7);
    size_t count = ranks_agree(world, fit < LEAST_OPERATIONS  ? LEAST_OPERATIONS
                                      : fit > MOST_OPERATIONS ? MOST_OPERATIONS
                                                              : (size_t)fit);
    for (size_t i = 0; i < count; i++) {
        seconds = operate(world) * 1e6;
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
    double us = median_us(world);
    j->bytes[rank] = own_memory();
    if (rank == 0) j->us = us;
    coll_barrier(world);
    if (rank == 0) j->left = p2p__now();
    return 0;
}

/* ---- In the process that starts them ---- */

typedef struct {
    samples start_ms, end_ms, us, kib;
} findings;

static bool run_job(int ranks, const char *trace, job *j, findings *f)
{
    p2p_options launch = {.world = options_world(), .trace = trace};
    uint64_t began = p2p__now();
    bool known = true;

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
    {"ranks", "", 6, 0, false},   {"start_ms", "(ms)", 10, 1, false},           {"end_ms", "(ms)", 9, 1, false},
    {"us", "(us)", 11, 2, false}, {"memory_kib", "(KiB a rank)", 13, 0, false},
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
    findings of[MOST_LISTED] = {{{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}};
    size_t count = s->rank_count; /* up to the first that this machine refuses */
    size_t done = 0, total = count * (size_t)s->rounds;

    for (long round = 0; round < s->rounds; round++)
        for (size_t i = 0; i < count; i++) {
            if (!run_job((int)s->ranks[i], options_trace(done + 1 == total), j, &of[i])) count = i;
            report_progress(++done, total);
        }
    for (size_t i = 0; i < count; i++) {
        report_cell cells[] = {{NULL, (double)s->ranks[i]},
                               {NULL, take_median(&of[i].start_ms)},
                               {NULL, take_median(&of[i].end_ms)},
                               {NULL, take_median(&of[i].us)},
                               {NULL, take_median(&of[i].kib)}};
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
    report_note(&out, "us: an all-reduce of 8 bytes; memory_kib: with a rank's part of what is shared");
    report_end(&out);
    return fine ? 0 : 1;
}
