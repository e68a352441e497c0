/* SPDX-License-Identifier: MIT */
/*
 * ladder: which rungs there are, and how each is begun.
 */
#include "kernels/ladder.h"

#include "kernels/layout.h"
#include "kernels/shapes.h"

enum { REUSE = 4, SUMS = 12 }; /* of ladder/4_reuse.cl, ladder/peak.cl */

/* What is called for each rung. The trainer's kernels are called as the trainer calls them, with the method fixed. */
enum { LOOPS, TAPS, PLAIN, REUSED, REGISTERS, TILE, ROWS, TRANSPOSED, WINOGRAD };

static const kernel_rung rungs[] = {
    [LOOPS] = {"loops",
               "as it is defined: one product after the other",
               {"ladder/1_loops.cl", "ladder/1_loops.cl", "ladder/1_loops.cl"},
               true},
    [TAPS] = {"taps",
              "which taps are inside is found once a pixel",
              {"ladder/2_taps.cl", "ladder/2_taps.cl", NULL},
              true},
    [PLAIN] = {"lanes",
               "images side by side: one vector does 8 or 16",
               {"conv_plain.cl", "conv_plain.cl", "conv_weight_plain.cl"},
               false},
    [REUSED] = {"reuse",
                "a loaded vector serves four channels",
                {"ladder/4_reuse.cl", "ladder/4_reuse.cl", NULL},
                false},
    [REGISTERS] = {"registers",
                   "as many sums as there are registers",
                   {"ladder/5_registers.cl", "ladder/5_registers.cl", NULL},
                   false},
    [TILE] = {"pieces", "weights by pieces that stay in the cache", {"conv.cl", "conv.cl", "conv_weight.cl"}, false},
    [ROWS] = {"patches", "all taps of a few pixels in turn", {NULL, NULL, "conv_weight_rows.cl"}, false},
    [TRANSPOSED] = {"transposed", "no sum across lanes", {NULL, NULL, "conv_weight_transposed.cl"}, false},
    [WINOGRAD] = {"winograd",
                  "2.25 products a pixel instead of 9",
                  {"conv_winograd.cl", "conv_winograd.cl", "conv_weight_winograd.cl"},
                  false},
};

size_t kernel_ladder(const kernel_rung **all)
{
    *all = rungs;
    return COUNT(rungs);
}

/* ---- The rungs that only the ladder uses ---- */

typedef struct {
    kernel_device *device;
    const kernel_conv *conv;
    kernel_pass pass;
    kernel_slice a, b, c;
} climb;

static shape_weight describe_plain(const kernel_conv *conv)
{
    kernel_shape out = kernel_conv_out(conv);

    return (shape_weight){.n = conv->in.n,
                          .in_channels = conv->in.c,
                          .in_height = conv->in.h,
                          .in_width = conv->in.w,
                          .out_channels = out.c,
                          .out_height = out.h,
                          .out_width = out.w,
                          .size = conv->size,
                          .stride = conv->stride,
                          .padding = conv->padding};
}

static kernel__call begin(const climb *at, int vectors, const char *name, const void *shape, size_t bytes)
{
    kernel__call call = kernel__begin(at->device, KERNEL__LADDER, vectors, name);

    kernel__slice(&call, at->a);
    kernel__slice(&call, at->b);
    kernel__slice(&call, at->c);
    kernel__value(&call, shape, bytes);
    return call;
}

static kernel_err loops(const climb *at)
{
    static const char *const names[KERNEL_PASSES] = {"loops_forward", "loops_input", "loops_weight"};
    shape_weight s = describe_plain(at->conv);
    kernel__call call = begin(at, 1, names[at->pass], &s, sizeof s);
    size_t n = (size_t)s.n, taps = (size_t)s.size * (size_t)s.size, c = (size_t)s.in_channels,
           k = (size_t)s.out_channels;

    if (at->pass == KERNEL_FORWARD) return kernel__run(&call, (size_t)s.out_width, (size_t)s.out_height, n * k);
    if (at->pass == KERNEL_BY_INPUT) return kernel__run(&call, (size_t)s.in_width, (size_t)s.in_height, n * c);
    return kernel__run(&call, taps, c, k);
}

static kernel_err taps(const climb *at)
{
    kernel__layout layout = kernel__layout_of(at->device, at->conv->in.n);
    shape_conv s = kernel__describe_conv(at->conv, layout, at->pass == KERNEL_BY_INPUT, false);
    kernel__call call = begin(at, 1, "taps", &s, sizeof s);

    return kernel__run(&call, (size_t)s.width, (size_t)s.height, (size_t)s.n * (size_t)s.channels);
}

