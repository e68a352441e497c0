/* SPDX-License-Identifier: MIT */
/*
 * A training that outlives its ranks: --repair, --shrink.
 *
 *      what every rank has      weights, the optimiser's state: from a rank that has taken the step
 *      what only one has        running statistics, its sum of losses, with --shard its parts (shard_keep.c): in kept memory
 *                               (p2p_keep), which the next process of that rank finds again
 *      if no rank is left       weights and state as well: each has kept a part of them (keep_weights.c)
 *
 * After a death the ranks go on from the last step that one of them has taken, K: they repeat what comes after its update.
 * No rank has taken K before all have sent their gradients of K, and each has written its slot of K before that. A rank that
 * died may have written the slot of K + 1 as well: so there are three, and one is never written over that may be needed. With
 * --shard, or where no rank is left, K is the last step of which all ranks have kept their parts.
 *
 *      slots of a rank     | K - 1 | K | K + 1 |     by the number of the step, modulo 3
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/shared/clock.h"
#include "ring/ring.h"
#include "trainer/internal.h"
#include "trainer/run.h"

enum { SLOTS = 3, SUMS = 3 };

/* Of a step, after its forward pass; what has been counted is as after its update. */
typedef struct {
    _Atomic uint64_t step; /* 0: nothing whole */
    uint64_t epoch, position, examples, images, batches;
    double sums[SUMS]; /* of this rank: losses, correct answers, images */
    double loss_sum;   /* of the epoch's images up to the step `settled` */
    uint64_t settled;
} slot;

struct train_kept {
    _Atomic uint64_t complete;                 /* the run has ended, and all is saved */
    _Atomic uint64_t best_epoch, best_correct; /* train_start */
    _Atomic uint64_t checked;                  /* train__check_first has been passed, by rank 0 */
    _Atomic uint64_t asked;                    /* this rank has been asked to stop, or knows that another one has */
    _Atomic uint64_t parts[TRAIN__KEPT_PARTS]; /* shard_keep.c, keep_weights.c */
    slot slots[SLOTS];
    _Atomic uint64_t
        ended[SLOTS];   /* when this rank ended a step, or went on from it; of the slot's step; 0: it has not */
    float statistics[]; /* SLOTS arrays */
};

static bool repairs(const train_settings *s)
{
    return s->repair || s->shrink;
}

static slot *slot_of(train_runner *r, uint64_t step)
{
    return &r->kept->slots[step % SLOTS];
}

static float *statistics_of(train_runner *r, uint64_t step)
{
    return r->kept->statistics + step % SLOTS * r->job->model->statistics;
}

static void forget_slots(train_runner *r)
{
    for (int i = 0; i < SLOTS; i++) atomic_store(&r->kept->slots[i].step, 0);
    for (int i = 0; i < TRAIN__KEPT_PARTS; i++) atomic_store(&r->kept->parts[i], 0);
    atomic_store(&r->kept->best_epoch, 0);
    atomic_store(&r->kept->complete, 0);
}

static p2p_err next_generation(train_runner *r)
{
    p2p_err err = r->settings->shrink ? p2p_shrink(&r->comm) : p2p_repair(&r->comm);
    return train__comm(r->comm, r->error, err);
}

p2p_err train__keep_open(train_runner *r)
{
    if (!repairs(r->settings)) return P2P_OK;
    size_t bytes = sizeof *r->kept + SLOTS * r->job->model->statistics * sizeof(float);
    void *memory;
    p2p_err err;
    do {
        err = train__comm(r->comm, r->error, p2p_keep(r->comm, "trainer", bytes, &memory, NULL));
        if (!err) err = train__keep_weights_open(r, ((train_kept *)memory)->parts);
    } while (err == P2P_ERR_PEER_DEAD && !next_generation(r));
    if (err) return err;
    r->kept = memory;
    if (!p2p_generation(r->comm)) forget_slots(r);
    return P2P_OK;
}

p2p_err train__keep_shard(train_runner *r)
{
    if (!r->kept) return P2P_OK;
    int states = kernel_optimizer_states(&r->optimizer);
    p2p_err err = train__shard_keep_open(r->shard, states, r->kept->parts, r->error);
    return err || !r->owed ? err : train__shard_take(r->shard, r->step, r->error);
}

void train__keep_best(train_runner *r)
{
    if (!r->kept) return;
    atomic_store(&r->kept->best_correct, r->best_correct);
    atomic_store(&r->kept->best_epoch, r->best_epoch);
}

