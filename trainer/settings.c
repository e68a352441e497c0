/* SPDX-License-Identifier: MIT */
/* Settings: the defaults, and all checks that are possible before a rank is started. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/run.h"

void train_defaults(train_settings *settings)
{
    *settings = (train_settings){.ranks = 2,
                                 .device = "auto",
                                 .model = "resnet20",
                                 .epochs = 0,
                                 .batch = 64,
                                 .optimizer = KERNEL_ADAMW,
                                 .lr = 1e-3f,
                                 .weight_decay = 1e-2f,
                                 .momentum = 0.9f,
                                 .all_reduce = TRAIN_RING,
                                 .bucket_bytes = (size_t)25 << 20,
                                 .overlap = true,
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
    kernel_optimizer_defaults(&optimizer, s->optimizer);
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
    return P2P_OK;
}

/* ---- Memory ---- */

/* Parameters, gradients and two states; two batches of images; what each operation leaves for the backward pass. */
size_t train__least_memory(const train_job *job)
{
    const train_model *m = job->model;
    size_t an_image = 2 * TRAIN_PIXELS;
    if (strstr(job->settings.device, "gpu")) return 2 * sizeof(float) * m->parameters; /* the rest is not the host's */
    for (size_t v = 0; v < m->value_count; v++)
        an_image += 2 * (size_t)(m->values[v].channels * m->values[v].height * m->values[v].width);
    return (4 * m->parameters + an_image * job->settings.batch) * sizeof(float);
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
    if (!err) err = read_data(settings, &made.data, error);
    if (!err) err = train_build(train_describe(settings->model), &made.model, error);
    if (!err && settings->init) err = read_weights(settings->init, made.model, &made.start, error);
    if (!err && settings->resume)
        err = train__resume(settings->resume, &(train_run_of){settings, made.model, made.data.train.count}, &made.start,
                            error);
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
