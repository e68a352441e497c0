/* SPDX-License-Identifier: MIT */
/*
 * kernels: how long each layer of the three models takes on this device, forward and backward, what share of the
 * device's peak that is, measured in the same run, and how far its results are from the oracle's; then the vectors, and
 * the sum of two gradients beside the host's dtype_reduce.
 *
 *      build/bench/kernels
 *      build/bench/kernels --model resnet34 --batch 64 --cores 2
 *      build/bench/kernels --ladder                                 from the plain loop to the fastest kernel
 *
 * A time is the fastest of --repeats runs, each waited for. GFLOP/s count useful work only: two operations for each tap
 * inside the image, however they are computed; a kernel that needs fewer multiplications can be above the peak. The
 * error is the largest distance from the oracle, as a share of the largest element, over some images and channels
 * (conv) or all elements (the others).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layers/layers.h"
#include "bench/util/options.h"
#include "bench/util/sizes.h"
#include "dtype/dtype.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { RESNET34_PARAMETERS = 21289802, VECTOR_ROWS = 6 };

static const double bar = 1e-4; /* error that passes */

typedef struct {
    report_format format;
    const char *model, *spec;
    bool ladder;
    long cores;
    layers on;
    layers_peak peak;
    report out;
    size_t done, total; /* rows */
    bool wrong;
} bench;

/* One row of the table: times in ms, 0 where there is none. */
typedef struct {
    const char *model, *what;
    int times;
    double ms[3], work,
        bytes; /* forward, by input, by weight; useful operations of one pass; bytes moved by the first */
    double error;
} row;

/* ---- Rows ---- */

