/* SPDX-License-Identifier: MIT */
/*
 * The numbers a model begins with: those that PyTorch gives it after torch.manual_seed(seed), drawn in the same order.
 *
 *      torch.manual_seed(seed)
 *      model = ResNet(...)            draws every convolution, with values that are not kept, then the linear layer
 *      for m in model.modules():      draws every convolution again
 *          nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
 */
#include <math.h>
#include <string.h>

#include "trainer/internal.h"
#include "trainer/twister.h"

enum { HALF = 8, BLOCK = 2 * HALF };

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

static bool is_convolution(const train_tensor *t)
{
    return t->dimensions == 4;
}

static void fill(float *at, size_t count, float value)
{
    for (size_t i = 0; i < count; i++) at[i] = value;
}

static void draw(train_twister *twister, size_t count, float *at)
{
    for (size_t i = 0; i < count; i++) at[i] = train__twister_uniform(twister);
}

/* Sixteen numbers of [0, 1) become as many of the normal distribution; number i goes with number i + 8 (Box and Muller
 * 1958). 1 - u is never 0. */
static void make_normal(float at[BLOCK], float deviation)
{
    for (int i = 0; i < HALF; i++) {
        double radius = (double)deviation * sqrt(-2.0 * log(1.0 - (double)at[i]));
        double angle = 2.0 * 3.14159265358979323846 * (double)at[i + HALF];
        at[i] = (float)(radius * cos(angle));
        at[i + HALF] = (float)(radius * sin(angle));
    }
}

/* Block by block; where these do not come out even, the last sixteen numbers are drawn again. (For fewer than sixteen
 * PyTorch has another way; none of the three models has so small a convolution.) */
static void fill_normal(train_twister *twister, size_t count, float deviation, float *at)
{
    float few[BLOCK] = {0}, *last = count < BLOCK ? few : at + count - BLOCK;
    draw(twister, count, at);
    for (size_t i = 0; i + BLOCK <= count; i += BLOCK) make_normal(at + i, deviation);
    if (count % BLOCK == 0) return;
    draw(twister, BLOCK, last);
    make_normal(last, deviation);
    if (count < BLOCK) memcpy(at, few, count * sizeof *at);
}

/* (O, I, KH, KW): what a convolution's output feeds back through is O KH KW weights. */
static void fill_convolution(const train_tensor *t, train_twister *twister, float *at)
{
    fill_normal(twister, t->count, (float)sqrt(2.0 / (double)(t->shape[0] * t->shape[2] * t->shape[3])), at);
}

/* Within 1 / sqrt(inputs) of 0. */
static void fill_linear(size_t inputs, size_t count, train_twister *twister, float *at)
{
    float bound = (float)(1.0 / sqrt((double)inputs));
    for (size_t i = 0; i < count; i++) at[i] = train__twister_uniform(twister) * (bound + bound) - bound;
}

static void build_layers(const train_model *model, train_twister *twister, float *parameters)
{
    size_t inputs = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        float *at = parameters + t->offset;
        if (t->kind != TRAIN_PARAMETER) continue;
        if (is_convolution(t)) {
            draw(twister, t->count, at);
        } else if (t->dimensions == 2 || strcmp(t->name, "fc.bias") == 0) {
            if (t->dimensions == 2) inputs = t->shape[1];
            fill_linear(inputs, t->count, twister, at);
        } else {
            fill(at, t->count, ends_in(t->name, ".weight") ? 1.0f : 0.0f);
        }
    }
}

void train_initialise(const train_model *model, uint64_t seed, float *parameters, float *statistics)
{
    train_twister twister;
    train__twister(&twister, seed);
    build_layers(model, &twister, parameters);
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        if (t->kind == TRAIN_PARAMETER && is_convolution(t)) fill_convolution(t, &twister, parameters + t->offset);
        if (t->kind == TRAIN_STATISTIC)
            fill(statistics + t->offset, t->count, ends_in(t->name, "running_var") ? 1.0f : 0.0f);
    }
}