void train__keep_checked(train_runner *r)
{
    if (r->kept) atomic_store(&r->kept->checked, 1);
}

static bool asked(const train_runner *r)
{
    return r->stopping || train__asked_to_stop(r->job);
}

p2p_err train__keep_begin(train_runner *r)
{
    if (!r->kept) return P2P_OK;
    const train_shared *s = &r->network->statistics;
    p2p_err err = train__keep_weights_begin(r);
    if (err) return err;
    kernel_event_free(r->kept_read);
    r->kept_read = NULL;
    kernel_err failed = kernel_fetch(r->network->device, kernel_at(s->on, 0), s->floats, &r->kept_read);
    return failed ? train__device_fail(r->network, failed, r->error) : P2P_OK;
}

p2p_err train__keep_step(train_runner *r, size_t images, size_t own)
{
    if (!r->kept) return P2P_OK;
    size_t correct;
    double loss;
    uint64_t step = r->step + 1;
    slot *s = slot_of(r, step);
    kernel_err failed = kernel_event_wait(r->kept_read);
    if (failed) return train__device_fail(r->network, failed, r->error);
    p2p_err err = train_loss(r->network, &loss, &correct, r->error);
    if (err) return err;
    train__keep_weights(r, r->step);
    if (asked(r)) atomic_store(&r->kept->asked, 1);
    atomic_store(&r->kept->ended[step % SLOTS], 0);
    atomic_store(&s->step, 0);
    s->epoch = r->epoch;
    s->position = r->position + images;
    s->examples = r->examples + images;
    s->images = images;
    s->batches = r->network->batches;
    s->sums[0] = loss;
    s->sums[1] = (double)correct;
    s->sums[2] = (double)own;
    s->loss_sum = r->loss_sum;
    s->settled = r->settled;
    memcpy(statistics_of(r, step), r->network->statistics.host, r->network->statistics.floats * sizeof(float));
    atomic_store(&s->step, step);
    return P2P_OK;
}

void train__keep_time(train_runner *r)
{
    if (r->kept) atomic_store(&r->kept->ended[r->step % SLOTS], p2p__now());
}

p2p_err train__keep_end(train_runner *r)
{
    if (!r->kept) return P2P_OK;
    if (r->stopping) atomic_store(&r->kept->asked, 1);
    p2p_err err = train__comm(r->comm, r->error, coll_barrier(r->comm));
    if (!err) atomic_store(&r->kept->complete, 1);
    return err;
}

/* ---- Where to go on ---- */

enum { NOBODY = -1 };
enum { TAKEN, PART, NEWEST, COMPLETE, STOPPED, ASKED, CHECKED, BEST_EPOCH, BEST, WHAT };

typedef struct {
    int64_t step;   /* the last that a rank has taken: */
    int source;     /* NOBODY: the last of which all have their part */
    int64_t newest; /* that one has begun */
    bool complete;
    bool stopped; /* by a hook, after that step */
    bool asked;   /* a rank has been asked to stop, whether all knew of it or not */
    bool checked;
    int64_t best_epoch, best; /* the best score so far */
} place;

static int64_t newest_part(const train_runner *r)
{
    int64_t newest = 0;
    for (int i = 0; i < TRAIN__KEPT_PARTS; i++) {
        int64_t step = (int64_t)atomic_load(&r->kept->parts[i]);
        if (step > newest) newest = step;
    }
    return newest;
}

static void choose(train_runner *r, const int64_t all[], place *found)
{
    int64_t parts = all[PART];
    *found = (place){.step = all[TAKEN]};
    for (int rank = 0; rank < r->size; rank++) {
        const int64_t *of = all + rank * WHAT;
        if (of[TAKEN] > found->step) found->source = rank, found->step = of[TAKEN];
        if (of[PART] < parts) parts = of[PART];
        if (of[NEWEST] > found->newest) found->newest = of[NEWEST];
        found->complete = found->complete || of[COMPLETE];
        found->asked = found->asked || of[ASKED];
        found->checked = found->checked || of[CHECKED];
        if (of[BEST_EPOCH] > found->best_epoch) found->best_epoch = of[BEST_EPOCH], found->best = of[BEST];
    }
    if (r->sharding || found->step < 0) found->source = NOBODY, found->step = parts;
    for (int rank = 0; rank < r->size; rank++)
        found->stopped = found->stopped || (found->step > 0 && all[rank * WHAT + STOPPED] == found->step);
}

