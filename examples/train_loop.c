/* SPDX-License-Identifier: MIT */
/*
 * train_loop: a training loop of one's own, with the public header alone. It takes the steps that build/train takes by
 * default, so the weights at the end have the same bits:
 *
 *      build/launch -n 2 build/examples/train_loop own 512
 *      build/train --ranks 2 --train-limit 512 --out run && cmp own/model.safetensors run/model.safetensors
 *
 * What it writes is a checkpoint, from which build/train goes on:
 *
 *      build/train --ranks 2 --train-limit 512 --epochs 2 --resume own --out own
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/trainer.h"

enum { BATCH = 64, SEED = 0 };

static p2p_comm *world;
static train_job job; /* model and data */
static train_network *network;
static train_sync *gradient_sync;
static kernel_optimizer adamw;
static train_error error;

static void need(p2p_err err)
{
    if (!err) return;
    fprintf(stderr, "train_loop: %s: %s\n", p2p_strerror(err), error.text);
    p2p_abort(world, 1);
}

static void open_all(size_t images)
{
    train_settings settings;
    train_defaults(&settings);
    settings.train_limit = images;
    need(train_prepare(&settings, &job, &error));

    long cores = sysconf(_SC_NPROCESSORS_ONLN) / p2p_size(world);
    train_network_options options = {.cores = cores > 1 ? (int)cores : 1, .batch = BATCH, .comm = world};
    need(train_network_open(job.model, &options, &network, &error));

    train_sync_options how = {.all_reduce = ring_all_reduce, .overlap = true, .bucket_bytes = (size_t)25 << 20};
    need(train_sync_open(network, world, &how, &gradient_sync, &error));

    kernel_optimizer_defaults(&adamw, KERNEL_ADAMW);
    adamw.lr = (double)settings.lr;
    adamw.weight_decay = (double)settings.weight_decay;
}

/* Change 1: every rank begins with rank 0's weights. */
static void begin(void)
{
    float *parameters = train_map(network, TRAIN_PARAMETERS, &error);
    float *statistics = train_map(network, TRAIN_STATISTICS, &error);
    train_initialise(job.model, SEED, parameters, statistics);
    need(coll_broadcast(world, parameters, train_length(network, TRAIN_PARAMETERS), DTYPE_F32, 0));
    need(train_flush(network, TRAIN_PARAMETERS, &error));
    need(train_flush(network, TRAIN_STATISTICS, &error));
}

/* The step takes `images` images on all ranks; chosen: this rank's. */
static void step(uint64_t number, size_t images, const size_t chosen[], size_t count)
{
    const train_view view = {.augment = true, .seed = SEED, .epoch = 1};
    bool finite = true;
    need(train_load(network, &job.data.train, chosen, count, &view, &error));
    need(train_forward(network, 1.0f / (float)images, &error));
    need(train_backward(network, train_sync_ready, gradient_sync, &error));
    need(train_sync_wait(gradient_sync, &finite, &error)); /* change 3: gradients of all ranks are added up */
    need(finite ? P2P_OK : P2P_ERR_ARG);
    need(train_update(network, &adamw, number, &error));
}

/* One epoch; counts its steps, and the batches that this rank has seen. */
static void train(train_start *now)
{
    size_t images = job.data.train.count, all = BATCH * (size_t)p2p_size(world);
    size_t *order = calloc(images, sizeof *order), *mine = calloc(images, sizeof *mine);
    if (!order || !mine) {
        need(P2P_ERR_NOMEM);
        exit(1);
    }
    train_epoch_order(images, SEED, 1, true, order);
    size_t share = train_shard(images, p2p_rank(world), p2p_size(world), mine); /* change 2 */
    for (size_t i = 0; i < share; i++) mine[i] = order[mine[i]];
    for (size_t first = 0, at = 0; first < images; first += all, at += BATCH) {
        size_t left = share > at ? share - at : 0, count = left < BATCH ? left : BATCH;
        step(++now->step, images - first < all ? images - first : all, mine + at, count);
        now->batches += count > 0;
    }
    now->examples = images;
    free(order);
    free(mine);
}

/* The next epoch would be the second. */
static void save(const char *folder, train_start *now)
{
    now->epoch = 2;
    now->parameters = train_map(network, TRAIN_PARAMETERS, &error);
    now->statistics = train_map(network, TRAIN_STATISTICS, &error);
    now->state[0] = train_map(network, TRAIN_FIRST_STATE, &error);
    now->state[1] = train_map(network, TRAIN_SECOND_STATE, &error);
    if (p2p_rank(world) == 0) need(train_save_checkpoint(folder, &job, now, &error));
}

int main(int argc, char *argv[])
{
    train_start now = {.step = 0};
    if (argc != 3) {
        fprintf(stderr, "usage: launch -n RANKS train_loop FOLDER IMAGES\n");
        return 2;
    }
    p2p_init(&world);
    open_all(strtoul(argv[2], NULL, 10));
    begin();
    train(&now);
    save(argv[1], &now);
    train_sync_close(gradient_sync);
    train_network_close(network);
    train_job_free(&job);
    p2p_finalize(world);
    return 0;
}
