/* SPDX-License-Identifier: MIT */
/*
 * train_shard: the optimiser sharded by hand, as ZeRO's first stage does it (Rajbhandari, Rasley, Ruwase and He, "ZeRO:
 * memory optimizations toward training trillion parameter models", 2020). Each rank updates a part of the parameters,
 * and needs the optimiser's state of that part alone:
 *
 *                        gradients            parameters
 *      backward          all, this rank's     all, the same on every rank
 *      reduce-scatter    own part: the sum
 *      update                                 own part: new
 *      all-gather                             all, the same on every rank
 *
 * A reduce-scatter and an all-gather move the bytes of one all-reduce.
 *
 *      build/launch -n 2 build/examples/train_shard
 */
#include <stdio.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/trainer.h"

enum { BATCH = 32, STEPS = 10, SEED = 0 };

static p2p_comm *world;
static train_job job; /* model and data */
static train_network *network;
static train_error error;

static void need(p2p_err err)
{
    if (!err) return;
    fprintf(stderr, "train_shard: %s: %s\n", p2p_strerror(err), error.text);
    p2p_abort(world, 1);
}

static void open_all(void)
{
    train_settings settings;
    train_defaults(&settings);
    need(train_prepare(&settings, &job, &error));
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / p2p_size(world);
    train_network_options options = {.cores = cores > 1 ? (int)cores : 1, .batch = BATCH, .comm = world};
    need(train_network_open(job.model, &options, &network, &error));
    train_initialise(job.model, SEED, train_map(network, TRAIN_PARAMETERS, &error),
                     train_map(network, TRAIN_STATISTICS, &error));
    need(train_flush(network, TRAIN_PARAMETERS, &error));
    need(train_flush(network, TRAIN_STATISTICS, &error));
}

/* Gradients of this rank's images; every step takes the next ones of the file. */
static void compute(size_t step)
{
    size_t chosen[BATCH], ranks = (size_t)p2p_size(world), rank = (size_t)p2p_rank(world);
    const train_view view = {.augment = false};
    for (size_t i = 0; i < BATCH; i++) chosen[i] = ((step * BATCH + i) * ranks + rank) % job.data.train.count;
    need(train_load(network, &job.data.train, chosen, BATCH, &view, &error));
    need(train_forward(network, 1.0f / (float)(BATCH * ranks), &error));
    need(train_backward(network, NULL, NULL, &error));
}

static void update(uint64_t step)
{
    size_t all = train_length(network, TRAIN_PARAMETERS), first, count;
    kernel_optimizer adamw;
    kernel_optimizer_defaults(&adamw, KERNEL_ADAMW);
    adamw.lr = 1e-3;
    adamw.weight_decay = 1e-2;
    float *gradients = train_map(network, TRAIN_GRADIENTS, &error);
    need(ring_reduce_scatter(world, gradients, all, DTYPE_F32, OP_SUM, &first, &count));
    need(train_flush_part(network, TRAIN_GRADIENTS, first, count, &error));
    need(train_update_part(network, &adamw, step, first, count, &error));
    float *parameters = train_map(network, TRAIN_PARAMETERS, &error);
    need(ring_all_gather(world, parameters, all, DTYPE_F32));
    need(train_flush(network, TRAIN_PARAMETERS, &error));
}

/* The mean loss over all ranks' images. */
static void report(size_t step)
{
    double loss;
    size_t correct;
    need(train_loss(network, &loss, &correct, &error));
    loss /= BATCH;
    need(coll_all_reduce(world, &loss, 1, DTYPE_F64, OP_MEAN));
    if (p2p_rank(world) == 0) printf("step %zu: loss %.4f\n", step, loss);
}

int main(void)
{
    p2p_init(&world);
    open_all();
    for (size_t step = 1; step <= STEPS; step++) {
        compute(step - 1);
        update(step);
        report(step);
    }
    need(train_same_weights(world, job.model, train_map(network, TRAIN_PARAMETERS, &error), &error));
    train_network_close(network);
    train_job_free(&job);
    p2p_finalize(world);
    return 0;
}