static p2p_err find_place(train_runner *r, place *found)
{
    int64_t mine[WHAT] = {r->has_weights ? (int64_t)r->updated : -1, newest_part(r)};
    int64_t *all = calloc((size_t)r->size, sizeof mine);
    if (!all) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for %d ranks", r->size);
    for (int i = 0; i < SLOTS; i++) {
        int64_t step = (int64_t)atomic_load(&r->kept->slots[i].step);
        if (step > mine[NEWEST]) mine[NEWEST] = step;
    }
    mine[COMPLETE] = (int64_t)atomic_load(&r->kept->complete);
    mine[STOPPED] = r->hook_stopped ? (int64_t)r->step : 0;
    mine[ASKED] = asked(r) || atomic_load(&r->kept->asked);
    mine[BEST_EPOCH] = (int64_t)atomic_load(&r->kept->best_epoch);
    mine[BEST] = (int64_t)atomic_load(&r->kept->best_correct);
    mine[CHECKED] = (int64_t)atomic_load(&r->kept->checked);
    p2p_err err = train__comm(r->comm, r->error, coll_all_gather(r->comm, mine, all, WHAT, DTYPE_I64));
    if (!err) choose(r, all, found);
    free(all);
    return err;
}

/* ---- From the step that was taken last ---- */

static p2p_err take_array(train_runner *r, enum train_array_kind kind, int source)
{
    float *at = train_map(r->network, kind, r->error);
    if (!at) return P2P_ERR_SYS;
    size_t count = train_length(r->network, kind);
    p2p_err err = train__comm(r->comm, r->error, coll_broadcast(r->comm, at, count, DTYPE_F32, source));
    return err ? err : train_flush(r->network, kind, r->error);
}

static p2p_err take_weights(train_runner *r, uint64_t step, int source)
{
    int states = kernel_optimizer_states(&r->optimizer);
    if (r->updated != step) r->has_weights = false; /* until all of it is there; else it is the same that comes */
    if (source == NOBODY) return train__take_kept_weights(r, step);
    p2p_err err = take_array(r, TRAIN_PARAMETERS, source);
    if (!err && states > 0) err = take_array(r, TRAIN_FIRST_STATE, source);
    if (!err && states > 1) err = take_array(r, TRAIN_SECOND_STATE, source);
    return err;
}

p2p_err train__take_statistics(train_runner *r)
{
    train_network *net = r->network;
    if (!train_map(net, TRAIN_STATISTICS, r->error)) return P2P_ERR_SYS;
    memcpy(net->statistics.host, statistics_of(r, r->step), net->statistics.floats * sizeof(float));
    return train_flush(net, TRAIN_STATISTICS, r->error);
}

/* What is known of a step whose process has died: neither times nor the norm, nor what a hook said of the rate. */
static train_step_report report_of(const train_runner *r, const slot *s, const double sums[SUMS])
{
    const double unknown = (double)NAN;
    uint64_t step = atomic_load(&s->step);
    kernel_optimizer o = r->optimizer;
    train_schedule_at(&r->settings->schedule,
                      train__schedule_step(r->job, r->size, step, s->epoch, s->position - s->images), s->epoch,
                      train__total_steps(r->job, r->size), &o);
    return (train_step_report){.step = step,
                               .epoch = s->epoch,
                               .examples = s->examples,
                               .loss = sums[2] > 0 ? sums[0] / sums[2] : unknown,
                               .forward = unknown,
                               .backward = unknown,
                               .sync = unknown,
                               .optimizer = unknown,
                               .images_per_s = unknown,
                               .lr = r->job->hooks.learning_rate ? unknown : (double)o.lr,
                               .norm = unknown};
}

/* The sums of all ranks, of steps whose report no rank may have seen any more. With --shrink those of the dead are gone: then
 * the mean is that of the images whose sums are there, and stands for all images of the step. */
static p2p_err add_sums(train_runner *r, const slot *last, uint64_t step)
{
    p2p_err err = P2P_OK;
    r->loss_sum = last->loss_sum;
    for (uint64_t t = step > 1 ? step - 1 : step; t <= step && !err; t++) {
        const slot *s = slot_of(r, t);
        p2p_request request;
        bool there = atomic_load(&s->step) == t;
        double sums[SUMS] = {0};
        if (there) memcpy(sums, s->sums, sizeof sums);
        err = train__comm(r->comm, r->error, ring_iall_reduce(r->comm, sums, SUMS, DTYPE_F64, OP_SUM, &request));
        if (!err) err = train__comm(r->comm, r->error, p2p_wait(&request, P2P_STATUS_IGNORE));
        if (err || !there || t <= r->job->start.step) continue;
        if (t > last->settled && sums[2] > 0)
            r->loss_sum += sums[0] * ((double)s->images / sums[2]); /* times 1 where none is missing */
        if (!r->metrics || t <= r->metrics_step) continue;
        const train_step_report report = report_of(r, s, sums);
        train__metrics_step(r->metrics, &report);
        train__metrics_check(r, false);
        r->metrics_step = t;
    }
    return err;
}

