/* SPDX-License-Identifier: MIT */
/*
 * train: what a step of data-parallel training costs, as a whole with and without adding up the gradients, and phase by
 * phase.
 *
 *      build/bench/train --model resnet34 --ranks 2 --batch 64
 *
 * The whole step is what the trainer does, phases overlapping as they may. A round starts four runs, in turn with and
 * without sync, of few and of many steps; the step is the difference of their wall-clock times by that of their steps,
 * so that the time to start does not count. A third kind of run takes the phases one after the other, each waited for
 * on all ranks before the next begins: what each costs by itself, which is more than its share of a whole step. There
 * every rank updates all parameters; in a whole step perhaps its part (--shard auto). A step's phase is the slowest
 * rank's.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/layers/layers.h"
#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "collectives/collectives.h"
#include "trainer/run.h"

enum { DATA, FORWARD, BACKWARD, SYNC, OPTIMISER, PHASES };
enum { WITH_SYNC, WITHOUT_SYNC, SIDES };
enum { MOST_STEPS = 10000 };

typedef struct {
    report_format format;
    const char *model, *data, *device, *world;
    enum train_algorithm all_reduce;
    long ranks, batch, rounds, few, many;
} settings;

typedef struct {
    settings s;
    train_job job;
    double *ms; /* shared by the ranks: [rank][step][phase] */
    samples whole[SIDES], extra, phase[PHASES];
} bench;

/* ---- A run as the trainer makes it ---- */

static int train_main(p2p_comm *world, void *arg)
{
    bench *b = arg;
    train_error error = {""};
    p2p_err err = train_run(world, &b->job, NULL, &error);

    if (err) fprintf(stderr, "train: rank %d: %s\n", p2p_rank(world), error.text);
    return err ? 1 : 0;
}

static p2p_err launch(bench *b, int (*rank_main)(p2p_comm *, void *), bool last)
{
    p2p_options options = {.world = b->s.world, .trace = options_trace(last)};

    return p2p_launch((int)b->s.ranks, rank_main, b, &options);
}

/* Without sync: every rank keeps its own gradients. All ranks take the same images, so these are the same; else the
 * replicas would drift apart, and the trainer would report it. */
static p2p_err keep(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)op;
    return P2P_OK;
}

static size_t share_alike(size_t count, int rank, int size, size_t mine[])
{
    size_t share = count / (size_t)size;

    (void)rank;
    for (size_t i = 0; i < share; i++) mine[i] = i;
    return share;
}

/* Wall-clock milliseconds of `steps` steps and all around them. */
static p2p_err time_run(bench *b, int side, long steps, double *ms)
{
    double start = loop_now_us();
    p2p_err err;

    b->job.settings.steps = (uint64_t)steps;
    b->job.parallel.all_reduce = side == WITH_SYNC ? NULL : keep;
    b->job.parallel.shard = side == WITH_SYNC ? train_shard : share_alike;
    err = launch(b, train_main, false);
    *ms = (loop_now_us() - start) * 1e-3;
    return err;
}

/* One whole step. */
static p2p_err time_step(bench *b, int side, double *ms)
{
    double few = 0, many = 0;
    p2p_err err = time_run(b, side, b->s.few, &few);

    if (!err) err = time_run(b, side, b->s.many, &many);
    *ms = (many - few) / (double)(b->s.many - b->s.few);
    return err;
}

/* ---- A run phase by phase ---- */

typedef struct {
    bench *b;
    p2p_comm *world;
    train_network *network;
    train_sync *sync;
    train_error error;
} rank;

static p2p_err load(rank *r, long step)
{
    const train_images *images = &r->b->job.data.train;
    size_t chosen[MOST_STEPS], count = (size_t)r->b->s.batch;
    size_t first = (size_t)(step * r->b->s.ranks + p2p_rank(r->world)) * count;
    const train_view view = {true, 0, 1};

    for (size_t i = 0; i < count; i++) chosen[i] = (first + i) % images->count;
    return train_load(r->network, images, chosen, count, &view, &r->error);
}

static p2p_err wait_for(rank *r, enum train_array_kind kind)
{
    return train_map(r->network, kind, &r->error) ? P2P_OK : P2P_ERR_SYS;
}

