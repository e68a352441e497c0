/* SPDX-License-Identifier: MIT */
/*
 * trainer: a ResNet on CIFAR-10 images, data-parallel.
 *
 *      the model         train_describe, train_build, train_build_for, train_free, train_initialise
 *      the data          train_data_cifar, train_data_synthetic, train_data_free, train_epoch_order, train_shard,
 *                        train_preprocess
 *      the network       train_network_open, train_network_close, train_map, train_flush, train_load,
 *                        train_forward, train_evaluate, train_backward, train_update, train_loss,
 *                        train_logits, train_accumulate, train_clip; of a part: train_gradients_of,
 *                        train_map_part, train_flush_part, train_update_part
 *      gradient sync     train_sync_open, train_sync_close, train_sync_ready, train_sync_wait
 *      schedules         train_schedule_at
 *      replicas          train_same_model, train_same_weights, train_find_nonfinite
 *      in one call       train_data_parallel_open, train_data_parallel_backward, train_data_parallel_close
 *      a whole run       train_defaults, train_prepare, train_run, train_program, train_program_own; the four changes:
 *                        train_parallel; what is called in every step: train_hooks
 *      checkpoints       train_save_weights, train_save_checkpoint, train_start_from, train_start_free; train_prepare
 *                        reads what settings.resume names
 *
 * Functions that can fail return p2p_err and, if `error` is not NULL, say in it what was wrong; outputs are set only on
 * success.
 */
#ifndef PAIRWISE_TRAINER_H
#define PAIRWISE_TRAINER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype/dtype.h"
#include "kernels/kernels.h"
#include "p2p/p2p.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An error message; it names file, place and value. */
typedef struct {
    char text[1000];
} train_error;

/* ---- The model ---- */

enum { TRAIN_STAGES = 4, TRAIN_CLASSES = 10, TRAIN_SIDE = 32, TRAIN_CHANNELS = 3 };

/* One description builds them all: a stem, then stages of basic blocks (two 3x3 convolutions and a shortcut; a 1x1
 * projection where the shape changes), a mean over what is left of the image, and a linear layer. The first block of
 * every stage but the first halves the image. He, Zhang, Ren and Sun, "Deep residual learning for image
 * recognition". */
typedef struct {
    const char *name;
    int stem_kernel, stem_stride; /* of the first convolution; its padding is half the kernel */
    bool stem_pool;               /* then a 3x3 maximum, stride 2 */
    int stages;
    int blocks[TRAIN_STAGES], widths[TRAIN_STAGES];
} train_description;

/* "resnet20", "resnet18", "resnet34"; NULL if there is none of that name. train_model_names: all, for messages. */
const train_description *train_describe(const char *name);
extern const char train_model_names[];

/* What a tensor of the model is. */
enum train_kind {
    TRAIN_PARAMETER, /* f32, trained; lies in the buffer of parameters, its gradient at the same offset in another */
    TRAIN_STATISTIC, /* f32, a running mean or variance; lies in the buffer of statistics */
    TRAIN_COUNTER    /* i64, num_batches_tracked: the same number for all */
};

/* A named slice of a flat buffer. Names and shapes are torchvision's: "layer2.0.conv1.weight", (O, I, KH, KW). */
typedef struct {
    char name[48];
    enum train_kind kind;
    int dimensions;
    size_t shape[4];
    size_t offset, count; /* in elements of its buffer */
} train_tensor;

/* Operations, in the order of the forward pass. A value is what one of them leaves; value 0 is the image. */
enum train_operation_kind {
    TRAIN_CONV_NORM, /* convolution, batch norm, then perhaps + residual, then perhaps ReLU */
    TRAIN_MAX_POOL,  /* 3x3, stride 2, padding 1 */
    TRAIN_MEAN_POOL, /* over the whole image */
    TRAIN_LINEAR
};

