/* SPDX-License-Identifier: MIT */
/*
 * Do all ranks have the same? Ranks first compare one number each, and only if these differ, tensor by tensor.
 * Everything is compared by all-gather, so all ranks get the same answer and stop together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/shared/crc.h"
#include "trainer/internal.h"

/* ---- The same model ---- */

enum { WORDS = 120 };

/* "layer1.0.conv1.weight (16, 16, 3, 3)" */
static void describe_tensor(const train_model *model, size_t tensor, char words[WORDS])
{
    memset(words, 0, WORDS);
    if (tensor >= model->tensor_count) {
        snprintf(words, WORDS, "nothing (it has %zu tensors)", model->tensor_count);
        return;
    }
    const train_tensor *t = &model->tensors[tensor];
    int used = snprintf(words, WORDS, "%s (", t->name);
    for (int d = 0; d < t->dimensions; d++)
        used += snprintf(words + used, WORDS - (size_t)used, "%s%zu", d ? ", " : "", t->shape[d]);
    snprintf(words + used, WORDS - (size_t)used, ")");
}

static uint64_t hash_of(const train_model *model, size_t tensor)
{
    char words[WORDS];
    describe_tensor(model, tensor, words);
    return p2p__crc32c((uint32_t)tensor, words, WORDS);
}

/* `mine` is this rank's number. *zeros: rank 0's; *other: the first rank whose number differs from it, -1 if none
 * does. */
static p2p_err first_other(p2p_comm *comm, int64_t mine, int64_t *zeros, int *other, train_error *error)
{
    int size = p2p_size(comm);
    int64_t *all = calloc((size_t)size, sizeof *all);
    if (!all) return train__fail(error, P2P_ERR_NOMEM, "no memory for %d numbers", size);
    p2p_err err = train__comm(comm, error, coll_all_gather(comm, &mine, all, 1, DTYPE_I64));
    *other = -1;
    for (int r = 1; r < size && !err && *other < 0; r++)
        if (all[r] != all[0]) *other = r;
    *zeros = all[0];
    free(all);
    return err;
}

static p2p_err name_difference(p2p_comm *comm, const train_model *model, size_t tensor, int other, train_error *error)
{
    char mine[WORDS], *all = calloc((size_t)p2p_size(comm), WORDS);
    describe_tensor(model, tensor, mine);
    if (!all) return train__fail(error, P2P_ERR_NOMEM, "no memory");
    p2p_err err = train__comm(comm, error, coll_all_gather(comm, mine, all, WORDS, DTYPE_U8));
    if (!err)
        err = train__fail(error, P2P_ERR_MISMATCH,
                          "the ranks have different models: tensor %zu is %s on rank 0, %s on rank %d\n"
                          "  try: the same description on every rank, before anything is broadcast",
                          tensor, all, all + (size_t)other * WORDS, other);
    free(all);
    return err;
}

p2p_err train_same_model(p2p_comm *comm, const train_model *model, train_error *error)
{
    uint64_t all_of_it = model->tensor_count;
    int64_t zeros;
    int other;
    for (size_t i = 0; i < model->tensor_count; i++) all_of_it = all_of_it * 31 + hash_of(model, i);
    p2p_err err = first_other(comm, (int64_t)all_of_it, &zeros, &other, error);
    for (size_t i = 0; !err && other >= 0; i++) {
        int who;
        err = first_other(comm, (int64_t)hash_of(model, i), &zeros, &who, error);
        if (!err && who >= 0) return name_difference(comm, model, i, who, error);
    }
    return err;
}

/* ---- The same weights ---- */

static int64_t sum_of(const train_model *model, const float *parameters, size_t tensor)
{
    const train_tensor *t = &model->tensors[tensor];
    if (t->kind != TRAIN_PARAMETER) return 0;
    return p2p__crc32c(0, parameters + t->offset, t->count * sizeof(float));
}

p2p_err train_same_weights(p2p_comm *comm, const train_model *model, const float *parameters, train_error *error)
{
    int64_t zeros, all_of_it = p2p__crc32c(0, parameters, model->parameters * sizeof(float));
    int other;
    p2p_err err = first_other(comm, all_of_it, &zeros, &other, error);
    for (size_t i = 0; i < model->tensor_count && !err && other >= 0; i++) {
        int who;
        int64_t mine = sum_of(model, parameters, i);
        err = first_other(comm, mine, &zeros, &who, error);
        if (!err && who >= 0)
            return train__fail(error, P2P_ERR_MISMATCH,
                               "the ranks have different weights: %s is not the same on rank 0 and rank %d (its "
                               "CRC32C is %08llx on rank 0)\n"
                               "  try: broadcast the weights before the first step, and update every rank with the "
                               "same all-reduced gradients",
                               model->tensors[i].name, who, (unsigned long long)zeros);
    }
    return err;
}

/* ---- Which rank's gradients are not finite ---- */

static bool finite(const float *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(at[i] - at[i] == 0)) return false; /* inf - inf and nan - nan are nan */
    return true;
}

/* The first of this rank's tensors, from the last layer back, with a gradient that is not finite; -1 if all are. */
static int64_t first_bad(const train_model *model, const float *gradients)
{
    for (size_t i = model->tensor_count; i-- > 0;) {
        const train_tensor *t = &model->tensors[i];
        if (t->kind == TRAIN_PARAMETER && !finite(gradients + t->offset, t->count)) return (int64_t)i;
    }
    return -1;
}

static p2p_err name_culprit(const train_model *model, int64_t tensor, int rank, train_error *error)
{
    return train__fail(error, P2P_ERR_ARG,
                       "the gradient of %s is not finite on rank %d\n  try: a smaller --lr; no weight was changed",
                       model->tensors[tensor].name, rank);
}

p2p_err train__find_nonfinite_alone(int rank, const train_model *model, const float *gradients, train_error *error)
{
    int64_t tensor = first_bad(model, gradients);
    return name_culprit(model, tensor < 0 ? 0 : tensor, rank, error);
}

p2p_err train_find_nonfinite(p2p_comm *comm, const train_model *model, const float *gradients, train_error *error)
{
    int size = p2p_size(comm), who = 0;
    int64_t mine = first_bad(model, gradients), *all = calloc((size_t)size, sizeof *all);
    if (!all) return train__fail(error, P2P_ERR_NOMEM, "no memory for %d numbers", size);
    p2p_err err = train__comm(comm, error, coll_all_gather(comm, &mine, all, 1, DTYPE_I64));
    while (who < size && all[who] < 0) who++;
    if (!err && who < size) err = name_culprit(model, all[who], who, error);
    if (!err)
        err = train__fail(
            error, P2P_ERR_ARG,
            "the all-reduced gradients are not finite, although those of every rank are\n"
            "  try: another all-reduce, --wire bf16 instead of f16, or a smaller --lr: their sum may overflow");
    free(all);
    return err;
}
