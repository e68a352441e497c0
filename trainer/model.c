/* SPDX-License-Identifier: MIT */
/*
 * From a description to tensors and operations. A basic block, with the names of its tensors:
 *
 *          in --> conv1 --> bn1 --> relu --> conv2 --> bn2 --> + --> relu --> out
 *           |                                                  |
 *           '-----> (downsample.0 --> downsample.1) -----------'       the 1x1 projection: only where the shape changes
 *
 * Tensors come in the order in which torchvision's state_dict has them (bn2 before downsample); operations in the
 * order in which they run. The order of the parameters is that of the tensors, so the backward pass completes their
 * gradients roughly from the end of the buffer to its beginning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/internal.h"

static const train_description descriptions[] = {
    {"resnet20", 3, 1, false, 3, {3, 3, 3}, {16, 32, 64}},
    {"resnet18", 3, 1, false, 4, {2, 2, 2, 2}, {64, 128, 256, 512}},
    {"resnet34", 7, 2, true, 4, {3, 4, 6, 3}, {64, 128, 256, 512}},
};

const char train_model_names[] = "resnet20, resnet18, resnet34";

const train_description *train_describe(const char *name)
{
    for (size_t i = 0; name && i < sizeof descriptions / sizeof *descriptions; i++)
        if (strcmp(descriptions[i].name, name) == 0) return &descriptions[i];
    return NULL;
}

/* ---- Growing the lists; `failed` stays once memory has run out ---- */

typedef struct {
    train_model *model;
    bool failed;
} builder;

static void *grown(builder *b, void *list, size_t count, size_t element)
{
    bool full = (count & (count - 1)) == 0; /* doubles at powers of two */
    void *larger = full ? realloc(list, 2 * (count ? count : 1) * element) : list;
    if (!larger) b->failed = true;
    return larger ? larger : list;
}

static int add_value(builder *b, int channels, int height, int width)
{
    train_model *m = b->model;
    m->values = grown(b, m->values, m->value_count, sizeof *m->values);
    if (b->failed) return 0;
    m->values[m->value_count] = (train_value){channels, height, width};
    return (int)m->value_count++;
}

static void add_operation(builder *b, train_operation operation)
{
    train_model *m = b->model;
    m->operations = grown(b, m->operations, m->operation_count, sizeof *m->operations);
    if (!b->failed) m->operations[m->operation_count++] = operation;
}

/* A tensor of this shape, (d0, d1, d2, d3); 0 ends the shape early. */
static int add_tensor(builder *b, enum train_kind kind, const char *layer, const char *part, const int shape[4])
{
    train_model *m = b->model;
    train_tensor t = {.kind = kind, .count = 1};
    m->tensors = grown(b, m->tensors, m->tensor_count, sizeof *m->tensors);
    if (b->failed) return 0;
    snprintf(t.name, sizeof t.name, "%s.%s", layer, part);
    for (; t.dimensions < 4 && shape[t.dimensions]; t.dimensions++) {
        t.shape[t.dimensions] = (size_t)shape[t.dimensions];
        t.count *= t.shape[t.dimensions];
    }
    size_t *end = kind == TRAIN_PARAMETER ? &m->parameters : &m->statistics;
    if (kind != TRAIN_COUNTER) {
        t.offset = *end;
        *end += t.count;
    }
    m->tensors[m->tensor_count] = t;
    return (int)m->tensor_count++;
}

/* ---- Layers: each adds its tensors and its operation, and returns the value it leaves ---- */

#define SHAPE(...) ((const int[4]){__VA_ARGS__})

static const train_operation plain = {.in2 = -1, .weight = -1, .bias = -1, .mean = -1, .variance = -1};

static int reduced(int side, int kernel, int stride)
{
    return (side + 2 * (kernel / 2) - kernel) / stride + 1;
}

/* Tensors first, operations later: torchvision has downsample's tensors last, but it runs where it is needed. */
typedef struct {
    int weight, channels, kernel, stride;
} convolution;

static convolution conv_tensor(builder *b, const char *name, int in, int out, int kernel, int stride)
{
    int weight = add_tensor(b, TRAIN_PARAMETER, name, "weight", SHAPE(out, in, kernel, kernel));
    return (convolution){weight, out, kernel, stride};
}

static int window(builder *b, train_operation o, int channels)
{
    train_value in = b->failed ? (train_value){0} : b->model->values[o.in];
    o.padding = o.kernel / 2;
    o.out = add_value(b, channels, reduced(in.height, o.kernel, o.stride), reduced(in.width, o.kernel, o.stride));
    add_operation(b, o);
    return o.out;
}

static int convolve(builder *b, convolution c, int in)
{
    train_operation o = plain;
    o.kind = TRAIN_CONVOLUTION;
    o.in = in;
    o.kernel = c.kernel;
    o.stride = c.stride;
    o.weight = c.weight;
    return window(b, o, c.channels);
}

static int max_pool(builder *b, int in)
{
    train_operation o = plain;
    o.kind = TRAIN_MAX_POOL;
    o.in = in;
    o.kernel = 3;
    o.stride = 2;
    return window(b, o, b->failed ? 0 : b->model->values[in].channels);
}

