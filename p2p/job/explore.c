/* SPDX-License-Identifier: MIT */
/* launch --explore: a program is run in one order after the other, until one is wrong (story.c says what came out). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "p2p/job/orders.h"

enum { NOT_FINISHED = 3, TIME_IS_OVER = 124 };
enum { DEEPEST = 3, DEEPER_TIMES = 4, DEEPER_LEAST = 1000 };
#define DEEPER_S 20.0
#define TIMES_FIRST 100 /* as long as the first run is an order given before it is taken not to end; LEAST_S at least */
#define LEAST_S 10.0
#define PROGRESS_NS UINT64_C(200000000)

/* ---- One run ---- */

static char *take_file(int fd, size_t *bytes)
{
    off_t end = lseek(fd, 0, SEEK_END);
    *bytes = end > 0 ? (size_t)end : 0;
    char *text = calloc(*bytes + 1, 1);
    if (text && *bytes && pread(fd, text, *bytes, 0) != end) *bytes = 0;
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0) *bytes = 0;
    return text;
}

static void drop(p2p_outcome *o)
{
    free(o->out);
    free(o->err);
    *o = (p2p_outcome){.status = 0};
}

static double seconds_since(uint64_t at)
{
    return (double)(p2p__now() - at) * 1e-9;
}

/* How long this run may take, s; 0: for ever. With --explore=SECONDS, what is left of them, if that is less. */
static double time_limit(const p2p_exploration *x)
{
    double limit = x->limit_s, left = (double)x->options->ns * 1e-9 - seconds_since(x->started);
    if (limit == 0 && x->tries) limit = TIMES_FIRST * x->first_s > LEAST_S ? TIMES_FIRST * x->first_s : LEAST_S;
    if (!x->options->ns || (limit > 0 && limit <= left)) return limit;
    return left > 0.001 ? (double)(long)(left * 1e3) * 1e-3 : 0.001;
}

static p2p_outcome run(p2p_exploration *x)
{
    p2p_err err;
    uint64_t begin = p2p__now();
    p2p__orders_begin(&x->orders);
    x->plan->options.timeout_s = time_limit(x);
    x->plan->config.looks = x->orders.looks;
    p2p_outcome o = {.status = p2p__run_job(x->plan, &err)};
    if (!x->tries) x->first_s = seconds_since(begin);
    if (err) x->orders.no_memory = true;
    o.out = take_file(x->plan->sinks[0], &o.out_bytes);
    o.err = take_file(x->plan->sinks[1], &o.err_bytes);
    o.sent = x->orders.sent;
    return o;
}

static bool same_output(const p2p_outcome *a, const p2p_outcome *b)
{
    return a->out_bytes == b->out_bytes && a->out && b->out && memcmp(a->out, b->out, a->out_bytes) == 0;
}

/* Has an order like this been run? If not, now it has. */
static bool is_new(p2p_exploration *x, uint64_t hash)
{
    if (2 * x->distinct >= x->seen_room) {
        size_t room = x->seen_room ? 2 * x->seen_room : 1024;
        uint64_t *more = calloc(room, sizeof *more);
        if (!more) return true;
        for (size_t i = 0; i < x->seen_room; i++) {
            size_t at = x->seen[i] % room;
            while (x->seen[i] && more[at]) at = (at + 1) % room;
            if (x->seen[i]) more[at] = x->seen[i];
        }
        free(x->seen);
        x->seen = more;
        x->seen_room = room;
    }
    size_t at = (hash |= 1) % x->seen_room;
    while (x->seen[at] && x->seen[at] != hash) at = (at + 1) % x->seen_room;
    if (x->seen[at]) return false;
    x->seen[at] = hash;
    return true;
}

/* ---- The search ---- */

static void progress(p2p_exploration *x)
{
    uint64_t now = p2p__now();
    if (x->options->quiet || !isatty(STDERR_FILENO) || now - x->told_at < PROGRESS_NS) return;
    x->told_at = now;
    fprintf(stderr, "\rorders run: %llu, choices open: %zu \033[K", (unsigned long long)x->distinct,
            p2p__orders_open(&x->orders));
}

static bool bound_is_reached(const p2p_exploration *x)
{
    const p2p_explore_options *o = x->options;
    return (o->runs && x->tries >= o->runs) || (o->ns && seconds_since(x->started) >= (double)o->ns * 1e-9);
}

/* Searches after the first may take so long, all together. */
static bool deep_enough(const p2p_exploration *x)
{
    uint64_t most = DEEPER_TIMES * x->first_tries > DEEPER_LEAST ? DEEPER_TIMES * x->first_tries : DEEPER_LEAST;
    return x->tries >= most || seconds_since(x->started) > DEEPER_S;
}

/* Output that is not the same in the same order is no sign of a race. */
static bool output_is_steady(p2p_exploration *x)
{
    char why[400];
    p2p_orders found = x->orders;
    char *schedule = p2p__schedule_write(&x->orders, x->plan->size, x->program);
    x->orders = (p2p_orders){.mode = ORDERS_ONE};
    bool same = schedule && p2p__schedule_read(&x->orders, schedule, x->plan->size, x->program, why, sizeof why);
    p2p_outcome again = {.status = 0};
    if (same) again = run(x);
    same = same && same_output(&again, &x->last);
    drop(&again);
    free(schedule);
    p2p__orders_free(&x->orders);
    x->orders = found;
    return same;
}

