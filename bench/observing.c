/* SPDX-License-Identifier: MIT */
/*
 * observing: what it costs a message to be counted (launch --metrics), or to be kept among the last calls (--record): half a
 * round trip of 8 bytes, beside that of ranks which nothing observes.
 *
 *      build/bench/observing --world shm
 *
 * One job of two ranks for each way runs all the time, and one at a time plays: some hundred messages, then the next job has
 * its turn. So all ways are measured within a millisecond, on the same machine under the same load, and the ratio of a turn
 * is that to the job that is not observed, in the same lap. What is printed: medians over the laps, and the quartiles of
 * the ratio.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "p2p/p2p.h"

enum { WAYS = 3, MOST_LAPS = 100000, WARMUP = 50, MESSAGES = 400, TAG = 1 };

static const char *const ways[WAYS] = {"nothing", "metrics", "record"};

/* The job `turn` % WAYS plays. */
typedef struct {
    long laps;
    size_t bytes;
    _Atomic long turn; /* negative: a job has failed */
    double us[WAYS][MOST_LAPS];
} shared_state;

static shared_state *shared;

static void exchange(p2p_comm *world, char *buf, int count)
{
    int rank = p2p_rank(world);

    for (int i = 0; i < count; i++) {
        if (rank == 0) p2p_send(world, buf, shared->bytes, 1, TAG);
        p2p_recv(world, buf, shared->bytes, 1 - rank, TAG, P2P_STATUS_IGNORE);
        if (rank == 1) p2p_send(world, buf, shared->bytes, 0, TAG);
    }
}

/* A rank that waits for its turn is not in a call, and leaves its core to those that play. */
static bool wait_for(long turn)
{
    long now;

    while ((now = atomic_load(&shared->turn)) != turn && now >= 0) nanosleep(&(struct timespec){0, 200000}, NULL);
    return now >= 0;
}

static int play(p2p_comm *world, void *arg)
{
    int way = *(int *)arg;
    char *buf = ranks_buffer("observing", shared->bytes);

    for (long lap = 0; buf && lap < shared->laps; lap++) {
        if (!wait_for(lap * WAYS + way)) return 1;
        exchange(world, buf, WARMUP);
        double start = loop_now_us();
        exchange(world, buf, MESSAGES);
        if (p2p_rank(world) != 0) continue;
        shared->us[way][lap] = (loop_now_us() - start) / (2 * MESSAGES);
        atomic_fetch_add(&shared->turn, 1);
    }
    free(buf);
    return buf ? 0 : 1;
}

/* A process that launches the job of one way. */
static pid_t start(const char *world, int way)
{
    char path[400];
    const char *folder = getenv("TMPDIR");
    p2p_options options = {.world = world, .trace = options_trace(way + 1 == WAYS)};
    pid_t pid = fork();

    if (pid != 0) return pid;
    snprintf(path, sizeof path, "%.300s/pairwise-observing.XXXXXX", folder ? folder : "/tmp");
    int fd = way ? mkstemp(path) : -1;
    if (way == 1) options.metrics = path;
    if (way == 2) options.record = path;
    int status = (way && fd < 0) || p2p_launch(2, play, &way, &options) != P2P_OK;
    if (status) atomic_store(&shared->turn, -1000000000);
    if (fd >= 0) unlink(path);
    _exit(status);
}

/* ---- Settings and table ---- */

typedef struct {
    report_format format;
    const char *world;
    long laps;
    size_t bytes;
} settings;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'w': s->world = arg; return 0;
    case 's':
        if (!size_parse(arg, &s->bytes) || !s->bytes)
            argp_error(state, "--size: '%s' is not a size: a number from 1 and perhaps K, M or G", arg);
        return 0;
    case 'n':
        if (!count_parse(arg, 1, MOST_LAPS, &s->laps))
            argp_error(state, "--laps: '%s' is not a number from 1 to %d", arg, MOST_LAPS);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"world", 'w', "NAME", 0, "How bytes move: socket, shm (default: PAIRWISE_WORLD, or shm)", 0},
        {"size", 's', "SIZE", 0, "Bytes of a message (default 8)", 0},
        {"laps", 'n', "N", 0, "How often each way is measured (default 2000)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure what it costs a message to be counted or kept."};
    settings s = {.world = options_world(), .laps = 2000, .bytes = 8};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static const report_column columns[] = {
    {"observed_by", "", 11, REPORT_TEXT, false},
    {"bytes", "(B)", 9, 0, false},
    {"us_median", "(us)", 10, 4, false},
    {"ratio", "", 8, 4, false},
    {"ratio_q1", "", 9, 4, false},
    {"ratio_q3", "", 9, 4, false},
};

static void print_row(report *out, const settings *s, int way)
{
    samples us = {NULL, 0, 0}, ratio = {NULL, 0, 0};

    for (long lap = 0; lap < s->laps; lap++) {
        double to = shared->us[way][lap] / shared->us[0][lap];
        samples_add(&us, &shared->us[way][lap], 1);
        samples_add(&ratio, &to, 1);
    }
    samples_sort(&us);
    samples_sort(&ratio);
    report_cell cells[] = {{ways[way], 0},
                           {NULL, (double)s->bytes},
                           {NULL, samples_percentile(&us, 50)},
                           {NULL, samples_percentile(&ratio, 50)},
                           {NULL, samples_percentile(&ratio, 25)},
                           {NULL, samples_percentile(&ratio, 75)}};
    report_row(out, cells);
    samples_free(&us);
    samples_free(&ratio);
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    bool fine = true;
    report out;

    ranks_need_own_jobs("observing");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("observing: no memory to share");
        return 1;
    }
    shared->laps = s.laps;
    shared->bytes = s.bytes;
    for (int way = 0; way < WAYS; way++) fine = start(s.world, way) > 0 && fine;
    for (int status; wait(&status) > 0;) fine = fine && status == 0;
    if (!fine) return 1;
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    for (int way = 0; way < WAYS; way++) print_row(&out, &s, way);
    report_note(&out, "ratio: to that of nothing in the same lap, median and quartiles; 1.01 is 1 %% more");
    report_end(&out);
    return 0;
}