typedef struct {
    enum train_operation_kind kind;
    int in, out;                     /* values */
    int residual;                    /* a value, of TRAIN_CONV_NORM; -1: none */
    bool relu;                       /* of TRAIN_CONV_NORM */
    int size, stride, padding;       /* of the convolution */
    int weight, bias;                /* tensors: of the convolution (no bias: -1), of the linear layer */
    int gamma, beta, mean, variance; /* tensors of the batch norm; else -1 */
} train_operation;

/* (N, C, H, W) without the N */
typedef struct {
    int channels, height, width;
} train_value;

typedef struct {
    train_description description;
    size_t parameters, statistics; /* elements of the flat buffers */
    size_t tensor_count, operation_count, value_count;
    train_tensor *tensors; /* in the order of torchvision's state_dict */
    train_operation *operations;
    train_value *values;
    int classes; /* of the last layer */
} train_model;

/* The tensors and operations that a description makes of 32 x 32 images, for so many classes (train_build:
 * TRAIN_CLASSES). Free it with train_free. */
p2p_err train_build(const train_description *description, train_model **model, train_error *error);
p2p_err train_build_for(const train_description *description, int classes, train_model **model, train_error *error);
void train_free(train_model *model);

/* The weights that PyTorch gives torchvision's ResNet after torch.manual_seed(seed), on a CPU, but for rounding:
 * convolutions normal with variance 2 / (O KH KW) (He et al. 2015, fan out), linear layers uniform within 1 /
 * sqrt(inputs), batch norm 1 and 0; running mean 0 and variance 1. Of the seed its low 32 bits count, as there. */
void train_initialise(const train_model *model, uint64_t seed, float *parameters, float *statistics);

/* ---- The data ---- */

enum { TRAIN_PIXELS = TRAIN_CHANNELS * TRAIN_SIDE * TRAIN_SIDE, TRAIN_RECORD = 1 + TRAIN_PIXELS };

/* Images as CIFAR-10's binary files have them: a record is a label and (C, H, W) bytes. */
typedef struct {
    size_t count;
    uint8_t *records; /* count times TRAIN_RECORD bytes */
} train_images;

typedef struct {
    train_images train, test;
    int classes; /* labels are less; 0: TRAIN_CLASSES */
} train_data;

/* CIFAR-10: all data_batch_*.bin of a folder, in the order of their numbers, and its test_batch.bin; any number of
 * batches with any whole number of records. CIFAR-100, where there are none of those: train.bin and test.bin; the label
 * is the fine one. At most so many images of each (0: all). A file that is missing or damaged is an error that names
 * it, the place and the value; P2P_ERR_ARG for those. Free it with train_data_free. */
p2p_err train_data_cifar(const char *folder, size_t train_limit, size_t test_limit, train_data *data,
                         train_error *error);

/* A set that needs no files: ten patterns of waves, shifted, mirrored, dimmed, mixed with one another and with noise.
 * The same images everywhere; limits as above, of TRAIN_SYNTHETIC and TRAIN_SYNTHETIC_TEST images. */
enum { TRAIN_SYNTHETIC = 8192, TRAIN_SYNTHETIC_TEST = 1024 };
p2p_err train_data_synthetic(size_t train_limit, size_t test_limit, train_data *data, train_error *error);

void train_data_free(train_data *data);

/* The order in which an epoch (from 1) goes through `count` images: a permutation that depends on seed and epoch only,
 * the one that PyTorch's DistributedSampler(seed=seed) has after set_epoch(epoch - 1), or the file's order if not
 * `shuffle`. */
void train_epoch_order(size_t count, uint64_t seed, uint64_t epoch, bool shuffle, size_t order[]);

/* What one of `size` ranks takes of `count` positions: rank, rank + size, rank + 2 size, ... Every position is taken
 * once; shares differ by one at most. `mine` has room for count; returns how many they are. */
size_t train_shard(size_t count, int rank, int size, size_t mine[]);

/* From bytes to what the network sees: (pixel / 255 - mean) / deviation of each channel, and, with `augment`, cut out
 * of the image with 4 pixels of black around it, and mirrored or not: which cut depends on seed, epoch and image only.
 * out: (C, H, W). */
typedef struct {
    bool augment;
    uint64_t seed, epoch;
} train_view;

