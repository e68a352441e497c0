/* SPDX-License-Identifier: MIT */
/*
 * From a description to tensors and operations. A basic block, with the names of its tensors:
 *
 *          in --+--> [conv1, bn1, relu] --> [conv2, bn2, + , relu] --> out
 *               |                                        ^
 *               '--> (downsample.0, downsample.1) -------'       the 1x1 projection: only where the shape changes
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

static const train_operation plain = {
    .residual = -1, .weight = -1, .bias = -1, .gamma = -1, .beta = -1, .mean = -1, .variance = -1};

static train_value value_of(const builder *b, int value)
{
    static const train_value none;
    return b->failed ? none : b->model->values[value];
}

/* The tensors of a convolution and its batch norm. They come in another order than the operations: a projection's are
 * last in its block, but it runs first. */
static train_operation conv_norm(builder *b, const char *conv, const char *norm, int in, int out, int size, int stride)
{
    train_operation o = plain;
    o.kind = TRAIN_CONV_NORM;
    o.size = size;
    o.stride = stride;
    o.padding = size / 2;
    o.relu = true;
    o.weight = add_tensor(b, TRAIN_PARAMETER, conv, "weight", SHAPE(out, in, size, size));
    o.gamma = add_tensor(b, TRAIN_PARAMETER, norm, "weight", SHAPE(out));
    o.beta = add_tensor(b, TRAIN_PARAMETER, norm, "bias", SHAPE(out));
    o.mean = add_tensor(b, TRAIN_STATISTIC, norm, "running_mean", SHAPE(out));
    o.variance = add_tensor(b, TRAIN_STATISTIC, norm, "running_var", SHAPE(out));
    add_tensor(b, TRAIN_COUNTER, norm, "num_batches_tracked", SHAPE(0));
    return o;
}

static int reduced(int side, const train_operation *o)
{
    return (side + 2 * o->padding - o->size) / o->stride + 1;
}

static int windowed(builder *b, train_operation o, int in, int channels)
{
    train_value from = value_of(b, in);
    o.in = in;
    o.out = add_value(b, channels, reduced(from.height, &o), reduced(from.width, &o));
    add_operation(b, o);
    return o.out;
}

static int run_conv_norm(builder *b, train_operation o, int in)
{
    return windowed(b, o, in, b->failed ? 0 : (int)b->model->tensors[o.weight].shape[0]);
}

static int max_pool(builder *b, int in)
{
    train_operation o = plain;
    o.kind = TRAIN_MAX_POOL;
    o.size = 3;
    o.stride = 2;
    o.padding = 1;
    return windowed(b, o, in, value_of(b, in).channels);
}

/* ---- Parts of a ResNet ---- */

static int stem(builder *b, int image)
{
    const train_description *d = &b->model->description;
    train_operation o = conv_norm(b, "conv1", "bn1", TRAIN_CHANNELS, d->widths[0], d->stem_kernel, d->stem_stride);
    int value = run_conv_norm(b, o, image);
    return d->stem_pool ? max_pool(b, value) : value;
}

typedef struct {
    char conv[32], norm[32];
} block_names;

static block_names names_of(int stage, int block, const char *conv, const char *norm)
{
    block_names names;
    snprintf(names.conv, sizeof names.conv, "layer%d.%d.%s", stage + 1, block, conv);
    snprintf(names.norm, sizeof names.norm, "layer%d.%d.%s", stage + 1, block, norm);
    return names;
}

static int basic_block(builder *b, int in, int stage, int block)
{
    int channels = value_of(b, in).channels, width = b->model->description.widths[stage];
    int stride = stage > 0 && block == 0 ? 2 : 1, shortcut = in;
    block_names one = names_of(stage, block, "conv1", "bn1"), two = names_of(stage, block, "conv2", "bn2");
    train_operation conv1 = conv_norm(b, one.conv, one.norm, channels, width, 3, stride);
    train_operation conv2 = conv_norm(b, two.conv, two.norm, width, width, 3, 1);

    if (stride != 1 || channels != width) {
        block_names down = names_of(stage, block, "downsample.0", "downsample.1");
        train_operation projection = conv_norm(b, down.conv, down.norm, channels, width, 1, stride);
        projection.relu = false;
        shortcut = run_conv_norm(b, projection, in);
    }
    conv2.residual = shortcut;
    return run_conv_norm(b, conv2, run_conv_norm(b, conv1, in));
}

static void head(builder *b, int in)
{
    train_operation pool = plain, linear = plain;
    int channels = value_of(b, in).channels, classes = b->model->classes;
    pool.kind = TRAIN_MEAN_POOL;
    pool.in = in;
    pool.out = add_value(b, channels, 1, 1);
    add_operation(b, pool);
    linear.kind = TRAIN_LINEAR;
    linear.in = pool.out;
    linear.weight = add_tensor(b, TRAIN_PARAMETER, "fc", "weight", SHAPE(classes, channels));
    linear.bias = add_tensor(b, TRAIN_PARAMETER, "fc", "bias", SHAPE(classes));
    linear.out = add_value(b, classes, 1, 1);
    add_operation(b, linear);
}

p2p_err train_build_for(const train_description *description, int classes, train_model **model, train_error *error)
{
    builder b = {.model = calloc(1, sizeof(train_model))};
    if (classes < 1) {
        free(b.model);
        return train__fail(error, P2P_ERR_ARG, "%s for %d classes: there must be one", description->name, classes);
    }
    if (!b.model) return train__fail(error, P2P_ERR_NOMEM, "no memory for a model");
    b.model->description = *description;
    b.model->classes = classes;
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

p2p_err train_build(const train_description *description, train_model **model, train_error *error)
{
    return train_build_for(description, TRAIN_CLASSES, model, error);
}

void train_free(train_model *model)
{
    if (!model) return;
    free(model->tensors);
    free(model->operations);
    free(model->values);
    free(model);
}

/* An operation's tensors follow one another: batch norm's statistics lie in another buffer. */
void train_gradients_of(const train_model *m, size_t operation, size_t *first, size_t *count)
{
    const train_operation *o = &m->operations[operation];
    const int last = o->beta >= 0 ? o->beta : o->bias;
    *first = *count = 0;
    if (o->weight < 0) return;
    *first = m->tensors[o->weight].offset;
    *count = m->tensors[last].offset + m->tensors[last].count - *first;
}