static p2p_err go_through(rank *r, int phase, long step)
{
    kernel_optimizer adamw;
    bool finite;
    p2p_err err;

    switch (phase) {
    case DATA: return load(r, step);
    case FORWARD:
        err = train_forward(r->network, 1.0f / (float)(r->b->s.batch * r->b->s.ranks), &r->error);
        return err ? err : wait_for(r, TRAIN_GRADIENTS);
    case BACKWARD:
        err = train_backward(r->network, train_sync_ready, r->sync, &r->error);
        return err ? err : wait_for(r, TRAIN_GRADIENTS);
    case SYNC: return train_sync_wait(r->sync, &finite, &r->error);
    default:
        kernel_optimizer_defaults(&adamw, KERNEL_ADAMW);
        adamw.lr = 1e-3, adamw.weight_decay = 1e-2;
        err = train_update(r->network, &adamw, (uint64_t)step + 1, &r->error);
        return err ? err : wait_for(r, TRAIN_PARAMETERS);
    }
}

static p2p_err open_rank(rank *r)
{
    bench *b = r->b;
    const train_sync_options options_of_sync = {.all_reduce = train__all_reduce_of(b->s.all_reduce),
                                                .bucket_bytes = b->job.settings.bucket_bytes};
    const char *devices = b->job.settings.device;
    char device[TRAIN_DEVICE_NAME];
    train_network_options options = {
        .cores = train__cores_of(devices, (int)b->s.ranks), .batch = (size_t)b->s.batch, .comm = r->world};
    float *parameters, *statistics;
    p2p_err err;

    train__device_of(devices, p2p_rank(r->world), device);
    options.device = strcmp(device, "auto") == 0 ? NULL : device;
    err = train_network_open(b->job.model, &options, &r->network, &r->error);
    if (err) return err;
    parameters = train_map(r->network, TRAIN_PARAMETERS, &r->error);
    statistics = parameters ? train_map(r->network, TRAIN_STATISTICS, &r->error) : NULL;
    if (!statistics) return P2P_ERR_SYS;
    train_initialise(b->job.model, 0, parameters, statistics);
    err = train_flush(r->network, TRAIN_PARAMETERS, &r->error);
    if (!err) err = train_flush(r->network, TRAIN_STATISTICS, &r->error);
    return err ? err : train_sync_open(r->network, r->world, &options_of_sync, &r->sync, &r->error);
}

static int phases_main(p2p_comm *world, void *arg)
{
    bench *b = arg;
    rank r = {b, world, NULL, NULL, {""}};
    p2p_err err = open_rank(&r);
    double *ms = b->ms + (size_t)p2p_rank(world) * (size_t)b->s.many * PHASES;

    for (long step = 0; step < b->s.many && !err; step++)
        for (int phase = 0; phase < PHASES && !err; phase++, ms++) {
            double start;
            err = coll_barrier(world);
            start = loop_now_us();
            if (!err) err = go_through(&r, phase, step);
            *ms = (loop_now_us() - start) * 1e-3;
        }
    if (err) fprintf(stderr, "train: rank %d: %s\n", p2p_rank(world), r.error.text);
    train_sync_close(r.sync);
    train_network_close(r.network);
    return err ? 1 : 0;
}

/* The first step builds programs and touches memory for the first time: it does not count. */
static p2p_err time_phases(bench *b, bool last)
{
    p2p_err err = launch(b, phases_main, last);

    for (long step = 1; step < b->s.many && !err; step++)
        for (int phase = 0; phase < PHASES; phase++) {
            double slowest = 0;
            for (long n = 0; n < b->s.ranks; n++)
                slowest = fmax(slowest, b->ms[(n * b->s.many + step) * PHASES + phase]);
            samples_add(&b->phase[phase], &slowest, 1);
        }
    return err;
}

/* ---- Rounds ---- */

static p2p_err take_round(bench *b, long round)
{
    double ms[SIDES] = {0}, extra;
    p2p_err err = P2P_OK;

    for (int i = 0; i < SIDES && !err; i++) {
        int side = (int)(round + i) % SIDES;
        err = time_step(b, side, &ms[side]);
    }
    if (!err) err = time_phases(b, round + 1 == b->s.rounds);
    if (err) return err;
    for (int side = 0; side < SIDES; side++) samples_add(&b->whole[side], &ms[side], 1);
    if (ms[WITH_SYNC] <= 0 || ms[WITHOUT_SYNC] <= 0) return P2P_OK;
    extra = (ms[WITH_SYNC] / ms[WITHOUT_SYNC] - 1) * 100;
    samples_add(&b->extra, &extra, 1);
    return P2P_OK;
}

