/* SPDX-License-Identifier: MIT */
/*
 * compression: what it costs to add up the gradients of a model, as they are and in fewer bytes, and from which
 * bandwidth down the fewer bytes win.
 *
 *      build/bench/compression --model resnet34 --ranks 4 --network 10GbE
 *
 * cpu       what one rank computes to compress and to restore: processor time, the least of several
 * network   virtual time of the messages, the same on every machine
 * here      wall-clock time of all of it on this machine, where messages cost little; the least of several
 *
 * The bandwidth at which cpu + network is the same as without compression is predicted from bytes and messages, and
 * found by trying networks. Nothing is hidden behind a backward pass.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/compress.h"

enum { MOST_METHODS = 32, MOST_RANKS = 64, MOST_ROUNDS = 100, HALVINGS = 6 };

static const char latency_and_reduce[] = "latency=20us,reduce=10G"; /* of 10GbE */
static const double latency_s = 20e-6, reduce_rate = 10e9;

typedef struct {
    report_format format;
    const char *model, *network, *world, *methods[MOST_METHODS];
    size_t method_count;
    long ranks, rounds;
} settings;

/* What a rank found. */
typedef struct {
    double cpu_ms, network_ms, wall_ms;
    uint64_t bytes, messages;
} found;

typedef struct {
    settings s;
    train_model *model;
    train_compress how;
    found *of; /* of each rank, shared */
} bench;

static char usual[] = "f16,bf16,powersgd:1,powersgd:2,powersgd:4,topk:0.001,topk:0.01,topk:0.1";

/* Of --methods. */
static bool method_named(const char *name, train_compress *how)
{
    *how = (train_compress){.wire = DTYPE_F32};
    if (!train__compress_named(name, how) && !dtype_parse(name, &how->wire)) return false;
    return !train__compress_problem(how);
}

/* ---- In a rank ---- */

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void count_traffic(p2p_comm *world, found *f)
{
    p2p_traffic peers[MOST_RANKS];
    p2p_stats(world, peers);
    f->bytes = f->messages = 0;
    for (int q = 0; q < p2p_size(world); q++) {
        f->bytes += peers[q].bytes_sent;
        f->messages += peers[q].messages_sent;
    }
}

/* Numbers around 0, most of them small. */
static void fill(float *gradients, size_t count, int rank)
{
    uint32_t state = 2463534242u + (uint32_t)rank;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        float x = (float)(state >> 8) * 0x1p-23f - 1;
        gradients[i] = x * x * x * 1e-2f;
    }
}

static p2p_err take_round(p2p_comm *world, train__compressor *c, float *gradients, size_t count, found *f)
{
    found before;
    p2p_err err = coll_barrier(world);
    count_traffic(world, &before);
    double cpu = cpu_ms(), wall = loop_now_us(), network = p2p_time(world);
    if (!err) err = c ? c->reduce(c, gradients, 0, count) : ring_all_reduce(world, gradients, count, DTYPE_F32, OP_SUM);
    *f = (found){cpu_ms() - cpu, (p2p_time(world) - network) * 1e3, (loop_now_us() - wall) * 1e-3, 0, 0};
    found after;
    count_traffic(world, &after);
    f->bytes = after.bytes - before.bytes;
    f->messages = after.messages - before.messages;
    return err;
}

static int measure_rank(p2p_comm *world, void *arg)
{
    bench *b = arg;
    const train_sync_options options = {.all_reduce = ring_all_reduce, .compress = b->how};
    size_t count = b->model->parameters;
    void *gradients = NULL; /* where the trainer has them: in memory that ranks share */
    train__compressor *c = NULL;
    found f, least = {.cpu_ms = INFINITY, .wall_ms = INFINITY};
    p2p_err err = p2p_alloc(world, count * sizeof(float), &gradients);
    if (!err) err = train__compressor_open(b->model, world, &options, &c, NULL);
    for (long i = 0; i <= b->s.rounds && !err; i++) {
        fill(gradients, count, p2p_rank(world));
        err = take_round(world, c, gradients, count, &f);
        f.cpu_ms = fmin(f.cpu_ms, least.cpu_ms);
        f.wall_ms = fmin(f.wall_ms, least.wall_ms);
        least = f;
    }
    b->of[p2p_rank(world)] = least;
    train__compressor_close(c);
    p2p_release(world, gradients);
    return err ? 1 : 0;
}

