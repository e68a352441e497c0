/* SPDX-License-Identifier: MIT */
/*
 * waiting: compares the ways to wait (p2p/world/spin.h). A token goes round the ranks: one rank works, all others
 * wait. Spinning, yielding and sleeping, each alone (PAIRWISE_WAIT), beside the default (auto).
 *
 *      build/bench/waiting --world shm
 *
 *      us_hop     from one rank to the next, median over laps: what waiting costs the rank that is waited for
 *      cores      processor time of all ranks / time, while the token goes round
 *      idle       the same while the token rests for a tenth of a second a lap: what it costs to wait long
 *
 * With a core for each rank, spinning is the fastest. With more ranks than cores, a rank that spins holds the core that
 * the awaited rank needs, so a hop takes as long as the system lets it spin; a yield gives the core away. Only a rank
 * that sleeps uses no core while no message comes.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "p2p/p2p.h"

enum { LAPS = 400, WARMUP = 2, RESTS = 5, MOST = 64, TAG = 1 };

static const double rest_us = 1e5, most_us = 3e5;
static const char *const policies[] = {"auto", "spin", "yield", "sleep"};

typedef struct {
    size_t laps;
    double hop[LAPS];
    double busy_us[MOST], idle_us[MOST]; /* processor time of each rank */
    double busy_wall, idle_wall;
} shared_state;

static shared_state *shared;

static double processor_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* One lap: from rank 0 through all ranks and back. The token says whether there is another one. */
static void lap(p2p_comm *world, int *token)
{
    int rank = p2p_rank(world), n = p2p_size(world), right = (rank + 1) % n, left = (rank + n - 1) % n;

    if (rank == 0) p2p_send(world, token, sizeof *token, right, TAG);
    p2p_recv(world, token, sizeof *token, left, TAG, P2P_STATUS_IGNORE);
    if (rank != 0) p2p_send(world, token, sizeof *token, right, TAG);
}

static void run_busy(p2p_comm *world)
{
    double begin = loop_now_us(), before = processor_us();
    int more = 1;

    for (size_t i = 0; more; i++) {
        double start = loop_now_us();
        more = p2p_rank(world) != 0 || (i < WARMUP + LAPS - 1 && start - begin < most_us);
        lap(world, &more);
        if (p2p_rank(world) == 0 && (i >= WARMUP || !more))
            shared->hop[shared->laps++] = (loop_now_us() - start) / p2p_size(world);
    }
    shared->busy_us[p2p_rank(world)] = processor_us() - before;
    shared->busy_wall = loop_now_us() - begin;
}

static void run_idle(p2p_comm *world)
{
    double begin = loop_now_us(), before = processor_us();
    int token = 0;

    for (int i = 0; i < RESTS; i++) {
        if (p2p_rank(world) == 0) nanosleep(&(struct timespec){0, (long)(rest_us * 1e3)}, NULL);
        lap(world, &token);
    }
    shared->idle_us[p2p_rank(world)] = processor_us() - before;
    shared->idle_wall = loop_now_us() - begin;
}

static int rank_main(p2p_comm *world, void *arg)
{
    (void)arg;
    run_busy(world);
    run_idle(world);
    return 0;
}

/* ---- Settings ---- */

typedef struct {
    report_format format;
    const char *world;
    long ranks; /* 0: two, twice as many as cores, and so on */
} settings;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'w': s->world = arg; return 0;
    case 'r':
        if (!count_parse(arg, 2, MOST, &s->ranks))
            argp_error(state, "--ranks: '%s' is not a number from 2 to %d", arg, MOST);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"world", 'w', "NAME", 0, "How bytes move: socket, shm (default: PAIRWISE_WORLD, or shm)", 0},
        {"ranks", 'r', "N", 0, "Ranks (default: 2, then 4, then 8)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure what it costs to wait, by spinning, yielding or sleeping."};
    settings s = {.world = options_world()};

    options_parse(&argp, argc, argv, &s);
    return s;
}

/* ---- Rows ---- */

static const report_column columns[] = {
    {"world", "", 8, REPORT_TEXT, false}, {"ranks", "", 5, 0, false},       {"wait", "", 6, REPORT_TEXT, false},
    {"us_hop", "(us)", 10, 3, false},     {"us_p99", "(us)", 10, 3, false}, {"cores", "(busy)", 8, 3, false},
    {"idle", "(cores)", 8, 4, false},
};

static double sum(const double values[], long count)
{
    double total = 0;

    for (long i = 0; i < count; i++) total += values[i];
    return total;
}

static p2p_err measure(const settings *s, long ranks, size_t policy, report *out)
{
    bool last = policy == sizeof policies / sizeof *policies - 1;
    p2p_options launch = {.world = s->world, .trace = options_trace(last)};
    samples hop = {0};

    memset(shared, 0, sizeof *shared);
    setenv("PAIRWISE_WAIT", policies[policy], 1);
    p2p_err err = p2p_launch((int)ranks, rank_main, NULL, &launch);
    if (err) return err;
    samples_add(&hop, shared->hop, shared->laps);
    samples_sort(&hop);
    report_cell cells[] = {{s->world, 0},
                           {NULL, (double)ranks},
                           {policies[policy], 0},
                           {NULL, samples_percentile(&hop, 50)},
                           {NULL, samples_percentile(&hop, 99)},
                           {NULL, sum(shared->busy_us, ranks) / shared->busy_wall},
                           {NULL, sum(shared->idle_us, ranks) / shared->idle_wall}};
    report_row(out, cells);
    samples_free(&hop);
    return P2P_OK;
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    p2p_err err = P2P_OK;
    report out;

    ranks_need_own_jobs("waiting");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    for (long ranks = s.ranks ? s.ranks : 2; ranks <= (s.ranks ? s.ranks : 8) && !err; ranks *= 2)
        for (size_t i = 0; i < sizeof policies / sizeof *policies && !err; i++) err = measure(&s, ranks, i, &out);
    report_end(&out);
    return err == P2P_ERR_ARG ? 2 : err ? 1 : 0;
}
