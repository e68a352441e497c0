/* SPDX-License-Identifier: MIT */
/*
 * norm: batch norm forward and backward, with the residual and the ReLU behind it. norm.cl has the formulas.
 */
#include "kernels/layout.h"
#include "kernels/shapes.h"

/* Of norm.cl: floats for each channel before the partial sums, channels of a tile with several lanes, and how many
 * chunks at most. */
enum { SAVED_LINES = 6, TILE = 64, MOST_CHUNKS = 32 };

static shape_norm describe(const kernel_device *device, const kernel_norm *norm)
{
    kernel__layout layout = kernel__layout_of(device, norm->shape.n);
    size_t positions = kernel__positions(layout, norm->shape.h, norm->shape.w);

    return (shape_norm){.n = norm->shape.n,
                        .blocks = layout.blocks,
                        .channels = norm->shape.c,
                        .positions = norm->shape.h * norm->shape.w,
                        .chunks = positions < MOST_CHUNKS ? (int)positions : MOST_CHUNKS,
                        .frozen = norm->frozen,
                        .relu = norm->relu,
                        .momentum = norm->momentum,
                        .eps = norm->eps};
}

size_t kernel_norm_floats(const kernel_device *device, kernel_shape shape)
{
    if (!device || shape.c < 1) return 0;
    return (SAVED_LINES + 2 * MOST_CHUNKS) * (size_t)shape.c;
}

static kernel_err check_norm(kernel_device *device, const char *call, const kernel_norm *norm)
{
    kernel_err err = kernel__ready(device, call);
    size_t channels;

    if (err) return err;
    if (!norm) return kernel__fail(device, KERNEL_ERR_ARG, "%s: no norm (NULL)", call);
    err = kernel__check_shape(device, call, "shape", norm->shape);
    if (err) return err;
    channels = (size_t)norm->shape.c;
    kernel__need needs[] = {
        {"gamma", norm->gamma, channels, KERNEL__REQUIRED},
        {"beta", norm->beta, channels, KERNEL__REQUIRED},
        {"running_mean", norm->running_mean, channels, KERNEL__REQUIRED},
        {"running_var", norm->running_var, channels, KERNEL__REQUIRED},
        {"saved", norm->saved, kernel_norm_floats(device, norm->shape), KERNEL__REQUIRED},
    };
    return kernel__check(device, call, needs, COUNT(needs));
}

static size_t tiles(const kernel_device *device, const shape_norm *s)
{
    int tile = device->tiles.lanes == 1 ? 1 : TILE;

    return (size_t)(s->channels + tile - 1) / (size_t)tile;
}

static size_t positions(const shape_norm *s)
{
    return (size_t)s->blocks * (size_t)s->positions;
}

/* ---- Forward ---- */

static kernel_err sum_batch(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s,
                            kernel_slice x)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "norm_sums");

    kernel__slice(&call, x);
    kernel__slice(&call, norm->saved);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, tiles(device, s), (size_t)s->chunks, 1);
}

static kernel_err finish(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, s->frozen ? "norm_freeze" : "norm_finish");

    kernel__slice(&call, norm->saved);
    kernel__slice(&call, norm->gamma);
    kernel__slice(&call, norm->beta);
    kernel__slice(&call, norm->running_mean);
    kernel__slice(&call, norm->running_var);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, (size_t)s->channels, 1, 1);
}

static kernel_err apply(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s,
                        kernel_slice x, kernel_slice residual, kernel_slice y)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "norm_apply");

    kernel__slice(&call, x);
    kernel__slice(&call, norm->saved);
    kernel__slice(&call, residual);
    kernel__slice(&call, y);
    kernel__value(&call, s, sizeof *s);
    kernel__int(&call, kernel__given(residual));
    return kernel__run(&call, (size_t)device->tiles.items, positions(s), 1);
}

