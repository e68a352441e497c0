/* SPDX-License-Identifier: MIT */
/*
 * pool: max pool (3 x 3, stride 2, padding 1), and the global average pool.
 */
#include "kernels/layout.h"
#include "kernels/shapes.h"

static shape_image describe(kernel_shape shape, kernel__layout layout)
{
    return (shape_image){shape.n, layout.blocks, shape.c, shape.h, shape.w};
}

kernel_shape kernel_max_pool_out(kernel_shape in)
{
    return (kernel_shape){in.n, in.c, (in.h - 1) / 2 + 1, (in.w - 1) / 2 + 1};
}

/* Three slices, image, work-items for every position of `over`. */
static kernel_err run(kernel_device *device, const char *name, kernel_shape in, kernel_shape over,
                      const kernel_slice slices[], size_t count)
{
    kernel__layout layout = kernel__layout_of(device, in.n);
    shape_image image = describe(in, layout);
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, name);

    for (size_t i = 0; i < count; i++) kernel__slice(&call, slices[i]);
    kernel__value(&call, &image, sizeof image);
    return kernel__run(&call, (size_t)device->tiles.items, kernel__positions(layout, over.h, over.w), 1);
}

kernel_err kernel_max_pool_forward(kernel_device *device, kernel_shape in, kernel_slice x, kernel_slice y,
                                   kernel_slice chosen)
{
    kernel_err err = kernel__check_shape(device, __func__, "in", in);
    kernel_shape out = kernel_max_pool_out(in);

    if (err) return err;
    kernel__need needs[] = {
        {"x", x, kernel_floats(device, in), KERNEL__ACTIVATION},
        {"y", y, kernel_floats(device, out), KERNEL__ACTIVATION},
        {"chosen", chosen, kernel_floats(device, out), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    return err ? err : run(device, "max_pool", in, out, (kernel_slice[]){x, y, chosen}, 3);
}

kernel_err kernel_max_pool_backward(kernel_device *device, kernel_shape in, kernel_slice dy, kernel_slice chosen,
                                    kernel_slice dx)
{
    kernel_err err = kernel__check_shape(device, __func__, "in", in);
    kernel_shape out = kernel_max_pool_out(in);

    if (err) return err;
    kernel__need needs[] = {
        {"dy", dy, kernel_floats(device, out), KERNEL__ACTIVATION},
        {"chosen", chosen, kernel_floats(device, out), KERNEL__ACTIVATION},
        {"dx", dx, kernel_floats(device, in), KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    return err ? err : run(device, "max_pool_back", in, in, (kernel_slice[]){dy, chosen, dx}, 3);
}

/* ---- The mean of an image ---- */

static kernel_err check_mean(kernel_device *device, const char *call, kernel_shape in, kernel_slice large,
                             kernel_slice small)
{
    kernel_err err = kernel__check_shape(device, call, "in", in);

    if (err) return err;
    kernel__need needs[] = {
        {"x", large, kernel_floats(device, in), KERNEL__ACTIVATION},
        {"y", small, kernel_floats(device, (kernel_shape){in.n, in.c, 1, 1}), KERNEL__ACTIVATION},
    };
    return kernel__check(device, call, needs, COUNT(needs));
}

kernel_err kernel_mean_pool_forward(kernel_device *device, kernel_shape in, kernel_slice x, kernel_slice y)
{
    kernel_err err = check_mean(device, __func__, in, x, y);
    kernel__layout layout;
    shape_image image;
    kernel__call call;

    if (err) return err;
    layout = kernel__layout_of(device, in.n);
    image = describe(in, layout);
    call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, "mean_pool");
    kernel__slice(&call, x);
    kernel__slice(&call, y);
    kernel__value(&call, &image, sizeof image);
    return kernel__run(&call, (size_t)device->tiles.items, (size_t)in.c, (size_t)layout.blocks);
}

kernel_err kernel_mean_pool_backward(kernel_device *device, kernel_shape in, kernel_slice dy, kernel_slice dx)
{
    kernel_err err = check_mean(device, __func__, in, dx, dy);

    return err ? err : run(device, "mean_pool_back", in, in, (kernel_slice[]){dy, dx}, 2);
}
