/* SPDX-License-Identifier: MIT */
#include "trainer/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing ---- */

p2p_err train__save_weights(const char *path, const train_model *model, const float *parameters,
                            const float *statistics, uint64_t batches, const train_note *notes, size_t note_count,
                            train_error *error)
{
    train_piece *pieces = calloc(model->tensor_count, sizeof *pieces);
    int64_t counter = (int64_t)batches;
    if (!pieces) return train__fail(error, P2P_ERR_NOMEM, "%s: no memory", path);
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        const float *from = t->kind == TRAIN_PARAMETER ? parameters + t->offset : statistics + t->offset;
        bool is_counter = t->kind == TRAIN_COUNTER;
        pieces[i] = (train_piece){t->name,
                                  is_counter ? "I64" : "F32",
                                  t->dimensions,
                                  t->shape,
                                  is_counter ? (const void *)&counter : from,
                                  is_counter ? sizeof counter : t->count * sizeof(float)};
    }
    p2p_err err = train__file_write(path, pieces, model->tensor_count, notes, note_count, error);
    free(pieces);
    return err;
}

p2p_err train_save_weights(const char *path, const train_model *model, const float *parameters, const float *statistics,
                           uint64_t batches, train_error *error)
{
    train_note note = {"pairwise.model", model->description.name};
    return train__save_weights(path, model, parameters, statistics, batches, &note, 1, error);
}

/* ---- Reading ---- */

static bool same_shape(const train_array *a, const train_tensor *t)
{
    if (a->dimensions != t->dimensions) return false;
    for (int d = 0; d < a->dimensions; d++)
        if (a->shape[d] != t->shape[d]) return false;
    return true;
}

static void shape_words(char *words, size_t room, const uint64_t shape[], int dimensions)
{
    size_t used = (size_t)snprintf(words, room, "(");
    for (int d = 0; d < dimensions && used < room; d++)
        used += (size_t)snprintf(words + used, room - used, "%s%" PRIu64, d ? ", " : "", shape[d]);
    if (used < room) snprintf(words + used, room - used, ")");
}

/* Numbers of another type have the same names; which library's call converts them is said, with what is wrong. */
static void wrong_type(const char *path, const train_array *a, const char *dtype, train_error *error)
{
    bool other_floats = strcmp(dtype, "F32") == 0 && strchr("FB", a->dtype[0]) && strcmp(a->dtype, "BOOL") != 0;
    train__explain(error, "%s: the numbers of %s are %s; %s is needed\n  try: %s", path, a->name, a->dtype, dtype,
                   other_floats ? "in PyTorch, save {k: v.float() for k, v in model.state_dict().items()}"
                                : "save it again as PyTorch has it, model.state_dict()");
}

const train_array *train__array_like(const char *path, const train_file *file, const char *name, const char *dtype,
                                     const train_tensor *tensor, train_error *error)
{
    static const char advice[] = "  try: the model it was made with (--model)";
    char there[100], wanted[100];
    uint64_t shape[4];
    const train_array *a = train__file_find(file, name);
    for (int d = 0; d < tensor->dimensions; d++) shape[d] = tensor->shape[d];
    shape_words(wanted, sizeof wanted, shape, tensor->dimensions);
    if (!a) {
        train__explain(error, "%s has no %s\n%s", path, name, advice);
        return NULL;
    }
    shape_words(there, sizeof there, a->shape, a->dimensions);
    if (strcmp(a->dtype, dtype) == 0 && same_shape(a, tensor)) return a;
    if (same_shape(a, tensor)) {
        wrong_type(path, a, dtype, error);
        return NULL;
    }
    train__explain(error, "%s: %s is %s %s, not %s %s\n%s", path, name, a->dtype, there, dtype, wanted, advice);
    return NULL;
}

/* A model that was saved inside another one (DistributedDataParallel, torch.compile) has a word in front of all its names. */
static p2p_err check_names(const char *path, const train_file *file, const train_model *model, train_error *error)
{
    const char *first = model->tensors[0].name;
    size_t length = strlen(first);
    for (size_t i = 0; i < file->array_count && !train__file_find(file, first); i++) {
        const char *name = file->arrays[i].name;
        size_t front = strlen(name) > length ? strlen(name) - length : 0;
        if (!front || name[front - 1] != '.' || strcmp(name + front, first) != 0) continue;
        return train__fail(error, P2P_ERR_ARG,
                           "%s: its names begin with \"%.*s\", as those of a model that a wrapper holds: %s, not %s\n"
                           "  try: in PyTorch, save {k.removeprefix(\"%.*s\"): v for k, v in "
                           "model.state_dict().items()}",
                           path, (int)front, name, name, first, (int)front, name);
    }
    return P2P_OK;
}

