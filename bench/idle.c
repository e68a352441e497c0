/* SPDX-License-Identifier: MIT */
/*
 * idle: what waiting costs. `ranks` ranks are blocked in p2p_recv while rank 0, one more, sleeps outside of Pairwise
 * (if it waited too, that would be a deadlock, and the job would be over). Processor time is the scheduler's own
 * count in nanoseconds (/proc/PID/schedstat), of all ranks and of the supervisor, at the begin and at the end of the
 * sleep. 100 % is one core.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "p2p/p2p.h"

enum { MOST = P2P_MAX_RANKS, SETTLE_MS = 200 };

typedef struct {
    double seconds;     /* how long to sleep */
    atomic_int calling; /* ranks that are about to block */
    pid_t pids[MOST];
    double ranks_percent, supervisor_percent;
} shared_state;

static shared_state *shared;

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pause_s(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&pause, NULL);
}

/* Nanoseconds that a process has run; negative if the kernel does not count them. */
static double run_ns(pid_t pid)
{
    unsigned long long ns;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    int got = fscanf(file, "%llu", &ns);
    fclose(file);
    return got == 1 ? (double)ns : -1;
}

/* Of all ranks but this one. */
static double ranks_ns(int size)
{
    double sum = 0;

    for (int r = 1; r < size; r++) sum += run_ns(shared->pids[r]);
    return sum;
}

static void watch(p2p_comm *world)
{
    int size = p2p_size(world);

    while (atomic_load(&shared->calling) < size - 1) pause_s(0.001);
    pause_s(SETTLE_MS * 1e-3);
    double start = now_ns(), ranks = ranks_ns(size), supervisor = run_ns(getppid());
    pause_s(shared->seconds);
    double wall = now_ns() - start;
    shared->ranks_percent = 100 * (ranks_ns(size) - ranks) / wall;
    shared->supervisor_percent = 100 * (run_ns(getppid()) - supervisor) / wall;
}

static int rank_main(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);

    (void)arg;
    shared->pids[rank] = getpid();
    if (rank == 0) watch(world);
    for (int q = 1; rank == 0 && q < p2p_size(world); q++) p2p_send(world, NULL, 0, q, 0);
    atomic_fetch_add(&shared->calling, 1);
    if (rank > 0) p2p_recv(world, NULL, 0, 0, 0, P2P_STATUS_IGNORE);
    return 0;
}

typedef struct {
    report_format format;
    long ranks, seconds;
} settings;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'n':
        if (!count_parse(arg, 1, MOST - 1, &s->ranks))
            argp_error(state, "--ranks: '%s' is not a number from 1 to %d", arg, MOST - 1);
        return 0;
    case 's':
        if (!count_parse(arg, 1, 3600, &s->seconds))
            argp_error(state, "--seconds: '%s' is not a number from 1 to 3600", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"ranks", 'n', "N", 0, "Ranks that wait (default 16)", 0},
        {"seconds", 's', "S", 0, "How long (default 5)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure the processor time of ranks that wait."};
    settings s = {.ranks = 16, .seconds = 5};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static const report_column columns[] = {
    {"ranks", "", 7, 0, false},
    {"seconds", "(s)", 8, 0, false},
    {"ranks_percent", "(% of a core)", 14, 3, false},
    {"supervisor_percent", "(% of a core)", 19, 3, false},
    {"job_percent", "(% of a core)", 14, 3, false},
};

static void print_table(const settings *s)
{
    double ranks = shared->ranks_percent, supervisor = shared->supervisor_percent;
    report_cell cells[] = {{NULL, (double)s->ranks},
                           {NULL, (double)s->seconds},
                           {NULL, ranks},
                           {NULL, supervisor},
                           {NULL, ranks + supervisor}};
    report out;

    report_begin(&out, s->format, columns, sizeof columns / sizeof *columns);
    report_row(&out, cells);
    report_end(&out);
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);

    ranks_need_own_jobs("idle");
    if (run_ns(getpid()) < 0) {
        fprintf(stderr, "idle: this kernel does not count processor time in /proc/PID/schedstat\n");
        return 1;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    shared->seconds = (double)s.seconds;
    p2p_options launch = {.world = options_world(), .trace = options_trace(true)};
    if (p2p_launch((int)s.ranks + 1, rank_main, NULL, &launch) != P2P_OK) return 1;
    print_table(&s);
    return 0;
}
