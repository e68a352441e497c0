/* SPDX-License-Identifier: MIT */
/*
 * kernels: how long each layer of the three models takes on this device, forward, backward by input and backward by
 * weight, and how far its results are from the oracle's; then the vectors, and the sum of two gradients beside the
 * host's dtype_reduce.
 *
 *      build/bench/kernels
 *      build/bench/kernels --model resnet34 --batch 64 --cores 2
 *
 * A time is the median of --repeats runs, each waited for. GFLOP/s count useful work only: two operations for each tap
 * inside the image. The error is the largest distance from the oracle, as a share of the largest element, over some
 * images and channels (conv) or all elements (the others).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "dtype/dtype.h"
#include "kernels/oracle.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- What there is to measure ---- */

typedef struct {
    const char *model;
    int times;                             /* in the model */
    int c, side, k, size, stride, padding; /* of the convolution; a norm of the result follows */
} layer;

static const layer layers[] = {
    {"resnet20", 1, 3, 32, 16, 3, 1, 1},    {"resnet20", 6, 16, 32, 16, 3, 1, 1},
    {"resnet20", 1, 16, 32, 32, 3, 2, 1},   {"resnet20", 1, 16, 32, 32, 1, 2, 0},
    {"resnet20", 5, 32, 16, 32, 3, 1, 1},   {"resnet20", 1, 32, 16, 64, 3, 2, 1},
    {"resnet20", 1, 32, 16, 64, 1, 2, 0},   {"resnet20", 5, 64, 8, 64, 3, 1, 1},
    {"resnet18", 1, 3, 32, 64, 3, 1, 1},    {"resnet18", 4, 64, 32, 64, 3, 1, 1},
    {"resnet18", 1, 64, 32, 128, 3, 2, 1},  {"resnet18", 1, 64, 32, 128, 1, 2, 0},
    {"resnet18", 3, 128, 16, 128, 3, 1, 1}, {"resnet18", 1, 128, 16, 256, 3, 2, 1},
    {"resnet18", 1, 128, 16, 256, 1, 2, 0}, {"resnet18", 3, 256, 8, 256, 3, 1, 1},
    {"resnet18", 1, 256, 8, 512, 3, 2, 1},  {"resnet18", 1, 256, 8, 512, 1, 2, 0},
    {"resnet18", 3, 512, 4, 512, 3, 1, 1},  {"resnet34", 1, 3, 32, 64, 7, 2, 3},
    {"resnet34", 6, 64, 8, 64, 3, 1, 1},    {"resnet34", 1, 64, 8, 128, 3, 2, 1},
    {"resnet34", 1, 64, 8, 128, 1, 2, 0},   {"resnet34", 7, 128, 4, 128, 3, 1, 1},
    {"resnet34", 1, 128, 4, 256, 3, 2, 1},  {"resnet34", 1, 128, 4, 256, 1, 2, 0},
    {"resnet34", 11, 256, 2, 256, 3, 1, 1}, {"resnet34", 1, 256, 2, 512, 3, 2, 1},
    {"resnet34", 1, 256, 2, 512, 1, 2, 0},  {"resnet34", 5, 512, 1, 512, 3, 1, 1},
};

enum { RESNET34_PARAMETERS = 21289802, SOME = 2 };

static const double bar = 1e-4; /* error that passes */

typedef struct {
    report_format format;
    const char *model, *spec;
    long batch, cores, repeats;
    kernel_device *device;
    report out;
    samples times;
    bool wrong;
} bench;

/* One row of the table: times in ms, 0 where there is none. */
typedef struct {
    const char *model, *what;
    int times;
    double ms[3], work, bytes; /* useful operations of one pass; bytes moved by the first */
    double error;
} row;

/* ---- Ends the program where it cannot go on ---- */

static void need(const bench *b, kernel_err err)
{
    if (!err) return;
    fprintf(stderr, "kernels: %s\n", kernel_error_message(b->device));
    exit(err == KERNEL_ERR_ARG || err == KERNEL_ERR_DEVICE ? 2 : 1);
}

static void *memory(size_t count, size_t size)
{
    void *made = aligned_alloc(64, (count * size + 64) / 64 * 64);

    if (made) return memset(made, 0, count * size);
    fprintf(stderr, "kernels: out of memory\n");
    exit(1);
}

