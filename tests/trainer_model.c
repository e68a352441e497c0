/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * trainer_model: what a description becomes: tensors, their names, shapes and places, operations, first numbers. Needs
 * no device.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/trainer/golden.h"
#include "tests/util/suite.h"
#include "trainer/trainer.h"

static train_model *build(const char *name)
{
    train_model *model = NULL;
    const train_description *description = train_describe(name);
    cr_assert(description != NULL, "no %s", name);
    cr_assert(train_build(description, &model, NULL) == P2P_OK);
    return model;
}

static const train_tensor *tensor_of(const train_model *m, const char *name)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        if (strcmp(m->tensors[i].name, name) == 0) return &m->tensors[i];
    cr_assert(false, "no tensor %s", name);
    return NULL;
}

/* ---- Sizes ---- */

Test(model, has_as_many_parameters_as_it_should)
{
    static const struct {
        const char *name;
        size_t parameters, tensors;
    } known[] = {{"resnet20", 272474, 128}, {"resnet18", 11173962, 122}, {"resnet34", 21289802, 218}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        train_model *m = build(known[i].name);
        cr_assert(m->parameters == known[i].parameters, "%s has %zu", known[i].name, m->parameters);
        cr_assert(m->tensor_count == known[i].tensors, "%s has %zu tensors", known[i].name, m->tensor_count);
        train_free(m);
    }
    cr_assert(train_describe("resnet35") == NULL);
}

/* Every element of the flat buffers belongs to exactly one tensor, in order. */
Test(model, its_tensors_cover_the_buffers)
{
    train_model *m = build("resnet34");
    size_t parameters = 0, statistics = 0;
    for (size_t i = 0; i < m->tensor_count; i++) {
        const train_tensor *t = &m->tensors[i];
        size_t *end = t->kind == TRAIN_PARAMETER ? &parameters : &statistics, count = 1;
        for (int d = 0; d < t->dimensions; d++) count *= t->shape[d];
        cr_assert(t->count == count, "%s has %zu elements", t->name, t->count);
        if (t->kind == TRAIN_COUNTER) continue;
        cr_assert(t->offset == *end, "%s begins at %zu, not %zu", t->name, t->offset, *end);
        *end += t->count;
    }
    cr_assert(parameters == m->parameters && statistics == m->statistics);
    train_free(m);
}

/* ---- Names ---- */

/* A few that tell conventions apart; all of them against PyTorch's own file below. */
Test(model, names_its_tensors_as_torchvision_does)
{
    train_model *m = build("resnet34");
    const train_tensor *stem = tensor_of(m, "conv1.weight"), *down = tensor_of(m, "layer2.0.downsample.0.weight");
    cr_assert(stem->shape[0] == 64 && stem->shape[1] == 3 && stem->shape[2] == 7 && stem->shape[3] == 7);
    cr_assert(down->shape[0] == 128 && down->shape[1] == 64 && down->shape[2] == 1);
    cr_assert(down > tensor_of(m, "layer2.0.bn2.num_batches_tracked"), "the projection comes last in its block");
    cr_assert(tensor_of(m, "layer3.5.conv2.weight")->count == 256 * 256 * 9);
    cr_assert(tensor_of(m, "layer4.2.bn2.running_var")->kind == TRAIN_STATISTIC);
    cr_assert(tensor_of(m, "fc.weight")->shape[0] == 10 && tensor_of(m, "fc.weight")->shape[1] == 512);
    train_free(m);
}

Test(model, loads_what_pytorch_wrote)
{
    if (!golden_here()) cr_skip_test("no golden files beside the checkout");
    train_model *m = build("resnet20");
    train_start start;
    train_error error;
    p2p_err err = train_start_from(GOLDEN_INIT, m, &start, &error);
    cr_assert(err == P2P_OK, "%s", error.text);
    cr_assert(start.batches == 0);
    train_start_free(&start);
    train_free(m);
}

/* ---- Operations ---- */

Test(model, runs_its_operations_in_an_order_that_works)
{
    train_model *m = build("resnet18");
    bool made[200] = {true};
    for (size_t i = 0; i < m->operation_count; i++) {
        const train_operation *o = &m->operations[i];
        cr_assert(made[o->in], "operation %zu reads value %d before it is made", i, o->in);
        cr_assert(o->residual < 0 || made[o->residual], "operation %zu adds value %d too early", i, o->residual);
        cr_assert(!made[o->out], "value %d is made twice", o->out);
        made[o->out] = true;
    }
    for (size_t v = 0; v < m->value_count; v++) cr_assert(made[v], "value %zu is never made", v);
    train_free(m);
}

