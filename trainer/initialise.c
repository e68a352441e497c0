/* SPDX-License-Identifier: MIT */
/* The numbers a model begins with. */
#include <math.h>
#include <string.h>

#include "trainer/internal.h"
#include "trainer/random.h"

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

static void fill(float *at, size_t count, float value)
{
    for (size_t i = 0; i < count; i++) at[i] = value;
}

/* (O, I, KH, KW): what a convolution's output feeds back through is O KH KW weights. */
static void fill_convolution(const train_tensor *t, train_random random, float *at)
{
    double deviation = sqrt(2.0 / (double)(t->shape[0] * t->shape[2] * t->shape[3]));
    for (size_t i = 0; i < t->count; i++) at[i] = (float)(deviation * train__normal(random, i));
}

static void fill_linear(size_t inputs, size_t count, train_random random, float *at)
{
    double bound = 1.0 / sqrt((double)inputs);
    for (size_t i = 0; i < count; i++) at[i] = (float)(bound * (2.0 * train__uniform(random, i) - 1.0));
}

static void fill_parameter(const train_model *model, size_t index, uint64_t seed, float *at)
{
    const train_tensor *t = &model->tensors[index];
    train_random random = train__random(seed, STREAM_INIT, index);
    if (t->dimensions == 4)
        fill_convolution(t, random, at);
    else if (t->dimensions == 2)
        fill_linear(t->shape[1], t->count, random, at);
    else if (strcmp(t->name, "fc.bias") == 0)
        fill_linear(model->tensors[index - 1].shape[1], t->count, random, at);
    else
        fill(at, t->count, ends_in(t->name, ".weight") ? 1.0f : 0.0f);
}

void train_initialise(const train_model *model, uint64_t seed, float *parameters, float *statistics)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        if (t->kind == TRAIN_PARAMETER) fill_parameter(model, i, seed, parameters + t->offset);
        if (t->kind == TRAIN_STATISTIC)
            fill(statistics + t->offset, t->count, ends_in(t->name, "running_var") ? 1.0f : 0.0f);
    }
}
