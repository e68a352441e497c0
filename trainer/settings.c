/* SPDX-License-Identifier: MIT */
/* Settings: the defaults, and all checks that are possible before a rank is started. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/compress.h"
#include "trainer/run.h"

void train_defaults(train_settings *settings)
{
    *settings = (train_settings){.ranks = p2p_launched() ? p2p_launched() : 2,
                                 .device = "auto",
                                 .model = "resnet20",
                                 .epochs = 0,
                                 .batch = 64,
                                 .optimizer = KERNEL_ADAMW,
                                 .lr = 1e-3f,
                                 .weight_decay = 1e-2f,
                                 .momentum = 0.9f,
                                 .accumulate = 1,
                                 .all_reduce = TRAIN_RING,
                                 .bucket_bytes = (size_t)25 << 20,
                                 .overlap = true,
                                 .shard = TRAIN_SHARD_AUTO,
                                 .shuffle = true,
                                 .augment = true};
}

/* ---- The optimiser ---- */

static const char *const rules[] = {
    [KERNEL_SGD] = "sgd", [KERNEL_ADAM] = "adam", [KERNEL_ADAMW] = "adamw", [KERNEL_RMSPROP] = "rmsprop"};

bool train__rule_named(const char *name, kernel_rule *rule)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i], name) != 0) continue;
        *rule = (kernel_rule)i;
        return true;
    }
    return false;
}

const char *train__rule_name(kernel_rule rule)
{
    return rules[rule];
}

kernel_optimizer train__optimizer_of(const train_settings *s)
{
    kernel_optimizer optimizer;
    bool nesterov = s->nesterov && s->optimizer == KERNEL_SGD;
    kernel_optimizer_defaults(&optimizer, nesterov ? KERNEL_NESTEROV : s->optimizer);
    optimizer.lr = s->lr;
    optimizer.weight_decay = s->weight_decay;
    optimizer.momentum = s->momentum;
    return optimizer;
}

/* ---- Checks ---- */

static p2p_err check_names(const train_settings *s, train_error *error)
{
    if (!train_describe(s->model))
        return train__fail(error, P2P_ERR_ARG, "--model: there is no \"%s\"; there are %s", s->model,
                           train_model_names);
    if ((unsigned)s->optimizer >= sizeof rules / sizeof *rules || (unsigned)s->all_reduce > TRAIN_NONE)
        return train__fail(error, P2P_ERR_ARG, "settings: there is no optimizer %d, or no all-reduce %d",
                           (int)s->optimizer, (int)s->all_reduce);
    return train__check_devices(s->device, s->ranks, error);
}

/* Outside these limits the weights do not change, or are not finite soon. */
static p2p_err check_number(const char *option, double value, double high, bool below, train_error *error)
{
    if (isfinite(value) && value >= 0 && (below ? value < high : value <= high)) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG, "%s is a number from 0 to %s%g, not %g", option, below ? "less than " : "",
                       high, value);
}

static p2p_err check_compress(const train_settings *s, train_error *error)
{
    const char *problem = train__compress_problem(&s->compress);
    char text[40];
    if (!problem && s->all_reduce == TRAIN_NONE && *train__compress_text(&s->compress, text))
        problem = "--wire and --compress are for gradients that are added up, and --all-reduce none does not";
    if (!problem && (s->repair || s->shrink) && *train__compress_text(&s->compress, text))
        problem = "--wire and --compress keep what was not sent yet in each rank alone, so that --repair could not "
                  "bring it back";
    return problem ? train__fail(error, P2P_ERR_ARG, "%s", problem) : P2P_OK;
}

static p2p_err check_recipe(const train_settings *s, train_error *error)
{
    p2p_err err = check_number("--clip", (double)s->clip, 1e6, false, error);
    if (!err) err = check_number("--label-smoothing", (double)s->label_smoothing, 1, false, error);
    const char *problem = err ? NULL : train__schedule_problem(&s->schedule);
    if (!problem && s->nesterov && (s->optimizer != KERNEL_SGD || s->momentum <= 0))
        problem = "--nesterov is for --optimizer sgd with a --momentum above 0";
    if (!problem && train__batches_of(s) > TRAIN_MOST_BATCHES) problem = "--accumulate is a number from 1 to 65536";
    return problem && !err ? train__fail(error, P2P_ERR_ARG, "%s", problem) : err;
}

const char *train__shard_problem(const train_settings *s)
{
    const char *problem = NULL;
    if ((unsigned)s->shard > TRAIN_SHARD_AUTO) problem = "--shard: there is no such part";
    if (s->all_reduce != TRAIN_RING || !s->overlap)
        problem = "--shard divides what --all-reduce ring with --overlap 1 sends; no other";
    if (s->shrink)
        problem = "--shard and --shrink: one of them; what only a rank that is gone had would be lost\n  try: --repair";
    if (s->wrapper) problem = "--shard and --wrapper: one of them; the wrapper keeps replicas";
    if (s->compress.method)
        problem = "--shard and --compress: one of them; what is compressed goes to every rank\n  try: --wire bf16";
    if (strstr(s->device, "gpu"))
        problem = "--shard: a GPU has memory of its own, which is not divided\n  try: --device cpu";
    return problem;
}

