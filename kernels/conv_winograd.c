/* SPDX-License-Identifier: MIT */
/*
 * conv_winograd: which convolutions use Winograd's algorithm, and how the work is divided. conv_winograd.cl explains
 * it.
 */
#include "kernels/layout.h"

/* Of winograd.cl, conv_winograd.cl and conv_pair.cl. */
enum { STEP = 4, PLACES = 36, PAIR_PLACES = 9, LINE = 16 };

/* Floats of v and m together that a second-level cache holds beside the weights in use. */
enum { STRIP_FLOATS = 1 << 16, LEAST_TILES = 2 };

/* With fewer channels, transforming the inputs costs more than it saves; a tile takes 36 products, however few of its
 * pixels are inside the image. */
enum { LEAST_CHANNELS = 8, LEAST_SIDE = 3 };

static int tile_channels(const kernel_device *device, kernel__layout layout)
{
    return device->tiles.channels * KERNEL__MOST_VECTORS / layout.vectors;
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static int tiles_along(int side)
{
    return (side + STEP - 1) / STEP;
}

/* conv_pair.cl */
static bool is_pair(int height, int width, int padding)
{
    return height == 2 && width == 2 && padding == 1;
}

bool kernel__uses_winograd(const kernel_device *device, kernel__layout layout, const shape_conv *s)
{
    bool small = s->height < LEAST_SIDE || s->width < LEAST_SIDE;

    if (device->way != KERNEL__FASTEST && device->way != KERNEL__WINOGRAD) return false;
    if (device->tiles.items != 1 || s->blocks == 0 || s->size != 3 || s->stride != 1 || s->padding > 2) return false;
    if (s->channels % tile_channels(device, layout)) return false;
    if (device->way == KERNEL__WINOGRAD) return true;
    return s->in_channels >= LEAST_CHANNELS && (!small || is_pair(s->height, s->width, s->padding));
}

/* How the work is divided; the result does not depend on it. */
typedef struct {
    int pair, places, tiles; /* tiles: of a strip */
    int group, groups;       /* output channels of a work-item */
    size_t workers;
} cut;

/* Strips are as long as the cache allows, but with many channels, whose weights are long, have some tiles at least.
 * With more cores than strips, work-items share out the output channels. */
static cut choose_cut(const kernel_device *device, kernel__layout layout, const shape_conv *s)
{
    cut c = {.pair = is_pair(s->height, s->width, s->padding)};
    int all = s->blocks * tiles_along(s->height) * tiles_along(s->width), cores = device->info.cores, strips;
    int tile = tile_channels(device, layout), tiles;
    size_t floats; /* of a tile, v and m */

    c.places = c.pair ? PAIR_PLACES : PLACES;
    floats = (size_t)(c.places * layout.block) * ((size_t)s->channels + (size_t)s->in_channels);
    c.tiles = clamp((int)(STRIP_FLOATS / floats), all < LEAST_TILES ? all : LEAST_TILES, all);
    strips = (all + c.tiles - 1) / c.tiles;
    c.workers = (size_t)(cores < strips ? cores : strips);
    tiles = s->channels / tile;
    c.groups = cores / strips > 1 ? cores / strips : 1;
    c.group = (tiles + c.groups - 1) / c.groups * tile;
    c.groups = (s->channels + c.group - 1) / c.group;
    return c;
}

static kernel_err transform_weights(kernel_device *device, kernel__layout layout, const shape_conv *s, const cut *c,
                                    kernel_slice weight, kernel_slice u)
{
    kernel__call call = kernel__begin(device, KERNEL__CONV, layout.vectors,
                                      c->pair ? "pair_weights" : "winograd_weights");

    kernel__slice(&call, weight);
    kernel__slice(&call, u);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, (size_t)(s->channels / tile_channels(device, layout)), 1, 1);
}

kernel_err kernel__winograd(kernel_device *device, kernel__layout layout, const shape_conv *s, kernel_slice in,
                            kernel_slice weight, kernel_slice out)
{
    cut c = choose_cut(device, layout, s);
    size_t places = (size_t)c.places, tile = (size_t)tile_channels(device, layout);
    size_t u_all = places * ((size_t)s->channels * (size_t)s->in_channels + (size_t)s->channels / tile * LINE);
    size_t u_floats = (u_all + LINE - 1) / LINE * LINE; /* v begins behind them, as vectors must */
    size_t strip = (size_t)c.tiles * (size_t)(c.group + s->in_channels) * (size_t)layout.block + 2 * LINE;
    kernel_slice u;
    kernel__call call;
    kernel_err err = kernel__scratch(device, u_floats + c.workers * (size_t)c.groups * places * strip, &u);

    if (!err) err = transform_weights(device, layout, s, &c, weight, u);
    if (err) return err;
    call = kernel__begin(device, KERNEL__CONV, layout.vectors, "winograd");
    kernel__slice(&call, in);
    kernel__slice(&call, u);
    kernel__slice(&call, kernel_at(u.buffer, u.first + u_floats));
    kernel__slice(&call, out);
    kernel__value(&call, s, sizeof *s);
    kernel__int(&call, c.tiles);
    kernel__int(&call, c.group);
    kernel__int(&call, c.pair);
    return kernel__run(&call, c.workers, (size_t)c.groups, 1);
}

