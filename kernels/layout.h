/* SPDX-License-Identifier: MIT */
/*
 * layout: how an activation lies in memory. Images are the lanes of vectors:
 *
 *      [blocks][H][W][C][block]        block = images side by side
 *
 *      n = 64, block = 32:   block 0: pixel (0,0): channel 0: images 0..31, channel 1: images 0..31, ...
 *                                     pixel (0,1): channel 0: images 0..31, ...
 *                            block 1: the same for images 32..63
 *
 * Why: all lanes of a vector do the same work, so a tap outside the image can be left out exactly, for each pixel, even
 * on images of 2 x 2 or 1 x 1; a weight is one scalar for all lanes, so weights can be read where they lie, in
 * torchvision's order; and every number of channels fits. The cost: a batch is rounded up to a multiple of the
 * block (n <= lanes: one vector, else two), and the gradient by weight ends in a sum over lanes.
 *
 * Lanes beyond the last image are zero in every activation: each kernel keeps it so.
 *
 * Where channels are a multiple of 16, a pixel has room for one more, which no kernel reads or writes: without that gap
 * the same channel of neighbouring pixels lies a power of two apart, always in the same few sets of a cache, and half
 * the speed of the gradient by weight is lost.
 */
#ifndef PAIRWISE_KERNELS_LAYOUT_H
#define PAIRWISE_KERNELS_LAYOUT_H

#include "kernels/device.h"
#include "kernels/shapes.h"

typedef struct {
    int vectors; /* of a work-item: 1 or 2 */
    int block;   /* images side by side */
    int blocks;
} kernel__layout;

enum { KERNEL__GAP_EVERY = 16 };

/* Channels of a pixel with the gap behind them (STORED in common.cl). */
static inline size_t kernel__stored_channels(int channels)
{
    return (size_t)channels + (channels % KERNEL__GAP_EVERY == 0);
}

kernel__layout kernel__layout_of(const kernel_device *device, int n);

/* Positions (block, row, column) of an activation: what most kernels have a work-item for. */
static inline size_t kernel__positions(kernel__layout layout, int h, int w)
{
    return (size_t)layout.blocks * (size_t)h * (size_t)w;
}

/* Floats of an image of which no gaps are stored (transpose.cl). */
static inline size_t kernel__dense_floats(kernel__layout layout, int h, int w, int channels)
{
    return kernel__positions(layout, h, w) * (size_t)channels * (size_t)layout.block;
}

/* conv.c: what the device is told about a convolution. */
shape_conv kernel__describe_conv(const kernel_conv *conv, kernel__layout layout, bool transposed, bool add);

kernel_err kernel__check_conv(kernel_device *device, const char *call, const kernel_conv *conv);
size_t kernel__weight_floats(const kernel_conv *conv);

/* Of transpose.cl: the register tile of gradients by weight, output channels times input channels; and whether this
 * device computes with vectors (a CPU with more than one lane). */
typedef struct {
    int rows, wide;
} kernel__transposed;

static inline kernel__transposed kernel__transposed_tile(const kernel_device *device)
{
    if (device->tiles.lanes == 16) return (kernel__transposed){16, 16};
    return (kernel__transposed){4, device->tiles.lanes == 8 ? 16 : 8};
}

static inline bool kernel__has_vectors(const kernel_device *device)
{
    return device->tiles.items == 1 && device->tiles.lanes > 1;
}

/* conv_weight.c: x as transpose.cl has it. */
kernel_err kernel__transpose(kernel_device *device, kernel__layout layout, const shape_weight *s, kernel_slice x,
                             kernel_slice transposed);

/* conv_winograd.c: whether to use Winograd's algorithm for this shape; and then out = (or +=) the convolution. */
bool kernel__uses_winograd(const kernel_device *device, kernel__layout layout, const shape_conv *s);
kernel_err kernel__winograd(kernel_device *device, kernel__layout layout, const shape_conv *s, kernel_slice in,
                            kernel_slice weight, kernel_slice out);
bool kernel__weight_goes_winograd(const kernel_device *device, const shape_weight *s);
kernel_err kernel__winograd_weight(kernel_device *device, kernel__layout layout, shape_weight s, kernel_slice x,
                                   kernel_slice dy, kernel_slice dweight);

#endif
