/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint is two files in one folder:
 *
 *      optimizer-790.safetensors     the optimiser's state after step 790, by parameter: "conv1.weight.exp_avg"
 *      model.safetensors             the weights, as PyTorch loads them, and in its metadata where the run was and which
 *                                    of the other files belongs to it
 *
 * The optimiser's is written first, under a name of its own; then model.safetensors changes at once from the old
 * checkpoint to the new (durable.h); then the old optimiser's file goes. So whenever the power fails, model.safetensors
 * and the file it names belong together. Rank 0 writes, after all ranks have agreed that their weights are the same.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void describe(const train_runner *r, notebook *book)
{
    const train_settings *s = r->settings;
    *book = (notebook){.count = 0};
    write_down(book, "pairwise.model", "%s", r->job->model->description.name);
    write_down(book, "pairwise.optimizer", "%s", s->optimizer);
    write_down(book, "pairwise.seed", "%" PRIu64, s->seed);
    write_down(book, "pairwise.shuffle", "%d", s->shuffle);
    write_down(book, "pairwise.augment", "%d", s->augment);
    write_down(book, "pairwise.images", "%zu", r->data.train.count);
    write_down(book, "pairwise.step", "%" PRIu64, r->step);
    write_down(book, "pairwise.epoch", "%" PRIu64, r->epoch);
    write_down(book, "pairwise.position", "%" PRIu64, r->position);
    write_down(book, "pairwise.examples", "%" PRIu64, r->examples);
    write_down(book, "pairwise.loss_sum", "%.17g", r->loss_sum);
    write_down(book, "pairwise.metrics", "%ld", r->metrics ? ftell(r->metrics) : 0);
}

/* ---- The optimiser's state ---- */

static size_t state_pieces(train_runner *r, train_piece *pieces, char (*names)[100], float *states[])
{
    const train_model *m = r->job->model;
    int count = kernel_optimizer_states(&r->optimizer);
    size_t used = 0;
    for (int k = 0; k < count; k++)
        for (size_t i = 0; i < m->tensor_count; i++) {
            const train_tensor *t = &m->tensors[i];
            if (t->kind != TRAIN_PARAMETER) continue;
            snprintf(names[used], sizeof names[used], "%s.%s", t->name, train__state_name(r->settings->optimizer, k));
            pieces[used] = (train_piece){
                names[used], "F32", t->dimensions, t->shape, states[k] + t->offset, t->count * sizeof(float)};
            used++;
        }
    return used;
}

static p2p_err save_state(train_runner *r, const char *path, const notebook *book)
{
    size_t most = TRAIN_STATES * r->job->model->tensor_count;
    train_piece *pieces = calloc(most, sizeof *pieces);
    char(*names)[100] = calloc(most, sizeof *names);
    float *states[TRAIN_STATES] = {train_look(r->network, TRAIN_FIRST_STATE, r->error),
                                   train_look(r->network, TRAIN_SECOND_STATE, r->error)};
    p2p_err err = P2P_ERR_NOMEM;
    if (pieces && names && states[0] && states[1])
        err = train__file_write(path, pieces, state_pieces(r, pieces, names, states), book->notes, book->count,
                                r->error);
    free(pieces);
    free(names);
    return err;
}

/* Only the file that model.safetensors names is of use. */
static void remove_others(const char *folder, const char *keep)
{
    char path[PATH_MAX];
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned long long step;
        int end = 0;
        if (sscanf(entry->d_name, TRAIN_STATE_FILE "%n", &step, &end) < 1 || !end || entry->d_name[end]) continue;
        if (strcmp(entry->d_name, keep) == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path) unlink(path);
    }
    closedir(dir);
}

static p2p_err save(train_runner *r, const float *parameters, const float *statistics)
{
    char path[PATH_MAX], state[TRAIN_NOTE_ROOM];
    notebook book;
    const char *out = r->settings->out;
    describe(r, &book);
    snprintf(state, sizeof state, TRAIN_STATE_FILE, (unsigned long long)r->step);
    if (snprintf(path, sizeof path, "%s/%s", out, state) >= (int)sizeof path)
        return train__fail(r->error, P2P_ERR_ARG, "%.100s...: the path is too long", out);
    p2p_err err = save_state(r, path, &book);
    write_down(&book, "pairwise.optimizer_file", "%s", state);
    snprintf(path, sizeof path, "%s/%s", out, TRAIN_MODEL_FILE);
    if (!err)
        err = train__save_weights(path, r->job->model, parameters, statistics, r->network->batches, book.notes,
                                  book.count, r->error);
    if (!err) remove_others(out, state);
    return err;
}

/* All ranks: the statistics of rank 0, and the same weights. Then rank 0 saves. That it cannot is told, and remembered
 * for the end, but the training goes on: what has been computed is worth more than a file. */
p2p_err train__checkpoint(train_runner *r)
{
    bool none = strcmp(r->settings->all_reduce, "none") == 0;
    p2p_err err = train__broadcast_statistics(r);
    const float *parameters = err ? NULL : train_look(r->network, TRAIN_PARAMETERS, r->error);
    if (!parameters) return err ? err : P2P_ERR_SYS;
    if (!none) err = train_same_weights(r->comm, r->job->model, parameters, r->error);
    if (err || r->rank != 0 || !r->settings->out) return err;
    const float *statistics = train_look(r->network, TRAIN_STATISTICS, r->error);
    p2p_err failed = statistics ? save(r, parameters, statistics) : P2P_ERR_SYS;
    if (failed) {
        fprintf(stderr, "train: no checkpoint was written: %s\n", r->error->text);
        r->save_failed = failed;
    }
    return P2P_OK;
}
