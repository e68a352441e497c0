/* SPDX-License-Identifier: MIT */
/*
 * conv_weight: convolution backward by weight. conv_weight_plain.cl has the definition, conv_weight.cl and
 * conv_weight_rows.cl the tiles whose lanes are images, conv_weight_transposed.cl those whose lanes are channels;
 * conv_winograd.c has a method with fewer multiplications.
 */
#include "kernels/layout.h"

/* What all tiles of a partial sum read should stay in the second-level cache. */
enum { PIECE_FLOATS = 1 << 17, MOST_SPLITS = 64 };

/* A partial sum of fewer pixels of a block costs more to write than it saves. */
enum { ENOUGH_POSITIONS = 64, ENOUGH_POSITIONS_BY_ROWS = 256 };

/* Floats that belong to an output pixel: of x and of dy. */
static size_t floats_a_position(const kernel_conv *conv, kernel__layout layout)
{
    return ((size_t)conv->in.c * (size_t)conv->stride + (size_t)conv->out_channels) * (size_t)layout.block;
}

/* conv_weight_rows.cl: on CPUs (it saves cache misses), where conv_weight.cl would need too many partial sums. */
static bool by_rows(const kernel_device *device, const kernel_conv *conv, kernel__layout layout)
{
    bool can = device->tiles.items == 1 && conv->size <= 3 && kernel_conv_out(conv).w >= 4;

    if (device->way != KERNEL__FASTEST) return can && device->way == KERNEL__ROWS;
    return can && PIECE_FLOATS / floats_a_position(conv, layout) <= ENOUGH_POSITIONS;
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
    kernel__call call = kernel__begin(device, KERNEL__VECTOR, 1, "add_splits");

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

/* ---- conv_weight_transposed.cl ---- */

/* Tiles enough for any CPU's cores; with fewer, a few partial sums at least. */
enum { ENOUGH_TILES = 16, FEW_SPLITS = 4 };

/* Every tile reads x and dy of its partial sum: so many floats stay in a cache from one tile to the next, of so many
 * lines of an image. All partial sums together have a PART_WEIGHTS-th of the floats of x and dy at most. */
enum { PART_FLOATS = 1 << 18, PART_LINES = 2, PART_WEIGHTS = 4 };

/* If a convolution leaves out most of its pixels, transposing costs more than it saves, unless the pixels are few. */
enum { FEW_PIXELS = 256 };

static bool can_transpose(const kernel_device *device, const shape_weight *s)
{
    kernel__transposed tile = kernel__transposed_tile(device);

    if (!kernel__has_vectors(device) || (device->way != KERNEL__FASTEST && device->way != KERNEL__TRANSPOSE))
        return false;
    if (device->way == KERNEL__FASTEST && s->size < s->stride && s->in_height * s->in_width > FEW_PIXELS) return false;
    return s->size <= 3 && s->in_channels % tile.wide == 0 && s->out_channels % tile.rows == 0;
}

kernel_err kernel__transpose(kernel_device *device, kernel__layout layout, const shape_weight *s, kernel_slice x,
                             kernel_slice transposed)
{
    kernel__call call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, "transpose_images");

    kernel__slice(&call, x);
    kernel__slice(&call, transposed);
    kernel__int(&call, s->in_channels);
    return kernel__run(&call, kernel__positions(layout, s->in_height, s->in_width), 1, 1);
}

static int transposed_splits(const shape_weight *s, kernel__layout layout, size_t tiles, size_t weights)
{
    size_t floats = kernel__dense_floats(layout, s->in_height, s->in_width, s->in_channels) +
                    kernel__dense_floats(layout, s->out_height, s->out_width, s->out_channels);
    size_t lines = (size_t)layout.blocks * (size_t)s->out_height;
    size_t least = tiles >= ENOUGH_TILES ? 1 : FEW_SPLITS, splits = floats / PART_FLOATS;

    if (splits > floats / (PART_WEIGHTS * weights)) splits = floats / (PART_WEIGHTS * weights);
    if (splits > lines / PART_LINES) splits = lines / PART_LINES;
    if (splits < least) splits = least;
    return (int)(splits < lines ? splits : lines);
}

static kernel_err weight_transposed(kernel_device *device, kernel__layout layout, shape_weight s, kernel_slice x,
                                    kernel_slice dy, kernel_slice dweight)
{
    kernel__transposed tile = kernel__transposed_tile(device);
    size_t across = (size_t)(s.in_channels / tile.wide), down = (size_t)(s.out_channels / tile.rows);
    size_t count = (size_t)s.out_channels * (size_t)s.in_channels * (size_t)s.size * (size_t)s.size;
    size_t floats = kernel__dense_floats(layout, s.in_height, s.in_width, s.in_channels);
    kernel_slice transposed, to;
    kernel__call call;
    kernel_err err;

    s.splits = transposed_splits(&s, layout, across * down, count);
    err = kernel__scratch(device, floats + (s.splits > 1 ? count * (size_t)s.splits : 0), &transposed);
    if (err) return err;
    to = s.splits > 1 ? kernel_at(transposed.buffer, transposed.first + floats) : dweight;
    err = kernel__transpose(device, layout, &s, x, transposed);
    if (err) return err;
    call = kernel__begin(device, KERNEL__CONV_WEIGHT, layout.vectors, "transposed_gradient");
    kernel__slice(&call, transposed);
    kernel__slice(&call, dy);
    kernel__slice(&call, to);
    kernel__value(&call, &s, sizeof s);
    err = kernel__run(&call, across, down, (size_t)s.splits);
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
    kernel_err err = kernel__check_conv(device, __func__, conv);
    kernel__layout layout;
    shape_weight s;

    if (err) return err;
    kernel__need needs[] = {
        {"x", x, kernel_floats(device, conv->in), KERNEL__ACTIVATION},
        {"dy", dy, kernel_floats(device, kernel_conv_out(conv)), KERNEL__ACTIVATION},
        {"dweight", dweight, kernel__weight_floats(conv), KERNEL__REQUIRED},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    if (conv->in.n == 0) return kernel_fill(device, dweight, kernel__weight_floats(conv), 0);
    layout = kernel__layout_of(device, conv->in.n);
    s = describe_weight(device, conv, layout);
    if (device->way == KERNEL__PLAIN) return weight_plain(device, layout, s, x, dy, dweight);
    if (kernel__weight_goes_winograd(device, &s)) return kernel__winograd_weight(device, layout, s, x, dy, dweight);
    if (can_transpose(device, &s)) return weight_transposed(device, layout, s, x, dy, dweight);
    return weight_tiles(device, by_rows(device, conv, layout) ? "conv_weight_rows" : "conv_weight_tile", layout, s, x,
                        dy, dweight);
}
