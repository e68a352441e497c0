/* SPDX-License-Identifier: MIT */
/*
 * run: one rank's training, and which file does what.
 *
 *      run.c             from the beginning to the end: evaluate, epochs, save
 *      parallel.c        the four changes, as the library makes them
 *      step.c            one step, one epoch
 *      evaluate.c        the score over all test images
 *      checkpoint.c      saving; resume.c reading it again
 *      report.c          what is known of a step after its end; metrics.c, progress.c and timeline.c show it
 */
#ifndef PAIRWISE_TRAINER_RUN_H
#define PAIRWISE_TRAINER_RUN_H

#include <stdio.h>

#include "trainer/network.h"

enum { TRAIN_DEVICE_NAME = 32 };

/* A step that has been queued. It is reported when the device has finished it: one step later. */
typedef struct {
    bool waiting;
    uint64_t step, epoch, examples;
    size_t images;  /* of all ranks */
    double sums[3]; /* losses, correct answers, ranks that are asked to stop: this rank's, then all ranks' */
    p2p_request under_way;
    train_marks marks;
    double seconds, sync, load; /* the whole step; waiting for the sync; filling the next batch */
    uint64_t copied;            /* bytes between host and device */
} train_pending;

/* The report of a step. */
typedef struct {
    uint64_t step, epoch, examples;
    double loss, accuracy; /* of the step's images, on all ranks, in training */
    double forward, backward, sync, optimizer, load, seconds;
    double images_per_s;
    uint64_t copied;
} train_step_report;

/* And of an epoch, or of an evaluation before the first. */
typedef struct {
    uint64_t epoch;
    train_score score;
    bool trained; /* else there is no train_loss yet */
    double train_loss, epoch_seconds, evaluate_seconds;
} train_epoch_report;

typedef struct {
    p2p_comm *comm;
    int rank, size;
    const train_job *job;
    const train_settings *settings;
    train_data data; /* this rank's view of it: the records are shared */
    train_network *network;
    train_sync *sync;
    train_data_parallel *replica; /* instead of sync, with settings->wrapper */
    kernel_optimizer optimizer;
    train_error *error;

    /* How far the run is. */
    uint64_t step, epoch, position, examples;
    double loss_sum; /* of the epoch's images so far */

    /* The images of the epoch: order[first] and so on are what remains; mine: positions of this rank in what
     * remains. */
    size_t *order, *mine, *shares; /* shares: how many each rank has */
    size_t first, remaining, steps_left;

    /* Reports. */
    train_pending pending;
    double last_end; /* of the step before */
    uint64_t last_copied;
    FILE *metrics;
    bool terminal, drawn; /* a bar; there is one on the screen */
    double epoch_began;
    uint64_t epoch_steps, first_step;
    double trained_seconds, evaluate_seconds; /* in the epochs so far; of the last evaluation */
    uint64_t trained_steps;
    p2p_err save_failed; /* something could not be written; it has been reported */
    bool hook_ended;     /* a hook ended the training */
    bool stopping;       /* a rank has been asked to stop, and all know */
} train_runner;

/* Are the gradients added up by a function of the user's? By none at all, so that replicas drift apart? */
static inline bool train__own_sync(const train_job *job)
{
    return job->reducer || job->parallel.all_reduce;
}

static inline bool train__no_sync(const train_job *job)
{
    return !train__own_sync(job) && job->settings.all_reduce == TRAIN_NONE;
}

/* This rank is asked to stop. */
static inline bool train__asked_to_stop(const train_job *job)
{
    return job->stop && *job->stop;
}

/* devices.c, cores.c */
p2p_err train__check_devices(const char *list, int ranks, train_error *error);
void train__device_of(const char *list, int rank, char entry[TRAIN_DEVICE_NAME]);
int train__cores_of(const char *list, int ranks);
int train__cores(void);
p2p_err train__warn_devices(train_runner *r);

/* parallel.c */
bool train__algorithm_named(const char *name, enum train_algorithm *algorithm);
const char *train__algorithm_name(enum train_algorithm algorithm);
train_all_reduce train__all_reduce_of(enum train_algorithm algorithm); /* NULL: none */
p2p_err train__broadcast_all(train_runner *r);
p2p_err train__broadcast_statistics(train_runner *r);

/* folders.c */
p2p_err train__check_results(const train_settings *settings, train_error *error);
bool train__same_folder(const char *one, const char *other); /* also where they are written differently, or NULL */

/* settings.c: bytes of memory that a rank cannot do without */
size_t train__least_memory(const train_job *job);

/* run.c: is there nothing left to do after so many steps, in this epoch? */
bool train__finished(const train_settings *settings, uint64_t step, uint64_t epoch);

/* step.c */
p2p_err train__epoch(train_runner *r);

/* evaluate.c: with logits (of all test images, in their order, on rank 0) if not NULL */
p2p_err train__score(train_runner *r, train_score *score, float *logits);
p2p_err train__dump_logits(const char *path, const float *logits, size_t images, train_error *error);

/* checkpoint.c, resume.c. What a checkpoint belongs to; what is in it is a train_start. */
typedef struct {
    const train_settings *settings;
    const train_model *model;
    size_t images; /* to train with */
} train_run_of;

p2p_err train__checkpoint(train_runner *r);
void train__checkpoint_alone(train_runner *r); /* rank 0, without asking the others */
p2p_err train__write_checkpoint(const char *folder, const train_run_of *run, const train_start *now,
                                train_error *error);
p2p_err train__resume(const char *folder, const train_run_of *run, train_start *start, train_error *error);

/* report.c */
p2p_err train__report_step(train_runner *r);
p2p_err train__report_settle(train_runner *r);
void train__report_drop(train_runner *r);
void train__report_epoch(train_runner *r, const train_epoch_report *report);

/* metrics.c: rank 0 only */
p2p_err train__metrics_open(train_runner *r);
void train__metrics_step(FILE *metrics, const train_step_report *report);
void train__metrics_epoch(FILE *metrics, const train_epoch_report *report);

/* progress.c: rank 0 only */
void train__progress_begin(train_runner *r);
const char *train__time_text(double seconds, char text[24]); /* "17 s", "12 min", "3.4 h" */
void train__progress_epoch_begin(train_runner *r);
void train__progress_step(train_runner *r, const train_step_report *report);
void train__progress_epoch(train_runner *r, const train_epoch_report *report);
void train__say(const train_runner *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline double train__share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* bar.c: rank 0 only, and only where it can be drawn */
bool train__can_draw(const train_runner *r);
void train__draw_bar(train_runner *r, const train_step_report *report, double seconds_left);
void train__clear_bar(train_runner *r); /* before anything else is said */

/* timeline.c: all ranks */
p2p_err train__timeline(train_runner *r, const train_step_report *report);

/* Settings that are names. */
bool train__rule_named(const char *name, kernel_rule *rule);
const char *train__rule_name(kernel_rule rule);
kernel_optimizer train__optimizer_of(const train_settings *settings);

#endif
