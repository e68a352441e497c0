/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint is two files in one folder:
 *
 *      optimizer-790.safetensors     the optimiser's state after step 790, by parameter: "conv1.weight.exp_avg"
 *      model.safetensors             the weights, as PyTorch loads them, and in its metadata where the run was and which
 *                                    of the other files belongs to it
 *
 * The optimiser's is written first, under a name of its own; then model.safetensors changes at once from the old
 * checkpoint to the new (durable.h); then the old optimiser's file goes. So model.safetensors and the file it names
 * belong together even after a power cut. Rank 0 writes, after all ranks have agreed that their weights are the same.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/compress.h"
#include "trainer/run.h"
#include "trainer/weights.h"

/* ---- Where the run is ---- */

typedef struct {
    char values[TRAIN_NOTES][TRAIN_NOTE_ROOM];
    train_note notes[TRAIN_NOTES];
    size_t count;
} notebook;

static void write_down(notebook *book, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void write_down(notebook *book, const char *key, const char *format, ...)
{
    va_list args;
    char *value = book->values[book->count];
    va_start(args, format);
    vsnprintf(value, TRAIN_NOTE_ROOM, format, args);
    va_end(args);
    book->notes[book->count++] = (train_note){key, value};
}

static void describe(const train_run_of *run, const train_start *now, notebook *book)
{
    const train_settings *s = run->settings;
    char schedule[TRAIN_SCHEDULE_TEXT];
    *book = (notebook){.count = 0};
    write_down(book, "pairwise.model", "%s", run->model->description.name);
    write_down(book, "pairwise.optimizer", "%s", train__rule_name(s->optimizer));
    if (s->optimizer == KERNEL_SGD) write_down(book, TRAIN_NESTEROV_NOTE, "%d", s->nesterov);
    write_down(book, "pairwise.seed", "%" PRIu64, s->seed);
    write_down(book, "pairwise.shuffle", "%d", s->shuffle);
    write_down(book, "pairwise.augment", "%d", s->augment);
    if (strcmp(train__schedule_text(s, schedule), "constant") != 0)
        write_down(book, TRAIN_SCHEDULE_NOTE, "%s", schedule);
    write_down(book, "pairwise.images", "%zu", run->images);
    write_down(book, "pairwise.step", "%" PRIu64, now->step);
    write_down(book, "pairwise.epoch", "%" PRIu64, now->epoch);
    write_down(book, "pairwise.position", "%" PRIu64, now->position);
    write_down(book, "pairwise.examples", "%" PRIu64, now->examples);
    write_down(book, "pairwise.loss_sum", "%.17g", now->loss_sum);
    if (s->patience && now->best_epoch) {
        write_down(book, TRAIN_BEST_EPOCH_NOTE, "%" PRIu64, now->best_epoch);
        write_down(book, TRAIN_BEST_NOTE, "%" PRIu64, now->best_correct);
    }
    write_down(book, "pairwise.error_ranks", "%zu", now->error_ranks);
    write_down(book, "pairwise.factors", "%zu", now->factor_count);
}

/* ---- The optimiser's state ---- */

typedef char state_name[100];

static size_t state_pieces(const train_run_of *run, const train_start *now, train_piece *pieces, state_name *names)
{
    const train_model *m = run->model;
    size_t used = 0;
    for (int k = 0; k < TRAIN_STATES; k++)
        for (size_t i = 0; i < m->tensor_count; i++) {
            const train_tensor *t = &m->tensors[i];
            if (t->kind != TRAIN_PARAMETER || !now->state[k]) continue;
            const char *kind = train__state_name(run->settings->optimizer, k);
            snprintf(names[used], sizeof names[used], "%s.%s", t->name, kind);
            pieces[used] = (train_piece){
                names[used], "F32", t->dimensions, t->shape, now->state[k] + t->offset, t->count * sizeof(float)};
            used++;
        }
    return used;
}

/* The rest of what compression has not sent yet, by rank; see feedback.c. */
static size_t feedback_pieces(const train_run_of *run, const train_start *now, train_piece *pieces, state_name *names)
{
    size_t used = 0, parameters = run->model->parameters;
    for (; used < now->error_ranks; used++) {
        snprintf(names[used], sizeof names[used], TRAIN_ERROR_NAME, used);
        pieces[used] = (train_piece){
            names[used], "F32", 1, &run->model->parameters, now->error + used * parameters, parameters * sizeof(float)};
    }
    if (now->factor_count)
        pieces[used++] = (train_piece){TRAIN_FACTORS_NAME, "F32",        1,
                                       &now->factor_count, now->factors, now->factor_count * sizeof(float)};
    return used;
}

static p2p_err write_state(const char *path, const train_run_of *run, const train_start *now, const notebook *book,
                           train_error *error)
{
    size_t most = TRAIN_STATES * run->model->tensor_count + now->error_ranks + 1;
    train_piece *pieces = calloc(most, sizeof *pieces);
    state_name *names = calloc(most, sizeof *names);
    size_t used = pieces && names ? state_pieces(run, now, pieces, names) : 0;
    if (pieces && names) used += feedback_pieces(run, now, pieces + used, names + used);
    p2p_err err = pieces && names ? train__file_write(path, pieces, used, book->notes, book->count, error)
                                  : train__fail(error, P2P_ERR_NOMEM, "%s: no memory", path);
    free(pieces);
    free(names);
    return err;
}

enum { BEGINNING = 4096 }; /* bytes of a checkpoint, with all that describe() has written */

/* The step that the checkpoint in `folder` names its optimiser's file by; false: there is none. */
static bool state_there(const char *folder, unsigned long long *step)
{
    char path[PATH_MAX], text[BEGINNING + 1] = {0};
    int end = 0;
    snprintf(path, sizeof path, "%s/%s", folder, TRAIN_MODEL_FILE);
    FILE *model = fopen(path, "re");
    size_t got = model ? fread(text, 1, BEGINNING, model) : 0;
    if (model) fclose(model);
    const char *found = got > TRAIN_LENGTH_BYTES ? strstr(text + TRAIN_LENGTH_BYTES, TRAIN_STATE_NOTE "\":\"") : NULL;
    return found && sscanf(found, TRAIN_STATE_NOTE "\":\"" TRAIN_STATE_FILE "\"%n", step, &end) == 1 && end;
}

/* Only the file that model.safetensors names is of use; one of another name is not this run's, and stays. */
static void remove_old(const char *folder, unsigned long long step)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" TRAIN_STATE_FILE, folder, step) < (int)sizeof path) unlink(path);
}

