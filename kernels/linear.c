/* SPDX-License-Identifier: MIT */
/*
 * linear: the last layer: a convolution of 1 x 1 on an image of 1 x 1, and a bias.
 */
#include "kernels/layout.h"
#include "kernels/shapes.h"

static kernel_conv as_conv(kernel_shape in, int out_channels)
{
    return (kernel_conv){.in = in, .out_channels = out_channels, .size = 1, .stride = 1, .padding = 0};
}

/* Bias and y fit, and x is a row of numbers for each image; the convolution checks the rest. */
static kernel_err check_linear(kernel_device *device, const char *call, kernel_shape in, int out_channels,
                               kernel_slice bias, kernel_slice y)
{
    kernel_shape out = {in.n, out_channels, 1, 1};
    kernel_err err = kernel__check_shape(device, call, "in", in);

    if (!err) err = kernel__check_shape(device, call, "out", out);
    if (err) return err;
    if (in.h != 1 || in.w != 1)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: in has %d x %d pixels, and must have 1 x 1", call, in.h, in.w);
    kernel__need needs[] = {
        {"bias", bias, (size_t)out_channels, KERNEL__REQUIRED},
        {"y", y, kernel_floats(device, out), KERNEL__ACTIVATION},
    };
    return kernel__check(device, call, needs, COUNT(needs));
}

kernel_err kernel_linear_forward(kernel_device *device, kernel_shape in, int out_channels, kernel_slice x,
                                 kernel_slice weight, kernel_slice bias, kernel_slice y)
{
    kernel_err err = check_linear(device, __func__, in, out_channels, bias, y);
    kernel_conv conv = as_conv(in, out_channels);
    kernel__layout layout;
    shape_image out;
    kernel__call call;

    if (err) return err;
    layout = kernel__layout_of(device, in.n);
    out = (shape_image){in.n, layout.blocks, out_channels, 1, 1};
    call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, "bias_spread");
    kernel__slice(&call, bias);
    kernel__slice(&call, y);
    kernel__value(&call, &out, sizeof out);
    err = kernel__run(&call, (size_t)device->tiles.items, (size_t)out_channels, (size_t)layout.blocks);
    return err ? err : kernel__conv_forward(device, __func__, &conv, x, weight, y, true);
}

static kernel_err bias_back(kernel_device *device, kernel_shape in, int out_channels, kernel_slice dy,
                            kernel_slice dbias)
{
    kernel__layout layout = kernel__layout_of(device, in.n);
    shape_image out = {in.n, layout.blocks, out_channels, 1, 1};
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, "bias_back");

    kernel__slice(&call, dy);
    kernel__slice(&call, dbias);
    kernel__value(&call, &out, sizeof out);
    return kernel__run(&call, (size_t)out_channels, 1, 1);
}

kernel_err kernel_linear_backward(kernel_device *device, kernel_shape in, int out_channels, kernel_slice x,
                                  kernel_slice weight, kernel_slice dy, kernel_slice dx, kernel_slice dweight,
                                  kernel_slice dbias)
{
    kernel_err err = check_linear(device, __func__, in, out_channels, dbias, dy);
    kernel_conv conv = as_conv(in, out_channels);

    if (!err) err = kernel_conv_backward_weight(device, &conv, x, dy, dweight);
    if (!err) err = bias_back(device, in, out_channels, dy, dbias);
    if (!err && kernel__given(dx)) err = kernel_conv_backward_input(device, &conv, dy, weight, dx, false);
    return err;
}
