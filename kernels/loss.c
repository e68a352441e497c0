/* SPDX-License-Identifier: MIT */
/*
 * loss: softmax cross-entropy, forward and backward at once. loss.cl has the formulas.
 */
#include "kernels/layout.h"
#include "kernels/shapes.h"

static kernel_err each_image(kernel_device *device, kernel_shape shape, kernel_slice logits, kernel_slice labels,
                             float smoothing, float scale, kernel_slice dlogits, kernel_slice found)
{
    kernel__layout layout = kernel__layout_of(device, shape.n);
    shape_image image = {shape.n, layout.blocks, shape.c, 1, 1};
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, layout.vectors, "cross_entropy");

    kernel__slice(&call, logits);
    kernel__slice(&call, labels);
    kernel__slice(&call, dlogits);
    kernel__slice(&call, found);
    kernel__value(&call, &image, sizeof image);
    kernel__float(&call, scale);
    kernel__int(&call, kernel__given(dlogits));
    kernel__float(&call, smoothing);
    return kernel__run(&call, (size_t)layout.blocks * (size_t)layout.block, 1, 1);
}

static kernel_err add_up(kernel_device *device, int n, int vectors, kernel_slice found, kernel_slice result)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "cross_entropy_sum");

    kernel__slice(&call, found);
    kernel__slice(&call, result);
    kernel__int(&call, n);
    return kernel__run(&call, 1, 1, 1);
}

kernel_err kernel_cross_entropy_smoothed(kernel_device *device, kernel_shape shape, kernel_slice logits,
                                         kernel_slice labels, float smoothing, float scale, kernel_slice dlogits,
                                         kernel_slice result)
{
    kernel_err err = kernel__check_shape(device, __func__, "shape", shape);
    kernel_slice found;
    size_t floats;

    if (err) return err;
    floats = kernel_floats(device, shape);
    if (shape.h != 1 || shape.w != 1)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: logits have %d x %d pixels, and must have 1 x 1", __func__,
                            shape.h, shape.w);
    if (!(smoothing >= 0 && smoothing <= 1))
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: smoothing is a number from 0 to 1, not %g", __func__,
                            (double)smoothing);
    kernel__need needs[] = {
        {"logits", logits, floats, KERNEL__ACTIVATION},
        {"labels", labels, (size_t)shape.n, KERNEL__REQUIRED},
        {"dlogits", dlogits, floats, KERNEL__ACTIVATION | KERNEL__OPTIONAL},
        {"result", result, 2, KERNEL__REQUIRED},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err || shape.n == 0) return err;
    err = kernel__scratch(device, 2 * (size_t)shape.n, &found);
    if (!err) err = each_image(device, shape, logits, labels, smoothing, scale, dlogits, found);
    return err ? err : add_up(device, shape.n, kernel__layout_of(device, shape.n).vectors, found, result);
}

kernel_err kernel_cross_entropy(kernel_device *device, kernel_shape shape, kernel_slice logits, kernel_slice labels,
                                float scale, kernel_slice dlogits, kernel_slice result)
{
    return kernel_cross_entropy_smoothed(device, shape, logits, labels, 0, scale, dlogits, result);
}