static p2p_err check_shard(const train_settings *s, train_error *error)
{
    bool asked = s->shard != TRAIN_SHARD_NONE && s->shard != TRAIN_SHARD_AUTO;
    const char *problem = asked ? train__shard_problem(s) : NULL;
    return problem ? train__fail(error, P2P_ERR_ARG, "%s", problem) : P2P_OK;
}

static p2p_err check_numbers(const train_settings *s, train_error *error)
{
    p2p_err err = check_number("--lr", (double)s->lr, 1000, false, error);
    if (!err) err = check_number("--weight-decay", (double)s->weight_decay, 1000, false, error);
    if (!err) err = check_number("--momentum", (double)s->momentum, 1, true, error);
    if (err) return err;
    if (s->ranks < 1 || s->ranks > P2P_MAX_RANKS)
        return train__fail(error, P2P_ERR_ARG, "--ranks is a number from 1 to %d, not %d", P2P_MAX_RANKS, s->ranks);
    if (s->batch < 1 || s->batch > 1 << 16)
        return train__fail(error, P2P_ERR_ARG, "--batch is a number from 1 to 65536, not %zu", s->batch);
    if (s->resume && s->init)
        return train__fail(error, P2P_ERR_ARG, "--init and --resume: a run begins from one or goes on from the other");
    if ((s->repair || s->shrink) && s->all_reduce == TRAIN_NONE)
        return train__fail(error, P2P_ERR_ARG,
                           "--repair and --all-reduce none: what only one rank has cannot be had from the others");
    return P2P_OK;
}

/* ---- Memory ---- */

/* Parameters, gradients and two states, or parts of them; the error of compression; two batches of images; what each
 * operation leaves for the backward pass. */
size_t train__least_memory(const train_job *job)
{
    const train_model *m = job->model;
    bool compresses = job->settings.compress.method || job->settings.compress.wire != DTYPE_F32;
    size_t an_image = 2 * TRAIN_PIXELS;
    if (strstr(job->settings.device, "gpu")) return 2 * sizeof(float) * m->parameters; /* the rest is not the host's */
    for (size_t v = 0; v < m->value_count; v++)
        an_image += 2 * (size_t)(m->values[v].channels * m->values[v].height * m->values[v].width);
    size_t divided = (size_t[]){0, 2, 3, 4, 0}[job->settings.shard] * m->parameters;
    size_t whole = (compresses ? 5 : 4) * m->parameters - divided;
    return (whole + divided / (size_t)job->settings.ranks + an_image * job->settings.batch) * sizeof(float);
}

/* ---- Everything before the fork ---- */

static p2p_err read_data(const train_settings *s, train_data *data, train_error *error)
{
    return s->data ? train_data_cifar(s->data, s->train_limit, s->test_limit, data, error)
                   : train_data_synthetic(s->train_limit, s->test_limit, data, error);
}

static p2p_err read_weights(const char *path, const train_model *model, train_start *start, train_error *error)
{
    if (access(path, R_OK) == 0) return train_start_from(path, model, start, error);
    return train__fail(error, P2P_ERR_SYS, "--init: %s: %s\n  try: a file that --save or --out has written", path,
                       strerror(errno));
}

p2p_err train_prepare(const train_settings *settings, train_job *job, train_error *error)
{
    train_job made = {.settings = *settings, .parallel = train_parallel_default, .start = {.epoch = 1}};
    p2p_err err = check_names(settings, error);
    if (!err) err = check_numbers(settings, error);
    if (!err) err = check_compress(settings, error);
    if (!err) err = check_recipe(settings, error);
    if (!err) err = check_shard(settings, error);
    if (!err) err = read_data(settings, &made.data, error);
    if (!err) err = train_build_for(train_describe(settings->model), made.data.classes, &made.model, error);
    if (!err && settings->init) err = read_weights(settings->init, made.model, &made.start, error);
    if (!err && settings->resume)
        err = train__resume(settings->resume, &(train_run_of){settings, made.model, made.data.train.count}, &made.start,
                            error);
    if (!err) err = train__check_length(&made, error);
    if (!err) err = train__check_results(settings, error);
    if (err)
        train_job_free(&made);
    else
        *job = made;
    return err;
}

void train_job_free(train_job *job)
{
    train_free(job->model);
    train_data_free(&job->data);
    train_start_free(&job->start);
    job->model = NULL;
}
