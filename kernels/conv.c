/* SPDX-License-Identifier: MIT */
/*
 * conv: convolution forward, backward by input, backward by weight. conv_plain.cl and conv_weight_plain.cl have the
 * definitions, conv.cl and conv_weight.cl the tiles.
 */
#include <limits.h>

#include "kernels/layout.h"
#include "kernels/shapes.h"

/* ---- Shapes ---- */

static int out_length(int in, const kernel_conv *conv)
{
    return in + 2 * conv->padding < conv->size ? 0 : (in + 2 * conv->padding - conv->size) / conv->stride + 1;
}

static bool is_valid(const kernel_conv *conv)
{
    return conv->out_channels >= 1 && conv->size >= 1 && conv->stride >= 1 && conv->padding >= 0 &&
           conv->in.h <= INT_MAX / 4 && conv->in.w <= INT_MAX / 4 && conv->padding < INT_MAX / 4 && conv->size <= 32768;
}

kernel_shape kernel_conv_out(const kernel_conv *conv)
{
    int h = is_valid(conv) ? out_length(conv->in.h, conv) : 0, w = is_valid(conv) ? out_length(conv->in.w, conv) : 0;

    return h && w ? (kernel_shape){conv->in.n, conv->out_channels, h, w} : (kernel_shape){0};
}

static size_t weight_floats(const kernel_conv *conv)
{
    return (size_t)conv->out_channels * (size_t)conv->in.c * (size_t)conv->size * (size_t)conv->size;
}

static kernel_err check_conv(kernel_device *device, const char *call, const kernel_conv *conv)
{
    kernel_err err = kernel__ready(device, call);

    if (err) return err;
    if (!conv) return kernel__fail(device, KERNEL_ERR_ARG, "%s: no convolution (NULL)", call);
    err = kernel__check_shape(device, call, "in", conv->in);
    if (err) return err;
    if (kernel_conv_out(conv).c == 0 || weight_floats(conv) > INT_MAX)
        return kernel__fail(device, KERNEL_ERR_ARG,
                            "%s: no output: image %d x %d, %d x %d taps, stride %d, padding %d, %d output channels",
                            call, conv->in.h, conv->in.w, conv->size, conv->size, conv->stride, conv->padding,
                            conv->out_channels);
    return kernel__check_shape(device, call, "out", kernel_conv_out(conv));
}

/* ---- Forward, and backward by input ---- */

/* Weights up to this size stay in the second cache while pixels pass; longer ones pass while pixels stay. */
enum { WEIGHTS_THAT_STAY = 1 << 18 };

static shape_conv describe(const kernel_conv *conv, kernel__layout layout, bool transposed, bool add)
{
    kernel_shape x = conv->in, y = kernel_conv_out(conv), out = transposed ? x : y, in = transposed ? y : x;
    int taps = conv->size * conv->size, long_step = x.c * taps;

    return (shape_conv){.n = x.n,
                        .blocks = layout.blocks,
                        .channels = out.c,
                        .height = out.h,
                        .width = out.w,
                        .in_channels = in.c,
                        .in_height = in.h,
                        .in_width = in.w,
                        .size = conv->size,
                        .stride = conv->stride,
                        .padding = conv->padding,
                        .row = transposed ? taps : long_step,
                        .column = transposed ? long_step : taps,
                        .transposed = transposed,
                        .add = add,
                        .pixels_first = weight_floats(conv) * sizeof(float) > WEIGHTS_THAT_STAY};
}

/* Channels in whole tiles by conv_tile, the few left by conv_plain (all, if PAIRWISE_KERNEL_PLAIN asks for it). */
static kernel_err convolve(kernel_device *device, kernel__layout layout, shape_conv s, kernel_slice in,
                           kernel_slice weight, kernel_slice out)
{
    int tile = device->tiles.channels * KERNEL__MOST_VECTORS / layout.vectors;
    int tiles = device->plain ? 0 : s.channels / tile;
    size_t items = (size_t)device->tiles.items, positions = kernel__positions(layout, s.height, s.width);
    kernel_err err = KERNEL_OK;

    for (int plain = 0; plain < 2 && !err; plain++) {
        size_t channels = (size_t)(plain ? s.channels - tiles * tile : tiles);
        kernel__call call;
        if (!channels) continue;
        call = kernel__begin(device, KERNEL__CONV, layout.vectors, plain ? "conv_plain" : "conv_tile");
        kernel__slice(&call, in);
        kernel__slice(&call, weight);
        kernel__slice(&call, out);
        kernel__value(&call, &s, sizeof s);
        if (plain) kernel__int(&call, tiles * tile);
        err = !plain && s.pixels_first ? kernel__run(&call, items, positions, channels)
                                       : kernel__run(&call, items, channels, positions);
    }
    return err;
}

