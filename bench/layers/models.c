/* SPDX-License-Identifier: MIT */
/*
 * models: the layers of the three models, each shape once.
 */
#include "bench/layers/layers.h"

#include <string.h>

const layer layers_of_models[] = {
    {"resnet20", 1, 3, 32, 16, 3, 1, 1},    {"resnet20", 6, 16, 32, 16, 3, 1, 1},
    {"resnet20", 1, 16, 32, 32, 3, 2, 1},   {"resnet20", 1, 16, 32, 32, 1, 2, 0},
    {"resnet20", 5, 32, 16, 32, 3, 1, 1},   {"resnet20", 1, 32, 16, 64, 3, 2, 1},
    {"resnet20", 1, 32, 16, 64, 1, 2, 0},   {"resnet20", 5, 64, 8, 64, 3, 1, 1},
    {"resnet18", 1, 3, 32, 64, 3, 1, 1},    {"resnet18", 4, 64, 32, 64, 3, 1, 1},
    {"resnet18", 1, 64, 32, 128, 3, 2, 1},  {"resnet18", 1, 64, 32, 128, 1, 2, 0},
    {"resnet18", 3, 128, 16, 128, 3, 1, 1}, {"resnet18", 1, 128, 16, 256, 3, 2, 1},
    {"resnet18", 1, 128, 16, 256, 1, 2, 0}, {"resnet18", 3, 256, 8, 256, 3, 1, 1},
    {"resnet18", 1, 256, 8, 512, 3, 2, 1},  {"resnet18", 1, 256, 8, 512, 1, 2, 0},
    {"resnet18", 3, 512, 4, 512, 3, 1, 1},  {"resnet34", 1, 3, 32, 64, 7, 2, 3},
    {"resnet34", 6, 64, 8, 64, 3, 1, 1},    {"resnet34", 1, 64, 8, 128, 3, 2, 1},
    {"resnet34", 1, 64, 8, 128, 1, 2, 0},   {"resnet34", 7, 128, 4, 128, 3, 1, 1},
    {"resnet34", 1, 128, 4, 256, 3, 2, 1},  {"resnet34", 1, 128, 4, 256, 1, 2, 0},
    {"resnet34", 11, 256, 2, 256, 3, 1, 1}, {"resnet34", 1, 256, 2, 512, 3, 2, 1},
    {"resnet34", 1, 256, 2, 512, 1, 2, 0},  {"resnet34", 5, 512, 1, 512, 3, 1, 1},
};

const size_t layers_count = sizeof layers_of_models / sizeof *layers_of_models;

/* Every layer takes one pass forward and, as `backward` says, one or two back. */
static double work_of(const char *model, long batch, bool backward)
{
    double work = 0;

    for (size_t i = 0; i < layers_count; i++) {
        const layer *l = &layers_of_models[i];
        kernel_conv conv = {{(int)batch, l->c, l->side, l->side}, l->k, l->size, l->stride, l->padding};
        int passes = !backward ? 1 : l->c > 3 ? 3 : 2; /* the gradient of the image is not needed */
        if (strcmp(l->model, model) != 0) continue;
        work += 2 * kernel_oracle_conv_work(&conv) * (double)batch * l->times * passes;
    }
    return work;
}

double layers_forward_work(const char *model, long batch)
{
    return work_of(model, batch, false);
}

double layers_step_work(const char *model, long batch)
{
    return work_of(model, batch, true);
}
