/* SPDX-License-Identifier: MIT */
#include "tests/kernels/tensor.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/layout.h"

enum { MOST_BLOCKS = 4096, MOST_BUFFERS = 1024, ODD = 3 };

char tensor_about[256] = "";

static kernel_device *opened;
static void *blocks[MOST_BLOCKS];
static kernel_buffer *buffers[MOST_BUFFERS];
static size_t block_count, buffer_count;

kernel_device *device(void)
{
    if (!opened) cr_assert(kernel_open(NULL, 1, &opened) == KERNEL_OK, "%s", kernel_error_message(NULL));
    return opened;
}

void tensor_release(void)
{
    while (buffer_count) kernel_buffer_free(buffers[--buffer_count]);
    while (block_count) free(blocks[--block_count]);
    kernel_close(opened);
    opened = NULL;
}

void *tensor_memory(size_t bytes)
{
    cr_assert(block_count < MOST_BLOCKS);
    blocks[block_count] = calloc(bytes ? bytes : 1, 1);
    cr_assert(blocks[block_count]);
    return blocks[block_count++];
}

double *tensor_numbers(size_t count, unsigned seed)
{
    double *numbers = tensor_memory(count * sizeof *numbers);
    uint64_t state = seed * 7919u + 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (double)(int)(state >> 40) / (1 << 23) - 1;
    }
    return numbers;
}

/* ---- To the device and back ---- */

static kernel_slice put(size_t first, size_t count, const float *values)
{
    kernel_slice slice;

    cr_assert(buffer_count < MOST_BUFFERS);
    ASSERT_KERNEL(kernel_buffer_new(device(), "test", first + count, &buffers[buffer_count]));
    slice = kernel_at(buffers[buffer_count++], first);
    ASSERT_KERNEL(kernel_write(device(), slice, values, count));
    return slice;
}

static float *as_floats(size_t count, const double *values)
{
    float *floats = tensor_memory(count * sizeof *floats);

    for (size_t i = 0; i < count; i++) floats[i] = values ? (float)values[i] : NAN;
    return floats;
}

kernel_slice tensor_vector(size_t count, const double *values)
{
    return put(ODD, count, as_floats(count, values));
}

double *tensor_read(kernel_slice slice, size_t count)
{
    float *floats = tensor_memory(count * sizeof *floats);
    double *values = tensor_memory(count * sizeof *values);

    ASSERT_KERNEL(kernel_read(device(), floats, slice, count));
    for (size_t i = 0; i < count; i++) values[i] = (double)floats[i];
    return values;
}

kernel_slice tensor_activation(kernel_shape shape, const double *values)
{
    size_t floats = kernel_floats(device(), shape);
    kernel_slice x = put(0, floats, as_floats(floats, NULL));

    if (values)
        ASSERT_KERNEL(kernel_from_nchw(device(), shape, tensor_vector(kernel_oracle_elements(shape), values), x));
    return x;
}

/* Image i of a block lies at place i: those beyond shape.n are padding. */
static void assert_padding(kernel_slice slice, kernel_shape shape)
{
    kernel__layout layout = kernel__layout_of(device(), shape.n);
    size_t pixel = kernel__stored_channels(shape.c) * (size_t)layout.block, block = (size_t)layout.block;
    size_t row = kernel__stored_channels(shape.c) * (size_t)shape.h * (size_t)shape.w;
    double *raw = tensor_read(slice, row * block * (size_t)layout.blocks);

    for (size_t i = 0; i < row * block * (size_t)layout.blocks; i++) {
        size_t image = i / (row * block) * block + i % block;
        if (i % pixel >= (size_t)shape.c * block) continue; /* the gap */
        cr_assert(image < (size_t)shape.n || raw[i] == 0, "padding lane %zu is %g, not 0 (%s)", image, raw[i],
                  tensor_about);
    }
}

double *tensor_activation_read(kernel_slice slice, kernel_shape shape)
{
    size_t count = kernel_oracle_elements(shape);
    kernel_slice nchw = tensor_vector(count, NULL);

    ASSERT_KERNEL(kernel_to_nchw(device(), shape, slice, nchw));
    assert_padding(slice, shape);
    return tensor_read(nchw, count);
}

double tensor_distance(const double *got, const double *want, size_t count)
{
    double worst = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        double distance = fabs(got[i] - want[i]);
        if (isnan(got[i]) && isnan(want[i])) continue;
        if (isnan(distance)) return INFINITY;
        if (distance > worst) worst = distance;
        if (fabs(want[i]) > most) most = fabs(want[i]);
    }
    return worst / (most > 0 ? most : 1);
}