p2p_err train__write_checkpoint(const char *folder, const train_run_of *run, const train_start *now, train_error *error)
{
    char path[PATH_MAX], state[TRAIN_NOTE_ROOM];
    unsigned long long old;
    bool replaces = state_there(folder, &old) && old != now->step;
    notebook book;
    describe(run, now, &book);
    snprintf(state, sizeof state, TRAIN_STATE_FILE, (unsigned long long)now->step);
    if (snprintf(path, sizeof path, "%s/%s", folder, state) >= (int)sizeof path)
        return train__fail(error, P2P_ERR_ARG, "%.100s...: the path is too long", folder);
    write_down(&book, "pairwise.metrics", "%" PRIu64, now->metrics); /* depends on the time that steps have taken: */
    p2p_err err = write_state(path, run, now, &book, error);
    book.count--; /* the weights of the same training are the same file */
    write_down(&book, TRAIN_STATE_NOTE, "%s", state);
    snprintf(path, sizeof path, "%s/%s", folder, TRAIN_MODEL_FILE);
    if (!err)
        err = train__save_weights(path, run->model, now->parameters, now->statistics, now->batches, book.notes,
                                  book.count, error);
    if (!err && replaces) remove_old(folder, old);
    return err;
}

/* ---- Of a loop of the user's own ---- */

