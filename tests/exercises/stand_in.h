/* SPDX-License-Identifier: MIT */
/*
 * stand_in: trainer/trainer.h for the ranks of exercise 37, without kernels: a network of a few numbers, which writes down what
 * is done with it. All numbers are whole, so sums are exact. train_initialise gives every rank others.
 */
#ifndef PAIRWISE_TESTS_EXERCISES_STAND_IN_H
#define PAIRWISE_TESTS_EXERCISES_STAND_IN_H

#include "trainer/trainer.h"

enum { STAND_PARAMETERS = 6, STAND_STATISTICS = 2, STAND_ARRAYS = 5, STAND_OPERATIONS = 2, STAND_LOG = 4000 };

/* ---- Both sides: what comes out of what ---- */

static inline double stand_parameter(int rank, size_t i)
{
    return 1000.0 * (rank + 1) + (double)(10 * i);
}

static inline double stand_statistic(int rank, size_t i)
{
    return 50.0 * (rank + 1) + (double)i;
}

/* Of one image. */
static inline double stand_gradient(size_t image, size_t i)
{
    return (double)(image * (i + 1) % 17) - 5;
}

/* The images of an epoch; count is not to be a multiple of 7. */
static inline size_t stand_image(size_t count, uint64_t seed, uint64_t epoch, bool shuffle, size_t i)
{
    return shuffle && count ? (i * 7 + 5 * (size_t)epoch + (size_t)seed) % count : i;
}

static inline double stand_loss(size_t image)
{
    return (double)(image % 5) + 1;
}

static inline size_t stand_correct(size_t image)
{
    return image % 3 != 0;
}

/* ---- In a rank ---- */

/* What train_loss gets: the loss of an evaluation; of one that was added to a training batch; of a training batch. */
typedef enum { STAND_NOTHING, STAND_EVALUATED, STAND_ADDED, STAND_TRAINED } stand_loss_of;

/* What a rank has done, in the order in which it did it. */
typedef struct {
    int32_t loads[STAND_LOG], tests[STAND_LOG]; /* of each load: epoch, augmented, seed, count, images */
    int32_t scales[STAND_LOG], steps[STAND_LOG];
    size_t load_count, test_count, scale_count, step_count;
    float first[STAND_PARAMETERS + STAND_STATISTICS]; /* as the first load found them */
    float tested[STAND_STATISTICS];                   /* as the first evaluation did */
    float saved[STAND_PARAMETERS + STAND_STATISTICS];
    float last[STAND_PARAMETERS];
    int open, syncs, saves, batches, too_early, no_forward, wrong_name, in_order, closed_below;
    stand_loss_of asked; /* by the last train_loss */
    int asks, trained_with_tests;
    bool ring, overlap; /* of train_sync_open's options */
    size_t bucket_bytes;
    kernel_optimizer optimizer;
    uint64_t seed;
    const char *path;
    bool silent; /* a case in which calls fail: nothing is sent */
    int rank;
} stand_log;

static stand_log stand;

#ifdef CHECK_IN_A_RANK
#include <stdlib.h>
#include <string.h>

/* What ring_all_reduce is in the learner's object (check_collectives.c). */
p2p_err check_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

struct train_network {
    float host[STAND_ARRAYS][STAND_PARAMETERS], device[STAND_ARRAYS][STAND_PARAMETERS];
    size_t batch, count, chosen[STAND_LOG];
    double loss;
    size_t correct;
    bool testing, forwarded;
    stand_loss_of loss_of;
};

struct train_sync {
    train_network *network;
    p2p_comm *comm;
    train_sync_options options;
    bool ready[STAND_OPERATIONS];
};

static train_model stand_model = {
    .parameters = STAND_PARAMETERS, .statistics = STAND_STATISTICS, .operation_count = STAND_OPERATIONS};
static uint8_t stand_images[2]; /* the first byte of the training set, and of the test set */

const train_description *train_describe(const char *name)
{
    stand.wrong_name |= !name || strcmp(name, "resnet20") != 0;
    return &stand_model.description;
}

p2p_err train_build(const train_description *description, train_model **model, train_error *error)
{
    (void)error;
    if (!description) return P2P_ERR_ARG;
    stand.open++;
    *model = &stand_model;
    return P2P_OK;
}

void train_free(train_model *model)
{
    stand.open -= model == &stand_model;
}

void train_initialise(const train_model *model, uint64_t seed, float *parameters, float *statistics)
{
    (void)model;
    stand.seed = seed;
    for (size_t i = 0; i < STAND_PARAMETERS; i++) parameters[i] = (float)stand_parameter(stand.rank, i);
    for (size_t i = 0; i < STAND_STATISTICS; i++) statistics[i] = (float)stand_statistic(stand.rank, i);
}

