/* SPDX-License-Identifier: MIT */
/*
 * tracing: what tracing costs: ring all-reduce with --trace and without, in turn.
 *
 *      build/bench/tracing
 *      build/bench/tracing --ranks 4 --size 8 --rounds 40
 *
 * A round starts two jobs, one a side, in turn which is the first, each with as many operations as fit into a share of
 * a second, all of which are traced. An operation comes after a barrier and is timed by each rank; its time is that of
 * the slowest. A round's value is the median over its operations; its ratio is that of its two sides, which ran on the
 * same machine under the same load. What is printed: the medians over the rounds, and the quartiles of the ratio, which
 * show the noise. The first 100 operations of each job are left out: then the memory for the events is new, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "collectives/collectives.h"
#include "ring/ring.h"

enum { MOST_RANKS = 8, MOST_OPERATIONS = 4000, WARMUP = 100 };

static const double job_seconds = 0.25;

typedef struct {
    report_format format;
    long ranks[MOST_RANKS], rounds;
    size_t rank_count, bytes;
} settings;

/* What the ranks measured: [rank][operation]. */
typedef struct {
    size_t count;
    double us[MOST_RANKS][MOST_OPERATIONS];
} shared_state;

typedef struct {
    p2p_comm *world;
    size_t bytes;
    shared_state *shared;
} player;

/* ---- In the ranks ---- */

static void barrier(void *state)
{
    coll_barrier(((player *)state)->world);
}

static void operate(void *state, void *buf, size_t count)
{
    ring_all_reduce(((player *)state)->world, buf, count, DTYPE_F32, OP_SUM);
}

static size_t agree(void *state, size_t number)
{
    return ranks_agree(((player *)state)->world, number);
}

static int rank_main(p2p_comm *world, void *arg)
{
    static elements what;
    player p = *(player *)arg;
    loop_calls calls = {.state = &p, .barrier = barrier, .operate = operate, .agree = agree};
    loop_result result = {.us = p.shared->us[p2p_rank(world)]};
    void *buf = ranks_buffer("tracing", p.bytes);

    if (!buf) return 1;
    p.world = world;
    elements_init(&what, DTYPE_F32, OP_SUM, p2p_rank(world), p2p_size(world));
    loop_plan plan = {&what, buf, p.bytes / sizeof(float), WARMUP, MOST_OPERATIONS, job_seconds, false};
    loop_run(&calls, &plan, &result);
    if (p2p_rank(world) == 0) p.shared->count = result.count;
    free(buf);
    return result.wrong ? 1 : 0;
}

/* ---- In the supervisor ---- */

/* The median over the operations of the slowest rank's time. */
static bool run_side(const settings *s, int ranks, shared_state *shared, const char *trace, double *us)
{
    samples all = {NULL, 0, 0};
    player p = {.bytes = s->bytes, .shared = shared};
    p2p_options launch = {.world = options_world(), .trace = trace};

    if (p2p_launch(ranks, rank_main, &p, &launch)) return false;
    for (size_t i = 0; i < shared->count; i++) {
        double slowest = 0;
        for (int rank = 0; rank < ranks; rank++)
            if (shared->us[rank][i] > slowest) slowest = shared->us[rank][i];
        samples_add(&all, &slowest, 1);
    }
    samples_sort(&all);
    *us = samples_percentile(&all, 50);
    samples_free(&all);
    return true;
}

typedef struct {
    samples off, on, ratio;
} findings;

static bool run_round(const settings *s, int ranks, shared_state *shared, const char *trace, bool on_first, findings *f)
{
    double off = 0, on = 0;
    bool fine = !on_first || run_side(s, ranks, shared, trace, &on);

    fine = fine && run_side(s, ranks, shared, NULL, &off);
    fine = fine && (on_first || run_side(s, ranks, shared, trace, &on));
    if (!fine) return false;
    double ratio = on / off;
    samples_add(&f->off, &off, 1);
    samples_add(&f->on, &on, 1);
    samples_add(&f->ratio, &ratio, 1);
    return true;
}

/* ---- Settings and table ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'r': options_ranks(arg, 2, MOST_RANKS, MOST_RANKS, s->ranks, &s->rank_count, state); return 0;
    case 's':
        if (!size_parse(arg, &s->bytes) || s->bytes < sizeof(float))
            argp_error(state, "--size: '%s' is not a size of at least 4: a number and perhaps K, M or G", arg);
        return 0;
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
        {"ranks", 'r', "LIST", 0, "Numbers of ranks (default 2,4)", 0},
        {"size", 's', "SIZE", 0, "Bytes of the buffer (default 1M)", 0},
        {"rounds", 'n', "N", 0, "How often each side is measured (default 20)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure what it costs a ring all-reduce to be traced."};
    settings s = {.ranks = {2, 4}, .rank_count = 2, .bytes = 1 << 20, .rounds = 20};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static const report_column columns[] = {
    {"ranks", "", 6, 0, false},          {"bytes", "(B)", 9, 0, false}, {"us_off", "(us)", 10, 2, false},
    {"us_traced", "(us)", 10, 2, false}, {"ratio", "", 8, 4, false},    {"ratio_q1", "", 9, 4, false},
    {"ratio_q3", "", 9, 4, false},
};

static void print_row(report *out, const settings *s, long ranks, findings *f)
{
    samples_sort(&f->off);
    samples_sort(&f->on);
    samples_sort(&f->ratio);
    report_cell cells[] = {{NULL, (double)ranks},
                           {NULL, (double)s->bytes},
                           {NULL, samples_percentile(&f->off, 50)},
                           {NULL, samples_percentile(&f->on, 50)},
                           {NULL, samples_percentile(&f->ratio, 50)},
                           {NULL, samples_percentile(&f->ratio, 25)},
                           {NULL, samples_percentile(&f->ratio, 75)}};
    report_row(out, cells);
    samples_free(&f->off);
    samples_free(&f->on);
    samples_free(&f->ratio);
}

static bool measure(const settings *s, shared_state *shared, const char *trace, report *out)
{
    size_t done = 0, total = s->rank_count * (size_t)s->rounds;
    bool fine = true;

    for (size_t r = 0; r < s->rank_count && fine; r++) {
        findings f = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
        for (long round = 0; round < s->rounds && fine; round++) {
            fine = run_round(s, (int)s->ranks[r], shared, trace, round % 2 == 1, &f);
            report_progress(++done, total);
        }
        if (fine) print_row(out, s, s->ranks[r], &f);
    }
    return fine;
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    shared_state *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *folder = getenv("TMPDIR");
    char own[400];
    const char *trace = options_trace(true);
    report out;

    ranks_need_own_jobs("tracing");
    if (shared == MAP_FAILED) {
        fprintf(stderr, "tracing: no memory to share: %s\n", strerror(errno));
        return 1;
    }
    snprintf(own, sizeof own, "%.300s/pairwise-tracing.XXXXXX", folder ? folder : "/tmp");
    int fd = trace ? -1 : mkstemp(own);
    if (fd >= 0) close(fd);
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    bool fine = measure(&s, shared, trace ? trace : own, &out);
    report_note(&out, "ratio: traced by not traced, median and quartiles of %ld rounds; 1.03 is 3 %% more", s.rounds);
    report_end(&out);
    if (!trace) unlink(own);
    return fine ? 0 : 1;
}
