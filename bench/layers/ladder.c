/* SPDX-License-Identifier: MIT */
/*
 * ladder: every rung on one shape, forward, by input and by weight: how fast, how much of the peak, and how far from
 * the oracle.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/layers/layers.h"

enum { PASSES = KERNEL_PASSES };

static const layer shape = {"resnet34", 1, 64, 8, 64, 3, 1, 1};
static const char *const pass_names[] = {"forward", "by input", "by weight"};
static const double bar = 1e-4; /* error that passes */

static const report_column columns[] = {
    {"pass", "", 9, REPORT_TEXT, false},     {"rung", "", 4, 0, false},
    {"name", "", 9, REPORT_TEXT, false},     {"ms", "(ms)", 9, 3, false},
    {"GFLOPs", "(1e9/s)", 8, 1, false},      {"peak_share", "(%)", 10, 1, false},
    {"speedup", "(of loops)", 10, 1, false}, {"error", "(of largest)", 12, 9, false},
    {"check", "", 5, REPORT_TEXT, false},    {"file", "", -24, REPORT_TEXT, false},
    {"idea", "", -45, REPORT_TEXT, true},
};

/* The operands of one pass for one rung: c = the pass of a and b. */
typedef struct {
    const layers *b;
    kernel_conv conv;
    kernel_pass pass;
    size_t rung;
    tensor operand[3];
} climb;

static void go(void *run)
{
    climb *r = run;

    layers_need(r->b->device, kernel_climb(r->b->device, r->rung, r->pass, &r->conv, r->operand[0].at, r->operand[1].at,
                                           r->operand[2].at));
}

/* Activations, or the same numbers as (N, C, H, W) where the rung wants that. */
static void open_run(climb *r, bool plain)
{
    kernel_shape none = {0}, x = r->conv.in, y = kernel_conv_out(&r->conv), *shapes[PASSES][3];
    size_t weights = (size_t)(shape.k * shape.c * shape.size * shape.size);

    shapes[KERNEL_FORWARD][0] = shapes[KERNEL_BY_WEIGHT][0] = shapes[KERNEL_BY_INPUT][2] = &x;
    shapes[KERNEL_FORWARD][1] = shapes[KERNEL_BY_INPUT][1] = shapes[KERNEL_BY_WEIGHT][2] = &none;
    shapes[KERNEL_FORWARD][2] = shapes[KERNEL_BY_INPUT][0] = shapes[KERNEL_BY_WEIGHT][1] = &y;
    for (unsigned i = 0; i < 3; i++) {
        kernel_shape s = *shapes[r->pass][i];
        size_t count = s.n ? kernel_oracle_elements(s) : weights;
        r->operand[i] = tensor_make(r->b, plain ? none : s, count, i + 1);
    }
}

/* Some images and channels: the loop in doubles takes longest of all. */
static double error_of(climb *r)
{
    const kernel_conv *v = &r->conv;
    kernel_oracle_part y = {{v->in.n - 1, 0, 0}, {v->in.n, 2, v->in.c}};
    kernel_oracle_part dx = {{v->in.n - 1, 0, v->in.c - 2}, {v->in.n, v->out_channels, v->in.c}};
    kernel_oracle_part dweight = {{0, v->out_channels - 1, 0}, {v->in.n, v->out_channels, 2}};
    const double *a = r->operand[0].values, *b = r->operand[1].values;
    double *want = layers_memory(r->operand[2].count, sizeof *want), error;

    if (r->pass == KERNEL_FORWARD) kernel_oracle_conv_forward(v, &y, a, b, want);
    if (r->pass == KERNEL_BY_INPUT) kernel_oracle_conv_backward_input(v, &dx, a, b, want);
    if (r->pass == KERNEL_BY_WEIGHT) kernel_oracle_conv_backward_weight(v, &dweight, a, b, want);
    error = tensor_distance(r->b, &r->operand[2], want, false);
    free(want);
    return error;
}

/* Milliseconds of one rung; prints its row. `slowest`: those of the first rung, 0 if this is it. */
static double climb_one(const layers *b, report *out, const kernel_rung *rungs, size_t rung, kernel_pass pass,
                        double peak, double slowest, bool *right)
{
    climb r = {b,
               {{(int)b->batch, shape.c, shape.side, shape.side}, shape.k, shape.size, shape.stride, shape.padding},
               pass,
               rung,
               {{0}}};
    double work = 2 * kernel_oracle_conv_work(&r.conv) * (double)b->batch, ms, error;

    open_run(&r, rungs[rung].plain);
    ms = layers_measure(b, go, &r);
    error = error_of(&r);
    for (int i = 0; i < 3; i++) tensor_drop(&r.operand[i]);
    report_cell cells[] = {
        {pass_names[pass], 0},
        {NULL, (double)rung + 1},
        {rungs[rung].name, 0},
        {NULL, ms},
        {NULL, work / ms * 1e-6},
        {NULL, work / ms * 1e3 / peak * 100},
        {NULL, slowest > 0 ? slowest / ms : 1},
        {NULL, error},
        {error <= bar ? "PASS" : "FAIL", 0},
        {rungs[rung].file[pass], 0},
        {rungs[rung].idea, 0},
    };
    report_row(out, cells);
    if (!(error <= bar)) *right = false;
    return ms;
}

bool layers_ladder(const layers *b, report_format format)
{
    const kernel_rung *rungs;
    size_t count = kernel_ladder(&rungs), done = 0;
    layers_peak peak = layers_find_peak(b);
    report out;
    bool right = true;

    report_begin(&out, format, columns, sizeof columns / sizeof *columns);
    report_note(&out, "convolution 3x3, %d -> %d channels, images %d x %d, batch %ld; peak %.1f GFLOP/s", shape.c,
                shape.k, shape.side, shape.side, b->batch, peak.most * 1e-9);
    for (kernel_pass pass = KERNEL_FORWARD; pass < KERNEL_PASSES; pass++) {
        double slowest = 0;
        for (size_t rung = 0; rung < count; rung++) {
            report_progress(done++, KERNEL_PASSES * count);
            if (!rungs[rung].file[pass]) continue;
            double ms = climb_one(b, &out, rungs, rung, pass, peak.most, slowest, &right);
            if (rung == 0) slowest = ms;
        }
    }
    report_progress(done, KERNEL_PASSES * count);
    report_note(&out, "the files are in kernels/; the last rung of each pass is the one that trains");
    report_end(&out);
    return right;
}