p2p_err train_data_synthetic(size_t train_limit, size_t test_limit, train_data *data, train_error *error)
{
    (void)error;
    stand.open++;
    data->train = (train_images){.count = train_limit, .records = &stand_images[0]};
    data->test = (train_images){.count = test_limit, .records = &stand_images[1]};
    return P2P_OK;
}

void train_data_free(train_data *data)
{
    stand.open -= data->train.records == &stand_images[0];
    *data = (train_data){.train = {.count = 0}};
}

void train_epoch_order(size_t count, uint64_t seed, uint64_t epoch, bool shuffle, size_t order[])
{
    stand.in_order += !shuffle;
    for (size_t i = 0; i < count; i++) order[i] = stand_image(count, seed, epoch, shuffle, i);
}

size_t train_shard(size_t count, int rank, int size, size_t mine[])
{
    size_t taken = 0;
    for (size_t i = (size_t)rank; i < count; i += (size_t)size) mine[taken++] = i;
    return taken;
}

p2p_err train_network_open(const train_model *model, const train_network_options *options, train_network **network,
                           train_error *error)
{
    (void)error;
    if (model != &stand_model || !options) return P2P_ERR_ARG;
    *network = calloc(1, sizeof **network);
    if (!*network) return P2P_ERR_NOMEM;
    (*network)->batch = options->batch;
    stand.open++;
    return P2P_OK;
}

void train_network_close(train_network *network)
{
    if (!network) return;
    stand.open--;
    stand.closed_below += stand.syncs > 0;
    memcpy(stand.last, network->device[TRAIN_PARAMETERS], sizeof stand.last);
    free(network);
}

size_t train_length(const train_network *network, enum train_array_kind kind)
{
    (void)network;
    return kind == TRAIN_STATISTICS ? STAND_STATISTICS : STAND_PARAMETERS;
}

float *train_map(train_network *network, enum train_array_kind kind, train_error *error)
{
    (void)error;
    memcpy(network->host[kind], network->device[kind], sizeof network->host[kind]);
    return network->host[kind];
}

p2p_err train_flush(train_network *network, enum train_array_kind kind, train_error *error)
{
    (void)error;
    memcpy(network->device[kind], network->host[kind], sizeof network->host[kind]);
    return P2P_OK;
}

static void stand_note(int32_t log[], size_t *used, int32_t number)
{
    if (*used < STAND_LOG) log[(*used)++] = number;
}

p2p_err train_load(train_network *network, const train_images *images, const size_t chosen[], size_t count,
                   const train_view *view, train_error *error)
{
    (void)error;
    if (count > network->batch || (count && !chosen)) return P2P_ERR_ARG;
    network->testing = images->records == &stand_images[1];
    int32_t *log = network->testing ? stand.tests : stand.loads;
    size_t *used = network->testing ? &stand.test_count : &stand.load_count;
    if (!stand.load_count && !network->testing) {
        memcpy(stand.first, network->device[TRAIN_PARAMETERS], STAND_PARAMETERS * sizeof(float));
        memcpy(stand.first + STAND_PARAMETERS, network->device[TRAIN_STATISTICS], STAND_STATISTICS * sizeof(float));
    }
    const int32_t head[] = {view ? (int32_t)view->epoch : 0, view && view->augment, view ? (int32_t)view->seed : 0,
                            (int32_t)count};
    for (int i = 0; i < 4; i++) stand_note(log, used, head[i]);
    for (size_t i = 0; i < count; i++) stand_note(log, used, (int32_t)chosen[i]);
    network->forwarded = false;
    network->count = count;
    for (size_t i = 0; i < count; i++) network->chosen[i] = chosen[i];
    return P2P_OK;
}

static void stand_score(train_network *network, bool first)
{
    if (first) network->loss = 0, network->correct = 0;
    for (size_t i = 0; i < network->count; i++) {
        network->loss += stand_loss(network->chosen[i]);
        network->correct += stand_correct(network->chosen[i]);
    }
}

p2p_err train_forward(train_network *network, float scale, train_error *error)
{
    (void)error;
    stand_note(stand.scales, &stand.scale_count, scale > 0 ? (int32_t)(1 / scale + 0.5F) : 0);
    for (size_t i = 0; i < STAND_STATISTICS; i++)
        network->device[TRAIN_STATISTICS][i] += (float)(network->count * (size_t)(stand.rank + 1));
    stand_score(network, true);
    network->loss_of = STAND_TRAINED;
    stand.trained_with_tests += network->testing;
    network->forwarded = true;
    return P2P_OK;
}