void train_preprocess(const train_images *images, size_t image, const train_view *view, float out[TRAIN_PIXELS]);

static inline int train_label(const train_images *images, size_t image)
{
    return images->records[image * TRAIN_RECORD];
}

/* ---- The network: a model on a device, one rank's. Calls queue work and return, but where it says that they wait.
 * ---- */

typedef struct train_network train_network;

/* What the ranks divide among them: each has 1/n of it, and of what is named before it (docs/sharding.md). AUTO, for
 * train_run only: the optimiser's state where that makes a step shorter and nothing else differs, else nothing. */
enum train_sharding {
    TRAIN_SHARD_NONE,
    TRAIN_SHARD_OPTIMIZER,
    TRAIN_SHARD_GRADIENTS,
    TRAIN_SHARD_PARAMETERS,
    TRAIN_SHARD_AUTO
};

typedef struct {
    const char *device; /* for kernel_open: "auto", "cpu", "gpu:1", ... */
    int cores;          /* that this process may use; 0: all */
    size_t batch;       /* images of the largest batch */
    p2p_comm *comm; /* whose ranks may read gradients in place, with TRAIN_SHARD_OPTIMIZER parameters too (p2p_alloc: a
                     * child that is forked has no copy of its own); NULL: none. It outlives the network. */
    bool frozen;    /* batch norm uses its running statistics in training too, and leaves them */
    float label_smoothing;     /* in training; 0: none */
    enum train_sharding shard; /* whose arrays lie in memory that can be given back in parts; AUTO: none */
} train_network_options;

/* The model must outlive it. All numbers are zero at first: see train_initialise, train_map. */
p2p_err train_network_open(const train_model *model, const train_network_options *options, train_network **network,
                           train_error *error);
void train_network_close(train_network *network);

/* The flat arrays, by what is in them. Gradients lie where the parameters do. */
enum train_array_kind { TRAIN_PARAMETERS, TRAIN_GRADIENTS, TRAIN_STATISTICS, TRAIN_FIRST_STATE, TRAIN_SECOND_STATE };

/* Wait for all queued work; then the host's copy is what the device has. It stays the network's and may be read and
 * written until the next call that queues work; what is written reaches the device with train_flush. NULL on
 * failure. */
float *train_map(train_network *network, enum train_array_kind kind, train_error *error);
p2p_err train_flush(train_network *network, enum train_array_kind kind, train_error *error);
size_t train_length(const train_network *network, enum train_array_kind kind);

/* Put images[chosen[0..count)] into the next batch, while the device may still be busy with the one before it. */
p2p_err train_load(train_network *network, const train_images *images, const size_t chosen[], size_t count,
                   const train_view *view, train_error *error);

/* The loaded batch forward, in training: logits, losses, and the gradient by the logits of the sum of the losses times
 * `scale`: 1/(images on all ranks) makes it that of the whole step's mean. */
p2p_err train_forward(train_network *network, float scale, train_error *error);

/* The loaded batch forward, batch norm with its running statistics. Losses are added to those before, unless
 * `first`. */
p2p_err train_evaluate(train_network *network, bool first, train_error *error);

/* Called when the gradients of this operation's tensors are queued. */
typedef void (*train_ready)(void *arg, size_t operation);

/* After train_forward: all gradients, summed over this rank's batch. ready may be NULL. */
p2p_err train_backward(train_network *network, train_ready ready, void *arg, train_error *error);

/* One step of the optimiser, number `step` (from 1). */
p2p_err train_update(train_network *network, const kernel_optimizer *optimizer, uint64_t step, train_error *error);

/* Keep the gradients of the last train_backward: those of the next one are added to them, and its losses to those
 * before, until train_update. So a step can have several batches; a train_ready then belongs to the last. */
p2p_err train_accumulate(train_network *network, train_error *error);

/* Wait; *norm is that of all gradients as one vector. If it is more than `most` (0: any may be), they become shorter by
 * most / (norm + 1e-6), as with torch.nn.utils.clip_grad_norm_. After gradient sync it is the same on every rank. */
