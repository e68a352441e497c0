/* SPDX-License-Identifier: MIT */
/*
 * train_shard: the optimiser sharded by hand, as ZeRO's first stage does it (Rajbhandari, Rasley, Ruwase and He, "ZeRO:
 * memory optimizations toward training trillion parameter models", 2020). Each rank updates a part of each layer, and
 * needs the optimiser's state of that part alone:
 *
 *                        gradients            parameters
 *      backward          all, this rank's     all, the same on every rank
 *      reduce-scatter    own part: the sum
 *      update                                 own part: new
 *      all-gather                             all, the same on every rank
 *
 * A reduce-scatter and an all-gather move the bytes of one all-reduce. A layer is reduce-scattered as soon as the
 * backward pass has computed it, by the function that train_backward calls for each:
 *
 *      device      | backward 3 | backward 2       | backward 1       |
 *      host                     | reduce-scatter 3 | reduce-scatter 2 | reduce-scatter 1 | update
 *
 *      build/launch -n 2 build/examples/train_shard
 */
#include <stdio.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/trainer.h"

enum { BATCH = 32, STEPS = 10, SEED = 0 };

/* The parameters of one operation, [first, first + count) of the flat arrays. */
typedef struct {
    size_t first, count;
    size_t own, own_count;  /* this rank's part of them */
    float *gradients;       /* on the host, once */
    kernel_event *computed; /* is done */
} layer;

static layer layers[64];
static layer *queued; /* its gradients are, and have not been added up; or NULL */

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

/* While the device computes the next layer: all ranks' gradients of this one, as far as they are of this rank's part. */
static void add_up(layer *l)
{
    kernel_err failed = kernel_event_wait(l->computed);
    kernel_event_free(l->computed);
    need(failed ? P2P_ERR_SYS : P2P_OK);
    need(ring_reduce_scatter(world, l->gradients, l->count, DTYPE_F32, OP_SUM, &l->own, &l->own_count));
    l->own += l->first;
    need(train_flush_part(network, TRAIN_GRADIENTS, l->own, l->own_count, &error));
}

/* train_backward has queued this operation. Every rank comes here in the same order. */
static void ready(void *arg, size_t operation)
{
    layer *l = &layers[operation];
    (void)arg;
    train_gradients_of(job.model, operation, &l->first, &l->count);
    if (!l->count) return;
    l->gradients = train_map_part(network, TRAIN_GRADIENTS, l->first, l->count, &l->computed, &error);
    need(l->gradients ? P2P_OK : P2P_ERR_SYS);
    if (queued) add_up(queued);
    queued = l;
}

/* Gradients of this rank's images; every step takes the next ones of the file. */
static void compute(size_t step)
{
    size_t chosen[BATCH], ranks = (size_t)p2p_size(world), rank = (size_t)p2p_rank(world);
    const train_view view = {.augment = false};
    for (size_t i = 0; i < BATCH; i++) chosen[i] = ((step * BATCH + i) * ranks + rank) % job.data.train.count;
    need(train_load(network, &job.data.train, chosen, BATCH, &view, &error));
    need(train_forward(network, 1.0f / (float)(BATCH * ranks), &error));
    need(train_backward(network, ready, NULL, &error));
    add_up(queued);
    queued = NULL;
}

static void update(uint64_t step)
{
    kernel_optimizer adamw;
    kernel_optimizer_defaults(&adamw, KERNEL_ADAMW);
    adamw.lr = 1e-3;
    adamw.weight_decay = 1e-2;
    for (size_t i = 0; i < job.model->operation_count; i++)
        need(train_update_part(network, &adamw, step, layers[i].own, layers[i].own_count, &error));
    float *parameters = train_map(network, TRAIN_PARAMETERS, &error);
    for (size_t i = 0; i < job.model->operation_count; i++)
        need(ring_all_gather(world, parameters + layers[i].first, layers[i].count, DTYPE_F32));
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