/* The last layer has a row for each class. */
static p2p_err check_classes(const char *path, const train_file *file, const train_model *model, train_error *error)
{
    const train_tensor *last = &model->tensors[model->tensor_count - 1]; /* its bias */
    const train_array *there = train__file_find(file, last->name);
    if (!there || there->dimensions != 1 || there->shape[0] == last->shape[0]) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG,
                       "%s has %" PRIu64 " classes, the data have %zu: %s is (%" PRIu64 "), not (%zu)\n"
                       "  try: the data that it was trained with (--data), or a model whose last layer was replaced",
                       path, there->shape[0], last->shape[0], last->name, there->shape[0], last->shape[0]);
}

/* Every tensor of the model is there, and nothing else. */
static p2p_err check_tensors(const char *path, const train_file *file, const train_model *model, train_error *error)
{
    p2p_err err = check_names(path, file, model, error);
    if (!err) err = check_classes(path, file, model, error);
    if (err) return err;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        const char *dtype = t->kind == TRAIN_COUNTER ? "I64" : "F32";
        if (!train__array_like(path, file, t->name, dtype, t, error)) return P2P_ERR_ARG;
    }
    if (file->array_count == model->tensor_count) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG,
                       "%s has %zu tensors, %s has %zu\n  try: the model it was made with (--model)", path,
                       file->array_count, model->description.name, model->tensor_count);
}

/* A run that has gone astray leaves numbers that nothing can go on from. */
static p2p_err check_finite(const char *path, const train_tensor *t, const char *from, train_error *error)
{
    for (size_t i = 0; i < t->count; i++) {
        float number; /* the file need not be aligned */
        memcpy(&number, from + i * sizeof number, sizeof number);
        if (!isfinite(number))
            return train__fail(error, P2P_ERR_ARG,
                               "%s: number %zu of %s is %s: nothing can go on from it\n"
                               "  try: a file from before the training went astray",
                               path, i, t->name, isnan(number) ? "not a number (NaN)" : "infinite");
    }
    return P2P_OK;
}

p2p_err train__take_weights(const char *path, const train_file *file, const train_model *model, float *parameters,
                            float *statistics, uint64_t *batches, train_error *error)
{
    p2p_err err = check_tensors(path, file, model, error);
    for (size_t i = 0; i < model->tensor_count && !err; i++) {
        const train_tensor *t = &model->tensors[i];
        const void *from = train__file_data(file, train__file_find(file, t->name));
        if (t->kind != TRAIN_COUNTER) err = check_finite(path, t, from, error);
        if (t->kind == TRAIN_PARAMETER) memcpy(parameters + t->offset, from, t->count * sizeof(float));
        if (t->kind == TRAIN_STATISTIC) memcpy(statistics + t->offset, from, t->count * sizeof(float));
        if (t->kind == TRAIN_COUNTER) memcpy(batches, from, sizeof *batches);
    }
    return err;
}

/* ---- What a run begins with ---- */

p2p_err train_start_from(const char *path, const train_model *model, train_start *start, train_error *error)
{
    train_file file;
    train_start read = {.epoch = 1};
    p2p_err err = train__file_read(path, &file, error);
    if (err) return err;
    read.parameters = malloc(model->parameters * sizeof(float));
    read.statistics = malloc((model->statistics + 1) * sizeof(float));
    if (!read.parameters || !read.statistics)
        err = train__fail(error, P2P_ERR_NOMEM, "%s: no memory", path);
    else
        err = train__take_weights(path, &file, model, read.parameters, read.statistics, &read.batches, error);
    train__file_free(&file);
    if (err)
        train_start_free(&read);
    else
        *start = read;
    return err;
}

void train_start_free(train_start *start)
{
    free(start->parameters);
    free(start->statistics);
    free(start->state[0]);
    free(start->state[1]);
    free(start->error);
    free(start->factors);
    *start = (train_start){0};
}

const char *train__state_name(kernel_rule rule, int state)
{
    if (rule == KERNEL_ADAM || rule == KERNEL_ADAMW) return state ? "exp_avg_sq" : "exp_avg";
    if (rule == KERNEL_RMSPROP) return state ? "momentum_buffer" : "square_avg";
    return "momentum_buffer";
}