static p2p_err go_on_from(train_runner *r, const place *from)
{
    uint64_t step = (uint64_t)from->step;
    const slot *s = slot_of(r, step);
    train_network *net = r->network;
    bool part = from->source != NOBODY || atomic_load(&r->kept->parts[step % TRAIN__KEPT_PARTS]) == step;
    if (atomic_load(&s->step) != step || !part)
        return train__fail(r->error, P2P_ERR_STATE, "what rank %d had kept of step %llu is lost", r->rank,
                           (unsigned long long)step);
    p2p_err err = r->sharding ? P2P_OK : take_weights(r, step, from->source);
    if (err) return err;
    r->step = r->updated = step;
    r->has_weights = true;
    err = train__take_statistics(r);
    if (err) return err;
    net->batches = s->batches;
    r->epoch = s->epoch;
    r->position = s->position;
    r->examples = s->examples;
    err = add_sums(r, s, step);
    r->settled = step;
    r->owed = true;
    if (err || r->sharding) return err; /* train__keep_shard takes them */
    return train_same_weights(r->comm, r->job->model, net->parameters.host, r->error);
}

/* ---- The whole ---- */

/* Since the end of the step that all go on from, the longest of all ranks. What was done after it is done again. */
static p2p_err lost_seconds(train_runner *r, double *lost)
{
    uint64_t ended = atomic_load(&r->kept->ended[r->step % SLOTS]);
    *lost = ended ? (double)(p2p__now() - ended) * 1e-9 : -1;
    p2p_err err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, lost, 1, DTYPE_F64, OP_MAX));
    if (*lost < 0) *lost = (double)NAN;
    return err;
}

p2p_err train__gone_on(train_runner *r)
{
    double lost;
    p2p_err err = lost_seconds(r, &lost);
    train__keep_time(r);
    if (err || r->rank != 0) return err;
    if (r->metrics) train__metrics_repair(r->metrics, p2p_generation(r->comm), r->step, r->lost_steps, lost);
    train__metrics_check(r, false);
    train__clear_bar(r);
    train__say(r, "generation %d: %d rank%s, after step %llu; lost: %llu step%s", p2p_generation(r->comm), r->size,
               r->size == 1 ? "" : "s", (unsigned long long)r->step, (unsigned long long)r->lost_steps,
               r->lost_steps == 1 ? "" : "s");
    if (isfinite(lost)) train__say(r, ", %.2f s", lost);
    train__say(r, "\n");
    return P2P_OK;
}

p2p_err train__go_on(train_runner *r, p2p_err (*from_the_start)(train_runner *r))
{
    place from;
    r->rank = p2p_rank(r->comm);
    r->size = p2p_size(r->comm);
    p2p_err err = find_place(r, &from);
    if (err) return err;
    r->complete = from.complete;
    r->hook_stopped = from.stopped;
    r->stopping = from.asked; /* all of them, also those that are new: none makes another step */
    r->checked = from.checked;
    if (r->complete) r->step = (uint64_t)from.step;
    if (r->complete) return P2P_OK;
    r->owed = false;
    bool restart = from.step <= (int64_t)r->job->start.step;
    err = train__metrics_go_on(r, restart);
    if (!err && restart) {
        err = from_the_start(r); /* with what comes from rank 0, which has checked */
        forget_slots(r);
        if (!err) train__keep_checked(r);
    } else if (!err) {
        r->best_epoch = (uint64_t)from.best_epoch;
        r->best_correct = (uint64_t)from.best;
        err = go_on_from(r, &from);
        r->scored = r->epoch - 1;
    }
    r->lost_steps = from.newest > (int64_t)r->step ? (uint64_t)from.newest - r->step : 0;
    return err;
}

/* Another generation of the ranks. What was under way is dropped. */
p2p_err train__repair(train_runner *r)
{
    train__report_drop(r);
    train__shard_close(r->shard);
    train_sync_close(r->sync);
    train_data_parallel_close(r->replica);
    r->shard = NULL;
    r->sync = NULL;
    r->replica = NULL;
    r->network->adding = false; /* of a step whose batches were not all there */
    kernel_finish(r->network->device);
    return next_generation(r);
}