/* The five tensors of a batch norm; the first one's index, the others follow. */
static int norm_tensors(builder *b, const char *name, int channels)
{
    int first = add_tensor(b, TRAIN_PARAMETER, name, "weight", SHAPE(channels));
    add_tensor(b, TRAIN_PARAMETER, name, "bias", SHAPE(channels));
    add_tensor(b, TRAIN_STATISTIC, name, "running_mean", SHAPE(channels));
    add_tensor(b, TRAIN_STATISTIC, name, "running_var", SHAPE(channels));
    add_tensor(b, TRAIN_COUNTER, name, "num_batches_tracked", SHAPE(0));
    return first;
}

/* An operation that keeps the shape: batch norm, ReLU, sum. */
static int same_shape(builder *b, train_operation o)
{
    train_value in = b->failed ? (train_value){0} : b->model->values[o.in];
    o.out = add_value(b, in.channels, in.height, in.width);
    add_operation(b, o);
    return o.out;
}

static int normalise(builder *b, int first, int in)
{
    train_operation o = plain;
    o.kind = TRAIN_BATCH_NORM;
    o.in = in;
    o.weight = first;
    o.bias = first + 1;
    o.mean = first + 2;
    o.variance = first + 3;
    return same_shape(b, o);
}

static int rectify(builder *b, int in)
{
    train_operation o = plain;
    o.kind = TRAIN_RELU;
    o.in = in;
    return same_shape(b, o);
}

static int add(builder *b, int in, int shortcut)
{
    train_operation o = plain;
    o.kind = TRAIN_ADD;
    o.in = in;
    o.in2 = shortcut;
    return same_shape(b, o);
}

/* ---- Parts of a ResNet ---- */

static void layer_name(char name[32], int stage, int block, const char *part)
{
    snprintf(name, 32, "layer%d.%d.%s", stage + 1, block, part);
}

static int basic_block(builder *b, int in, int stage, int block)
{
    char name[32];
    int width = b->model->description.widths[stage], stride = stage > 0 && block == 0 ? 2 : 1;
    int channels = b->failed ? 0 : b->model->values[in].channels;
    bool project = stride != 1 || channels != width;

    layer_name(name, stage, block, "conv1");
    convolution conv1 = conv_tensor(b, name, channels, width, 3, stride);
    layer_name(name, stage, block, "bn1");
    int bn1 = norm_tensors(b, name, width);
    layer_name(name, stage, block, "conv2");
    convolution conv2 = conv_tensor(b, name, width, width, 3, 1);
    layer_name(name, stage, block, "bn2");
    int bn2 = norm_tensors(b, name, width), shortcut = in;

    if (project) {
        layer_name(name, stage, block, "downsample.0");
        convolution projection = conv_tensor(b, name, channels, width, 1, stride);
        layer_name(name, stage, block, "downsample.1");
        shortcut = normalise(b, norm_tensors(b, name, width), convolve(b, projection, in));
    }
    int inner = rectify(b, normalise(b, bn1, convolve(b, conv1, in)));
    return rectify(b, add(b, normalise(b, bn2, convolve(b, conv2, inner)), shortcut));
}

static int stem(builder *b, int image)
{
    const train_description *d = &b->model->description;
    convolution conv1 = conv_tensor(b, "conv1", TRAIN_CHANNELS, d->widths[0], d->stem_kernel, d->stem_stride);
    int bn1 = norm_tensors(b, "bn1", d->widths[0]);
    int value = rectify(b, normalise(b, bn1, convolve(b, conv1, image)));
    return d->stem_pool ? max_pool(b, value) : value;
}

static void head(builder *b, int in)
{
    train_operation pool = plain, linear = plain;
    int channels = b->failed ? 0 : b->model->values[in].channels;
    pool.kind = TRAIN_MEAN_POOL;
    pool.in = in;
    pool.out = add_value(b, channels, 1, 1);
    add_operation(b, pool);
    linear.kind = TRAIN_LINEAR;
    linear.in = pool.out;
    linear.weight = add_tensor(b, TRAIN_PARAMETER, "fc", "weight", SHAPE(TRAIN_CLASSES, channels));
    linear.bias = add_tensor(b, TRAIN_PARAMETER, "fc", "bias", SHAPE(TRAIN_CLASSES));
    linear.out = add_value(b, TRAIN_CLASSES, 1, 1);
    add_operation(b, linear);
}

p2p_err train_build(const train_description *description, train_model **model, train_error *error)
{
    builder b = {.model = calloc(1, sizeof(train_model))};
    if (!b.model) return train__fail(error, P2P_ERR_NOMEM, "no memory for a model");
    b.model->description = *description;
    int value = stem(&b, add_value(&b, TRAIN_CHANNELS, TRAIN_SIDE, TRAIN_SIDE));
    for (int stage = 0; stage < description->stages; stage++)
        for (int block = 0; block < description->blocks[stage]; block++) value = basic_block(&b, value, stage, block);
    head(&b, value);
    if (b.failed) {
        train_free(b.model);
        return train__fail(error, P2P_ERR_NOMEM, "no memory for a model");
    }
    *model = b.model;
    return P2P_OK;
}

void train_free(train_model *model)
{
    if (!model) return;
    free(model->tensors);
    free(model->operations);
    free(model->values);
    free(model);
}
