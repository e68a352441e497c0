/* SPDX-License-Identifier: MIT */
/*
 * conv: convolution forward and backward by input. conv_plain.cl has the definition, conv.cl the tiles; conv_winograd.c
 * has a method with fewer multiplications, for the shapes where it is faster. conv_weight.c has the gradient by weight.
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

size_t kernel__weight_floats(const kernel_conv *conv)
{
    return (size_t)conv->out_channels * (size_t)conv->in.c * (size_t)conv->size * (size_t)conv->size;
}

kernel_err kernel__check_conv(kernel_device *device, const char *call, const kernel_conv *conv)
{
    kernel_err err = kernel__ready(device, call);

    if (err) return err;
    if (!conv) return kernel__fail(device, KERNEL_ERR_ARG, "%s: no convolution (NULL)", call);
    err = kernel__check_shape(device, call, "in", conv->in);
    if (err) return err;
    if (kernel_conv_out(conv).c == 0 || kernel__weight_floats(conv) > INT_MAX)
        return kernel__fail(device, KERNEL_ERR_ARG,
                            "%s: no output: image %d x %d, %d x %d taps, stride %d, padding %d, %d output channels",
                            call, conv->in.h, conv->in.w, conv->size, conv->size, conv->stride, conv->padding,
                            conv->out_channels);
    return kernel__check_shape(device, call, "out", kernel_conv_out(conv));
}

/* ---- Forward, and backward by input ---- */

/* Weights of up to so many bytes stay in the second-level cache from one pixel to the next. Larger ones are read once
 * for a run of pixels: a tile's stay in the first-level cache for all of them, and what the pixels read in the second,
 * for all tiles. */
enum { WEIGHTS_THAT_STAY = 1 << 18, RUN = 8 };

shape_conv kernel__describe_conv(const kernel_conv *conv, kernel__layout layout, bool transposed, bool add)
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
                        .run = kernel__weight_floats(conv) * sizeof(float) > WEIGHTS_THAT_STAY ? RUN : 1};
}

/* Channels in whole tiles by conv_tile, the few left by conv_plain (all, if PAIRWISE_KERNEL_PLAIN asks for it). */
static kernel_err convolve(kernel_device *device, kernel__layout layout, shape_conv s, kernel_slice in,
                           kernel_slice weight, kernel_slice out)
{
    int tile = device->tiles.channels * KERNEL__MOST_VECTORS / layout.vectors;
    int tiles = device->way == KERNEL__PLAIN ? 0 : s.channels / tile;
    size_t items = (size_t)device->tiles.items, positions = kernel__positions(layout, s.height, s.width);
    kernel_err err = KERNEL_OK;

    if (layout.blocks == 0) return KERNEL_OK;
    if (kernel__uses_winograd(device, layout, &s)) return kernel__winograd(device, layout, &s, in, weight, out);
    for (int plain = 0; plain < 2 && !err; plain++) {
        size_t channels = (size_t)(plain ? s.channels - tiles * tile : tiles), run = plain ? 1 : (size_t)s.run;
        kernel__call call;
        if (!channels) continue;
        call = kernel__begin(device, KERNEL__CONV, layout.vectors, plain ? "conv_plain" : "conv_tile");
        kernel__slice(&call, in);
        kernel__slice(&call, weight);
        kernel__slice(&call, out);
        kernel__value(&call, &s, sizeof s);
        if (plain) kernel__int(&call, tiles * tile);
        err = kernel__run(&call, items, channels * run, (positions + run - 1) / run);
    }
    return err;
}

kernel_err kernel__conv_forward(kernel_device *device, const char *call, const kernel_conv *conv, kernel_slice x,
                                kernel_slice weight, kernel_slice y, bool add)
{
    kernel_err err = kernel__check_conv(device, call, conv);
    kernel__layout layout;

    if (err) return err;
    kernel__need needs[] = {
        {"x", x, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
        {"weight", weight, kernel__weight_floats(conv), KERNEL__REQUIRED},
        {"y", y, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, call, needs, COUNT(needs));
    if (err) return err;
    layout = kernel__layout_of(device, conv->in.n);
    return convolve(device, layout, kernel__describe_conv(conv, layout, false, add), x, weight, y);
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
    kernel_err err = kernel__check_conv(device, __func__, conv);
    kernel__layout layout;

    if (err) return err;
    kernel__need needs[] = {
        {"dy", dy, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
        {"weight", weight, kernel__weight_floats(conv), KERNEL__REQUIRED},
        {"dx", dx, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    layout = kernel__layout_of(device, conv->in.n);
    return convolve(device, layout, kernel__describe_conv(conv, layout, true, add), dy, weight, dx);
}
