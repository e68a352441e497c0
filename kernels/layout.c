/* SPDX-License-Identifier: MIT */
/*
 * layout: from plain (N, C, H, W) to how activations lie on the device, and back. See layout.h.
 */
#include "kernels/layout.h"

#include "kernels/shapes.h"

kernel__layout kernel__layout_of(const kernel_device *device, int n)
{
    int vector = device->tiles.lanes * device->tiles.items;
    bool is_long = n > vector || n == 0; /* without images: a step of other ranks, and of longer batches before */
    int vectors = is_long && device->tiles.items == 1 ? KERNEL__MOST_VECTORS : 1;
    int block = vector * vectors;

    return (kernel__layout){vectors, block, n / block + (n % block != 0)};
}

static kernel_err convert(kernel_device *device, const char *call_name, const char *kernel, kernel_shape shape,
                          kernel_slice nchw, kernel_slice x)
{
    kernel_err err = kernel__check_shape(device, call_name, "shape", shape);
    kernel__layout layout;
    kernel__call call;

    if (err) return err;
    layout = kernel__layout_of(device, shape.n);
    kernel__need needs[] = {
        {"nchw", nchw, (size_t)shape.n * (size_t)shape.c * (size_t)shape.h * (size_t)shape.w, KERNEL__REQUIRED},
        {"x", x, kernel_floats(device, shape), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, call_name, needs, COUNT(needs));
    if (err) return err;
    shape_image image = {shape.n, layout.blocks, shape.c, shape.h, shape.w};
    call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, kernel);
    kernel__slice(&call, nchw);
    kernel__slice(&call, x);
    kernel__value(&call, &image, sizeof image);
    return kernel__run(&call, (size_t)device->tiles.items, kernel__positions(layout, shape.h, shape.w), 1);
}

kernel_err kernel_from_nchw(kernel_device *device, kernel_shape shape, kernel_slice nchw, kernel_slice x)
{
    return convert(device, __func__, "from_nchw", shape, nchw, x);
}

kernel_err kernel_to_nchw(kernel_device *device, kernel_shape shape, kernel_slice x, kernel_slice nchw)
{
    return convert(device, __func__, "to_nchw", shape, nchw, x);
}
