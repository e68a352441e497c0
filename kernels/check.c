/* SPDX-License-Identifier: MIT */
/*
 * check: the arguments of a call, before anything is queued.
 */
#include <limits.h>

#include "kernels/layout.h"

enum { ALIGNMENT = 16 }; /* floats: a cache line, and the longest vector */

static kernel_err check_one(kernel_device *device, const char *call, const kernel__need *need)
{
    const kernel_buffer *buffer = need->slice.buffer;
    size_t first = need->slice.first;

    if (!buffer && (need->kind & KERNEL__OPTIONAL)) return KERNEL_OK;
    if (!buffer) return kernel__fail(device, KERNEL_ERR_ARG, "%s: %s has no buffer", call, need->name);
    if (buffer->device != device)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: %s lies in buffer %s of another device", call, need->name,
                            buffer->name);
    if (first > buffer->floats || need->floats > buffer->floats - first)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: %s needs floats %zu to %zu, but buffer %s has %zu", call,
                            need->name, first, first + need->floats, buffer->name, buffer->floats);
    if ((need->kind & KERNEL__ACTIVATION) && first % ALIGNMENT)
        return kernel__fail(device, KERNEL_ERR_ARG,
                            "%s: %s begins at float %zu of buffer %s: activations begin at a multiple of %d", call,
                            need->name, first, buffer->name, ALIGNMENT);
    return KERNEL_OK;
}

kernel_err kernel__check(kernel_device *device, const char *call, const kernel__need needs[], size_t count)
{
    kernel_err err = kernel__ready(device, call);

    for (size_t i = 0; i < count && !err; i++) err = check_one(device, call, &needs[i]);
    return err;
}

static bool shape_is_valid(const kernel_device *device, kernel_shape shape)
{
    int sizes[] = {kernel__layout_of(device, shape.n).blocks, kernel__layout_of(device, shape.n).block,
                   (int)kernel__stored_channels(shape.c), shape.h, shape.w};
    size_t floats = 1;

    if (shape.n < 0 || shape.n > INT_MAX / 2 || shape.c < 1 || shape.h < 1 || shape.w < 1) return false;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (sizes[i] && floats > (size_t)INT_MAX / (size_t)sizes[i]) return false;
        floats *= (size_t)sizes[i];
    }
    return true;
}

kernel_err kernel__check_shape(kernel_device *device, const char *call, const char *name, kernel_shape shape)
{
    kernel_err err = kernel__ready(device, call);

    if (err || shape_is_valid(device, shape)) return err;
    return kernel__fail(device, KERNEL_ERR_ARG,
                        "%s: %s has shape (%d, %d, %d, %d): images may be 0, the others begin at 1, and it is fewer "
                        "than 2^31 elements",
                        call, name, shape.n, shape.c, shape.h, shape.w);
}

bool kernel__same(kernel_slice a, kernel_slice b)
{
    return a.buffer && a.buffer == b.buffer && a.first == b.first;
}

/* A tile of channels may begin at the last one: there is room to read beyond it (conv_weight.cl). */
enum { CHANNELS_AT_ONCE = 4 };

size_t kernel_floats(const kernel_device *device, kernel_shape shape)
{
    kernel__layout layout;
    size_t floats, channels = kernel__stored_channels(shape.c),
                   beyond = (CHANNELS_AT_ONCE - channels % CHANNELS_AT_ONCE) % CHANNELS_AT_ONCE;

    if (!device || !shape_is_valid(device, shape) || shape.n == 0) return 0;
    layout = kernel__layout_of(device, shape.n);
    floats = (kernel__positions(layout, shape.h, shape.w) * channels + beyond) * (size_t)layout.block;
    return (floats + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}