/* The slowest rank's times, rank 0's traffic; to be traced, if that is asked for. */
static found measure_traced(bench *b, long ranks, const char *network, bool traced)
{
    p2p_options options = {.world = b->s.world, .network = network, .trace = options_trace(traced)};
    if (p2p_launch((int)ranks, measure_rank, b, &options)) exit(1);
    found all = b->of[0];
    for (long q = 1; q < ranks; q++) {
        all.network_ms = fmax(all.network_ms, b->of[q].network_ms);
        all.wall_ms = fmax(all.wall_ms, b->of[q].wall_ms);
    }
    return all;
}

static found measure(bench *b, long ranks, const char *network)
{
    return measure_traced(b, ranks, network, false);
}

/* ---- From which bandwidth down it wins ---- */

static found measure_at(bench *b, const train_compress *how, double bandwidth)
{
    char network[100];
    long rounds = b->s.rounds;
    snprintf(network, sizeof network, "%s,bandwidth=%.0f", latency_and_reduce, bandwidth);
    b->how = *how;
    b->s.rounds = 0; /* virtual time is the same in each */
    found f = measure(b, b->s.ranks, network);
    b->s.rounds = rounds;
    return f;
}

/* Looked for from an eighth of what is predicted to eight times as much. */
static double measured_bandwidth(bench *b, const train_compress *how, double cpu, double predicted)
{
    const train_compress plain = {.wire = DTYPE_F32};
    double low = predicted / 8, high = predicted * 8;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        bool wins = measure_at(b, how, middle).network_ms + cpu < measure_at(b, &plain, middle).network_ms;
        *(wins ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

/* Bytes a second; 0: there is none. What is added up takes half of the bytes of a ring; topk only gathers. */
static double predicted_bandwidth(const found *plain, const found *f, double cpu, bool adds_up)
{
    double saved = (double)plain->bytes - (double)f->bytes;
    double messages = ((double)f->messages - (double)plain->messages) * latency_s;
    double combined = ((adds_up ? (double)f->bytes : 0) - (double)plain->bytes) / 2 / reduce_rate;
    double more = messages + combined + cpu * 1e-3;
    return saved > 0 && more > 0 ? saved / more : 0;
}

/* ---- What is printed ---- */

static const report_column columns[] = {
    {"method", "", 11, REPORT_TEXT, false},
    {"bytes", "(a rank)", 11, 0, false},
    {"of_f32", "(%)", 7, 1, false},
    {"cpu_ms", "", 8, 2, false},
    {"network_ms", "(virtual)", 10, 2, false},
    {"sum_ms", "", 9, 2, false},
    {"here_ms", "", 8, 2, false},
    {"predicted", "(Gbit/s)", 9, 3, false},
    {"measured", "(Gbit/s)", 9, 3, false},
};

static void print(report *out, const char *name, const found *plain, const found *f, double cpu, double here,
                  const double bandwidths[2])
{
    bool is_plain = plain == f;
    report_cell cells[] = {{name, 0},
                           {NULL, (double)f->bytes},
                           {NULL, 100 * (double)f->bytes / (double)plain->bytes},
                           {NULL, cpu},
                           {NULL, f->network_ms},
                           {NULL, f->network_ms + cpu},
                           {NULL, here},
                           {is_plain || bandwidths[0] <= 0 ? "-" : NULL, bandwidths[0] * 8e-9},
                           {is_plain || bandwidths[1] <= 0 ? "-" : NULL, bandwidths[1] * 8e-9}};
    report_row(out, cells);
}

static void compare(bench *b, report *out)
{
    const double none[2] = {0, 0};
    found plain = measure(b, b->s.ranks, b->s.network), here = measure(b, b->s.ranks, NULL);
    print(out, "f32", &plain, &plain, 0, here.wall_ms, none);
    for (size_t i = 0; i < b->s.method_count; i++) {
        train_compress how;
        method_named(b->s.methods[i], &how);
        b->how = how;
        double cpu = measure(b, 1, NULL).cpu_ms, wall = measure(b, b->s.ranks, NULL).wall_ms;
        found f = measure_traced(b, b->s.ranks, b->s.network, i + 1 == b->s.method_count);
        double predicted = predicted_bandwidth(&plain, &f, cpu, how.method != TRAIN_TOPK);
        double bandwidths[2] = {predicted, predicted > 0 ? measured_bandwidth(b, &how, cpu, predicted) : 0};
        print(out, b->s.methods[i], &plain, &f, cpu, wall, bandwidths);
    }
}

static void print_all(bench *b)
{
    report out;
    report_begin(&out, b->s.format, columns, sizeof columns / sizeof *columns);
    report_note(&out, "%s, %zu gradients, %ld ranks; network: %s", b->s.model, b->model->parameters, b->s.ranks,
                b->s.network);
    compare(b, &out);
    report_note(&out,
                "sum_ms: cpu_ms + network_ms. predicted, measured: on networks with less bandwidth (%s) a method is",
                latency_and_reduce);
    report_note(&out, "faster than f32; -: that is not so. here_ms: on this machine, all of it, without a network");
    report_end(&out);
}

/* ---- Options ---- */

static void read_methods(struct argp_state *state, char *arg, settings *s)
{
    train_compress how;
    if (!list_parse(arg, s->methods, MOST_METHODS, &s->method_count))
        argp_error(state, "--methods: a list of at most %d, separated by commas", MOST_METHODS);
    for (size_t i = 0; i < s->method_count; i++)
        if (!method_named(s->methods[i], &how) || (how.wire == DTYPE_F32 && !how.method))
            argp_error(state, "--methods: '%s' is not f16, bf16, powersgd:RANK or topk:SHARE", s->methods[i]);
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
    case 'n':
        if (!count_parse(arg, 2, MOST_RANKS, &s->ranks))
            argp_error(state, "--ranks: '%s' is not a number from 2 to %d", arg, MOST_RANKS);
        return 0;
    case 'r':
        if (!count_parse(arg, 1, MOST_ROUNDS, &s->rounds))
            argp_error(state, "--rounds: '%s' is not a number from 1 to %d", arg, MOST_ROUNDS);
        return 0;
    case 'N': s->network = arg; return 0;
    case 'M': read_methods(state, arg, s); return 0;
    case 'w': s->world = arg; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"model", 'm', "NAME", 0, "resnet20 (default), resnet18 or resnet34", 0},
        {"ranks", 'n', "N", 0, "Ranks (default 4)", 0},
        {"methods", 'M', "NAMES", 0,
         "Separated by commas: f16, bf16, powersgd:RANK, topk:SHARE (default: eight of them)", 0},
        {"network", 'N', "NAME", 0, "Virtual network, as of launch --network (default 10GbE)", 0},
        {"rounds", 'r', "N", 0, "Times that each method is measured (default 5)", 0},
        {"world", 'w', "NAME", 0, "How ranks reach each other: socket, shm (default: PAIRWISE_WORLD, or shm)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure what it costs to add up gradients in fewer bytes, and from which "
                                            "bandwidth down that wins."};
    settings s = {.model = "resnet20", .network = "10GbE", .ranks = 4, .rounds = 5, .world = options_world()};
    options_parse(&argp, argc, argv, &s);
    if (!s.method_count) list_parse(usual, s.methods, MOST_METHODS, &s.method_count);
    return s;
}

int main(int argc, char **argv)
{
    bench b = {.s = read_settings(argc, argv)};
    train_error error;
    ranks_need_own_jobs("compression");
    if (train_build(train_describe(b.s.model), &b.model, &error)) {
        fprintf(stderr, "compression: %s\n", error.text);
        return 1;
    }
    b.of = mmap(NULL, MOST_RANKS * sizeof *b.of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b.of == MAP_FAILED) {
        perror("compression: mmap");
        return 1;
    }
    print_all(&b);
    train_free(b.model);
    return 0;
}
