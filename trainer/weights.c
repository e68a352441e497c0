/* SPDX-License-Identifier: MIT */
#include "trainer/weights.h"

#include <inttypes.h>
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
    train__explain(error, "%s: %s is %s %s, not %s %s\n%s", path, name, a->dtype, there, dtype, wanted, advice);
    return NULL;
}

/* Every tensor of the model is there, and nothing else. */
static p2p_err check_tensors(const char *path, const train_file *file, const train_model *model, train_error *error)
{
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

p2p_err train__take_weights(const char *path, const train_file *file, const train_model *model, float *parameters,
                            float *statistics, uint64_t *batches, train_error *error)
{
    p2p_err err = check_tensors(path, file, model, error);
    for (size_t i = 0; i < model->tensor_count && !err; i++) {
        const train_tensor *t = &model->tensors[i];
        const void *from = train__file_data(file, train__file_find(file, t->name));
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