/* reuse and registers: `tile` channels a work-item. */
static kernel_err tiles(const climb *at, const char *name, int tile)
{
    kernel__layout layout = kernel__layout_of(at->device, at->conv->in.n);
    shape_conv s = kernel__describe_conv(at->conv, layout, at->pass == KERNEL_BY_INPUT, false);
    kernel__call call = begin(at, layout.vectors, name, &s, sizeof s);

    return kernel__run(&call, (size_t)at->device->tiles.items, kernel__positions(layout, s.height, s.width),
                       (size_t)(s.channels / tile));
}

/* ---- The trainer's ---- */

static kernel_err go(const climb *at, kernel__way way)
{
    kernel_device *d = at->device;
    kernel__way usual = d->way;
    kernel_err err;

    d->way = way;
    if (at->pass == KERNEL_FORWARD)
        err = kernel_conv_forward(d, at->conv, at->a, at->b, at->c);
    else if (at->pass == KERNEL_BY_INPUT)
        err = kernel_conv_backward_input(d, at->conv, at->a, at->b, at->c, false);
    else
        err = kernel_conv_backward_weight(d, at->conv, at->a, at->b, at->c);
    d->way = usual;
    return err;
}

/* ---- Which ---- */

/* Is the number of channels that a pass writes a multiple of `tile`? If not, this rung cannot compute them. */
static bool fits(const climb *at, int tile)
{
    return (at->pass == KERNEL_FORWARD ? at->conv->out_channels : at->conv->in.c) % tile == 0;
}

static kernel_err check(const climb *at, size_t rung)
{
    kernel_shape out = kernel_conv_out(at->conv), in = at->conv->in,
                 weight = {out.c, in.c, at->conv->size, at->conv->size};
    bool plain = rungs[rung].plain;
    size_t x = plain ? (size_t)in.n * (size_t)in.c * (size_t)in.h * (size_t)in.w : kernel_floats(at->device, in);
    size_t y = plain ? (size_t)out.n * (size_t)out.c * (size_t)out.h * (size_t)out.w : kernel_floats(at->device, out);
    size_t w = (size_t)weight.n * (size_t)weight.c * (size_t)weight.h * (size_t)weight.w;
    size_t floats[KERNEL_PASSES][3] = {{x, w, y}, {y, w, x}, {x, y, w}};
    kernel__need needs[] = {{"a", at->a, floats[at->pass][0], KERNEL__REQUIRED},
                            {"b", at->b, floats[at->pass][1], KERNEL__REQUIRED},
                            {"c", at->c, floats[at->pass][2], KERNEL__REQUIRED}};

    return kernel__check(at->device, "kernel_climb", needs, COUNT(needs));
}

kernel_err kernel_climb(kernel_device *device, size_t rung, kernel_pass pass, const kernel_conv *conv, kernel_slice a,
                        kernel_slice b, kernel_slice c)
{
    climb at = {device, conv, pass, a, b, c};
    kernel_err err = kernel__ready(device, __func__);
    int tile;

    if (err) return err;
    if (rung >= COUNT(rungs) || (unsigned)pass >= KERNEL_PASSES || !conv || !rungs[rung].file[pass] ||
        kernel_conv_out(conv).c == 0)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: no such rung, or none for this pass, or no convolution",
                            __func__);
    err = check(&at, rung);
    if (err) return err;
    tile = device->tiles.channels * KERNEL__MOST_VECTORS / kernel__layout_of(device, conv->in.n).vectors;
    switch (rung) {
    case LOOPS: return loops(&at);
    case TAPS: return taps(&at);
    case REUSED: return fits(&at, REUSE) ? tiles(&at, "reuse", REUSE) : go(&at, KERNEL__PLAIN);
    case REGISTERS: return fits(&at, tile) ? tiles(&at, "registers", tile) : go(&at, KERNEL__PLAIN);
    case TILE: return go(&at, KERNEL__TILE);
    case ROWS: return go(&at, KERNEL__ROWS);
    case TRANSPOSED: return go(&at, KERNEL__TRANSPOSE);
    case WINOGRAD: return go(&at, KERNEL__WINOGRAD);
    default: return go(&at, KERNEL__PLAIN);
    }
}

kernel_err kernel_multiply_adds(kernel_device *device, size_t items, int rounds, kernel_slice out, double *operations)
{
    kernel__need needs[] = {{"out", out, items, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));
    kernel__call call;

    if (err) return err;
    call = kernel__begin(device, KERNEL__LADDER, 1, "multiply_adds");
    kernel__slice(&call, out);
    kernel__int(&call, rounds);
    *operations = 2.0 * SUMS * device->tiles.lanes * rounds * (double)items;
    return kernel__run(&call, items, 1, 1);
}
