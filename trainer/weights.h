/* SPDX-License-Identifier: MIT */
/* weights: a model's tensors to and from a safetensors file. */
#ifndef PAIRWISE_TRAINER_WEIGHTS_H
#define PAIRWISE_TRAINER_WEIGHTS_H

#include "trainer/safetensors.h"

/* The parts of a checkpoint's file name and metadata that both sides must know. */
#define TRAIN_MODEL_FILE "model.safetensors"
#define TRAIN_BEST_FILE "best.safetensors" /* weights only: of --patience */
#define TRAIN_STATE_FILE "optimizer-%llu.safetensors"
#define TRAIN_STATE_NOTE "pairwise.optimizer_file"
#define TRAIN_ERROR_NAME "error.%zu" /* of a rank: what compression has not sent yet of its gradients */
#define TRAIN_FACTORS_NAME "powersgd.factors"
#define TRAIN_SCHEDULE_NOTE "pairwise.schedule"
#define TRAIN_NESTEROV_NOTE "pairwise.nesterov"     /* of sgd */
#define TRAIN_BEST_EPOCH_NOTE "pairwise.best_epoch" /* of --patience */
#define TRAIN_BEST_NOTE "pairwise.best_correct"
enum { TRAIN_NOTES = 24, TRAIN_NOTE_ROOM = 160 };

/* train_save_weights with metadata. */
p2p_err train__save_weights(const char *path, const train_model *model, const float *parameters,
                            const float *statistics, uint64_t batches, const train_note *notes, size_t note_count,
                            train_error *error);

/* Copy a file's tensors; parameters and statistics have room for all. Checked before anything is copied. */
p2p_err train__take_weights(const char *path, const train_file *file, const train_model *model, float *parameters,
                            float *statistics, uint64_t *batches, train_error *error);

/* The array of this name has this type and the tensor's shape; NULL and an error if not. */
const train_array *train__array_like(const char *path, const train_file *file, const char *name, const char *dtype,
                                     const train_tensor *tensor, train_error *error);

/* What the optimiser's states are called, as PyTorch does: "exp_avg". */
const char *train__state_name(kernel_rule rule, int state);

#endif