/* ---- The gradient by weight ---- */

/* Of conv_weight_winograd.cl and conv_weight_pair.cl. */
enum { THIRDS = 3, TASK_PLACES = 12, PAIR_TASK_PLACES = 3 };

/* Output channels of a task: GROUP at most, but fewer where cores would have less than TASKS each. */
enum { GROUP = 128, LEAST_GROUP = 32, TASKS = 4 };

/* A strip has tiles for so many channels of both kinds together, and so many at most. */
enum { STRIP_CHANNELS = 256, MOST_TILES = 8 };

/* Up to SHORT channels of each kind the sums are short, and are divided into parts of so many tiles. */
enum { SHORT = 128, MOST_PARTS = 4, PART_TILES = 8 };

/* With fewer channels, transforming inputs and gradients costs more than it saves. */
enum { LEAST_SUMMED = 16 };

bool kernel__weight_goes_winograd(const kernel_device *device, const shape_weight *s)
{
    kernel__transposed tile = kernel__transposed_tile(device);

    if (device->way != KERNEL__FASTEST && device->way != KERNEL__WINOGRAD) return false;
    if (!kernel__has_vectors(device) || s->size != 3 || s->stride != 1) return false;
    if (s->in_channels % tile.wide || s->out_channels % tile.rows) return false;
    if (device->way == KERNEL__WINOGRAD) return true;
    if (s->in_channels < LEAST_SUMMED || s->out_channels < LEAST_SUMMED) return false;
    return is_pair(s->out_height, s->out_width, s->padding) ||
           (s->out_height >= LEAST_SIDE && s->out_width >= LEAST_SIDE);
}

/* In the scratch buffer: x transposed, the sums, and v and w of each worker's strip. */
typedef struct {
    int pair, places, tiles, group; /* tiles: of a strip; the others: of a task */
    size_t workers, x, sums, strip;
} weight_cut;

static int count_tasks(const shape_weight *s, int group)
{
    return THIRDS * ((s->out_channels + group - 1) / group) * s->splits;
}

/* The result does not depend on groups, tiles and workers; of the splits it does, so they do not depend on cores. */
static weight_cut cut_weight(const kernel_device *device, kernel__layout layout, shape_weight *s)
{
    weight_cut c = {.pair = is_pair(s->out_height, s->out_width, s->padding)};
    int all = s->blocks * tiles_along(s->out_height) * tiles_along(s->out_width), cores = device->info.cores;
    int rows = kernel__transposed_tile(device).rows, tasks;

    s->splits = s->in_channels <= SHORT && s->out_channels <= SHORT ? clamp(all / PART_TILES, 1, MOST_PARTS) : 1;
    c.places = c.pair ? PAIR_TASK_PLACES : TASK_PLACES;
    c.group = s->out_channels < GROUP ? s->out_channels : GROUP;
    while (count_tasks(s, c.group) < TASKS * cores && c.group > LEAST_GROUP)
        c.group = (c.group / 2 + rows - 1) / rows * rows;
    tasks = count_tasks(s, c.group);
    c.tiles = clamp(STRIP_CHANNELS / (s->in_channels + c.group), 1, all < MOST_TILES ? all : MOST_TILES);
    c.workers = (size_t)(cores < tasks ? cores : tasks);
    c.x = kernel__dense_floats(layout, s->in_height, s->in_width, s->in_channels);
    c.sums = (size_t)(THIRDS * c.places * s->splits) * (size_t)s->out_channels * (size_t)s->in_channels;
    c.strip = (size_t)c.places * ((size_t)(c.tiles * layout.block) * (size_t)(s->in_channels + c.group) +
                                  (size_t)(2 * device->tiles.lanes));
    return c;
}

static kernel_err finish_weight(kernel_device *device, kernel__layout layout, const shape_weight *s, int pair,
                                kernel_slice du, kernel_slice dweight)
{
    kernel__call call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, "winograd_finish");

    kernel__slice(&call, du);
    kernel__slice(&call, dweight);
    kernel__value(&call, s, sizeof *s);
    kernel__int(&call, pair);
    return kernel__run(&call, (size_t)(s->in_channels / device->tiles.lanes), (size_t)s->out_channels, 1);
}

kernel_err kernel__winograd_weight(kernel_device *device, kernel__layout layout, shape_weight s, kernel_slice x,
                                   kernel_slice dy, kernel_slice dweight)
{
    weight_cut c = cut_weight(device, layout, &s);
    kernel_slice transposed, du;
    kernel__call call;
    kernel_err err = kernel__scratch(device, c.x + c.sums + c.workers * c.strip, &transposed);

    if (!err) err = kernel__transpose(device, layout, &s, x, transposed);
    if (err) return err;
    du = kernel_at(transposed.buffer, transposed.first + c.x);
    call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, "winograd_gradient");
    kernel__slice(&call, transposed);
    kernel__slice(&call, dy);
    kernel__slice(&call, du);
    kernel__slice(&call, kernel_at(du.buffer, du.first + c.sums));
    kernel__value(&call, &s, sizeof s);
    kernel__int(&call, c.tiles);
    kernel__int(&call, c.group);
    kernel__int(&call, c.pair);
    err = kernel__run(&call, c.workers, 1, 1);
    return err ? err : finish_weight(device, layout, &s, c.pair, du, dweight);
}
