/* SPDX-License-Identifier: MIT */
/*
 * training: a small training run for tests: a model of two blocks on a few built-in images, and a notebook in shared
 * memory in which every rank writes what it has after every step.
 */
#ifndef PAIRWISE_TESTS_TRAINER_TRAINING_H
#define PAIRWISE_TESTS_TRAINER_TRAINING_H

#include "tests/util/job.h"
#include "trainer/trainer.h"

enum { TRAINING_STEPS = 16, TRAINING_RANKS = 8, TRAINING_ROOM = 8192 };

/* What one rank had after one step. */
typedef struct {
    float gradients[TRAINING_ROOM]; /* after sync */
    uint32_t weights;               /* CRC32C */
} training_page;

typedef struct {
    int steps[TRAINING_RANKS]; /* written by each rank */
    training_page page[TRAINING_RANKS][TRAINING_STEPS];
    uint32_t statistics[TRAINING_RANKS]; /* CRC32C at the end */
    train_score score[TRAINING_RANKS];
    size_t buckets;
} training_book;

/* A job with the small model (4,906 parameters or so), `images` built-in images to train with and `tests` to test with,
 * batch norm as usual, adamw. Free it with train_job_free. The book comes from job_shared. */
void training_make(train_job *job, training_book *book, size_t images, size_t tests);

/* Run it on `ranks` ranks. NULL, or what was wrong. */
const char *training_run(train_job *job, int ranks);

/* A rank's function for job_run, arg is the train_job. What train_run says ends up in the note. */
int training_rank(p2p_comm *world, void *arg);

/* The largest difference between two gradients of a step, in any tensor, divided by the largest gradient of that
 * tensor. */
double training_difference(const train_job *job, const float *one, const float *other);

#endif