kernel_err kernel__conv_forward(kernel_device *device, const char *call, const kernel_conv *conv, kernel_slice x,
                                kernel_slice weight, kernel_slice y, bool add)
{
    kernel_err err = check_conv(device, call, conv);
    kernel__layout layout;

    if (err) return err;
    kernel__need needs[] = {
        {"x", x, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
        {"weight", weight, weight_floats(conv), KERNEL__REQUIRED},
        {"y", y, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, call, needs, COUNT(needs));
    if (err) return err;
    layout = kernel__layout_of(device, conv->in.n);
    return convolve(device, layout, describe(conv, layout, false, add), x, weight, y);
}

kernel_err kernel_conv_forward(kernel_device *device, const kernel_conv *conv, kernel_slice x, kernel_slice weight,
                               kernel_slice y)
{
    return kernel__conv_forward(device, __func__, conv, x, weight, y, false);
}

/* In the forward pass y[k] got x[c] * weight[k][c] through tap r; so x[c] gets dy[k] * weight[k][c] back through it. */
kernel_err kernel_conv_backward_input(kernel_device *device, const kernel_conv *conv, kernel_slice dy,
                                      kernel_slice weight, kernel_slice dx, bool add)
{
    kernel_err err = check_conv(device, __func__, conv);
    kernel__layout layout;

    if (err) return err;
    kernel__need needs[] = {
        {"dy", dy, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
        {"weight", weight, weight_floats(conv), KERNEL__REQUIRED},
        {"dx", dx, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    layout = kernel__layout_of(device, conv->in.n);
    return convolve(device, layout, describe(conv, layout, true, add), dy, weight, dx);
}

/* ---- Backward by weight ---- */

/* What all tiles of a partial sum read should stay in the second cache. */
enum { PIECE_FLOATS = 1 << 17, MOST_SPLITS = 64 };

/* A partial sum is worth its writing if it is over so many pixels of a block. */
enum { ENOUGH_POSITIONS = 64, ENOUGH_POSITIONS_BY_ROWS = 256 };

/* Floats that belong to an output pixel: of x and of dy. */
static size_t floats_a_position(const kernel_conv *conv, kernel__layout layout)
{
    return ((size_t)conv->in.c * (size_t)conv->stride + (size_t)conv->out_channels) * (size_t)layout.block;
}

/* conv_weight_rows.cl: for CPUs, whose caches it is about, where conv_weight.cl would need too many partial sums. */
static bool by_rows(const kernel_device *device, const kernel_conv *conv, kernel__layout layout)
{
    return device->tiles.items == 1 && conv->size <= 3 && kernel_conv_out(conv).w >= 4 &&
           PIECE_FLOATS / floats_a_position(conv, layout) <= ENOUGH_POSITIONS;
}

static int choose_splits(const kernel_device *device, const kernel_conv *conv, kernel__layout layout)
{
    kernel_shape out = kernel_conv_out(conv);
    size_t rows = (size_t)layout.blocks * (size_t)out.h, positions = rows * (size_t)out.w;
    size_t splits = (positions * floats_a_position(conv, layout) + PIECE_FLOATS - 1) / PIECE_FLOATS;

    if (by_rows(device, conv, layout) && splits > positions / ENOUGH_POSITIONS_BY_ROWS)
        splits = positions / ENOUGH_POSITIONS_BY_ROWS;
    if (splits > rows) splits = rows;
    if (splits > MOST_SPLITS) splits = MOST_SPLITS;
    return splits ? (int)splits : 1;
}

/* Is there a tap that no output pixel along this axis has inside the image? */
static bool has_unused_tap(int in, int out, const kernel_conv *conv)
{
    bool all_used = true;

    for (int r = 0; r < conv->size; r++) {
        bool used = false;
        for (int p = 0; p < out && !used; p++) {
            int at = p * conv->stride + r - conv->padding;
            used = at >= 0 && at < in;
        }
        all_used = all_used && used;
    }
    return !all_used;
}

static shape_weight describe_weight(const kernel_device *device, const kernel_conv *conv, kernel__layout layout)
{
    kernel_shape out = kernel_conv_out(conv);

    return (shape_weight){.n = conv->in.n,
                          .blocks = layout.blocks,
                          .in_channels = conv->in.c,
                          .in_height = conv->in.h,
                          .in_width = conv->in.w,
                          .out_channels = out.c,
                          .out_height = out.h,
                          .out_width = out.w,
                          .size = conv->size,
                          .stride = conv->stride,
                          .padding = conv->padding,
                          .splits = choose_splits(device, conv, layout),
                          .some_unused = has_unused_tap(conv->in.h, out.h, conv) ||
                                         has_unused_tap(conv->in.w, out.w, conv)};
}

static kernel_err add_splits(kernel_device *device, int splits, size_t count, kernel_slice parts, kernel_slice dweight)
{
    size_t stretch = (size_t)device->tiles.stretch;
    kernel__call call = kernel__begin(device, KERNEL__CONV_WEIGHT, 1, "add_splits");

    kernel__slice(&call, parts);
    kernel__slice(&call, dweight);
    kernel__int(&call, splits);
    kernel__int(&call, (int)count);
    return kernel__run(&call, (count + stretch - 1) / stretch, 1, 1);
}

static size_t tiles_of(int channels, int tile)
{
    return (size_t)(channels / tile + (channels % tile != 0));
}

static kernel_err weight_tiles(kernel_device *device, const char *name, kernel__layout layout, shape_weight s,
                               kernel_slice x, kernel_slice dy, kernel_slice dweight)
{
    size_t count = (size_t)s.out_channels * (size_t)s.in_channels * (size_t)s.size * (size_t)s.size;
    kernel_slice to = dweight;
    kernel__call call;
    kernel_err err = s.splits > 1 ? kernel__scratch(device, count * (size_t)s.splits, &to) : KERNEL_OK;

    if (err) return err;
    call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, name);
    kernel__slice(&call, x);
    kernel__slice(&call, dy);
    kernel__slice(&call, to);
    kernel__value(&call, &s, sizeof s);
    err = kernel__run(&call, tiles_of(s.in_channels, device->tiles.weight_columns),
                      tiles_of(s.out_channels, device->tiles.weight_rows), (size_t)s.splits);
    return err || s.splits == 1 ? err : add_splits(device, s.splits, count, to, dweight);
}

static kernel_err weight_plain(kernel_device *device, kernel__layout layout, shape_weight s, kernel_slice x,
                               kernel_slice dy, kernel_slice dweight)
{
    kernel__call call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, "conv_weight_plain");

    kernel__slice(&call, x);
    kernel__slice(&call, dy);
    kernel__slice(&call, dweight);
    kernel__value(&call, &s, sizeof s);
    return kernel__run(&call, (size_t)s.in_channels * (size_t)s.size * (size_t)s.size, (size_t)s.out_channels, 1);
}

kernel_err kernel_conv_backward_weight(kernel_device *device, const kernel_conv *conv, kernel_slice x, kernel_slice dy,
                                       kernel_slice dweight)
{
    kernel_err err = check_conv(device, __func__, conv);
    kernel__layout layout;
    shape_weight s;

    if (err) return err;
    kernel__need needs[] = {
        {"x", x, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
        {"dy", dy, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
        {"dweight", dweight, weight_floats(conv), KERNEL__REQUIRED},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    if (conv->in.n == 0) return kernel_fill(device, dweight, weight_floats(conv), 0);
    layout = kernel__layout_of(device, conv->in.n);
    s = describe_weight(device, conv, layout);
    if (device->plain) return weight_plain(device, layout, s, x, dy, dweight);
    return weight_tiles(device, by_rows(device, conv, layout) ? "conv_weight_rows" : "conv_weight_tile", layout, s, x,
                        dy, dweight);
}
