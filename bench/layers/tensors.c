/* SPDX-License-Identifier: MIT */
/*
 * tensors: the same numbers as floats on the device and as doubles here; and how long an operation takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/layers/layers.h"
#include "bench/util/loop.h"

/* ---- Errors that end the program ---- */

void layers_need(kernel_device *device, kernel_err err)
{
    if (!err) return;
    fprintf(stderr, "kernels: %s\n", kernel_error_message(device));
    exit(err == KERNEL_ERR_ARG || err == KERNEL_ERR_DEVICE ? 2 : 1);
}

void *layers_memory(size_t count, size_t size)
{
    void *made = aligned_alloc(64, (count * size + 64) / 64 * 64);

    if (made) return memset(made, 0, count * size);
    fprintf(stderr, "kernels: out of memory\n");
    exit(1);
}

/* ---- Tensors: the same numbers as floats on the device and as doubles here ---- */

float *layers_random(size_t count, unsigned seed)
{
    float *numbers = layers_memory(count, sizeof *numbers);
    uint64_t state = seed;

    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (float)(int)(state >> 40) / (1 << 23) - 1;
    }
    return numbers;
}

static kernel_slice new_slice(const layers *b, size_t floats)
{
    kernel_buffer *buffer;

    layers_need(b->device, kernel_buffer_new(b->device, "tensor", floats, &buffer));
    return kernel_at(buffer, 0);
}

tensor tensor_make(const layers *b, kernel_shape shape, size_t count, unsigned seed)
{
    tensor t = {NULL, shape.n ? kernel_oracle_elements(shape) : count, shape, {NULL, 0}};
    float *numbers = layers_random(t.count, seed);
    kernel_slice plain = new_slice(b, t.count);

    t.values = layers_memory(t.count, sizeof *t.values);
    for (size_t i = 0; i < t.count; i++) t.values[i] = (double)numbers[i];
    layers_need(b->device, kernel_write(b->device, plain, numbers, t.count));
    free(numbers);
    if (!shape.n) {
        t.at = plain;
        return t;
    }
    t.at = new_slice(b, kernel_floats(b->device, shape));
    layers_need(b->device, kernel_from_nchw(b->device, shape, plain, t.at));
    layers_need(b->device, kernel_finish(b->device));
    kernel_buffer_free(plain.buffer);
    return t;
}

static float *read_back(const layers *b, const tensor *t)
{
    float *numbers = layers_memory(t->count, sizeof *numbers);
    kernel_slice plain = t->shape.n ? new_slice(b, t->count) : t->at;

    if (t->shape.n) layers_need(b->device, kernel_to_nchw(b->device, t->shape, t->at, plain));
    layers_need(b->device, kernel_read(b->device, numbers, plain, t->count));
    if (t->shape.n) kernel_buffer_free(plain.buffer);
    return numbers;
}

void tensor_drop(tensor *t)
{
    kernel_buffer_free(t->at.buffer);
    free(t->values);
}

/* Of all elements, or of those the oracle has worked out: the others are 0 there. */
double tensor_distance(const layers *b, const tensor *got, const double *want, bool all)
{
    float *numbers = read_back(b, got);
    double worst = 0, most = 0;

    for (size_t i = 0; i < got->count; i++) {
        double apart = fabs((double)numbers[i] - want[i]);
        if (!all && want[i] == 0) continue;
        if (!(apart <= worst)) worst = apart;
        if (fabs(want[i]) > most) most = fabs(want[i]);
    }
    free(numbers);
    return most > 0 ? worst / most : INFINITY;
}

/* ---- Time ---- */

enum { ENOUGH_MS = 1000 };

double layers_measure(const layers *b, layers_operation operate, void *run)
{
    double best = 0, spent = 0;

    for (long i = -1; i < b->repeats && (i <= 0 || spent < ENOUGH_MS); i++) {
        double start = loop_now_us(), ms;
        operate(run);
        layers_need(b->device, kernel_finish(b->device));
        ms = (loop_now_us() - start) * 1e-3;
        spent += ms;
        if (i == 0 || (i > 0 && ms < best)) best = ms;
    }
    return best;
}
