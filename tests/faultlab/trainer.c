/* SPDX-License-Identifier: MIT */
/* Faults of training: shares without images, replicas that differ, gradients that are no numbers, data that is
 * damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p2p/shared/crc.h"
#include "ring/ring.h"
#include "trainer/safetensors.h"
#include "trainer_lab.h"

/* ---- A rank without an image contributes nothing, and nothing is divided by zero ---- */

static p2p_err reduce_and_look(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    bool empty = lab_rank == 3;
    const float *gradients = buf;
    for (size_t i = 0; empty && i < count; i++)
        if (gradients[i] != 0) return P2P_ERR_ARG;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err same_after_step(void *arg, const train_hook_context *now)
{
    const float *weights = train_map(now->network, TRAIN_PARAMETERS, NULL);
    (void)arg;
    return weights ? train_same_weights(now->comm, lab_training.model, weights, NULL) : P2P_ERR_SYS;
}

static void empty_shard(void)
{
    lab_warm_up();
    lab_training_make(3, 2);
    lab_training.settings.epochs = 2;
    lab_training.parallel.all_reduce = reduce_and_look;
    lab_training.hooks.after_step = same_after_step;
    lab_train_well(4);
    EXPECT(lab->rank[3].count == 2, "%ld images were tested", lab->rank[3].count);
}

/* ---- Ranks with different models: found before anything is broadcast ---- */

static int body_two_models(p2p_comm *world)
{
    if (p2p_rank(world) == 1) lab_training.model = lab_small_model(32);
    return lab_train(world);
}

static int body_swapped(p2p_comm *world)
{
    if (p2p_rank(world) == 1) {
        train_tensor *t = lab_training.model->tensors, other = t[1];
        t[1] = t[2];
        t[2] = other;
    }
    return lab_train(world);
}

static void param_mismatch(void)
{
    static lab_job shapes = {.size = 3, .body = body_two_models}, order = {.size = 2, .body = body_swapped};
    lab_training_make(4, 2);
    lab_run(&shapes);
    lab_expect_all(
        3, P2P_ERR_MISMATCH,
        ARGS("layer2.0.conv1.weight (16, 8, 3, 3) on rank 0", "layer2.0.conv1.weight (32, 8, 3, 3) on rank 1"));
    lab_run(&order);
    lab_expect_all(2, P2P_ERR_MISMATCH, ARGS("tensor 1 is bn1.weight (8) on rank 0", "bn1.bias (8) on rank 1"));
}

/* ---- The broadcast was forgotten ---- */

static p2p_err forgets(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_OK;
}

static void drift(void)
{
    static lab_job job = {.size = 3, .body = lab_train};
    lab_make_folder();
    lab_training_make(12, 2);
    lab_training.parallel.broadcast = forgets;
    lab_training.settings.out = lab_folder;
    lab_run(&job);
    lab_expect_all(3, P2P_ERR_MISMATCH,
                   ARGS("different weights: conv1.weight", "rank 0 and rank 1", "broadcast the weights"));
    EXPECT(access(lab_path("model.safetensors"), F_OK) != 0, "weights that differ were saved");
    lab_remove_folder();
}

/* ---- Batch norm's statistics: each rank's own while training, rank 0's when evaluating and in the file ---- */

enum { TRAINED = 8 }; /* flags: what rank r evaluated with; from here on: what it had after its last step */

static train_network *network; /* of this rank */

static uint32_t statistics_now(void)
{
    const float *statistics = train_map(network, TRAIN_STATISTICS, NULL);
    return statistics ? p2p__crc32c(0, statistics, train_length(network, TRAIN_STATISTICS) * sizeof *statistics) : 0;
}

static p2p_err note_training(void *arg, const train_hook_context *now)
{
    (void)arg;
    network = now->network;
    atomic_store(&lab->flag[TRAINED + lab_rank], (int)statistics_now());
    return P2P_OK;
}

static p2p_err note_evaluation(p2p_comm *comm, train_score *score)
{
    if (network) atomic_store(&lab->flag[lab_rank], (int)statistics_now());
    return train_parallel_default.aggregate(comm, score);
}

static int body_statistics(p2p_comm *world)
{
    train_result result;
    train_error error = {""};
    p2p_err err = train_run(world, &lab_training, &result, &error);
    CHECK(err == P2P_OK, "%s", error.text);
    return 0;
}

static int statistics_in(const char *path)
{
    train_start start;
    train_error error;
    EXPECT(train_start_from(path, lab_training.model, &start, &error) == P2P_OK, "%s", error.text);
    return (int)p2p__crc32c(0, start.statistics, lab_training.model->statistics * sizeof(float));
}

static void bn_buffers(void)
{
    static lab_job job = {.size = 3, .body = body_statistics};
    lab_warm_up();
    lab_make_folder();
    lab_training_make(24, 6);
    lab_training.hooks.after_step = note_training;
    lab_training.parallel.aggregate = note_evaluation;
    lab_training.settings.out = lab_folder;
    lab_training.settings.save = lab_path("weights.safetensors");
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
    int first = lab->flag[TRAINED];
    EXPECT(lab->flag[TRAINED + 1] != first, "the ranks' own statistics are the same: this shows nothing");
    for (int rank = 0; rank < 3; rank++)
        EXPECT(lab->flag[rank] == first, "rank %d evaluated with other statistics", rank);
    EXPECT(statistics_in(lab_path("model.safetensors")) == first, "the checkpoint has other statistics than rank 0");
    EXPECT(statistics_in(lab_training.settings.save) == first, "--save has other statistics than rank 0");
    lab_remove_folder();
}

/* ---- Every test image counts once, whatever the number of ranks ---- */

static void eval_exact(void)
{
    enum { TESTS = 29 };
    lab_warm_up();
    for (int ranks = 1; ranks <= 8; ranks++) {
        lab_training_make(2, TESTS);
        lab_training.settings.eval_only = true;
        lab_train_well(ranks);
        for (int rank = 0; rank < ranks; rank++)
            EXPECT(lab->rank[rank].count == TESTS, "%d ranks: %ld of %d images counted", ranks, lab->rank[rank].count,
                   TESTS);
        train_job_free(&lab_training);
    }
}

/* ---- A gradient that is no number, on one rank ---- */

/* A label that is none makes the loss a NaN. The records are this process's own; image 1 is in rank 1's first batch. */
static p2p_err spoil_label(void *arg, const train_hook_context *now)
{
    (void)arg;
    if (lab_rank == 1) now->data->train.records[1 * TRAIN_RECORD] = 99;
    return P2P_OK;
}

static void nan_grad(void)
{
    static lab_job job = {.size = 3, .body = lab_train};
    lab_warm_up();
    lab_make_folder();
    /* Of two batches a step it is in the first. */
    static const train_settings kinds[] = {{.overlap = false},
                                           {.overlap = true},
                                           {.overlap = true, .accumulate = 2},
                                           {.overlap = true, .shard = TRAIN_SHARD_OPTIMIZER},
                                           {.overlap = true, .shard = TRAIN_SHARD_PARAMETERS, .accumulate = 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        lab_training_make(24, 2);
        lab_training.settings.shuffle = false;
        lab_training.hooks.before_shard = spoil_label;
        lab_training.settings.overlap = kinds[i].overlap;
        lab_training.settings.accumulate = kinds[i].accumulate;
        lab_training.settings.shard = kinds[i].shard;
        lab_training.settings.out = lab_folder;
        lab_run(&job);
        lab_expect_all(3, P2P_ERR_ARG, ARGS("gradient of fc.bias is not finite on rank 1", "no weight was changed"));
        EXPECT(access(lab_path("model.safetensors"), F_OK) != 0, "a checkpoint was written");
    }
    lab_remove_folder();
}

/* ---- Data: found before a rank is started ---- */

static void write_file(const char *name, int records, int over, int label)
{
    char record[TRAIN_RECORD] = {0}, *path = lab_path(name);
    FILE *file = fopen(path, "we");
    EXPECT(file, "%s cannot be written", path);
    for (int i = 0; i < records; i++) {
        record[0] = (char)(i == records - 1 ? label : i % 10);
        fwrite(record, 1, sizeof record, file);
    }
    fwrite(record, 1, (size_t)over, file);
    EXPECT(fclose(file) == 0, "%s cannot be written", path);
}

static void expect_refused(const char *const facts[])
{
    static lab_job job;
    job = (lab_job){.size = 0};
    lab_run_train(&job, ARGS("--ranks", "2", "--data", lab_folder));
    EXPECT(job.status == 2, "exit status %d, not 2", job.status);
    lab_expect_facts(job.text, facts);
    EXPECT(!lab_has(job.text, "before training"), "it began to train");
}

static void bad_data(void)
{
    lab_make_folder();
    expect_refused(ARGS(lab_folder, "has no data_batch_*.bin"));
    write_file("data_batch_1.bin", 3, 0, 1);
    expect_refused(ARGS("test_batch.bin", "No such file"));
    write_file("test_batch.bin", 2, 0, 1);
    write_file("data_batch_1.bin", 3, 100, 1);
    expect_refused(ARGS("data_batch_1.bin", "9319 bytes", "at byte 9219", "3073"));
    write_file("data_batch_1.bin", 3, 0, 200);
    expect_refused(ARGS("data_batch_1.bin", "record 2", "label 200", "0 to 9"));
    write_file("data_batch_1.bin", 0, 0, 0);
    expect_refused(ARGS("is empty"));
    lab_remove_folder();
    expect_refused(ARGS(lab_folder, "No such file or directory"));
}

/* ---- The same seed, the same bits ---- */

static p2p_err keep_crc(void *arg, const train_hook_context *now)
{
    const float *weights = train_map(now->network, TRAIN_PARAMETERS, NULL);
    (void)arg;
    if (!weights) return P2P_ERR_SYS;
    uint32_t crc = p2p__crc32c(0, weights, train_length(now->network, TRAIN_PARAMETERS) * sizeof *weights);
    atomic_store(&lab->flag[lab_rank], (int)crc);
    return P2P_OK;
}

static int weights_after(enum train_algorithm all_reduce, uint64_t seed)
{
    lab_training_make(32, 2);
    lab_training.settings.all_reduce = all_reduce;
    lab_training.settings.seed = seed;
    lab_training.hooks.after_step = keep_crc;
    lab_train_well(3);
    return lab->flag[0];
}

static void determinism(void)
{
    static const enum train_algorithm both[] = {TRAIN_NAIVE, TRAIN_RING};
    lab_warm_up();
    for (int i = 0; i < 2; i++) {
        int first = weights_after(both[i], 3);
        EXPECT(weights_after(both[i], 3) == first, "all-reduce %d: another run, other weights", (int)both[i]);
        EXPECT(weights_after(both[i], 4) != first, "all-reduce %d: another seed, the same weights", (int)both[i]);
    }
}

const lab_case lab_trainer[] = {
    {"empty-shard", "fewer images than ranks: a rank without one contributes zeros", empty_shard, false},
    {"param-mismatch", "different models: P2P_ERR_MISMATCH on all, with the first tensor as both have it",
     param_mismatch, false},
    {"drift", "weights not broadcast: found after an epoch, before anything is saved", drift, false},
    {"bn-buffers", "running statistics are rank 0's in every evaluation and in what is saved", bn_buffers, false},
    {"eval-exact", "every test image counts once, on 1 to 8 ranks", eval_exact, false},
    {"nan-grad", "a gradient that is no number: all stop, rank and tensor are named, no weight changes", nan_grad,
     false},
    {"bad-data", "missing, cut off or wrong data: file, place and value; exit 2 before any rank starts", bad_data,
     false},
    {"determinism", "the same seed gives the same bits, naive and ring", determinism, false},
    {"no-opencl", "no OpenCL platform: one clear message, exit 1", lab_no_opencl, false},
    {"cl-build", "a kernel does not build: the log once, from one rank; all exit", lab_cl_build, false},
    {"cl-oom", "no memory on one device: OpenCL's name, the buffer, its bytes; the others PEER_DEAD", lab_cl_oom,
     false},
    {"cl-fork", "OpenCL only after the fork: none in the supervisor, refused in a child of a rank", lab_cl_fork, false},
    {"cl-fork-closed", "OpenCL opened and closed before the fork: every rank refuses; listing devices does no harm",
     lab_cl_fork_closed, false},
    {"cl-oversub", "more ranks than cores: allowed, one warning", lab_cl_oversub, false},
    {"train-repair", "whoever dies in a training that repairs itself, the weights are the same", lab_train_repair,
     false},
    {"train-repair-options", "the same with other options and fewer ranks", lab_train_repair_options, false},
    {"train-repair-shard", "the same with --shard, also where ranks are a step apart", lab_train_repair_shard, false},
    {"train-repair-stop", "a rank is asked to stop, and one dies while that is saved: it is saved, and all end",
     lab_train_repair_stop, false},
    {"train-shrink", "those that are left go on: every image of an epoch is used once, and losses are means",
     lab_train_shrink, false},
    {"hook-ends", "a hook ends the training: nothing is left under way, what was saved goes on to the bit",
     lab_hook_ends, false},
    {"ckpt-crash", "killed at every system call of a save: a whole checkpoint always loads", lab_ckpt_crash, false},
    {"save-full", "a disk that is full: path and reason, exit 1, the training is not lost", lab_save_full, false},
    {"ckpt-corrupt", "a checkpoint cut off or changed at any byte is refused with the offset", lab_ckpt_corrupt, false},
    {"ckpt-resize", "resumed on another number of ranks: the same images, the same weights", lab_ckpt_resize, false},
    {"ckpt-dead", "a rank dies while a checkpoint is made: PEER_DEAD, the old one stays", lab_ckpt_dead, false},
    {NULL, NULL, NULL, false},
};