static p2p_err measure(bench *b)
{
    double unused;
    p2p_err err = time_run(b, WITH_SYNC, 1, &unused); /* kernels are built once */

    for (long round = 0; round < b->s.rounds && !err; round++) {
        report_progress((size_t)round, (size_t)b->s.rounds);
        err = take_round(b, round);
    }
    report_progress(1, 1);
    return err;
}

/* ---- What is printed ---- */

static const report_column columns[] = {
    {"what", "", 22, REPORT_TEXT, false},  {"samples", "", 7, 0, false},
    {"ms", "(median)", 9, 2, false},       {"ms_25", "(quartile)", 10, 2, false},
    {"ms_75", "(quartile)", 10, 2, false}, {"images_per_s", "(1/s)", 12, 1, false},
    {"GFLOPs", "(1e9/s)", 8, 1, false},
};

/* A step is a difference: where longer runs took no longer, because something else ran meanwhile, it is not known. */
static report_cell known(double number, double ms)
{
    return (report_cell){ms > 0 ? NULL : "-", number};
}

/* `work`: useful operations of all ranks in it; 0: not counted. */
static void print(const bench *b, report *out, const char *what, samples *times, bool is_step, double work)
{
    double images = (double)(b->s.batch * b->s.ranks), median;

    samples_sort(times);
    median = samples_percentile(times, 50);
    report_cell cells[] = {
        {what, 0},
        {NULL, (double)times->count},
        known(median, median),
        known(samples_percentile(times, 25), samples_percentile(times, 25)),
        known(samples_percentile(times, 75), samples_percentile(times, 75)),
        known(images / median * 1e3, is_step ? median : 0),
        known(work / median * 1e-6, work > 0 ? median : 0),
    };
    report_row(out, cells);
}

static void print_all(bench *b)
{
    static const char *const names[PHASES] = {"data", "forward", "backward", "sync", "optimiser"};
    double work = layers_step_work(b->s.model, b->s.batch) * (double)b->s.ranks, images;
    double forward = layers_forward_work(b->s.model, b->s.batch) * (double)b->s.ranks;
    double shares[PHASES] = {[FORWARD] = forward, [BACKWARD] = work - forward};
    report out;

    images = (double)(b->s.batch * b->s.ranks);
    report_begin(&out, b->s.format, columns, sizeof columns / sizeof *columns);
    report_note(&out, "%s, %ld ranks x %ld images, adamw, %s all-reduce, %s; %.2f useful GFLOP a step, %.3f an image",
                b->s.model, b->s.ranks, b->s.batch, train__algorithm_name(b->s.all_reduce), b->s.world, work * 1e-9,
                work / images * 1e-9);
    print(b, &out, "step", &b->whole[WITH_SYNC], true, work);
    print(b, &out, "step without sync", &b->whole[WITHOUT_SYNC], true, work);
    for (int phase = 0; phase < PHASES; phase++) print(b, &out, names[phase], &b->phase[phase], false, shares[phase]);
    samples_sort(&b->extra);
    if (b->extra.count)
        report_note(&out, "with sync a step takes %.1f %% more (quartiles %.1f and %.1f)",
                    samples_percentile(&b->extra, 50), samples_percentile(&b->extra, 25),
                    samples_percentile(&b->extra, 75));
    if (b->extra.count < (size_t)b->s.rounds)
        report_note(
            &out, "in %zu of %ld rounds a longer run took no longer than a short one: other programs ran; more --steps",
            (size_t)b->s.rounds - b->extra.count, b->s.rounds);
    report_note(&out, "steps: differences of runs of %ld and %ld steps, by the wall clock; phases: one after the other",
                b->s.few, b->s.many);
    report_end(&out);
}

/* ---- Options ---- */

