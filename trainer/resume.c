/* SPDX-License-Identifier: MIT */
/*
 * Resuming from a checkpoint. The state of a run is: weights, running statistics, the optimiser's state, and how far it
 * was. Random numbers have no state (random.h), and a position counts images of the epoch's order, on all ranks
 * together. So a resumed run has the same bits, and with another number of ranks it goes on from the same image.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/run.h"
#include "trainer/weights.h"

typedef struct {
    const char *path;
    train_file file;
    train_error *error;
} source;

static p2p_err number_of(const source *from, const char *key, uint64_t *number)
{
    const char *text = train__file_note(&from->file, key);
    char *end = NULL;
    errno = 0;
    if (text && *text >= '0' && *text <= '9') *number = strtoull(text, &end, 10);
    if (end && !*end && !errno) return P2P_OK;
    return train__fail(from->error, P2P_ERR_ARG,
                       "%s: no checkpoint of a run: its metadata has no %s\n"
                       "  try: --init for a file with weights only",
                       from->path, key);
}

/* The settings must be those that the run was started with; else it would not be the same run. */
static p2p_err same_words(const source *from, const char *key, const char *option, const char *now)
{
    const char *then = train__file_note(&from->file, key);
    if (then && strcmp(then, now) == 0) return P2P_OK;
    return train__fail(from->error, P2P_ERR_ARG, "%s was made with %s %s, not %s\n  try: the same options", from->path,
                       option, then ? then : "(not recorded)", now);
}

/* A checkpoint of a constant rate says nothing of it. */
static p2p_err same_schedule(const source *from, const train_settings *s)
{
    char now[TRAIN_SCHEDULE_TEXT];
    const char *then = train__file_note(&from->file, TRAIN_SCHEDULE_NOTE);
    if (!then) then = "constant";
    if (s->eval_only || strcmp(then, train__schedule_text(s, now)) == 0) return P2P_OK;
    return train__fail(
        from->error, P2P_ERR_ARG,
        "%s was made with --schedule %s, not %s\n"
        "  try: the same options; a run that is to end earlier names its whole length by --epochs, and its "
        "end by --steps",
        from->path, then, now);
}

/* Older checkpoints do not say. */
static p2p_err same_momentum(const source *from, const train_settings *s)
{
    const char *then = train__file_note(&from->file, TRAIN_NESTEROV_NOTE);
    if (s->optimizer != KERNEL_SGD || !then || strcmp(then, s->nesterov ? "1" : "0") == 0) return P2P_OK;
    return train__fail(from->error, P2P_ERR_ARG, "%s was made %s --nesterov\n  try: the same options", from->path,
                       s->nesterov ? "without" : "with");
}

static p2p_err same_run(const source *from, const train_run_of *run)
{
    const train_settings *s = run->settings;
    char seed[32], images[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);
    snprintf(images, sizeof images, "%zu", run->images);
    p2p_err err = same_words(from, "pairwise.model", "--model", run->model->description.name);
    if (!err) err = same_words(from, "pairwise.optimizer", "--optimizer", train__rule_name(s->optimizer));
    if (!err) err = same_momentum(from, s);
    if (!err) err = same_words(from, "pairwise.seed", "--seed", seed);
    if (!err) err = same_words(from, "pairwise.shuffle", "--shuffle", s->shuffle ? "1" : "0");
    if (!err) err = same_words(from, "pairwise.augment", "--augment", s->augment ? "1" : "0");
    if (!err) err = same_schedule(from, s);
    return err ? err : same_words(from, "pairwise.images", "training images:", images);
}

static p2p_err take_loss(const source *from, double *loss)
{
    const char *text = train__file_note(&from->file, "pairwise.loss_sum");
    char *end;
    *loss = text ? strtod(text, &end) : 0;
    if (!text || (end != text && !*end)) return P2P_OK;
    return train__fail(from->error, P2P_ERR_ARG, "%s: its loss_sum is \"%.40s\", which is no number", from->path, text);
}

static p2p_err take_place(const source *from, train_start *start)
{
    p2p_err err = number_of(from, "pairwise.step", &start->step);
    if (!err) err = number_of(from, "pairwise.epoch", &start->epoch);
    if (!err) err = number_of(from, "pairwise.position", &start->position);
    if (!err) err = number_of(from, "pairwise.examples", &start->examples);
    if (!err && !start->epoch)
        err = train__fail(from->error, P2P_ERR_ARG, "%s: epochs begin with 1, not 0", from->path);
    if (!err && train__file_note(&from->file, TRAIN_BEST_EPOCH_NOTE)) { /* of a run with --patience */
        err = number_of(from, TRAIN_BEST_EPOCH_NOTE, &start->best_epoch);
        if (!err) err = number_of(from, TRAIN_BEST_NOTE, &start->best_correct);
    }
    return err ? err : take_loss(from, &start->loss_sum);
}

/* ---- The optimiser's state ---- */

static p2p_err take_state(const source *from, const train_settings *s, const train_model *m, int k, float *state)
{
    char name[100];
    for (size_t i = 0; i < m->tensor_count; i++) {
        const train_tensor *t = &m->tensors[i];
        if (t->kind != TRAIN_PARAMETER) continue;
        snprintf(name, sizeof name, "%s.%s", t->name, train__state_name(s->optimizer, k));
        const train_array *a = train__array_like(from->path, &from->file, name, "F32", t, from->error);
        if (!a) return P2P_ERR_ARG;
        memcpy(state + t->offset, train__file_data(&from->file, a), t->count * sizeof(float));
    }
    return P2P_OK;
}