/* ---- Tensors: the same numbers as floats on the device and as doubles here ---- */

typedef struct {
    double *values;
    size_t count;
    kernel_shape shape; /* n == 0: a plain vector */
    kernel_slice at;
} tensor;

static float *random_floats(size_t count, unsigned seed)
{
    float *numbers = memory(count, sizeof *numbers);
    uint64_t state = seed;

    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (float)(int)(state >> 40) / (1 << 23) - 1;
    }
    return numbers;
}

static kernel_slice new_slice(const bench *b, size_t floats)
{
    kernel_buffer *buffer;

    need(b, kernel_buffer_new(b->device, "tensor", floats, &buffer));
    return kernel_at(buffer, 0);
}

static tensor make(const bench *b, kernel_shape shape, size_t count, unsigned seed)
{
    tensor t = {NULL, shape.n ? kernel_oracle_elements(shape) : count, shape, {NULL, 0}};
    float *numbers = random_floats(t.count, seed);
    kernel_slice plain = new_slice(b, t.count);

    t.values = memory(t.count, sizeof *t.values);
    for (size_t i = 0; i < t.count; i++) t.values[i] = (double)numbers[i];
    need(b, kernel_write(b->device, plain, numbers, t.count));
    free(numbers);
    if (!shape.n) {
        t.at = plain;
        return t;
    }
    t.at = new_slice(b, kernel_floats(b->device, shape));
    need(b, kernel_from_nchw(b->device, shape, plain, t.at));
    need(b, kernel_finish(b->device));
    kernel_buffer_free(plain.buffer);
    return t;
}

static float *read_back(const bench *b, const tensor *t)
{
    float *numbers = memory(t->count, sizeof *numbers);
    kernel_slice plain = t->shape.n ? new_slice(b, t->count) : t->at;

    if (t->shape.n) need(b, kernel_to_nchw(b->device, t->shape, t->at, plain));
    need(b, kernel_read(b->device, numbers, plain, t->count));
    if (t->shape.n) kernel_buffer_free(plain.buffer);
    return numbers;
}

static void drop(tensor *t)
{
    kernel_buffer_free(t->at.buffer);
    free(t->values);
}

/* Of all elements, or of those the oracle has worked out: the others are 0 there. */
static double distance(const bench *b, const tensor *got, const double *want, bool all)
{
    float *numbers = read_back(b, got);
    double worst = 0, most = 0;

    for (size_t i = 0; i < got->count; i++) {
        double apart = fabs((double)numbers[i] - want[i]);
        if (!all && want[i] == 0) continue;
        if (!(apart <= worst)) worst = apart;
        if (fabs(want[i]) > most) most = fabs(want[i]);
    }
    free(numbers);
    return most > 0 ? worst / most : INFINITY;
}

/* ---- Convolution ---- */

typedef struct {
    bench *b;
    kernel_conv conv;
    tensor x, weight, y, dy, dx, dweight;
} conv_run;

typedef void (*operation)(void *run);

/* Median milliseconds. */
static double measure(bench *b, operation operate, void *run)
{
    double ms;

    samples_free(&b->times);
    b->times = (samples){0};
    for (long i = -1; i < b->repeats; i++) {
        double start = loop_now_us();
        operate(run);
        need(b, kernel_finish(b->device));
        ms = (loop_now_us() - start) * 1e-3;
        if (i >= 0) samples_add(&b->times, &ms, 1);
    }
    samples_sort(&b->times);
    return samples_percentile(&b->times, 50);
}

static void forward(void *run)
{
    conv_run *r = run;
    need(r->b, kernel_conv_forward(r->b->device, &r->conv, r->x.at, r->weight.at, r->y.at));
}

static void backward_input(void *run)
{
    conv_run *r = run;
    need(r->b, kernel_conv_backward_input(r->b->device, &r->conv, r->dy.at, r->weight.at, r->dx.at, false));
}

static void backward_weight(void *run)
{
    conv_run *r = run;
    need(r->b, kernel_conv_backward_weight(r->b->device, &r->conv, r->x.at, r->dy.at, r->dweight.at));
}