static void judge(p2p_exploration *x)
{
    x->runs++;
    if (is_new(x, p2p__orders_hash(&x->orders))) x->distinct++;
    if (x->runs == 1) {
        x->first = x->last;
        x->last = (p2p_outcome){.status = 0};
        x->wrong = x->first.status != 0;
        return;
    }
    x->sent_differs = x->sent_differs || x->last.sent != x->first.sent;
    x->wrong = x->last.status != 0;
    if (x->wrong || x->unsteady || same_output(&x->last, &x->first)) return;
    x->unsteady = !output_is_steady(x);
    x->wrong = !x->unsteady;
}

/* All orders have been run, but that polls were bounded. Is another search worth it, in which they are less? It takes a multiple
 * of the time, so it may not be finished. */
static bool deepens(p2p_exploration *x)
{
    p2p_orders *o = &x->orders;
    if (!x->finished++) x->first_tries = x->tries;
    if (o->mode != ORDERS_ALL || !o->bounded || o->looks >= DEEPEST || deep_enough(x)) return false;
    p2p__orders_deepen(o);
    x->orders_finished = x->distinct;
    x->distinct = 0;
    if (x->seen) memset(x->seen, 0, x->seen_room * sizeof *x->seen);
    return true;
}

/* Until an order is wrong, or there is none left. True: none is wrong. */
static bool search(p2p_exploration *x)
{
    p2p_orders *o = &x->orders;
    for (;;) {
        drop(&x->last);
        x->last = run(x);
        x->tries++;
        if (o->interrupted || o->diverged || o->no_memory) return false;
        x->cut = x->last.status == TIME_IS_OVER && bound_is_reached(x);
        if (x->cut) return x->finished;
        if (!o->pruned) judge(x);
        if (x->wrong) return false;
        if (!p2p__orders_next(o) && !deepens(x)) return true;
        if (bound_is_reached(x)) return x->options->random || x->finished;
        if (x->finished && deep_enough(x)) return true;
        progress(x);
    }
}

/* ---- The whole ---- */

static int verdict(p2p_exploration *x, bool all)
{
    const p2p_orders *o = &x->orders;
    if (isatty(STDERR_FILENO) && !x->options->quiet) fputs("\r\033[K", stderr);
    if (o->interrupted) return x->last.status;
    if (o->no_memory) {
        fprintf(stderr, "pairwise: the search cannot go on: no memory, or a run could not be started\n");
        return 1;
    }
    if (o->diverged) {
        fprintf(
            stderr,
            "pairwise: the program did something else in the same order: it depends on time, on random numbers or on "
            "threads\n  try: a fixed seed; orders can be explored where nothing else changes from run to run\n");
        return 1;
    }
    if (!x->wrong && !o->joined) {
        fprintf(stderr, "%spairwise: no rank has called p2p_init, or it failed: there are no orders to explore\n",
                x->first.err ? x->first.err : "");
        return 2;
    }
    if (x->wrong)
        p2p__tell_wrong(x);
    else
        p2p__tell_right(x, all);
    fflush(stdout);
    return x->wrong ? 1 : all ? 0 : NOT_FINISHED;
}

/* One run, in the order that the schedule says, or chance. */
static int play(const p2p_plan *plan, const p2p_explore_options *options, char *const program[])
{
    p2p_orders orders = {.mode = ORDERS_RANDOM, .random = options->seed, .looks = ORDERS_LOOKS};
    p2p_plan one = *plan;
    char why[400];
    p2p_err err;
    if (options->schedule && !p2p__schedule_read(&orders, options->schedule, plan->size, program, why, sizeof why)) {
        fprintf(stderr, "pairwise: %s\n", why);
        p2p__orders_free(&orders);
        return 2;
    }
    one.orders = &orders;
    one.config.looks = orders.looks;
    p2p__orders_begin(&orders);
    int status = p2p__run_job(&one, &err);
    if (orders.unfit) {
        fprintf(stderr, "pairwise: the schedule asks for what this program cannot do there: it has been changed since\n"
                        "  try: launch --explore again\n");
        status = 2;
    }
    p2p__orders_free(&orders);
    return status;
}

int p2p__explore(p2p_plan *plan, const p2p_explore_options *options, char *const program[])
{
    if (!options->all) return play(plan, options, program);
    p2p_exploration x = {.plan = plan,
                         .options = options,
                         .program = program,
                         .started = p2p__now(),
                         .limit_s = plan->options.timeout_s};
    const char *report = plan->options.report;
    int report_to = plan->report_to;
    x.orders = (p2p_orders){.mode = options->random ? ORDERS_RANDOM : ORDERS_ALL,
                            .random = options->seed,
                            .looks = options->random ? ORDERS_LOOKS : 0};
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC); /* every run reads the same */
    if (input >= 0) dup2(input, STDIN_FILENO);
    if (input > STDERR_FILENO) close(input);
    plan->orders = &x.orders;
    const int sinks[] = {memfd_create("output", MFD_CLOEXEC), memfd_create("errors", MFD_CLOEXEC)};
    plan->sinks = sinks;
    plan->options.ordered_output = true;
    plan->options.report = NULL;
    if (report_to >= 0) fcntl(report_to, F_SETFD, FD_CLOEXEC); /* no rank gets it */
    plan->report_to = -1;
    bool all = search(&x);
    int status = verdict(&x, all);
    plan->options.report = report;
    plan->report_to = report_to;
    if (!p2p__report_write(&x.orders.report, plan, status) && !status) status = 1;
    plan->sinks = NULL;
    close(sinks[0]);
    close(sinks[1]);
    drop(&x.first);
    drop(&x.last);
    free(x.seen);
    p2p__orders_free(&x.orders);
    return status;
}