static p2p_err take_states(const source *from, const train_run_of *run, train_start *start)
{
    const train_model *m = run->model;
    kernel_optimizer optimizer = train__optimizer_of(run->settings);
    int count = kernel_optimizer_states(&optimizer);
    uint64_t step;
    p2p_err err = number_of(from, "pairwise.step", &step);
    if (!err) err = number_of(from, "pairwise.metrics", &start->metrics);
    if (!err && step != start->step)
        err = train__fail(from->error, P2P_ERR_ARG, "%s is of step %llu, the weights are of step %llu", from->path,
                          (unsigned long long)step, (unsigned long long)start->step);
    for (int k = 0; k < count && !err; k++) {
        start->state[k] = calloc(m->parameters, sizeof(float));
        err = start->state[k] ? take_state(from, run->settings, m, k, start->state[k])
                              : train__fail(from->error, P2P_ERR_NOMEM, "%s: no memory", from->path);
    }
    return err;
}

/* ---- What compression had not sent yet ---- */

static p2p_err take_array(const source *from, const char *name, size_t count, float *to)
{
    const train_tensor like = {.dimensions = 1, .shape = {count}};
    const train_array *a = train__array_like(from->path, &from->file, name, "F32", &like, from->error);
    if (!a) return P2P_ERR_ARG;
    memcpy(to, train__file_data(&from->file, a), count * sizeof *to);
    return P2P_OK;
}

/* Checkpoints of before have no such numbers. */
static p2p_err take_error(const source *from, const train_model *m, train_start *start)
{
    uint64_t ranks = 0, factors = 0;
    char name[40];
    p2p_err err = P2P_OK;
    if (train__file_note(&from->file, "pairwise.error_ranks")) err = number_of(from, "pairwise.error_ranks", &ranks);
    if (!err && ranks) err = number_of(from, "pairwise.factors", &factors);
    if (err || !ranks) return err;
    if (ranks > P2P_MAX_RANKS || factors > m->parameters)
        return train__fail(from->error, P2P_ERR_ARG, "%s: what was not sent is of %llu ranks, with %llu factors",
                           from->path, (unsigned long long)ranks, (unsigned long long)factors);
    start->error = calloc(ranks * m->parameters, sizeof(float));
    start->factors = calloc(factors + 1, sizeof(float));
    start->error_ranks = ranks;
    start->factor_count = factors;
    if (!start->error || !start->factors) return train__fail(from->error, P2P_ERR_NOMEM, "%s: no memory", from->path);
    for (size_t q = 0; q < ranks && !err; q++) {
        snprintf(name, sizeof name, TRAIN_ERROR_NAME, q);
        err = take_array(from, name, m->parameters, start->error + q * m->parameters);
    }
    return err || !factors ? err : take_array(from, TRAIN_FACTORS_NAME, factors, start->factors);
}

static p2p_err resume_state(const char *folder, const train_run_of *run, const char *name, train_start *start,
                            train_error *error)
{
    char path[PATH_MAX];
    source from = {.path = path, .error = error};
    if (strchr(name, '/') || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return train__fail(error, P2P_ERR_ARG, "%s: \"%s\" is no name of an optimiser's state", folder, name);
    p2p_err err = train__file_read(path, &from.file, error);
    if (err) return err;
    err = take_states(&from, run, start);
    if (!err) err = take_error(&from, run->model, start);
    train__file_free(&from.file);
    return err;
}

static p2p_err resume_all(const char *folder, const train_run_of *run, const source *from, train_start *start)
{
    p2p_err err = take_place(from, start);
    if (!err) err = same_run(from, run);
    const char *state = err ? NULL : train__file_note(&from->file, TRAIN_STATE_NOTE);
    if (!err) err = resume_state(folder, run, state ? state : "", start, from->error);
    if (err || start->position <= run->images) return err;
    return train__fail(from->error, P2P_ERR_ARG, "%s: position %llu of %zu images", from->path,
                       (unsigned long long)start->position, run->images);
}

p2p_err train__resume(const char *folder, const train_run_of *run, train_start *start, train_error *error)
{
    char path[PATH_MAX];
    train_start read = {.epoch = 1};
    source from = {.path = path, .error = error};
    if (snprintf(path, sizeof path, "%s/" TRAIN_MODEL_FILE, folder) >= (int)sizeof path)
        return train__fail(error, P2P_ERR_ARG, "%.100s...: the path is too long", folder);
    if (access(path, R_OK) != 0)
        return train__fail(error, P2P_ERR_SYS,
                           "--resume: %s: %s\n  try: the folder that --out named in the run to go on with", path,
                           strerror(errno));
    p2p_err err = train_start_from(path, run->model, &read, error);
    if (!err) err = train__file_read(path, &from.file, error);
    if (!err) err = resume_all(folder, run, &from, &read);
    train__file_free(&from.file);
    if (err)
        train_start_free(&read);
    else
        *start = read;
    return err;
}
