/* SPDX-License-Identifier: MIT */
/*
 * trainer: a ResNet on CIFAR-10 images, data-parallel.
 *
 *      the model         train_describe, train_build, train_free, train_initialise
 *
 * Functions that can fail return p2p_err and, if `error` is not NULL, say in it what was wrong; outputs are set only on
 * success.
 */
#ifndef PAIRWISE_TRAINER_H
#define PAIRWISE_TRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype/dtype.h"
#include "p2p/p2p.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong, in words: names file, place and value. */
typedef struct {
    char text[1000];
} train_error;

/* ---- The model ---- */

enum { TRAIN_STAGES = 4, TRAIN_CLASSES = 10, TRAIN_SIDE = 32, TRAIN_CHANNELS = 3 };

/* One description builds them all: a stem, then stages of basic blocks (two 3x3 convolutions and a shortcut; a 1x1
 * projection where the shape changes), a mean over what is left of the image, and a linear layer. The first block of
 * every stage but the first halves the image. He, Zhang, Ren and Sun, "Deep residual learning for image recognition". */
typedef struct {
    const char *name;
    int stem_kernel, stem_stride; /* of the first convolution; its padding is half the kernel */
    bool stem_pool;               /* then a 3x3 maximum, stride 2 */
    int stages;
    int blocks[TRAIN_STAGES], widths[TRAIN_STAGES];
} train_description;

/* "resnet20", "resnet18", "resnet34"; NULL if there is none of that name. train_model_names: all, for messages. */
const train_description *train_describe(const char *name);
extern const char train_model_names[];

/* What a tensor of the model is. */
enum train_kind {
    TRAIN_PARAMETER, /* f32, trained; lies in the buffer of parameters, its gradient at the same offset in another */
    TRAIN_STATISTIC, /* f32, a running mean or variance; lies in the buffer of statistics */
    TRAIN_COUNTER    /* i64, num_batches_tracked: the same number for all */
};

/* A named slice of a flat buffer. Names and shapes are torchvision's: "layer2.0.conv1.weight", (O, I, KH, KW). */
typedef struct {
    char name[48];
    enum train_kind kind;
    int dimensions;
    size_t shape[4];
    size_t offset, count; /* in elements of its buffer */
} train_tensor;

/* Operations, in the order of the forward pass. A value is what one of them leaves; value 0 is the image. */
enum train_operation_kind {
    TRAIN_CONV_NORM, /* convolution, batch norm, then perhaps + residual, then perhaps ReLU */
    TRAIN_MAX_POOL,  /* 3x3, stride 2, padding 1 */
    TRAIN_MEAN_POOL, /* over the whole image */
    TRAIN_LINEAR
};

typedef struct {
    enum train_operation_kind kind;
    int in, out;                     /* values */
    int residual;                    /* a value, of TRAIN_CONV_NORM; -1: none */
    bool relu;                       /* of TRAIN_CONV_NORM */
    int size, stride, padding;       /* of the convolution */
    int weight, bias;                /* tensors: of the convolution (no bias: -1), of the linear layer */
    int gamma, beta, mean, variance; /* tensors of the batch norm; else -1 */
} train_operation;

/* (N, C, H, W) without the N */
typedef struct {
    int channels, height, width;
} train_value;

typedef struct {
    train_description description;
    size_t parameters, statistics; /* elements of the flat buffers */
    size_t tensor_count, operation_count, value_count;
    train_tensor *tensors; /* in the order of torchvision's state_dict */
    train_operation *operations;
    train_value *values;
} train_model;

/* The tensors and operations that a description makes of 32 x 32 images. Free it with train_free. */
p2p_err train_build(const train_description *description, train_model **model, train_error *error);
void train_free(train_model *model);

/* PyTorch's initial distributions, as torchvision's ResNet has them, from the seed: convolutions normal with variance
 * 2 / (O KH KW) (He et al. 2015, fan out), linear layers uniform within 1 / sqrt(inputs), batch norm 1 and 0; running
 * mean 0 and variance 1. The same numbers everywhere. */
void train_initialise(const train_model *model, uint64_t seed, float *parameters, float *statistics);

#ifdef __cplusplus
}
#endif
#endif
