/* SPDX-License-Identifier: MIT */
/*
 * conv_winograd: when a convolution goes Winograd's way, and how its work is cut. conv_winograd.cl has the idea.
 */
#include "kernels/layout.h"

/* Of conv_winograd.cl. */
enum { PLACES = 16, LINE = 16 };

/* Floats of v and m together that a second cache holds beside the weights that pass. */
enum { STRIP_FLOATS = 1 << 17, LEAST_TILES = 2 };

/* Fewer channels are not worth turning inputs round, smaller images have fewer than four taps inside anyway. */
enum { LEAST_CHANNELS = 8, LEAST_SIDE = 3 };

static int tile_channels(const kernel_device *device, kernel__layout layout)
{
    return device->tiles.channels * KERNEL__MOST_VECTORS / layout.vectors;
}

bool kernel__goes_winograd(const kernel_device *device, kernel__layout layout, const shape_conv *s)
{
    if (device->way != KERNEL__FASTEST && device->way != KERNEL__WINOGRAD) return false;
    if (device->tiles.items != 1 || s->blocks == 0 || s->size != 3 || s->stride != 1 || s->padding > 2) return false;
    if (s->channels % tile_channels(device, layout)) return false;
    if (device->way == KERNEL__WINOGRAD) return true;
    return s->in_channels >= LEAST_CHANNELS && s->height >= LEAST_SIDE && s->width >= LEAST_SIDE;
}

/* Tiles of a strip: as many as the cache holds, and with many channels, whose weights are long, at least some. */
static int choose_tiles(const shape_conv *s, int span, int all)
{
    int channels = s->channels + s->in_channels, tiles = STRIP_FLOATS / (PLACES * span * channels);

    if (tiles < LEAST_TILES) tiles = LEAST_TILES;
    return tiles < all ? tiles : all;
}

static kernel_err turn_weights(kernel_device *device, kernel__layout layout, const shape_conv *s, kernel_slice weight,
                               kernel_slice u)
{
    kernel__call call = kernel__begin(device, KERNEL__WINOGRAD_FAMILY, layout.vectors, "winograd_weights");

    kernel__slice(&call, weight);
    kernel__slice(&call, u);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, (size_t)(s->channels / tile_channels(device, layout)), 1, 1);
}

kernel_err kernel__winograd(kernel_device *device, kernel__layout layout, const shape_conv *s, kernel_slice in,
                            kernel_slice weight, kernel_slice out)
{
    int span = layout.block, all = s->blocks * ((s->height + 1) / 2) * ((s->width + 1) / 2);
    int tiles = choose_tiles(s, span, all), strips = (all + tiles - 1) / tiles;
    size_t workers = (size_t)(device->info.cores < strips ? device->info.cores : strips);
    size_t tile = (size_t)tile_channels(device, layout);
    size_t u_floats = PLACES * ((size_t)s->channels * (size_t)s->in_channels + (size_t)s->channels / tile * LINE);
    size_t places = (size_t)tiles * (size_t)(s->channels + s->in_channels) * (size_t)span + 2 * LINE;
    kernel_slice u, strip;
    kernel__call call;
    kernel_err err = kernel__scratch(device, u_floats + workers * PLACES * places, &u);

    if (err) return err;
    strip = kernel_at(u.buffer, u.first + u_floats);
    err = turn_weights(device, layout, s, weight, u);
    if (err) return err;
    call = kernel__begin(device, KERNEL__WINOGRAD_FAMILY, layout.vectors, "winograd");
    kernel__slice(&call, in);
    kernel__slice(&call, u);
    kernel__slice(&call, strip);
    kernel__slice(&call, out);
    kernel__value(&call, s, sizeof *s);
    kernel__int(&call, tiles);
    return kernel__run(&call, workers, 1, 1);
}

/* ---- The gradient by weight ---- */

/* Of conv_weight_winograd.cl: a work-item has so many output channels at most; a strip's images, a part of the sums. */
enum {
    GROUP = 128,
    MOST_TILES = 8,
    STRIP_CHANNELS = 512,
    SHORT = 128,
    MOST_PARTS = 4,
    PART_TILES = 32,
    LEAST_SUMMED = 32
};

bool kernel__weight_goes_winograd(const kernel_device *device, const shape_weight *s)
{
    kernel__turned tile = kernel__turned_tile(device);

    if (device->way != KERNEL__FASTEST && device->way != KERNEL__WINOGRAD) return false;
    if (!tile.wide || s->size != 3 || s->stride != 1) return false;
    if (s->in_channels % tile.wide || s->out_channels % tile.rows) return false;
    if (device->way == KERNEL__WINOGRAD) return true;
    return s->in_channels >= LEAST_SUMMED && s->out_channels >= LEAST_SUMMED && s->out_height >= LEAST_SIDE &&
           s->out_width >= LEAST_SIDE;
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

kernel_err kernel__winograd_weight(kernel_device *device, kernel__layout layout, shape_weight s, kernel_slice x,
                                   kernel_slice dy, kernel_slice dweight)
{
    int all = s.blocks * ((s.out_height + 1) / 2) * ((s.out_width + 1) / 2);
    int group = s.out_channels < GROUP ? s.out_channels : GROUP, groups = (s.out_channels + group - 1) / group;
    int tiles = clamp(STRIP_CHANNELS / (s.in_channels + group), 1, all < MOST_TILES ? all : MOST_TILES);
    size_t sums = PLACES * (size_t)s.out_channels * (size_t)s.in_channels, strip;
    kernel_slice du, scratch;
    kernel__call call;
    kernel_err err;

    s.splits = s.in_channels <= SHORT && s.out_channels <= SHORT ? clamp(all / PART_TILES, 1, MOST_PARTS) : 1;
    strip = (size_t)tiles * (size_t)layout.block * (size_t)(s.in_channels + group) + 2 * LINE;
    err = kernel__scratch(device, (sums + PLACES * (size_t)groups * strip) * (size_t)s.splits, &du);
    if (err) return err;
    scratch = kernel_at(du.buffer, du.first + sums * (size_t)s.splits);
    call = kernel__begin(device, KERNEL__WINOGRAD_WEIGHT, layout.vectors, "winograd_gradient");
    kernel__slice(&call, x);
    kernel__slice(&call, dy);
    kernel__slice(&call, du);
    kernel__slice(&call, scratch);
    kernel__value(&call, &s, sizeof s);
    kernel__int(&call, tiles);
    kernel__int(&call, group);
    err = kernel__run(&call, 4, (size_t)groups, (size_t)s.splits);
    if (err) return err;
    call = kernel__begin(device, KERNEL__WINOGRAD_WEIGHT, layout.vectors, "winograd_finish");
    kernel__slice(&call, du);
    kernel__slice(&call, dweight);
    kernel__value(&call, &s, sizeof s);
    return kernel__run(&call, (size_t)(s.in_channels / device->tiles.lanes), (size_t)s.out_channels, 1);
}
