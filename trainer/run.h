/* SPDX-License-Identifier: MIT */
/*
 * run: one rank's training, and which file does what.
 *
 *      run.c             from the beginning to the end: evaluate, epochs, save
 *      parallel.c        the four changes, as the library makes them
 *      first_use.c       kernels are compiled, by all ranks together
 *      step.c            one step, one epoch; schedule.c the learning rate of a step, clip.c the norm of its gradients
 *      shard*.c          what differs with --shard (shard.h)
 *      repair.c          a training that outlives its ranks; keep_weights.c all of them
 *      evaluate.c        the score over all test images
 *      checkpoint.c      saving; resume.c reading it again; feedback.c what compression has in it
 *      report.c          what is known of a step after its end; metrics.c, progress.c and timeline.c show it;
 *                        plot.c draws it
 */
#ifndef PAIRWISE_TRAINER_RUN_H
#define PAIRWISE_TRAINER_RUN_H

#include <stdio.h>

#include "trainer/network.h"
#include "trainer/shard.h"

enum { TRAIN_DEVICE_NAME = 32 };
enum { TRAIN_GRACE = 60 }; /* seconds for the step under way and a checkpoint; a second signal ends it at once */

/* A step that has been queued. It is reported when the device has finished it: one step later. */
typedef struct {
    bool waiting;
    uint64_t step, epoch, examples;
    size_t images;  /* of all ranks */
    double sums[3]; /* losses, correct answers, ranks that are asked to stop: this rank's, then all ranks' */
    p2p_request under_way;
    train_marks marks;
    double lr, norm;            /* the step's learning rate; of its gradients, 0: not computed */
    double seconds, sync, load; /* the whole step; waiting for the sync; filling the next batch */
    uint64_t copied;            /* bytes between host and device */
    size_t held;                /* --shard: the most that this rank held at once */
} train_pending;

/* The report of a step. */
typedef struct {
    uint64_t step, epoch, examples;
    double loss, accuracy; /* of the step's images, on all ranks, in training */
    double forward, backward, sync, optimizer, load, seconds;
    double images_per_s, lr, norm;
    uint64_t copied;
    size_t held;
} train_step_report;

/* And of an epoch, or of an evaluation before the first. */
typedef struct {
    uint64_t epoch;
    train_score score;
    bool trained; /* else there is no train_loss yet */
    double train_loss, epoch_seconds, evaluate_seconds;
} train_epoch_report;

typedef struct train_kept train_kept;

typedef struct {
    p2p_comm *comm;
    int rank, size;
    const train_job *job;
    const train_settings *settings;
    train_start *begun; /* job->start, if its arrays may go when the ranks have taken them; NULL: they stay */
    train_data data;    /* this rank's view of it: the records are shared */
    train_network *network;
    train_sync *sync;
    train_data_parallel *replica; /* instead of sync, with settings->wrapper */
    enum train_sharding sharding; /* settings->shard, or what auto has become */
    train__shard *shard;          /* NULL: nothing is divided; cut as sync cuts */
    kernel_optimizer optimizer;   /* of the settings; of a step: train_schedule_at */
    train_error *error;

    /* How far the run is. */
    uint64_t step, epoch, position, examples;
    double loss_sum;                           /* of the epoch's images so far */
    uint64_t best_epoch, best_correct, scored; /* as in train_start; the last epoch that has a score */

    /* With --repair (repair.c): */
    train_kept *kept;             /* NULL: without */
    float *kept_part;             /* keep_weights.c: of the weights; NULL: without */
    _Atomic uint64_t *kept_steps; /* and of which steps */
    kernel_event *kept_read;      /* what is to be kept is on the host, as after the forward pass */
    bool has_weights;             /* those after step `updated`, which may be one more than `step` */
    uint64_t updated, settled;    /* the last step that has been reported */
    uint64_t lost_steps;          /* that had begun, and are done again */
    bool owed;                    /* what comes after this step is still to be done */
    bool greeted;
    bool complete; /* nothing is: another process has ended this run */

    /* The images of the epoch: order[first] and so on are what remains; mine: positions of this rank in what
     * remains. */
    size_t *order, *mine, *shares; /* shares: how many each rank has */
    size_t first, remaining, steps_left;
    bool epoch_over; /* all of these steps have been made */
    bool dropped;    /* it has been said that the sampler leaves images out */

    /* Reports. */
    train_pending pending;
    double last_end; /* of the step before */
    uint64_t last_copied;
    double lr, norm; /* of the step under way */
    FILE *metrics;
    uint64_t metrics_step, metrics_epochs; /* what is in it: up to this step; the end of all epochs before this one */
    bool terminal, drawn;                  /* a bar; there is one on the screen */
    double epoch_began;
    uint64_t epoch_steps, first_step;         /* of what remained of the epoch; before it */
    uint64_t epoch_before;                    /* steps of the epoch that were made before, by a run that is resumed */
    double trained_seconds, evaluate_seconds; /* in the epochs so far; of the last evaluation */
    uint64_t trained_steps;
    uint64_t checkpoint; /* the step of the last that was written; 0: none was */
    int lock;            /* on the folder of --out; -1: none */
    bool checked;        /* there was no run in it that must not be replaced, or it has been written to already */
    p2p_err save_failed; /* something could not be written; it has been reported */
    bool metrics_failed; /* as well */
    bool best_failed;    /* and this */
    bool hook_ended;     /* a hook ended the training, with an error */
    bool hook_stopped;   /* with TRAIN_STOP, and all know */
    bool stopping;       /* a rank has been asked to stop, and all know */
} train_runner;