static p2p_err check_start(const train_run_of *run, const train_start *now, train_error *error)
{
    kernel_optimizer optimizer = train__optimizer_of(run->settings);
    if (!now->parameters || !now->statistics)
        return train__fail(error, P2P_ERR_ARG, "a checkpoint needs parameters and statistics");
    for (int k = 0; k < TRAIN_STATES; k++)
        if (!now->state[k] != (k >= kernel_optimizer_states(&optimizer)))
            return train__fail(error, P2P_ERR_ARG, "a checkpoint needs %d states of %s, no more and no less",
                               kernel_optimizer_states(&optimizer), train__rule_name(run->settings->optimizer));
    if (now->epoch && now->position <= run->images) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG,
                       "epoch %" PRIu64 ", position %" PRIu64 ": epochs begin with 1 and have %zu images", now->epoch,
                       now->position, run->images);
}

p2p_err train_save_checkpoint(const char *folder, const train_job *job, const train_start *now, train_error *error)
{
    const train_run_of run = {&job->settings, job->model, job->data.train.count};
    p2p_err err = check_start(&run, now, error);
    if (!err) err = train__make_folder("train_save_checkpoint", folder, error);
    return err ? err : train__write_checkpoint(folder, &run, now, error);
}

/* ---- When it is made ---- */

/* The arrays are not copied: train_map gives the network's own. error: of all ranks, or NULL. */
static p2p_err save(train_runner *r, float *error)
{
    const train__compressor *c = train__sync_compressor(r->replica ? train__replica_sync(r->replica) : r->sync);
    train_network *net = r->network;
    train_run_of run = {r->settings, r->job->model, r->data.train.count};
    train_start now = {.parameters = train_map(net, TRAIN_PARAMETERS, r->error),
                       .statistics = train_map(net, TRAIN_STATISTICS, r->error),
                       .batches = net->batches,
                       .step = r->step,
                       .epoch = r->epoch,
                       .position = r->position,
                       .examples = r->examples,
                       .loss_sum = r->loss_sum,
                       .best_epoch = r->best_epoch,
                       .best_correct = r->best_correct,
                       .metrics = r->metrics ? (uint64_t)ftell(r->metrics) : 0,
                       .error = error,
                       .error_ranks = error ? (size_t)r->size : 0,
                       .factors = error ? c->factors : NULL,
                       .factor_count = error ? c->factor_count : 0};
    int states = kernel_optimizer_states(&r->optimizer);
    bool all = now.parameters && now.statistics;
    for (int k = 0; k < states; k++) {
        now.state[k] = train_map(net, k ? TRAIN_SECOND_STATE : TRAIN_FIRST_STATE, r->error);
        all = all && now.state[k];
    }
    if (!all) return P2P_ERR_SYS;
    return train__write_checkpoint(r->settings->out, &run, &now, r->error);
}

/* If it cannot be saved, that is reported and counts at the end, but the training goes on: what has been computed must
 * not be lost. */
static void save_or_report(train_runner *r, float *error)
{
    if (r->rank != 0 || !r->settings->out) return;
    r->save_failed = save(r, error);
    if (!r->save_failed) r->checkpoint = r->step;
    if (r->save_failed) train__clear_bar(r);
    if (r->save_failed) fprintf(stderr, "train: no checkpoint was written: %s\n", r->error->text);
}

void train__checkpoint_alone(train_runner *r)
{
    save_or_report(r, NULL);
}

p2p_err train__same_weights(train_runner *r)
{
    const float *parameters = train_map(r->network, TRAIN_PARAMETERS, r->error);
    return parameters ? train_same_weights(r->comm, r->job->model, parameters, r->error) : P2P_ERR_SYS;
}

/* With --shard rank 0 has the whole for as long as it writes. */
static p2p_err write_whole(train_runner *r)
{
    float *error = NULL;
    bool divided = r->shard && r->settings->out;
    p2p_err err = train__feedback_gather(r, &error);
    if (!err && divided) err = train__shard_collect(r->shard, kernel_optimizer_states(&r->optimizer), r->error);
    if (!err) save_or_report(r, error);
    if (!err && divided) train__shard_divide(r->shard);
    free(error);
    return err;
}

/* All ranks: the statistics of rank 0, and the same weights. Then rank 0 saves. */
p2p_err train__checkpoint(train_runner *r)
{
    bool same = !train__no_sync(r->job) && r->sharding != TRAIN_SHARD_PARAMETERS;
    p2p_err err = train__broadcast_statistics(r);
    if (!err && same) err = train__same_weights(r);
    return err ? err : write_whole(r);
}