Test(model, shrinks_the_image_as_it_should)
{
    static const struct {
        const char *name;
        int channels, side;
    } last[] = {{"resnet20", 64, 8}, {"resnet18", 512, 4}, {"resnet34", 512, 1}};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        train_model *m = build(last[i].name);
        const train_operation *pool = &m->operations[m->operation_count - 2];
        const train_value *v = &m->values[pool->in];
        cr_assert(pool->kind == TRAIN_MEAN_POOL && v->channels == last[i].channels && v->height == last[i].side &&
                      v->width == last[i].side,
                  "%s ends in %d x %d x %d", last[i].name, v->channels, v->height, v->width);
        train_free(m);
    }
}

/* ---- First numbers ---- */

static void moments(const float *at, size_t count, double *mean, double *variance)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) sum += (double)at[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) squares += ((double)at[i] - *mean) * ((double)at[i] - *mean);
    *variance = squares / (double)count;
}

Test(initialise, convolutions_are_normal_with_fan_out)
{
    train_model *m = build("resnet18");
    float *parameters = malloc(m->parameters * sizeof *parameters), *statistics = malloc(m->statistics * sizeof(float));
    double mean, variance, inside = 0;
    train_initialise(m, 0, parameters, statistics);
    const train_tensor *t = tensor_of(m, "layer3.1.conv2.weight");
    moments(parameters + t->offset, t->count, &mean, &variance);
    double wanted = 2.0 / (256 * 9);
    cr_assert(fabs(mean) < 4 * sqrt(wanted / (double)t->count), "mean %g", mean);
    cr_assert(fabs(variance / wanted - 1) < 0.02, "variance %g, not %g", variance, wanted);
    for (size_t i = 0; i < t->count; i++) inside += fabs((double)parameters[t->offset + i]) < sqrt(wanted);
    cr_assert(fabs(inside / (double)t->count - 0.6827) < 0.005, "%g within one deviation", inside / (double)t->count);
    free(parameters);
    free(statistics);
    train_free(m);
}

Test(initialise, the_rest_is_as_pytorch_has_it)
{
    train_model *m = build("resnet20");
    float *parameters = malloc(m->parameters * sizeof *parameters), *statistics = malloc(m->statistics * sizeof(float));
    double mean, variance;
    train_initialise(m, 7, parameters, statistics);
    const train_tensor *fc = tensor_of(m, "fc.weight");
    moments(parameters + fc->offset, fc->count, &mean, &variance);
    cr_assert(fabs(variance / (1.0 / 64 / 3) - 1) < 0.15, "fc's variance is %g", variance);
    for (size_t i = 0; i < fc->count + 10; i++)
        cr_assert(fabsf(parameters[fc->offset + i]) <= 1.0f / 8, "fc's element %zu is out of bounds", i);
    cr_assert(parameters[tensor_of(m, "bn1.weight")->offset] == 1.0f);
    cr_assert(parameters[tensor_of(m, "bn1.bias")->offset] == 0.0f);
    cr_assert(statistics[tensor_of(m, "layer3.0.downsample.1.running_mean")->offset] == 0.0f);
    cr_assert(statistics[tensor_of(m, "layer3.0.downsample.1.running_var")->offset] == 1.0f);
    free(parameters);
    free(statistics);
    train_free(m);
}

/* After torch.manual_seed(0), the same model built in PyTorch 1.13. */
Test(initialise, a_seed_means_what_it_means_to_pytorch)
{
    static const struct {
        const char *name;
        size_t place;
        float value;
    } expected[] = {{"conv1.weight", 0, 0.0895624086f},
                    {"conv1.weight", 8, 0.0750968158f},
                    {"layer2.0.downsample.0.weight", 511, -0.157994315f},
                    {"layer3.2.conv2.weight", 36863, 0.0351835936f},
                    {"fc.weight", 0, 0.0164433122f},
                    {"fc.weight", 639, 0.0195609331f},
                    {"fc.bias", 9, 0.0633602291f}};
    train_model *m = build("resnet20");
    float *parameters = malloc(m->parameters * sizeof *parameters), *statistics = malloc(m->statistics * sizeof(float));
    train_initialise(m, 0, parameters, statistics);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        float value = parameters[tensor_of(m, expected[i].name)->offset + expected[i].place];
        cr_assert(fabsf(value - expected[i].value) < 1e-6f, "%s[%zu] is %.9g, PyTorch has %.9g", expected[i].name,
                  expected[i].place, (double)value, (double)expected[i].value);
    }
    free(parameters);
    free(statistics);
    train_free(m);
}

Test(initialise, depends_on_the_seed_alone)
{
    train_model *m = build("resnet20");
    size_t bytes = m->parameters * sizeof(float);
    float *one = malloc(bytes), *two = malloc(bytes), *statistics = malloc(m->statistics * sizeof(float));
    train_initialise(m, 3, one, statistics);
    train_initialise(m, 3, two, statistics);
    cr_assert(memcmp(one, two, bytes) == 0, "the same seed gave other numbers");
    train_initialise(m, 4, two, statistics);
    cr_assert(memcmp(one, two, bytes) != 0, "another seed gave the same numbers");
    free(one);
    free(two);
    free(statistics);
    train_free(m);
}