/* Some images, some channels: the first and the last of each in turn. */
static double conv_error(conv_run *r)
{
    const kernel_conv *v = &r->conv;
    kernel_oracle_part y = {{v->in.n - 1, 0, 0}, {v->in.n, SOME, v->in.c}};
    kernel_oracle_part dx = {{v->in.n - 1, 0, v->in.c - SOME}, {v->in.n, v->out_channels, v->in.c}};
    kernel_oracle_part dweight = {{0, v->out_channels - 1, 0}, {v->in.n, v->out_channels, SOME}};
    size_t most = r->y.count > r->x.count ? r->y.count : r->x.count;
    double *want = memory(most > r->weight.count ? most : r->weight.count, sizeof *want), error[3];

    kernel_oracle_conv_forward(v, &y, r->x.values, r->weight.values, want);
    error[0] = distance(r->b, &r->y, want, false);
    kernel_oracle_conv_backward_input(v, &dx, r->dy.values, r->weight.values, want);
    error[1] = distance(r->b, &r->dx, want, false);
    kernel_oracle_conv_backward_weight(v, &dweight, r->x.values, r->dy.values, want);
    error[2] = distance(r->b, &r->dweight, want, false);
    free(want);
    return fmax(error[0], fmax(error[1], error[2]));
}

static void conv_open(conv_run *r, bench *b, const layer *l)
{
    kernel_shape out, in = {(int)b->batch, l->c, l->side, l->side};
    size_t weights = (size_t)(l->k * l->c * l->size * l->size);

    r->b = b;
    r->conv = (kernel_conv){in, l->k, l->size, l->stride, l->padding};
    out = kernel_conv_out(&r->conv);
    r->x = make(b, in, 0, 1), r->y = make(b, out, 0, 2), r->dy = make(b, out, 0, 3), r->dx = make(b, in, 0, 4);
    r->weight = make(b, (kernel_shape){0}, weights, 5), r->dweight = make(b, (kernel_shape){0}, weights, 6);
}

static void conv_close(conv_run *r)
{
    drop(&r->x), drop(&r->y), drop(&r->dy), drop(&r->dx), drop(&r->weight), drop(&r->dweight);
}

/* ---- Norm, with residual and ReLU ---- */

typedef struct {
    bench *b;
    kernel_norm norm;
    tensor x, y, residual, dy, dx, dresidual, lines, saved; /* lines: gamma, beta, running, dgamma, dbeta */
} norm_run;

static kernel_slice line(const norm_run *r, int i)
{
    return kernel_at(r->lines.at.buffer, (size_t)(i * r->norm.shape.c));
}

static void norm_forward(void *run)
{
    norm_run *r = run;
    need(r->b, kernel_norm_forward(r->b->device, &r->norm, r->x.at, r->residual.at, r->y.at));
}

static void norm_backward(void *run)
{
    norm_run *r = run;
    need(r->b, kernel_norm_backward(r->b->device, &r->norm, r->dy.at, r->x.at, r->y.at, r->dx.at, line(r, 4),
                                    line(r, 5), r->dresidual.at));
}

static void norm_open(norm_run *r, bench *b, kernel_shape shape)
{
    int c = shape.c;

    r->b = b;
    r->x = make(b, shape, 0, 1), r->y = make(b, shape, 0, 2), r->residual = make(b, shape, 0, 3);
    r->dy = make(b, shape, 0, 4), r->dx = make(b, shape, 0, 5), r->dresidual = make(b, shape, 0, 6);
    r->lines = make(b, (kernel_shape){0}, (size_t)(6 * c), 7);
    r->saved = make(b, (kernel_shape){0}, kernel_norm_floats(b->device, shape), 8);
    r->norm = (kernel_norm){.shape = shape, .relu = true, .momentum = 0.1f, .eps = 1e-5f};
    r->norm.gamma = line(r, 0), r->norm.beta = line(r, 1);
    r->norm.running_mean = line(r, 2), r->norm.running_var = line(r, 3), r->norm.saved = r->saved.at;
}

static void norm_close(norm_run *r)
{
    drop(&r->x), drop(&r->y), drop(&r->residual), drop(&r->dy), drop(&r->dx), drop(&r->dresidual), drop(&r->lines),
        drop(&r->saved);
}