p2p_err train_clip(train_network *network, float most, double *norm, train_error *error);

/* ---- Parts of the arrays: a layer's gradients as soon as they are there, an optimiser's step on a shard ---- */

/* Where the gradients of an operation's tensors lie: elements [first, first + count); count 0: it has none. */
void train_gradients_of(const train_model *model, size_t operation, size_t *first, size_t *count);

/* As train_map, of elements [first, first + count), without waiting: the address of element `first`, which the host may
 * read and write once kernel_event_wait(*done) has returned or kernel_event_done says so. The caller frees *done with
 * kernel_event_free. Called by a train_ready, it queues a layer's gradients to come while the backward pass goes on. */
float *train_map_part(train_network *network, enum train_array_kind kind, size_t first, size_t count,
                      kernel_event **done, train_error *error);
p2p_err train_flush_part(train_network *network, enum train_array_kind kind, size_t first, size_t count,
                         train_error *error);

/* train_update of parameters [first, first + count) alone: the same bits in them. */
p2p_err train_update_part(train_network *network, const kernel_optimizer *optimizer, uint64_t step, size_t first,
                          size_t count, train_error *error);

/* Wait for the forward passes: sum of the losses, and how many were right: of the last train_forward, or since the
 * first train_evaluate. */
p2p_err train_loss(train_network *network, double *loss, size_t *correct, train_error *error);

/* Wait for the last forward pass: its logits, (count, classes). */
p2p_err train_logits(train_network *network, float *logits, train_error *error);

/* ---- Schedules: the learning rate of each step, as PyTorch's schedulers have it (schedule.c has the formulas) ---- */

enum train_schedule_kind { TRAIN_CONSTANT, TRAIN_COSINE, TRAIN_ONECYCLE, TRAIN_STEPS };
enum { TRAIN_MILESTONES = 8 };
typedef struct {
    enum train_schedule_kind kind;
    size_t count; /* of TRAIN_STEPS: a tenth of the rate after each of these epochs, ascending */
    uint64_t milestones[TRAIN_MILESTONES];
    uint64_t warmup; /* steps from a third of the rate to the whole; 0: none, as for TRAIN_ONECYCLE */
} train_schedule;

/* Step number `step` (from 1) of `total` in all (of TRAIN_COSINE and TRAIN_ONECYCLE), in epoch `epoch` (from 1):
 * optimizer->lr, the rate of the settings, becomes that of the step; with TRAIN_ONECYCLE so does its beta1 (adam), or
 * momentum; a momentum of 0 stays 0, as with PyTorch's cycle_momentum=False. */
void train_schedule_at(const train_schedule *schedule, uint64_t step, uint64_t epoch, uint64_t total,
                       kernel_optimizer *optimizer);

/* ---- Gradient sync: buckets of the gradients, all-reduced from the last layer back ---- */

/* coll_all_reduce, ring_all_reduce, coll_naive_all_reduce, ..., or your own. It is asked for DTYPE_F32 (or the
 * type in train_compress) and OP_SUM: each rank's gradients are its part of the mean over all images of the step, so
 * that ranks with fewer images count less. */
