/* SPDX-License-Identifier: MIT */
/*
 * death: how soon the other ranks know. Two events, each repeated with fresh ranks:
 *
 *      killed      the last rank kills itself with SIGKILL; until P2P_ERR_PEER_DEAD comes out of the receive in which
 *                  every other rank waits for it. A sample is a rank.
 *      deadlock    every rank waits for the next; from the last one's call to the end of the whole job, diagnosis
 *                  included. A sample is a job.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "p2p/p2p.h"

enum { MOST = 64, SETTLE_MS = 20 };

/* What the ranks note, in shared memory. Times in ms. */
typedef struct {
    atomic_int calling; /* ranks that are about to call p2p_recv */
    double event, noticed[MOST];
    p2p_err codes[MOST];
} shared_state;

static shared_state *shared;

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void pause_ms(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

/* No rank can see that another one is inside a call, so the victim waits a little after the others have announced
 * it. */
static void die_when_all_wait(int others)
{
    while (atomic_load(&shared->calling) < others) pause_ms(1);
    pause_ms(SETTLE_MS);
    shared->event = now_ms();
    kill(getpid(), SIGKILL);
}

static int killed_rank(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), last = p2p_size(world) - 1;
    char byte;

    (void)arg;
    if (rank == last) die_when_all_wait(last);
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    atomic_fetch_add(&shared->calling, 1);
    shared->codes[rank] = p2p_recv(world, &byte, 1, last, 0, P2P_STATUS_IGNORE);
    shared->noticed[rank] = now_ms();
    return 0;
}

static int deadlocked_rank(p2p_comm *world, void *arg)
{
    int size = p2p_size(world);
    char byte;

    (void)arg;
    if (atomic_fetch_add(&shared->calling, 1) == size - 1) shared->event = now_ms();
    p2p_recv(world, &byte, 1, (p2p_rank(world) + 1) % size, 0, P2P_STATUS_IGNORE);
    return 0;
}

/* The supervisor explains each of these ends on stderr; here that is not shown. */
static p2p_err launch_silently(int ranks, int (*rank_main)(p2p_comm *, void *), bool last)
{
    p2p_options launch = {.world = options_world(), .trace = options_trace(last)};
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    *shared = (shared_state){.event = 0};
    if (null >= 0) dup2(null, STDERR_FILENO);
    p2p_err err = p2p_launch(ranks, rank_main, NULL, &launch);
    if (kept >= 0) dup2(kept, STDERR_FILENO);
    close(null);
    close(kept);
    return err;
}

static bool measure_killed(int ranks, samples *ms, bool last)
{
    p2p_err err = launch_silently(ranks, killed_rank, last);

    for (int r = 0; r < ranks - 1; r++) {
        double one = shared->noticed[r] - shared->event;
        if (err != P2P_ERR_RANK_FAILED || shared->codes[r] != P2P_ERR_PEER_DEAD) {
            fprintf(stderr, "death: rank %d of %d: %s, expected: %s\n", r, ranks, p2p_strerror(shared->codes[r]),
                    p2p_strerror(P2P_ERR_PEER_DEAD));
            return false;
        }
        samples_add(ms, &one, 1);
    }
    return true;
}

static bool measure_deadlock(int ranks, samples *ms, bool last)
{
    p2p_err err = launch_silently(ranks, deadlocked_rank, last);
    double one = now_ms() - shared->event;

    if (err != P2P_ERR_RANK_FAILED) {
        fprintf(stderr, "death: a deadlock of %d ranks: %s\n", ranks, p2p_strerror(err));
        return false;
    }
    samples_add(ms, &one, 1);
    return true;
}

/* ---- Settings and table ---- */

typedef struct {
    report_format format;
    long repeat;
} settings;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'r':
        if (!count_parse(arg, 1, 100000, &s->repeat)) argp_error(state, "--repeat: '%s' is not a number from 1", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"repeat", 'r', "N", 0, "Jobs an event and number of ranks (default 10)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure how soon a death and a deadlock are known."};
    settings s = {.repeat = 10};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static const report_column columns[] = {
    {"event", "", 9, REPORT_TEXT, false}, {"ranks", "", 6, 0, false},       {"samples", "", 8, 0, false},
    {"ms_median", "(ms)", 10, 2, false},  {"ms_max", "(ms)", 10, 2, false},
};

static bool print_event(report *out, const settings *s, const char *name, int ranks,
                        bool (*measure)(int, samples *, bool))
{
    samples ms = {NULL, 0, 0};
    bool fine = true;

    for (long i = 0; i < s->repeat && fine; i++) fine = measure(ranks, &ms, i == s->repeat - 1);
    samples_sort(&ms);
    report_cell cells[] = {{name, 0},
                           {NULL, ranks},
                           {NULL, (double)ms.count},
                           {NULL, samples_percentile(&ms, 50)},
                           {NULL, samples_percentile(&ms, 100)}};
    if (fine) report_row(out, cells);
    samples_free(&ms);
    return fine;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {2, 8, 16};
    settings s = read_settings(argc, argv);
    bool fine = true;
    report out;

    ranks_need_own_jobs("death");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < 3 && fine; i++) fine = print_event(&out, &s, "killed", sizes[i], measure_killed);
    for (size_t i = 0; i < 3 && fine; i++) fine = print_event(&out, &s, "deadlock", sizes[i], measure_deadlock);
    report_end(&out);
    return fine ? 0 : 1;
}