/* dx is left out where a rounding decides which side of the ReLU an element is on: y says enough about the sums. */
static double norm_error(norm_run *r)
{
    size_t c = (size_t)r->norm.shape.c, count = r->y.count;
    double *want = memory(2 * c + count, sizeof *want), error, *lines = r->lines.values;
    kernel_oracle_norm oracle = {.shape = r->norm.shape,
                                 .relu = true,
                                 .momentum = 0.1,
                                 .eps = 1e-5,
                                 .gamma = lines,
                                 .beta = lines + c,
                                 .running_mean = lines + 2 * c,
                                 .running_var = lines + 3 * c,
                                 .mean = want + count,
                                 .variance = want + count + c};

    kernel_oracle_norm_forward(&oracle, r->x.values, r->residual.values, want);
    error = distance(r->b, &r->y, want, true);
    free(want);
    return error;
}

/* ---- Rows ---- */

static const report_column columns[] = {
    {"model", "", 9, REPORT_TEXT, false},
    {"what", "", 36, REPORT_TEXT, false},
    {"times", "", 5, 0, false},
    {"fwd_ms", "(ms)", 8, 3, false},
    {"input_ms", "(ms)", 8, 3, false},
    {"weight_ms", "(ms)", 9, 3, false},
    {"fwd_GFLOPs", "(1e9/s)", 10, 1, false},
    {"input_GFLOPs", "(1e9/s)", 12, 1, false},
    {"weight_GFLOPs", "(1e9/s)", 13, 1, false},
    {"GBps", "(1e9 B/s)", 9, 2, false},
    {"error", "(of largest)", 12, 9, false},
    {"check", "", 5, REPORT_TEXT, false},
};

static report_cell cell(double number)
{
    return (report_cell){number > 0 ? NULL : "-", number};
}

static double rate(double amount, double ms)
{
    return ms > 0 ? amount / ms * 1e-6 : 0;
}

static void print(bench *b, const row *r)
{
    bool right = r->error <= bar; /* not if it is NaN */
    report_cell cells[] = {
        {r->model, 0},
        {r->what, 0},
        {NULL, r->times},
        cell(r->ms[0]),
        cell(r->ms[1]),
        cell(r->ms[2]),
        cell(rate(r->work, r->ms[0])),
        cell(rate(r->work, r->ms[1])),
        cell(rate(r->work, r->ms[2])),
        cell(rate(r->bytes, r->ms[0])),
        {NULL, r->error},
        {right ? "PASS" : "WRONG", 0},
    };

    report_row(&b->out, cells);
    b->wrong = b->wrong || !right;
}

static void conv_row(bench *b, const layer *l, row *r)
{
    static char what[64];
    conv_run run;

    conv_open(&run, b, l);
    snprintf(what, sizeof what, "conv %dx%d/%d  %d -> %d  %d x %d", l->size, l->size, l->stride, l->c, l->k, l->side,
             l->side);
    *r = (row){.model = l->model, .what = what, .times = l->times};
    r->work = 2 * kernel_oracle_conv_work(&run.conv) * (double)b->batch;
    r->ms[0] = measure(b, forward, &run);
    if (l->c > 3)
        r->ms[1] = measure(b, backward_input, &run); /* nobody asks for the gradient of an image */
    else
        backward_input(&run);
    r->ms[2] = measure(b, backward_weight, &run);
    r->error = conv_error(&run);
    conv_close(&run);
    print(b, r);
}

static void norm_row(bench *b, const layer *l, row *r)
{
    static char what[64];
    kernel_conv conv = {{(int)b->batch, l->c, l->side, l->side}, l->k, l->size, l->stride, l->padding};
    kernel_shape shape = kernel_conv_out(&conv);
    norm_run run;

    norm_open(&run, b, shape);
    snprintf(what, sizeof what, "norm + add + relu  %d  %d x %d", shape.c, shape.h, shape.w);
    *r = (row){.model = l->model, .what = what, .times = l->times, .bytes = 4.0 * 4 * (double)run.x.count};
    r->ms[0] = measure(b, norm_forward, &run);
    r->ms[1] = measure(b, norm_backward, &run);
    r->error = norm_error(&run);
    norm_close(&run);
    print(b, r);
}