static const report_column columns[] = {
    {"model", "", 9, REPORT_TEXT, false},
    {"what", "", 36, REPORT_TEXT, false},
    {"times", "", 5, 0, false},
    {"fwd_ms", "(ms)", 8, 3, false},
    {"input_ms", "(ms)", 8, 3, false},
    {"weight_ms", "(ms)", 9, 3, false},
    {"bwd_ms", "(ms)", 8, 3, false},
    {"fwd_GFLOPs", "(1e9/s)", 10, 1, false},
    {"bwd_GFLOPs", "(1e9/s)", 10, 1, false},
    {"fwd_peak", "(%)", 8, 1, false},
    {"bwd_peak", "(%)", 8, 1, false},
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

static double share(const bench *b, double gflops)
{
    return gflops / (b->peak.most * 1e-9) * 100;
}

static void print(bench *b, const row *r)
{
    bool right = r->error <= bar; /* not if it is NaN */
    double backward = r->ms[1] + r->ms[2], passes = (r->ms[1] > 0) + (r->ms[2] > 0);
    double forward_rate = rate(r->work, r->ms[0]), backward_rate = rate(r->work * passes, backward);
    report_cell cells[] = {
        {r->model, 0},
        {r->what, 0},
        {NULL, r->times},
        cell(r->ms[0]),
        cell(r->work > 0 ? r->ms[1] : 0),
        cell(r->ms[2]),
        cell(backward),
        cell(forward_rate),
        cell(backward_rate),
        cell(share(b, forward_rate)),
        cell(share(b, backward_rate)),
        cell(rate(r->bytes, r->ms[0])),
        {NULL, r->error},
        {right ? "PASS" : "FAIL", 0},
    };

    report_progress(b->done++, b->total);
    report_row(&b->out, cells);
    b->wrong = b->wrong || !right;
}

static void conv_row(bench *b, const layer *l, row *r)
{
    static char what[64];
    conv_run run;

    conv_run_open(&run, &b->on, l);
    snprintf(what, sizeof what, "conv %dx%d/%d  %d -> %d  %d x %d", l->size, l->size, l->stride, l->c, l->k, l->side,
             l->side);
    *r = (row){.model = l->model, .what = what, .times = l->times};
    r->work = 2 * kernel_oracle_conv_work(&run.conv) * (double)b->on.batch;
    r->ms[0] = layers_measure(&b->on, conv_run_forward, &run);
    if (l->c > 3)
        r->ms[1] = layers_measure(&b->on, conv_run_backward_input, &run); /* the gradient of the image is not needed */
    else
        conv_run_backward_input(&run);
    r->ms[2] = layers_measure(&b->on, conv_run_backward_weight, &run);
    r->error = conv_run_error(&run);
    conv_run_close(&run);
    print(b, r);
}

static void norm_row(bench *b, const layer *l, row *r)
{
    static char what[64];
    kernel_conv conv = {{(int)b->on.batch, l->c, l->side, l->side}, l->k, l->size, l->stride, l->padding};
    kernel_shape shape = kernel_conv_out(&conv);
    norm_run run;

    norm_run_open(&run, &b->on, shape);
    snprintf(what, sizeof what, "norm + add + relu  %d  %d x %d", shape.c, shape.h, shape.w);
    *r = (row){.model = l->model, .what = what, .times = l->times, .bytes = 4.0 * 4 * (double)run.x.count};
    r->ms[0] = layers_measure(&b->on, norm_run_forward, &run);
    r->ms[1] = layers_measure(&b->on, norm_run_backward, &run);
    r->error = norm_run_error(&run);
    norm_run_close(&run);
    print(b, r);
}

/* A model's layers, then what they add up to in one step. */
static void measure_model(bench *b, const char *model)
{
    double forward_ms = 0, backward_ms = 0, conv_ms = 0, work = layers_step_work(model, b->on.batch);

    for (size_t i = 0; i < layers_count; i++) {
        const layer *l = &layers_of_models[i];
        row rows[2];
        if (strcmp(l->model, model) != 0) continue;
        conv_row(b, l, &rows[0]);
        norm_row(b, l, &rows[1]);
        for (int j = 0; j < 2; j++) {
            forward_ms += l->times * rows[j].ms[0];
            backward_ms += l->times * (rows[j].ms[1] + rows[j].ms[2]);
        }
        conv_ms += l->times * (rows[0].ms[0] + rows[0].ms[1] + rows[0].ms[2]);
    }
    report_note(&b->out,
                "%s, batch %ld: forward %.1f ms, backward %.1f ms; convolutions %.1f useful GFLOP/s, %.1f %% of the "
                "peak; %.0f images/s without the rest",
                model, b->on.batch, forward_ms, backward_ms, rate(work, conv_ms), share(b, rate(work, conv_ms)),
                (double)b->on.batch / (forward_ms + backward_ms) * 1e3);
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
    layers_need(r->b->on.device, kernel_sum(r->b->on.device, r->p.at, r->g.at, r->p.count));
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
    layers_need(r->b->on.device, kernel_update(r->b->on.device, &r->optimizer, 1, r->p.count, r->p.at, r->g.at, state));
}

/* Once from the start, all elements. */
static double update_error(vector_run *r)
{
    tensor fresh[4];
    double *want = layers_memory(r->p.count, sizeof *want), error;
    vector_run once = *r;

    for (unsigned i = 0; i < 4; i++) fresh[i] = tensor_make(&r->b->on, (kernel_shape){0}, r->p.count, i + 1);
    for (int i = 2; i < 4; i++) layers_need(r->b->on.device, kernel_fill(r->b->on.device, fresh[i].at, r->p.count, 0));
    once.p = fresh[0], once.g = fresh[1], once.state[0] = fresh[2], once.state[1] = fresh[3];
    update(&once);
    for (size_t i = 0; i < r->p.count; i++)
        want[i] = kernel_oracle_update(&r->optimizer, 1, fresh[0].values[i], fresh[1].values[i], (double[2]){0, 0});
    error = tensor_distance(&r->b->on, &fresh[0], want, true);
    for (int i = 0; i < 4; i++) tensor_drop(&fresh[i]);
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
    found.ms[0] = layers_measure(&r->b->on, update, r);
    found.error = update_error(r);
    print(r->b, &found);
}

static double sum_error(vector_run *r, bool on_host)
{
    double *want = layers_memory(r->p.count, sizeof *want), error = 0;

    if (on_host) memcpy(r->into, r->from, r->p.count * sizeof *r->into);
    for (size_t i = 0; i < r->p.count; i++) want[i] = r->p.values[i] + r->g.values[i];
    if (on_host) {
        add_on_host(r);
        for (size_t i = 0; i < r->p.count; i++) error = fmax(error, fabs((double)r->into[i] - 2 * r->g.values[i]));
    } else {
        tensor fresh = tensor_make(&r->b->on, (kernel_shape){0}, r->p.count, 1);
        layers_need(r->b->on.device, kernel_sum(r->b->on.device, fresh.at, r->g.at, r->p.count));
        error = tensor_distance(&r->b->on, &fresh, want, true);
        tensor_drop(&fresh);
    }
    free(want);
    return error;
}

static void measure_vectors(bench *b)
{
    vector_run r = {.b = b, .p = tensor_make(&b->on, (kernel_shape){0}, RESNET34_PARAMETERS, 1)};
    double bytes = 3.0 * 4 * RESNET34_PARAMETERS;
    row found = {.model = "resnet34", .what = "sum of gradients on the device", .times = 1, .bytes = bytes};

    r.g = tensor_make(&b->on, (kernel_shape){0}, RESNET34_PARAMETERS, 2);
    r.into = layers_random(r.p.count, 1), r.from = layers_random(r.p.count, 2);
    found.ms[0] = layers_measure(&b->on, add_on_device, &r);
    found.error = sum_error(&r, false);
    print(b, &found);
    found.what = "sum of gradients by dtype_reduce";
    found.ms[0] = layers_measure(&b->on, add_on_host, &r);
    found.error = sum_error(&r, true);
    print(b, &found);
    for (unsigned i = 0; i < 2; i++) r.state[i] = tensor_make(&b->on, (kernel_shape){0}, RESNET34_PARAMETERS, 3 + i);
    for (int i = 0; i < 2; i++) layers_need(b->on.device, kernel_fill(b->on.device, r.state[i].at, r.p.count, 0.5f));
    update_row(&r, KERNEL_SGD, "sgd with momentum");
    update_row(&r, KERNEL_ADAM, "adam");
    update_row(&r, KERNEL_ADAMW, "adamw");
    update_row(&r, KERNEL_RMSPROP, "rmsprop with momentum");
    tensor_drop(&r.p), tensor_drop(&r.g), tensor_drop(&r.state[0]), tensor_drop(&r.state[1]);
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
        if (!count_parse(arg, 1, 4096, &b->on.batch))
            argp_error(state, "--batch: '%s' is not a number from 1 to 4096", arg);
        return 0;
    case 'c':
        if (!count_parse(arg, 1, 1024, &b->cores))
            argp_error(state, "--cores: '%s' is not a number from 1 to 1024", arg);
        return 0;
    case 'r':
        if (!count_parse(arg, 1, 1000, &b->on.repeats))
            argp_error(state, "--repeats: '%s' is not a number from 1 to 1000", arg);
        return 0;
    case 'd': b->spec = arg; return 0;
    case 'l': b->ladder = true; return 0;
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
        {"repeats", 'r', "N", 0, "Runs of each kernel (default 7)", 0},
        {"ladder", 'l', NULL, 0, "Instead: one convolution from the plain loop to the fastest kernel", 0},
        {"device", 'd', "NAME", 0, "auto (default), cpu, gpu, cpu:K, gpu:K", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_table_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure each layer of the three models on an OpenCL device, and check its "
                                            "results against the oracle."};
    bench b = {.model = "all", .cores = 1, .on = {.batch = 64, .repeats = 7}};

    options_parse(&argp, argc, argv, &b);
    return b;
}

static bool is_asked_for(const bench *b, const char *part)
{
    return strcmp(b->model, "all") == 0 || strcmp(b->model, part) == 0;
}

static size_t count_rows(const bench *b)
{
    size_t rows = is_asked_for(b, "vectors") ? VECTOR_ROWS : 0;

    for (size_t i = 0; i < layers_count; i++) rows += is_asked_for(b, layers_of_models[i].model) ? 2 : 0;
    return rows;
}

static void measure_layers(bench *b)
{
    kernel_device_info info;

    layers_need(b->on.device, kernel_info(b->on.device, &info));
    b->peak = layers_find_peak(&b->on);
    b->total = count_rows(b);
    report_begin(&b->out, b->format, columns, COUNT(columns));
    report_note(&b->out, "%s, driver %s, %d core%s, batch %ld", info.name, info.driver, info.cores,
                info.cores == 1 ? "" : "s", b->on.batch);
    report_note(&b->out, "peak: %.1f GFLOP/s (multiply-adds in registers: C %.1f, OpenCL %.1f)", b->peak.most * 1e-9,
                b->peak.in_c * 1e-9, b->peak.in_opencl * 1e-9);
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!is_asked_for(b, parts[i])) continue;
        if (strcmp(parts[i], "vectors") == 0)
            measure_vectors(b);
        else
            measure_model(b, parts[i]);
    }
    report_progress(b->total, b->total);
    report_end(&b->out);
}

int main(int argc, char **argv)
{
    bench b = read_settings(argc, argv);

    layers_need(NULL, kernel_open(b.spec, (int)b.cores, &b.on.device));
    if (b.ladder)
        b.wrong = !layers_ladder(&b.on, b.format);
    else
        measure_layers(&b);
    kernel_close(b.on.device);
    return b.wrong;
}