static void number(struct argp_state *state, const char *name, const char *arg, long most, long *value)
{
    if (!count_parse(arg, 1, most, value))
        argp_error(state, "--%s: '%s' is not a number from 1 to %ld", name, arg, most);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'm':
        if (!train_describe(arg)) argp_error(state, "--model: '%s' is not one of %s", arg, train_model_names);
        s->model = arg;
        return 0;
    case 'n': number(state, "ranks", arg, 64, &s->ranks); return 0;
    case 'b': number(state, "batch", arg, MOST_STEPS, &s->batch); return 0;
    case 'r': number(state, "rounds", arg, 1000, &s->rounds); return 0;
    case 's': number(state, "steps", arg, MOST_STEPS, &s->many); return 0;
    case 'd': s->data = arg; return 0;
    case 'D': s->device = arg; return 0;
    case 'w': s->world = arg; return 0;
    case 'a':
        if (!train__algorithm_named(arg, &s->all_reduce) || s->all_reduce == TRAIN_NONE)
            argp_error(state, "--all-reduce: there is no '%s'", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Enough steps for a few seconds. */
static long usual_steps(const char *model)
{
    return strcmp(model, "resnet20") == 0 ? 20 : strcmp(model, "resnet18") == 0 ? 4 : 32;
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"model", 'm', "NAME", 0, "resnet20, resnet18 or resnet34 (default)", 0},
        {"ranks", 'n', "N", 0, "Ranks (default 2)", 0},
        {"batch", 'b', "N", 0, "Images a rank and step (default 64)", 0},
        {"rounds", 'r', "N", 0, "Times that everything is measured (default 5)", 0},
        {"steps", 's', "N", 0, "Steps of the longer run, the shorter has a quarter (default: a few seconds)", 0},
        {"data", 'd', "DIR", 0, "CIFAR-10's binary files (default: the built-in set)", 0},
        {"device", 'D', "NAME", 0, "auto (default), cpu, gpu, cpu:K, gpu:K", 0},
        {"all-reduce", 'a', "NAME", 0,
         "ring (default: overlapped with the backward pass), naive, tree, recursive-doubling, auto", 0},
        {"world", 'w', "NAME", 0, "How ranks reach each other: socket, shm (default: PAIRWISE_WORLD, or shm)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure a step of data-parallel training: the whole step with and without "
                                            "sync, and its phases."};
    settings s = {
        .model = "resnet34", .all_reduce = TRAIN_RING, .ranks = 2, .batch = 64, .rounds = 5, .world = options_world()};

    options_parse(&argp, argc, argv, &s);
    if (!s.many) s.many = usual_steps(s.model);
    if (s.many < 2) s.many = 2;
    s.few = s.many / 4 ? s.many / 4 : 1;
    return s;
}

static p2p_err prepare(bench *b)
{
    train_settings t;
    train_error error = {""};
    p2p_err err;

    train_defaults(&t);
    t.ranks = (int)b->s.ranks;
    t.model = b->s.model;
    t.batch = (size_t)b->s.batch;
    t.data = b->s.data;
    t.device = b->s.device ? b->s.device : "auto";
    t.world = b->s.world;
    t.all_reduce = b->s.all_reduce;
    t.overlap = b->s.all_reduce == TRAIN_RING;
    t.epochs = 1000000;
    t.steps = 1;
    t.test_limit = (size_t)b->s.ranks;
    t.quiet = true;
    t.out = NULL;
    err = train_prepare(&t, &b->job, &error);
    if (err) fprintf(stderr, "train: %s\n", error.text);
    return err;
}

int main(int argc, char **argv)
{
    bench b = {.s = read_settings(argc, argv)};
    size_t bytes = (size_t)(b.s.ranks * b.s.many * PHASES) * sizeof *b.ms;

    ranks_need_own_jobs("train");
    p2p_err err = prepare(&b);
    if (err) return 2;
    b.ms = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b.ms == MAP_FAILED) {
        fprintf(stderr, "train: no memory for %zu bytes of samples: %s\n", bytes, strerror(errno));
        return 1;
    }
    err = measure(&b);
    if (!err) print_all(&b);
    munmap(b.ms, bytes);
    train_job_free(&b.job);
    for (int i = 0; i < SIDES; i++) samples_free(&b.whole[i]);
    for (int i = 0; i < PHASES; i++) samples_free(&b.phase[i]);
    samples_free(&b.extra);
    return err == P2P_ERR_ARG ? 2 : err ? 1 : 0;
}