/* A model's layers, then what they add up to in one step. */
static void measure_model(bench *b, const char *model)
{
    double forward_ms = 0, backward_ms = 0, work = 0;

    for (size_t i = 0; i < COUNT(layers); i++) {
        row rows[2];
        if (strcmp(layers[i].model, model) != 0) continue;
        conv_row(b, &layers[i], &rows[0]);
        norm_row(b, &layers[i], &rows[1]);
        for (int j = 0; j < 2; j++) {
            forward_ms += layers[i].times * rows[j].ms[0];
            backward_ms += layers[i].times * (rows[j].ms[1] + rows[j].ms[2]);
            work += layers[i].times * rows[j].work * (layers[i].c > 3 ? 3 : 2);
        }
    }
    report_note(&b->out,
                "%s, batch %ld: forward %.1f ms, backward %.1f ms, %.1f useful GFLOP/s; %.0f images/s without "
                "the rest",
                model, b->batch, forward_ms, backward_ms, rate(work, forward_ms + backward_ms),
                (double)b->batch / (forward_ms + backward_ms) * 1e3);
}

/* ---- Vectors: ResNet-34's parameters ---- */

typedef struct {
    bench *b;
    tensor p, g, state[2];
    kernel_optimizer optimizer;
    float *into, *from;
} vector_run;

static void add_on_device(void *run)
{
    vector_run *r = run;
    need(r->b, kernel_sum(r->b->device, r->p.at, r->g.at, r->p.count));
}

static void add_on_host(void *run)
{
    vector_run *r = run;
    dtype_reduce(r->into, r->from, r->p.count, DTYPE_F32, OP_SUM);
}

static void update(void *run)
{
    vector_run *r = run;
    kernel_slice state[2] = {r->state[0].at, r->state[1].at};
    need(r->b, kernel_update(r->b->device, &r->optimizer, 1, r->p.count, r->p.at, r->g.at, state));
}

/* Once from the start, all elements. */
static double update_error(vector_run *r)
{
    tensor fresh[4];
    double *want = memory(r->p.count, sizeof *want), error;
    vector_run once = *r;

    for (unsigned i = 0; i < 4; i++) fresh[i] = make(r->b, (kernel_shape){0}, r->p.count, i + 1);
    for (int i = 2; i < 4; i++) need(r->b, kernel_fill(r->b->device, fresh[i].at, r->p.count, 0));
    once.p = fresh[0], once.g = fresh[1], once.state[0] = fresh[2], once.state[1] = fresh[3];
    update(&once);
    for (size_t i = 0; i < r->p.count; i++)
        want[i] = kernel_oracle_update(&r->optimizer, 1, fresh[0].values[i], fresh[1].values[i], (double[2]){0, 0});
    error = distance(r->b, &fresh[0], want, true);
    for (int i = 0; i < 4; i++) drop(&fresh[i]);
    free(want);
    return error;
}

static void update_row(vector_run *r, kernel_rule rule, const char *what)
{
    row found = {.model = "resnet34", .what = what, .times = 1};

    kernel_optimizer_defaults(&r->optimizer, rule);
    r->optimizer.lr = 1e-3, r->optimizer.weight_decay = 1e-2;
    r->optimizer.momentum = rule == KERNEL_SGD || rule == KERNEL_RMSPROP ? 0.9 : 0;
    found.bytes = (3 + 2.0 * kernel_optimizer_states(&r->optimizer)) * 4 * (double)r->p.count;
    found.ms[0] = measure(r->b, update, r);
    found.error = update_error(r);
    print(r->b, &found);
}

static double sum_error(vector_run *r, bool on_host)
{
    double *want = memory(r->p.count, sizeof *want), error = 0;

    if (on_host) memcpy(r->into, r->from, r->p.count * sizeof *r->into);
    for (size_t i = 0; i < r->p.count; i++) want[i] = r->p.values[i] + r->g.values[i];
    if (on_host) {
        add_on_host(r);
        for (size_t i = 0; i < r->p.count; i++) error = fmax(error, fabs((double)r->into[i] - 2 * r->g.values[i]));
    } else {
        tensor fresh = make(r->b, (kernel_shape){0}, r->p.count, 1);
        need(r->b, kernel_sum(r->b->device, fresh.at, r->g.at, r->p.count));
        error = distance(r->b, &fresh, want, true);
        drop(&fresh);
    }
    free(want);
    return error;
}