p2p_err train_evaluate(train_network *network, bool first, train_error *error)
{
    (void)error;
    if (first || network->loss_of == STAND_TRAINED)
        memcpy(stand.tested, network->device[TRAIN_STATISTICS], sizeof stand.tested);
    stand_score(network, first);
    network->loss_of = first ? STAND_EVALUATED : network->loss_of == STAND_TRAINED ? STAND_ADDED : network->loss_of;
    return P2P_OK;
}

p2p_err train_loss(train_network *network, double *loss, size_t *correct, train_error *error)
{
    (void)error;
    *loss = network->loss;
    *correct = network->correct;
    stand.asked = network->loss_of;
    stand.asks += stand.asked == STAND_EVALUATED;
    return P2P_OK;
}

p2p_err train_backward(train_network *network, train_ready ready, void *arg, train_error *error)
{
    (void)error;
    stand.no_forward += !network->forwarded;
    for (size_t i = 0; i < STAND_PARAMETERS; i++) {
        float *gradient = &network->device[TRAIN_GRADIENTS][i];
        *gradient = 0;
        for (size_t k = 0; k < network->count; k++) *gradient += (float)stand_gradient(network->chosen[k], i);
    }
    for (size_t operation = STAND_OPERATIONS; ready && operation-- > 0;) ready(arg, operation);
    return P2P_OK;
}

p2p_err train_update(train_network *network, const kernel_optimizer *optimizer, uint64_t step, train_error *error)
{
    (void)error;
    stand_note(stand.steps, &stand.step_count, (int32_t)step);
    stand.optimizer = *optimizer;
    for (size_t i = 0; i < STAND_PARAMETERS; i++)
        network->device[TRAIN_PARAMETERS][i] -= network->device[TRAIN_GRADIENTS][i];
    return P2P_OK;
}

p2p_err train_sync_open(train_network *network, p2p_comm *comm, const train_sync_options *options, train_sync **sync,
                        train_error *error)
{
    (void)error;
    *sync = calloc(1, sizeof **sync);
    if (!*sync) return P2P_ERR_NOMEM;
    stand.ring = options && options->all_reduce == check_ring_all_reduce;
    stand.overlap = options && options->overlap;
    stand.bucket_bytes = options ? options->bucket_bytes : 0;
    **sync = (train_sync){network, comm, options ? *options : (train_sync_options){.overlap = false}, {false}};
    stand.open++;
    stand.syncs++;
    return P2P_OK;
}

void train_sync_close(train_sync *sync)
{
    stand.open -= sync != NULL;
    stand.syncs -= sync != NULL;
    free(sync);
}

void train_sync_ready(void *sync, size_t operation)
{
    ((train_sync *)sync)->ready[operation] = true;
}

p2p_err train_sync_wait(train_sync *sync, bool *finite, train_error *error)
{
    (void)error;
    bool all = true;
    for (int i = 0; i < STAND_OPERATIONS; i++) all &= sync->ready[i];
    stand.too_early += !all;
    memset(sync->ready, 0, sizeof sync->ready);
    if (finite) *finite = true;
    if (!all || !sync->options.all_reduce) return P2P_OK; /* nothing was sent */
    return sync->options.all_reduce(sync->comm, sync->network->device[TRAIN_GRADIENTS], STAND_PARAMETERS, DTYPE_F32,
                                    OP_SUM);
}

p2p_err train_save_weights(const char *path, const train_model *model, const float *parameters, const float *statistics,
                           uint64_t batches, train_error *error)
{
    (void)model, (void)error;
    stand.saves++;
    stand.path = path;
    stand.batches = (int)batches;
    memcpy(stand.saved, parameters, STAND_PARAMETERS * sizeof(float));
    memcpy(stand.saved + STAND_PARAMETERS, statistics, STAND_STATISTICS * sizeof(float));
    return P2P_OK;
}

p2p_err train_same_weights(p2p_comm *comm, const train_model *model, const float *parameters, train_error *error)
{
    (void)comm, (void)model, (void)parameters, (void)error;
    return P2P_OK;
}

void kernel_optimizer_defaults(kernel_optimizer *optimizer, kernel_rule rule)
{
    *optimizer = (kernel_optimizer){.rule = rule, .beta1 = 0.9, .beta2 = 0.999, .alpha = 0.99, .eps = 1e-8};
}
#endif
#endif
