/* SPDX-License-Identifier: MIT */
#include "tests/trainer/training.h"
#include "p2p/shared/crc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const train_description small = {"small", 3, 1, false, 2, {1, 1}, {8, 16}};

static p2p_err after_sync(void *arg, const train_hook_context *now)
{
    training_book *book = arg;
    const float *gradients = train_map(now->network, TRAIN_GRADIENTS, NULL);
    size_t count = train_length(now->network, TRAIN_GRADIENTS);
    int rank = p2p_rank(now->comm), step = book->steps[rank];
    if (!gradients || step == TRAINING_STEPS || count > TRAINING_ROOM) return P2P_ERR_ARG;
    memcpy(book->page[rank][step].gradients, gradients, count * sizeof *gradients);
    return P2P_OK;
}

static p2p_err after_step(void *arg, const train_hook_context *now)
{
    training_book *book = arg;
    int rank = p2p_rank(now->comm);
    const float *weights = train_map(now->network, TRAIN_PARAMETERS, NULL);
    const float *statistics = train_map(now->network, TRAIN_STATISTICS, NULL);
    if (!weights || !statistics) return P2P_ERR_ARG;
    book->statistics[rank] = p2p__crc32c(0, statistics,
                                         train_length(now->network, TRAIN_STATISTICS) * sizeof *statistics);
    book->page[rank][book->steps[rank]++].weights =
        p2p__crc32c(0, weights, train_length(now->network, TRAIN_PARAMETERS) * sizeof *weights);
    return P2P_OK;
}

void training_make(train_job *job, training_book *book, size_t images, size_t tests)
{
    train_error error;
    *job = (train_job){.parallel = train_parallel_default, .start = {.epoch = 1}};
    train_defaults(&job->settings);
    job->settings.quiet = true;
    job->settings.device = "cpu";
    job->hooks = (train_hooks){.after_sync = after_sync, .after_step = after_step, .arg = book};
    if (train_build(&small, &job->model, &error) || train_data_synthetic(images, tests, &job->data, &error)) abort();
}

int training_rank(p2p_comm *world, void *arg)
{
    train_job *job = arg;
    training_book *book = job->hooks.arg;
    train_error error = {""};
    train_result result;
    p2p_err err = train_run(world, job, &result, &error);
    CHECK(err == P2P_OK, "train_run: %s: %s", p2p_strerror(err), error.text);
    book->score[p2p_rank(world)] = result.score;
    return 0;
}

/* As job_right, but that a warning (several ranks on one core) is no error. */
const char *training_run(train_job *job, int ranks)
{
    static char why[3000];
    training_book *book = job->hooks.arg;
    job_result result;
    memset(book, 0, sizeof *book);
    job->settings.ranks = ranks;
    job_run(ranks, NULL, training_rank, job, &result);
    bool fine = result.err == P2P_OK && !result.note[0] && result.process.status == 0 && !result.process.left_behind;
    snprintf(why, sizeof why, "%d rank(s): %s\n%s, process status %d, %d left behind\n%.1500s", ranks, result.note,
             p2p_strerror(result.err), result.process.status, result.process.left_behind, result.process.err);
    job_free(&result);
    return fine ? NULL : why;
}

double training_difference(const train_job *job, const float *one, const float *other)
{
    double worst = 0;
    for (size_t i = 0; i < job->model->tensor_count; i++) {
        const train_tensor *t = &job->model->tensors[i];
        double largest = 0, difference = 0;
        if (t->kind != TRAIN_PARAMETER) continue;
        for (size_t k = t->offset; k < t->offset + t->count; k++) {
            double a = (double)one[k], b = (double)other[k];
            largest = fmax(largest, fabs(a));
            difference = fmax(difference, fabs(a - b));
            if (!isfinite(a) || !isfinite(b)) return INFINITY;
        }
        if (largest > 0) worst = fmax(worst, difference / largest);
        if (largest <= 0 && difference > 0) return INFINITY;
    }
    return worst;
}