static void measure_vectors(bench *b)
{
    vector_run r = {.b = b, .p = make(b, (kernel_shape){0}, RESNET34_PARAMETERS, 1)};
    double bytes = 3.0 * 4 * RESNET34_PARAMETERS;
    row found = {.model = "resnet34", .what = "sum of gradients on the device", .times = 1, .bytes = bytes};

    r.g = make(b, (kernel_shape){0}, RESNET34_PARAMETERS, 2);
    r.into = random_floats(r.p.count, 1), r.from = random_floats(r.p.count, 2);
    found.ms[0] = measure(b, add_on_device, &r);
    found.error = sum_error(&r, false);
    print(b, &found);
    found.what = "sum of gradients by dtype_reduce";
    found.ms[0] = measure(b, add_on_host, &r);
    found.error = sum_error(&r, true);
    print(b, &found);
    for (unsigned i = 0; i < 2; i++) r.state[i] = make(b, (kernel_shape){0}, RESNET34_PARAMETERS, 3 + i);
    for (int i = 0; i < 2; i++) need(b, kernel_fill(b->device, r.state[i].at, r.p.count, 0.5f));
    update_row(&r, KERNEL_SGD, "sgd with momentum");
    update_row(&r, KERNEL_ADAM, "adam");
    update_row(&r, KERNEL_ADAMW, "adamw");
    update_row(&r, KERNEL_RMSPROP, "rmsprop with momentum");
    drop(&r.p), drop(&r.g), drop(&r.state[0]), drop(&r.state[1]);
    free(r.into), free(r.from);
}

/* ---- Options ---- */

static const char *const parts[] = {"resnet20", "resnet18", "resnet34", "vectors"};

static bool is_part(const char *name)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strcmp(name, parts[i]) == 0) return true;
    return strcmp(name, "all") == 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    bench *b = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &b->format; return 0;
    case 'm':
        if (!is_part(arg)) argp_error(state, "--model: '%s' is not all, resnet20, resnet18, resnet34 or vectors", arg);
        b->model = arg;
        return 0;
    case 'b':
        if (!count_parse(arg, 1, 4096, &b->batch))
            argp_error(state, "--batch: '%s' is not a number from 1 to 4096", arg);
        return 0;
    case 'c':
        if (!count_parse(arg, 1, 1024, &b->cores))
            argp_error(state, "--cores: '%s' is not a number from 1 to 1024", arg);
        return 0;
    case 'r':
        if (!count_parse(arg, 1, 1000, &b->repeats))
            argp_error(state, "--repeats: '%s' is not a number from 1 to 1000", arg);
        return 0;
    case 'd': b->spec = arg; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static bench read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"model", 'm', "NAME", 0, "resnet20, resnet18, resnet34, vectors or all (default)", 0},
        {"batch", 'b', "N", 0, "Images (default 64)", 0},
        {"cores", 'c', "N", 0, "CPU cores to use (default 1)", 0},
        {"repeats", 'r', "N", 0, "Runs of each kernel (default 5)", 0},
        {"device", 'd', "NAME", 0, "auto (default), cpu, gpu, cpu:K, gpu:K", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure each layer of the three models on an OpenCL device, and check its "
                                            "results against the oracle."};
    bench b = {.model = "all", .batch = 64, .cores = 1, .repeats = 5};

    options_parse(&argp, argc, argv, &b);
    return b;
}

int main(int argc, char **argv)
{
    bench b = read_settings(argc, argv);
    kernel_device_info info;

    need(&b, kernel_open(b.spec, (int)b.cores, &b.device));
    need(&b, kernel_info(b.device, &info));
    report_begin(&b.out, b.format, columns, COUNT(columns));
    report_note(&b.out, "%s, driver %s, %d core%s, batch %ld", info.name, info.driver, info.cores,
                info.cores == 1 ? "" : "s", b.batch);
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (strcmp(b.model, "all") != 0 && strcmp(b.model, parts[i]) != 0) continue;
        if (strcmp(parts[i], "vectors") == 0)
            measure_vectors(&b);
        else
            measure_model(&b, parts[i]);
    }
    report_end(&b.out);
    samples_free(&b.times);
    kernel_close(b.device);
    return b.wrong;
}