typedef p2p_err (*train_all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Your own with a state, such as communicators of its own (p2p_split). open comes once, on all ranks, before the first
 * bucket; close after the last, if open succeeded, also when the training has failed. Either may be NULL. What open
 * returns ends the run; so does what all_reduce returns. */
typedef struct {
    p2p_err (*open)(void *arg, p2p_comm *comm);
    p2p_err (*all_reduce)(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
    void (*close)(void *arg, p2p_comm *comm);
    void *arg;
    /* NULL, or one that does not wait: with `overlap` it is begun for pieces of a bucket, as ring_iall_reduce is,
     * several at a time and in the same order on every rank; all_reduce is for what does not overlap. */
    p2p_err (*iall_reduce)(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op,
                           p2p_request *request);
} train_reducer;

/* Gradients in fewer bytes; what is left out goes with the next step's (docs/compression.md). All 0: nothing is left
 * out. */
enum train_compression { TRAIN_UNCOMPRESSED, TRAIN_POWERSGD, TRAIN_TOPK };
typedef struct {
    enum dtype wire; /* DTYPE_F16 or DTYPE_BF16: the all-reduce is asked for that type; DTYPE_F32 */
    enum train_compression
        method;  /* in f32, and every bucket for itself; with `overlap`, too, nothing in the background */
    int rank;    /* of TRAIN_POWERSGD */
    float share; /* of TRAIN_TOPK: of the numbers of a bucket; at least one is sent */
} train_compress;

typedef struct {
    train_all_reduce all_reduce; /* NULL: none, every rank keeps its own gradients */
    /* A bucket is sent as soon as it is ready, while the device computes the next. ring_all_reduce then goes on in the
     * background, as ring_iall_reduce, and a reducer's iall_reduce does; any other is called, and the next bucket waits
     * for it. */
    bool overlap;
    size_t bucket_bytes;          /* a bucket is complete when it has so many bytes; 0: a bucket for each tensor */
    const train_reducer *reducer; /* instead of all_reduce, which must be NULL; it outlives the sync */
    train_compress compress;
} train_sync_options;

typedef struct train_sync train_sync;

p2p_err train_sync_open(train_network *network, p2p_comm *comm, const train_sync_options *options, train_sync **sync,
                        train_error *error);

/* Waits for what is still on its way, after an error. Before train_network_close. */
void train_sync_close(train_sync *sync);

/* For train_backward: train_backward(network, train_sync_ready, sync, error). */
void train_sync_ready(void *sync, size_t operation);

/* Wait until all buckets are reduced. *finite: no number of the result is infinite or not a number; the same on every
 * rank. */
p2p_err train_sync_wait(train_sync *sync, bool *finite, train_error *error);

/* Of the last train_sync_wait: seconds it took after the backward pass had ended; how many buckets there are. */
double train_sync_waited(const train_sync *sync);
size_t train_sync_buckets(const train_sync *sync);

/* ---- Replicas: all ranks must have the same. All ranks call these together; P2P_ERR_MISMATCH on all, if not. ---- */

/* The same tensors in the same order: else the first that differs is named, as each side has it. */
p2p_err train_same_model(p2p_comm *comm, const train_model *model, train_error *error);

/* The same bits in all parameters: else the first tensor that differs is named, and between which ranks. */
p2p_err train_same_weights(p2p_comm *comm, const train_model *model, const float *parameters, train_error *error);

/* Call it if reduced gradients are not finite: each rank brings its own, not yet reduced. Always an error, which names
 * rank and tensor. */
p2p_err train_find_nonfinite(p2p_comm *comm, const train_model *model, const float *gradients, train_error *error);

/* ---- All of it in one call, as torch.nn.parallel.DistributedDataParallel does ---- */

typedef struct train_data_parallel train_data_parallel;

/* Check that all ranks have the same model, and give all of them the parameters and statistics of rank 0. options may
 * be NULL: ring, overlapped, buckets of 25 MiB. */
p2p_err train_data_parallel_open(train_network *network, p2p_comm *comm, const train_sync_options *options,
                                 train_data_parallel **replica, train_error *error);

/* train_backward, after which the gradients are those of all ranks together. */
p2p_err train_data_parallel_backward(train_data_parallel *replica, train_error *error);
void train_data_parallel_close(train_data_parallel *replica);

/* ---- Checkpoints: safetensors with torchvision's names and shapes, every array with its CRC32C ---- */

/* What a run begins with, read from files before any rank starts. Parameters are NULL if it begins from the seed. */
typedef struct {
    float *parameters, *statistics;
    float *state[2]; /* NULL if there is none */
    float *error;    /* of gradients that were compressed: of each of error_ranks ranks, one after the other; or NULL */
    float *factors;  /* of TRAIN_POWERSGD; or NULL */
    size_t error_ranks, factor_count;
    uint64_t batches;  /* num_batches_tracked */
    uint64_t step;     /* steps taken */
    uint64_t epoch;    /* under way, from 1 */
    uint64_t position; /* images of it that have been seen, by all ranks together */
    uint64_t examples; /* seen in all */
    double loss_sum;   /* of the epoch under way */
    uint64_t best_epoch,
        best_correct; /* the epoch with the best score so far, and its right answers; 0: none is known */
    uint64_t metrics; /* bytes of metrics.jsonl that belong to it */
} train_start;

/* Write the weights to a file, durably: at any time the complete old file or the complete new one exists. */
p2p_err train_save_weights(const char *path, const train_model *model, const float *parameters, const float *statistics,
                           uint64_t batches, train_error *error);

/* The weights of a file, ours or PyTorch's. All of it is checked before anything is taken. */
p2p_err train_start_from(const char *path, const train_model *model, train_start *start, train_error *error);
void train_start_free(train_start *start);

/* ---- A whole run ---- */

/* The names of --all-reduce; none: replicas drift apart. */
enum train_algorithm { TRAIN_RING, TRAIN_AUTO, TRAIN_NAIVE, TRAIN_TREE, TRAIN_DOUBLING, TRAIN_NONE };

/* What the program's options say. Strings are the caller's. */
typedef struct {
    int ranks;
    const char *world;  /* NULL: as p2p_launch */
    const char *device; /* "auto", or a list by rank: "gpu:0,gpu:1,cpu" */
    const char *model;
    const char *data; /* NULL: the built-in set */
    size_t train_limit, test_limit;
    uint64_t epochs, steps; /* in all, those of a run that is resumed included; 0: no limit by that number */
    size_t batch;           /* per rank */
    kernel_rule optimizer;
    float lr, weight_decay, momentum;
    bool nesterov; /* of KERNEL_SGD */
    train_schedule schedule;
    float clip;            /* the largest norm of the gradients of a step; 0: any */
    size_t accumulate;     /* batches a step, per rank, with sync after the last; 0 is 1 */
    float label_smoothing; /* in training */
    enum train_algorithm all_reduce;
    size_t bucket_bytes;
    bool overlap; /* ring only */
    train_compress compress;
    bool shuffle, augment;
    uint64_t seed;
    const char *init, *save, *resume, *out, *dump_logits; /* files and folders; NULL: none */
    bool overwrite;                                       /* out: a run that is there already is replaced */
    uint64_t save_steps, save_epochs; /* a checkpoint after so many steps, or epochs; 0 and 0: after every epoch */
    uint64_t patience;                /* ends after so many epochs without a better score; 0: goes on to the end */
    const char *plot;                 /* a folder for pictures of the run in `out`; NULL: none */
    const char *trace;                /* a file for a trace of the run; NULL: PAIRWISE_TRACE, else none */
    int repair; /* new processes for ranks that die; 0: a death ends the run. As p2p_options.repair, which is needed too.
                 * train_run then sets P2P_ERRORS_RETURN */
    bool shrink; /* go on with fewer ranks instead */
    bool eval_only, timeline, quiet;
    bool frozen;               /* batch norm as in evaluation; for comparing numbers of ranks */
    enum train_sharding shard; /* other than none and auto: ring with overlap only */
    bool wrapper;              /* sync by train_data_parallel_* instead of the written-out loop */
} train_settings;

void train_defaults(train_settings *settings);

/* What evaluation adds up. */
typedef struct {
    double loss; /* sum over the images */
    uint64_t correct, total;
} train_score;

typedef struct {
    train_score score; /* of the last evaluation */
    bool saved;        /* all that the settings ask for is written; if not, that has been reported */
    bool stopped;      /* by `stop`, before the end */
    bool checkpoint;   /* rank 0: the last step is that of the checkpoint in `out` */
    uint64_t step;     /* the last one that was taken */
} train_result;

/* The four changes that make a training program data-parallel, in the order in which they happen. Each may be replaced
 * by your own. */
typedef struct {
    /* 1. Every rank begins with rank 0's weights: as coll_broadcast. */
    p2p_err (*broadcast)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);
    /* 2. Every rank takes its share of the images: as train_shard. */
    size_t (*shard)(size_t count, int rank, int size, size_t mine[]);
    /* 3. The gradients of all ranks are added up: as ring_all_reduce, with OP_SUM. NULL: as the settings say. */
    train_all_reduce all_reduce;
    /* 4. The scores of all ranks become the score of all images. */
    p2p_err (*aggregate)(p2p_comm *comm, train_score *score);
} train_parallel;

/* The library's own four. */
extern const train_parallel train_parallel_default;

/* What after_step returns to end the training well, on any of the ranks: all end with that step, evaluate, and save
 * what the settings ask for; train_run returns P2P_OK. */
#define TRAIN_STOP ((p2p_err)1000)

/* Called on every rank. With settings.shard other than none and auto, arrays that are divided have this rank's part only;
 * with auto nothing is divided where a rank has a hook. With settings.repair or shrink, after the death of a rank, those of
 * steps that are taken again are called again, and after_step of the step that all go on from: what they do follows from
 * `now`. P2P_OK goes on.
 * Anything else ends the run: train_run returns it, after rank 0, if it is among those that end here, has saved what
 * the settings ask for (out, save; where arrays are divided only save, and with TRAIN_SHARD_PARAMETERS nothing), as it was
 * after the last whole step. */
typedef struct {
    p2p_comm *comm;
    train_network *network;
    train_data *data; /* this rank's */
    uint64_t epoch, step;
} train_hook_context;

typedef struct {
    p2p_err (*before_shard)(void *arg, const train_hook_context *now); /* each epoch, before the images are dealt out */
    p2p_err (*after_sync)(void *arg,
                          const train_hook_context *now); /* each step: gradients reduced, weights not yet changed */
    p2p_err (*after_step)(void *arg, const train_hook_context *now); /* each step, at its end */
    void *arg;
    /* Each step, before the update: the learning rate to take instead of `planned`, the settings' own. The same on all
     * ranks, or replicas drift apart. now->step: steps taken before. */
    double (*learning_rate)(void *arg, const train_hook_context *now, double planned);
} train_hooks;

/* All a rank needs, made before the ranks are forked; they share it. */
typedef struct {
    train_settings settings;
    train_parallel parallel;
    const train_reducer *reducer; /* NULL: as parallel.all_reduce and the settings say */
    train_hooks hooks;
    /* NULL, or what a signal handler sets, in any rank: then all ranks end after the same step, the next one at the
     * latest, and what the settings ask for is saved. */
    const volatile sig_atomic_t *stop;
    train_model *model;
    train_data data;
    train_start start;
} train_job;

/* Check the settings, read the data and what the run begins from. Anything wrong with them is P2P_ERR_ARG,
 * P2P_ERR_PROTO or P2P_ERR_SYS. */
p2p_err train_prepare(const train_settings *settings, train_job *job, train_error *error);
void train_job_free(train_job *job);

/* For a loop of one's own: write a checkpoint into a folder, which is made if there is none, as train_save_weights
 * writes a file. `now`: parameters, statistics, and so many states as the optimiser of job->settings has, from
 * train_map; how far the run is; what there is not is NULL and 0. One rank calls it, and has the whole of each array.
 * train_prepare with settings.resume puts the same into job->start, and build/train --resume goes on from it.
 * P2P_ERR_ARG, and nothing is written: an array is missing, or the epoch has no such position. */
p2p_err train_save_checkpoint(const char *folder, const train_job *job, const train_start *now, train_error *error);

/* Train, on every rank of comm. */
p2p_err train_run(p2p_comm *comm, const train_job *job, train_result *result, train_error *error);

/* The program build/train: options, ranks, training; what main returns. parallel may be NULL. */
int train_program(int argc, char *argv[], const train_parallel *parallel);

/* The same with more of your own. NULL: the library's; none. */
typedef struct {
    const train_parallel *parallel;
    const train_reducer *reducer;
    const train_hooks *hooks;
} train_own;
int train_program_own(int argc, char *argv[], const train_own *own);

#ifdef __cplusplus
}
#endif
#endif