kernel_err kernel_norm_forward(kernel_device *device, const kernel_norm *norm, kernel_slice x, kernel_slice residual,
                               kernel_slice y)
{
    kernel_err err = check_norm(device, __func__, norm);
    size_t floats;
    shape_norm s;
    int vectors;

    if (err) return err;
    floats = kernel_floats(device, norm->shape);
    kernel__need needs[] = {
        {"x", x, floats, KERNEL__ACTIVATION},
        {"residual", residual, floats, KERNEL__ACTIVATION | KERNEL__OPTIONAL},
        {"y", y, floats, KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    if (kernel__same(x, y)) return kernel__fail(device, KERNEL_ERR_ARG, "%s: y is x: backward needs x", __func__);
    if (norm->shape.n == 0) return KERNEL_OK;
    s = describe(device, norm);
    vectors = kernel__layout_of(device, norm->shape.n).vectors;
    if (!norm->frozen) err = sum_batch(device, vectors, norm, &s, x);
    if (!err) err = finish(device, vectors, norm, &s);
    return err ? err : apply(device, vectors, norm, &s, x, residual, y);
}

kernel_err kernel_conv_norm_forward(kernel_device *device, const kernel_conv *conv, const kernel_norm *norm,
                                    kernel_slice x, kernel_slice weight, kernel_slice convolved, kernel_slice residual,
                                    kernel_slice y)
{
    kernel_err err = check_norm(device, __func__, norm);
    kernel_shape out;

    if (err) return err;
    if (!conv) return kernel__fail(device, KERNEL_ERR_ARG, "%s: no convolution (NULL)", __func__);
    out = kernel_conv_out(conv);
    if (out.n != norm->shape.n || out.c != norm->shape.c || out.h != norm->shape.h || out.w != norm->shape.w)
        return kernel__fail(device, KERNEL_ERR_ARG,
                            "%s: the convolution gives (%d, %d, %d, %d), the norm has (%d, %d, %d, %d)", __func__,
                            out.n, out.c, out.h, out.w, norm->shape.n, norm->shape.c, norm->shape.h, norm->shape.w);
    err = kernel_conv_forward(device, conv, x, weight, convolved);
    return err ? err : kernel_norm_forward(device, norm, convolved, residual, y);
}

/* ---- Backward ---- */

static kernel_err back_sums(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s,
                            kernel_slice dy, kernel_slice x, kernel_slice y, kernel_slice dz)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "norm_back_sums");

    kernel__slice(&call, dy);
    kernel__slice(&call, x);
    kernel__slice(&call, y);
    kernel__slice(&call, dz);
    kernel__slice(&call, norm->saved);
    kernel__value(&call, s, sizeof *s);
    kernel__int(&call, kernel__given(dz));
    return kernel__run(&call, tiles(device, s), (size_t)s->chunks, 1);
}

static kernel_err back_finish(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s,
                              kernel_slice dgamma, kernel_slice dbeta)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "norm_back_finish");

    kernel__slice(&call, norm->saved);
    kernel__slice(&call, dgamma);
    kernel__slice(&call, dbeta);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, (size_t)s->channels, 1, 1);
}

static kernel_err back_apply(kernel_device *device, int vectors, const kernel_norm *norm, const shape_norm *s,
                             kernel_slice dy, kernel_slice x, kernel_slice dx)
{
    kernel__call call = kernel__begin(device, KERNEL__LAYERS, vectors, "norm_back_apply");

    kernel__slice(&call, dy);
    kernel__slice(&call, x);
    kernel__slice(&call, norm->saved);
    kernel__slice(&call, dx);
    kernel__value(&call, s, sizeof *s);
    return kernel__run(&call, (size_t)device->tiles.items, positions(s), 1);
}

/* With a residual the gradient comes through the ReLU once, into dresidual, and both branches go on from there. */
static kernel_err go_back(kernel_device *device, const kernel_norm *norm, kernel_slice dy, kernel_slice x,
                          kernel_slice y, kernel_slice dx, kernel_slice dgamma, kernel_slice dbeta,
                          kernel_slice dresidual)
{
    int vectors = kernel__layout_of(device, norm->shape.n).vectors;
    shape_norm s = describe(device, norm);
    kernel_err err = back_sums(device, vectors, norm, &s, dy, x, y, dresidual);

    if (kernel__given(dresidual)) {
        dy = dresidual;
        s.relu = 0;
    }
    if (!err) err = back_finish(device, vectors, norm, &s, dgamma, dbeta);
    return err ? err : back_apply(device, vectors, norm, &s, dy, x, dx);
}

kernel_err kernel_norm_backward(kernel_device *device, const kernel_norm *norm, kernel_slice dy, kernel_slice x,
                                kernel_slice y, kernel_slice dx, kernel_slice dgamma, kernel_slice dbeta,
                                kernel_slice dresidual)
{
    kernel_err err = check_norm(device, __func__, norm);
    size_t floats, channels;

    if (err) return err;
    floats = kernel_floats(device, norm->shape);
    channels = (size_t)norm->shape.c;
    kernel__need needs[] = {
        {"dy", dy, floats, KERNEL__ACTIVATION},
        {"x", x, floats, KERNEL__ACTIVATION},
        {"y", y, floats, KERNEL__ACTIVATION},
        {"dx", dx, floats, KERNEL__ACTIVATION},
        {"dgamma", dgamma, channels, KERNEL__REQUIRED},
        {"dbeta", dbeta, channels, KERNEL__REQUIRED},
        {"dresidual", dresidual, floats, KERNEL__ACTIVATION | KERNEL__OPTIONAL},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    if (err) return err;
    if (kernel__same(dx, dresidual))
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: dx and dresidual are the same place", __func__);
    if (norm->shape.n > 0) return go_back(device, norm, dy, x, y, dx, dgamma, dbeta, dresidual);
    err = kernel_fill(device, dgamma, channels, 0);
    return err ? err : kernel_fill(device, dbeta, channels, 0);
}
