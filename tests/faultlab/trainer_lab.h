/* SPDX-License-Identifier: MIT */
/* trainer_lab: what the trainer's cases share: a small run, and folders. */
#ifndef PAIRWISE_TESTS_FAULTLAB_TRAINER_LAB_H
#define PAIRWISE_TESTS_FAULTLAB_TRAINER_LAB_H

#include "lab.h"
#include "trainer/trainer.h"

/* Cases in the other files. */
void lab_no_opencl(void);
void lab_cl_build(void);
void lab_cl_oom(void);
void lab_cl_fork(void);
void lab_cl_fork_closed(void);
void lab_cl_oversub(void);
void lab_hook_ends(void);
void lab_train_repair(void);
void lab_train_repair_options(void);
void lab_train_repair_shard(void);
void lab_train_repair_stop(void);
void lab_train_shrink(void);
void lab_ckpt_crash(void);
void lab_save_full(void);
void lab_ckpt_corrupt(void);
void lab_ckpt_resize(void);
void lab_ckpt_dead(void);

/* ---- A run of a model of two blocks, on the CPU: made in the case, run in its ranks ---- */

extern train_job lab_training; /* cases change what they like */

/* So many built-in images to train and to test with; batch 4, quiet. */
void lab_training_make(size_t images, size_t tests);
train_model *lab_small_model(int width);

/* A body: train_run; its result is noted, what it says goes to the slot's `kept`. Always returns 0. */
int lab_train(p2p_comm *world);

/* The same, on so many ranks, expecting every rank to succeed. */
void lab_train_well(int ranks);

/* Every rank ended with err, and said these facts. */
void lab_expect_all(int ranks, p2p_err err, const char *const facts[]);

/* Compiled kernels are kept on disk; a case's time is not for compiling them. */
void lab_warm_up(void);

/* ---- Programs and folders ---- */

/* Run build/train with these arguments; skips where it is not built. */
void lab_run_train(lab_job *job, const char *const args[]);

extern char lab_folder[256];
void lab_make_folder(void);       /* a new one */
void lab_remove_folder(void);     /* and all that is in it */
char *lab_path(const char *name); /* FOLDER/NAME, allocated */

#endif
