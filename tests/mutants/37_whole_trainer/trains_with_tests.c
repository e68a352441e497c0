/* SPDX-License-Identifier: MIT */
// what: goes forward with test images as with others
// expect: calls train_forward with test images
#include <stdlib.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"
#include "trainer/trainer.h"

typedef struct {
    p2p_comm *comm;
    const my_run *run;
    train_model *model;
    train_data data;
    train_network *network;
    train_sync *sync;
    kernel_optimizer adamw;
    uint64_t step, batches;
    size_t *order, *mine; /* an epoch's images, and this rank's */
} trainer;

static p2p_err open_all(trainer *t)
{
    const my_run *run = t->run;
    train_network_options options = {.batch = run->batch, .cores = run->cores, .comm = t->comm};
    train_sync_options sync = {.all_reduce = ring_all_reduce, .overlap = true, .bucket_bytes = (size_t)25 << 20};
    size_t most = run->images > run->tests ? run->images : run->tests;

    kernel_optimizer_defaults(&t->adamw, KERNEL_ADAMW);
    t->adamw.lr = 1e-3f;
    t->adamw.weight_decay = 1e-2f;
    t->order = calloc(most + 1, sizeof *t->order);
    t->mine = calloc(most + 1, sizeof *t->mine);
    p2p_err err = t->order && t->mine ? P2P_OK : P2P_ERR_NOMEM;
    if (!err) err = train_build(train_describe(run->model), &t->model, NULL);
    if (!err) err = train_data_synthetic(run->images, run->tests, &t->data, NULL);
    if (!err) err = train_network_open(t->model, &options, &t->network, NULL);
    if (!err) err = train_sync_open(t->network, t->comm, &sync, &t->sync, NULL);
    return err;
}

static void close_all(trainer *t)
{
    if (t->sync) train_sync_close(t->sync);
    if (t->network) train_network_close(t->network);
    train_data_free(&t->data);
    if (t->model) train_free(t->model);
    free(t->order);
    free(t->mine);
}

/* Every rank gets what rank 0 has in this array. */
static p2p_err share(trainer *t, enum train_array_kind kind)
{
    float *numbers = train_map(t->network, kind, NULL);
    if (!numbers) return P2P_ERR_SYS;
    p2p_err err = coll_broadcast(t->comm, numbers, train_length(t->network, kind), DTYPE_F32, 0);
    return err ? err : train_flush(t->network, kind, NULL);
}

static p2p_err begin(trainer *t)
{
    float *parameters = train_map(t->network, TRAIN_PARAMETERS, NULL);
    float *statistics = train_map(t->network, TRAIN_STATISTICS, NULL);
    if (!parameters || !statistics) return P2P_ERR_SYS;
    train_initialise(t->model, t->run->seed, parameters, statistics);
    p2p_err err = train_flush(t->network, TRAIN_PARAMETERS, NULL);
    if (!err) err = train_flush(t->network, TRAIN_STATISTICS, NULL);
    if (!err) err = share(t, TRAIN_PARAMETERS);
    return err ? err : share(t, TRAIN_STATISTICS);
}

/* The step takes `images` images on all ranks; chosen: this rank's. */
static p2p_err step(trainer *t, const train_view *view, size_t images, const size_t chosen[], size_t count)
{
    bool finite = true;
    p2p_err err = train_load(t->network, &t->data.train, chosen, count, view, NULL);
    if (!err) err = train_forward(t->network, 1.0f / (float)images, NULL);
    if (!err) err = train_backward(t->network, train_sync_ready, t->sync, NULL);
    if (!err) err = train_sync_wait(t->sync, &finite, NULL);
    if (!err && !finite) err = P2P_ERR_ARG;
    if (!err) err = train_update(t->network, &t->adamw, ++t->step, NULL);
    t->batches += count > 0;
    return err;
}

static p2p_err train_epoch(trainer *t, uint64_t epoch)
{
    const train_view view = {.augment = true, .seed = t->run->seed, .epoch = epoch};
    size_t images = t->run->images, batch = t->run->batch, all = batch * (size_t)p2p_size(t->comm);
    p2p_err err = P2P_OK;

    train_epoch_order(images, t->run->seed, epoch, true, t->order);
    size_t count = train_shard(images, p2p_rank(t->comm), p2p_size(t->comm), t->mine);
    for (size_t i = 0; i < count; i++) t->mine[i] = t->order[t->mine[i]];
    for (size_t first = 0, at = 0; first < images && !err; first += all, at += batch) {
        size_t left = count > at ? count - at : 0;
        err = step(t, &view, images - first < all ? images - first : all, t->mine + at, left < batch ? left : batch);
    }
    return err;
}

static p2p_err evaluate(trainer *t, my_score *score)
{
    const train_view plain = {.augment = false};
    size_t count = train_shard(t->run->tests, p2p_rank(t->comm), p2p_size(t->comm), t->mine), batch = t->run->batch;
    double loss = 0;
    size_t correct = 0;
    p2p_err err = P2P_OK;

    for (size_t at = 0; at < count && !err; at += batch) {
        size_t left = count - at;
        err = train_load(t->network, &t->data.test, t->mine + at, left < batch ? left : batch, &plain, NULL);
        if (!err) err = train_forward(t->network, 1, NULL);
    }
    if (!err && count) err = train_loss(t->network, &loss, &correct, NULL);
    double sums[] = {loss, (double)correct, (double)count};
    if (!err) err = coll_all_reduce(t->comm, sums, 3, DTYPE_F64, OP_SUM);
    if (!err) *score = (my_score){sums[0], (int64_t)sums[1], (int64_t)sums[2]};
    return err;
}

static p2p_err save(trainer *t)
{
    if (p2p_rank(t->comm)) return P2P_OK;
    const float *parameters = train_map(t->network, TRAIN_PARAMETERS, NULL);
    const float *statistics = train_map(t->network, TRAIN_STATISTICS, NULL);
    if (!parameters || !statistics) return P2P_ERR_SYS;
    return train_save_weights(t->run->save, t->model, parameters, statistics, t->batches, NULL);
}

p2p_err my_whole_trainer(p2p_comm *comm, const my_run *run, my_score *score)
{
    trainer t = {.comm = comm, .run = run};
    p2p_err err = open_all(&t);

    if (!err) err = begin(&t);
    for (uint64_t epoch = 1; epoch <= run->epochs && !err; epoch++) err = train_epoch(&t, epoch);
    if (!err) err = share(&t, TRAIN_STATISTICS);
    if (!err) err = evaluate(&t, score);
    if (!err) err = save(&t);
    close_all(&t);
    return err;
}