/* Are the gradients added up by a function of the user's? By none at all, so that replicas drift apart? */
static inline bool train__own_sync(const train_job *job)
{
    return job->reducer || job->parallel.all_reduce;
}

/* Is a bucket reduced as soon as it is ready? */
static inline bool train__overlaps(const train_job *job)
{
    const train_settings *s = &job->settings;
    bool can = train__own_sync(job) ? job->reducer && job->reducer->iall_reduce : s->all_reduce == TRAIN_RING;
    return s->overlap && can;
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

/* first_use.c: use every kernel of the model once, before anything is computed with it. All ranks call it. */
p2p_err train__first_use(train_runner *r);

/* folders.c */
p2p_err train__check_results(const train_settings *settings, train_error *error);
/* Rank 0, before anything is written: the folder of --out is this run's, and, what a process that may take the place of another
 * cannot look at before the job knows that it does not, there is no other run in it. */
p2p_err train__check_first(train_runner *r);
/* Does the run write into the folder of --out? A run has it alone: *lock is a descriptor that holds it until it is closed; -1: the
 * file system has no locks. */
bool train__writes_folder(const train_settings *settings);
p2p_err train__lock_folder(const char *folder, int *lock, train_error *error);
p2p_err train__make_folder(const char *option, const char *path, train_error *error);
bool train__same_folder(const char *one, const char *other); /* also where they are written differently, or NULL */

/* schedule.c: the names of --schedule; what a checkpoint says of it; what is wrong with it, or NULL; how many steps the
 * whole run has, and whether --warmup leaves any of them. */
enum { TRAIN_SCHEDULE_TEXT = 160 };
bool train__schedule_named(const char *text, train_schedule *schedule);
const char *train__schedule_text(const train_settings *settings, char text[TRAIN_SCHEDULE_TEXT]);
const char *train__schedule_problem(const train_schedule *schedule);
uint64_t train__total_steps(const train_job *job, int ranks);
/* Which of those steps the schedule takes for step number `step`, in this epoch, after `position` images of it. */
uint64_t train__schedule_step(const train_job *job, int ranks, uint64_t step, uint64_t epoch, uint64_t position);
p2p_err train__check_length(const train_job *job, train_error *error);

/* clip.c: r->norm of the step's gradients, if it is asked for; --clip */
p2p_err train__clip(train_runner *r);

/* plot.c: can there be pictures of this run? Draw them. */
p2p_err train__check_plot(const train_settings *settings, train_error *error);
p2p_err train__plot(const char *run, const char *folder, train_error *error);

/* Batches of a step, per rank. */
enum { TRAIN_MOST_BATCHES = 65536 };
static inline size_t train__batches_of(const train_settings *settings)
{
    return settings->accumulate ? settings->accumulate : 1;
}

/* Images of a step, at most: of all its batches, on one rank. */
static inline size_t train__step_images(const train_settings *settings)
{
    return settings->batch * train__batches_of(settings);
}

/* The images that a rank has in a step are dealt out to its batches, as to ranks: to no more batches than hold them, so that
 * those of a short step are not spread over batches of one image each, of which batch norm knows no variance. So many
 * batches; so many images in batch b, which has the images b, b + dealt, b + 2 dealt, ... */
static inline size_t train__dealt(const train_settings *settings, size_t images)
{
    return (images + settings->batch - 1) / settings->batch;
}

static inline size_t train__images_in(size_t images, size_t dealt, size_t b)
{
    return b < dealt ? (images + dealt - 1 - b) / dealt : 0;
}

/* settings.c: why --shard cannot divide anything in such a run, or NULL */
const char *train__shard_problem(const train_settings *s);

/* settings.c: bytes of memory that a rank cannot do without */
size_t train__least_memory(const train_job *job);

/* run.c: is there nothing left to do after so many steps, in this epoch? */
bool train__finished(const train_settings *settings, uint64_t step, uint64_t epoch);
/* --patience: has it been that many epochs, up to this one, without a better score? */
bool train__waited_enough(const train_settings *settings, uint64_t best_epoch, uint64_t epoch);

/* run.c: train_run for a process that trains once. Of *start, which is that of the job, only the numbers are left;
 * NULL: it stays as it is. */
p2p_err train__run_once(p2p_comm *comm, const train_job *job, train_start *start, train_result *result,
                        train_error *error);

/* step.c */
p2p_err train__epoch(train_runner *r);

/* repair.c. Memory of this rank's that outlives it. With --shard its parts, too: those of the step to go on from. Queue the
 * reading of the statistics, after a forward pass; keep them, and what is known of the step (images of all ranks, of this
 * one), before this rank sends its gradients. The end: when all ranks have done and saved everything. */
p2p_err train__keep_open(train_runner *r);
p2p_err train__keep_shard(train_runner *r);
void train__keep_best(train_runner *r);    /* the epoch with the best score */
void train__keep_checked(train_runner *r); /* that of rank 0, train__check_first */
p2p_err train__keep_begin(train_runner *r);
p2p_err train__keep_step(train_runner *r, size_t images, size_t own);
p2p_err train__keep_end(train_runner *r);
p2p_err train__take_statistics(train_runner *r); /* those that were kept of the last step */
/* keep_weights.c: this rank's part of the weights after each step, `steps` says of which; queue the reading of it, keep it. All
 * ranks together: take those of a step again. */
p2p_err train__keep_weights_open(train_runner *r, _Atomic uint64_t steps[]);
p2p_err train__keep_weights_begin(train_runner *r);
void train__keep_weights(train_runner *r, uint64_t step);
p2p_err train__take_kept_weights(train_runner *r, uint64_t step);
/* After the death of a rank: the next generation, without sync. Then, in new processes too: go on from the last step that a
 * rank has taken, or, if there is none, from the start. */
p2p_err train__repair(train_runner *r);
p2p_err train__go_on(train_runner *r, p2p_err (*from_the_start)(train_runner *r));
/* It is the end of a step; and: everything is there to go on with, which is reported. */
void train__keep_time(train_runner *r);
p2p_err train__gone_on(train_runner *r);

/* evaluate.c: with logits (of all test images, in their order, on rank 0) if not NULL */
p2p_err train__score(train_runner *r, train_score *score, float *logits);
p2p_err train__dump_logits(const train_model *model, const char *path, const float *logits, size_t images,
                           train_error *error);

/* checkpoint.c, resume.c. What a checkpoint belongs to; what is in it is a train_start. */
typedef struct {
    const train_settings *settings;
    const train_model *model;
    size_t images; /* to train with */
} train_run_of;

p2p_err train__same_weights(train_runner *r); /* where every rank has all parameters: are they the same? */
p2p_err train__checkpoint(train_runner *r);
void train__checkpoint_alone(train_runner *r); /* rank 0, without asking the others, whose feedback is lost */
p2p_err train__write_checkpoint(const char *folder, const train_run_of *run, const train_start *now,
                                train_error *error);
p2p_err train__resume(const char *folder, const train_run_of *run, train_start *start, train_error *error);

/* feedback.c: what compression has not sent yet. All ranks: what the run begins with; and, at rank 0, of all ranks, for
 * a checkpoint: *error is the caller's, NULL elsewhere and where nothing is compressed. */
p2p_err train__feedback_take(train_runner *r);
p2p_err train__feedback_gather(train_runner *r, float **error);

/* report.c */
p2p_err train__report_step(train_runner *r);
p2p_err train__report_settle(train_runner *r);
void train__report_drop(train_runner *r);
void train__report_epoch(train_runner *r, const train_epoch_report *report);

/* metrics.c: rank 0 only */
p2p_err train__metrics_open(train_runner *r);
void train__metrics_check(train_runner *r, bool end); /* after lines were written: are they there? end: and close it */
void train__metrics_step(FILE *metrics, const train_step_report *report);
void train__metrics_epoch(FILE *metrics, const train_epoch_report *report);
void train__metrics_repair(FILE *metrics, int generation, uint64_t step, uint64_t lost_steps, double lost);
/* In another generation: opened if it is not, without a line that has no end; `restart`: without any of this run. */
p2p_err train__metrics_go_on(train_runner *r, bool restart);

/* progress.c: rank 0 only */
void train__progress_begin(train_runner *r);
void train__progress_sync(const train_runner *r);
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
