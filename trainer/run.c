/* SPDX-License-Identifier: MIT */
/* One rank's training from the beginning to the end. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "trainer/run.h"
#include "trainer/weights.h"

/* ---- Beginning ---- */

/* Auto: each rank updates its part between the halves of the all-reduce, if there is enough to update, the halves do not
 * travel, parameters have no more bytes than what is sent of gradients, and no hook of this rank looks at arrays that would
 * have its part only. */
static bool updates_parts(const train_runner *r)
{
    const train_settings *s = r->settings;
    const train_hooks *h = &r->job->hooks;
    bool hooked = h->before_shard || h->after_sync || h->after_step || h->learning_rate;
    bool long_enough = r->job->model->parameters * sizeof(float) > s->bucket_bytes;
    return !hooked && long_enough && !train__own_sync(r->job) && !train__shard_problem(s) && !s->repair &&
           s->compress.wire == DTYPE_F32 && r->size > 1 && p2p_layer_has_shared_memory(r->comm);
}

static p2p_err open_network(train_runner *r)
{
    const train_settings *s = r->settings;
    char device[TRAIN_DEVICE_NAME];
    train__device_of(s->device, r->rank, device);
    train_network_options options = {.device = strcmp(device, "auto") == 0 ? NULL : device,
                                     .cores = train__cores_of(s->device, r->size),
                                     .batch = s->batch,
                                     .comm = r->comm,
                                     .frozen = s->frozen,
                                     .label_smoothing = s->label_smoothing,
                                     .shard = r->sharding};
    return train_network_open(r->job->model, &options, &r->network, r->error);
}

/* Which device a rank has is known when it is open, and hooks are each rank's own; all ranks divide, or none. With --repair and
 * --shrink none does, and a rank that comes later would be alone here. */
static p2p_err settle_sharding(train_runner *r)
{
    const train_settings *s = r->settings;
    int32_t can = r->sharding && r->network->info.shares_memory;
    if (s->shard != TRAIN_SHARD_AUTO || s->repair || s->shrink || r->size == 1) return P2P_OK;
    p2p_err err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, &can, 1, DTYPE_I32, OP_MIN));
    r->sharding = can ? TRAIN_SHARD_OPTIMIZER : TRAIN_SHARD_NONE;
    return err;
}

static p2p_err open_sync(train_runner *r)
{
    const train_settings *s = r->settings;
    const train_job *job = r->job;
    bool own = train__own_sync(job);
    train_sync_options options = {.all_reduce = own ? job->parallel.all_reduce : train__all_reduce_of(s->all_reduce),
                                  .overlap = train__overlaps(job),
                                  .bucket_bytes = s->bucket_bytes,
                                  .reducer = job->reducer,
                                  .compress = s->compress};
    if (options.overlap && !own) options.all_reduce = ring_all_reduce; /* itself: that is what goes in the background */
    return s->wrapper ? train_data_parallel_open(r->network, r->comm, &options, &r->replica, r->error)
                      : train_sync_open(r->network, r->comm, &options, &r->sync, r->error);
}

static p2p_err open_shard(train_runner *r)
{
    if (!r->sharding) return P2P_OK;
    if (train__own_sync(r->job))
        return train__fail(r->error, P2P_ERR_ARG,
                           "--shard: gradients are not added up by a function of your own\n"
                           "  try: examples/train_shard.c, a loop of one's own");
    p2p_err err = train__shard_open(r->network, r->comm, r->sync, train__batches_of(r->settings), &r->shard, r->error);
    return err ? err : train__keep_shard(r);
}

static p2p_err open_memory(train_runner *r)
{
    size_t images = r->data.train.count;
    r->order = malloc((images + 1) * sizeof *r->order);
    r->mine = malloc((images + 1) * sizeof *r->mine);
    r->shares = malloc((size_t)r->size * sizeof *r->shares);
    if (r->order && r->mine && r->shares) return P2P_OK;
    return train__fail(r->error, P2P_ERR_NOMEM, "no memory for the order of %zu images", images);
}

/* Every rank begins with numbers of its own; only rank 0 has read a file. So without change 1 the replicas differ. */
static p2p_err first_numbers(train_runner *r)
{
    const train_model *m = r->job->model;
    const train_start *start = &r->job->start;
    train_network *net = r->network;
    float *parameters = net->parameters.host, *statistics = net->statistics.host;
    train_initialise(m, r->settings->seed + (uint64_t)r->rank, parameters, statistics);
    if (r->rank == 0 && start->parameters) {
        memcpy(parameters, start->parameters, m->parameters * sizeof(float));
        memcpy(statistics, start->statistics, m->statistics * sizeof(float));
    }
    for (int k = 0; k < TRAIN_STATES; k++) {
        train_shared *state = &net->state[k];
        if (p2p_generation(r->comm) && k < kernel_optimizer_states(&r->optimizer))
            memset(state->host, 0, state->floats * sizeof(float)); /* with --shard: of a step that not all have taken */
        if (r->rank == 0 && start->state[k]) memcpy(state->host, start->state[k], m->parameters * sizeof(float));
    }
    net->batches = start->batches;
    r->step = start->step;
    r->epoch = start->epoch;
    r->position = start->position;
    r->examples = start->examples;
    r->loss_sum = start->loss_sum;
    r->best_epoch = start->best_epoch;
    r->best_correct = start->best_correct;
    r->scored = start->epoch - 1;
    p2p_err err = train_flush(net, TRAIN_PARAMETERS, r->error);
    if (!err) err = train_flush(net, TRAIN_STATISTICS, r->error);
    if (!err) err = train_flush(net, TRAIN_FIRST_STATE, r->error);
    return err ? err : train_flush(net, TRAIN_SECOND_STATE, r->error);
}

/* With --shard this is looked at before the first step: later parameters come from the ranks that update them, and would be
 * the same on all ranks in any case. */
static p2p_err from_the_start(train_runner *r)
{
    p2p_err err = first_numbers(r);
    if (!err) err = train__broadcast_all(r); /* change 1 */
    if (!err && r->sharding) err = train__same_weights(r);
    r->updated = r->settled = r->step;
    r->has_weights = !err;
    return err;
}

static void drop_arrays(train_start *start)
{
    train_start numbers = *start;
    train_start_free(start);
    numbers.parameters = numbers.statistics = numbers.error = numbers.factors = NULL;
    for (int k = 0; k < TRAIN_STATES; k++) numbers.state[k] = NULL;
    *start = numbers;
}

/* The first generation, or, after the death of a rank, the next. */
static p2p_err begin(train_runner *r)
{
    bool first = !r->kept || !p2p_generation(r->comm);
    p2p_err err = first ? train__warn_devices(r) : P2P_OK;
    if (!err && r->rank == 0 && !r->greeted) train__progress_begin(r);
    p2p_layer_grace(r->comm, TRAIN_GRACE);
    if (!err && first) err = train__check_first(r);
    if (!err && first) err = train__first_use(r); /* ends with a barrier: then the check of rank 0 has been made */
    if (!err && first) train__keep_checked(r);
    if (!err && first) err = from_the_start(r);
    if (!err && !first) err = train__go_on(r, from_the_start);
    if (err || r->complete) return err;
    err = open_sync(r);
    if (!err) err = open_shard(r);
    if (!err) err = train__feedback_take(r);
    if (!err && r->begun) drop_arrays(r->begun);
    if (!err && r->replica && r->owed) err = train__take_statistics(r); /* the wrapper has given all those of rank 0 */
    if (!err && first) err = train__metrics_open(r);
    if (!err && first) train__keep_time(r);
    if (!err && !first) err = train__gone_on(r);
    if (!err && r->rank == 0 && !r->greeted) train__progress_sync(r);
    r->greeted = true;
    return err;
}

static void end(train_runner *r)
{
    train__report_drop(r);
    train__metrics_check(r, true);
    if (r->lock >= 0) close(r->lock);
    train__shard_close(r->shard);
    train_sync_close(r->sync);
    train_data_parallel_close(r->replica);
    kernel_event_free(r->kept_read);
    train_network_close(r->network);
    free(r->order);
    free(r->mine);
    free(r->shares);
}

/* ---- Evaluation ---- */

static p2p_err evaluate(train_runner *r, bool last, train_epoch_report *report)
{
    const char *path = last ? r->settings->dump_logits : NULL;
    size_t images = r->data.test.count;
    float *logits = path ? calloc(images * (size_t)r->job->model->classes, sizeof *logits) : NULL;
    double since = p2p_time(r->comm);
    if (path && !logits) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for the logits");
    p2p_err err = train__score(r, &report->score, logits);
    report->evaluate_seconds = r->evaluate_seconds = p2p_time(r->comm) - since;
    if (!err && !r->stopping && path && r->rank == 0 &&
        train__dump_logits(r->job->model, path, logits, images, r->error)) {
        fprintf(stderr, "train: no logits were written: %s\n", r->error->text);
        r->save_failed = P2P_ERR_SYS;
    }
    free(logits);
    return err;
}

/* ---- Training ---- */

bool train__finished(const train_settings *s, uint64_t step, uint64_t epoch)
{
    if (s->eval_only || (s->steps && step >= s->steps)) return true;
    uint64_t epochs = s->epochs ? s->epochs : s->steps ? UINT64_MAX : 1;
    return epoch > epochs;
}

bool train__waited_enough(const train_settings *s, uint64_t best_epoch, uint64_t epoch)
{
    return s->patience && best_epoch && epoch >= best_epoch + s->patience;
}

static bool finished(const train_runner *r)
{
    return r->hook_stopped || train__finished(r->settings, r->step, r->epoch) ||
           train__waited_enough(r->settings, r->best_epoch, r->scored);
}

/* After the epoch before r->epoch, or what there was of r->epoch. */
static bool checkpoint_is_due(const train_runner *r)
{
    const train_settings *s = r->settings;
    if (finished(r) || r->stopping) return true;
    if (s->save_steps) return r->step % s->save_steps == 0;
    return (r->epoch - 1) % (s->save_epochs ? s->save_epochs : 1) == 0;
}

/* A sampler of the user's may leave images out; that is said once. */
static void say_dropped(train_runner *r)
{
    size_t count = r->data.train.count;
    if (r->position >= count || r->dropped) return;
    r->dropped = true;
    train__clear_bar(r);
    train__say(r, "epoch %" PRIu64 " had %" PRIu64 " of %zu images: the sampler leaves the others out\n", r->epoch,
               r->position, count);
}

/* All ranks, of which the first writes. */
static p2p_err write_weights(train_runner *r, const char *path, p2p_err *failed)
{
    p2p_err err = r->shard ? train__shard_collect(r->shard, 0, r->error) : P2P_OK;
    if (err) return err;
    const float *parameters = train_map(r->network, TRAIN_PARAMETERS, r->error);
    const float *statistics = train_map(r->network, TRAIN_STATISTICS, r->error);
    if (!parameters || !statistics) return P2P_ERR_SYS;
    *failed = P2P_OK;
    if (r->rank != 0) return P2P_OK;
    *failed = train_save_weights(path, r->job->model, parameters, statistics, r->network->batches, r->error);
    if (*failed) train__clear_bar(r);
    if (*failed) fprintf(stderr, "train: the weights were not saved: %s\n", r->error->text);
    return P2P_OK;
}

static p2p_err save_at_end(train_runner *r)
{
    p2p_err failed;
    if (!r->settings->save) return P2P_OK;
    p2p_err err = write_weights(r, r->settings->save, &failed);
    if (!err && failed) r->save_failed = failed;
    return err;
}

/* With --patience: is this the best score so far? Its weights are kept as well. */
static p2p_err note_score(train_runner *r, uint64_t epoch, const train_score *score)
{
    char path[PATH_MAX];
    p2p_err failed;
    r->scored = epoch;
    if (!r->settings->patience || (r->best_epoch && score->correct <= r->best_correct)) return P2P_OK;
    r->best_epoch = epoch;
    r->best_correct = score->correct;
    train__keep_best(r);
    if (!r->settings->out) return P2P_OK;
    if (snprintf(path, sizeof path, "%s/" TRAIN_BEST_FILE, r->settings->out) >= (int)sizeof path) return P2P_ERR_ARG;
    p2p_err err = write_weights(r, path, &failed);
    if (!err && failed) r->best_failed = true;
    if (!err && r->shard) train__shard_divide(r->shard);
    return err;
}

/* One epoch, or what the limit of steps leaves of it; then the score, and a checkpoint. */
static p2p_err train_and_score(train_runner *r, train_score *score)
{
    train_epoch_report report = {.epoch = r->epoch, .trained = true};
    train__progress_epoch_begin(r);
    p2p_err err = train__epoch(r);
    if (err) return err;
    report.epoch_seconds = p2p_time(r->comm) - r->epoch_began;
    r->trained_seconds += report.epoch_seconds;
    r->trained_steps += r->step - r->first_step;
    report.train_loss = r->loss_sum / (double)r->position;
    if (r->epoch_over) {
        say_dropped(r);
        r->epoch++;
        r->position = 0;
        r->loss_sum = 0;
    }
    bool last = finished(r) || train__waited_enough(r->settings, r->best_epoch, report.epoch); /* or it may be */
    if (!r->stopping) err = evaluate(r, last, &report);
    if (err) return err;
    if (!r->stopping) {
        train__report_epoch(r, &report);
        *score = report.score;
        err = note_score(r, report.epoch, score);
        if (err) return err;
    }
    return checkpoint_is_due(r) ? train__checkpoint(r) : P2P_OK;
}

static void say_best(train_runner *r)
{
    train__clear_bar(r);
    train__say(r, "no better for %" PRIu64 " epoch%s: the best was epoch %" PRIu64 ", with %.2f%%%s%s\n",
               r->settings->patience, r->settings->patience == 1 ? "" : "s", r->best_epoch,
               100 * train__share_of(r->best_correct, r->data.test.count), r->settings->out ? "; its weights: " : "",
               r->settings->out ? TRAIN_BEST_FILE : "");
}

static p2p_err score_before(train_runner *r, train_score *score)
{
    train_epoch_report before = {.epoch = 0};
    p2p_err err = evaluate(r, finished(r), &before);
    if (err || r->stopping) return err;
    before.epoch = r->position ? r->epoch : r->epoch - 1; /* the last that has begun */
    train__report_epoch(r, &before);
    *score = before.score;
    return P2P_OK;
}

/* All of it, or what is left. */
static p2p_err run_generation(train_runner *r, train_score *score)
{
    p2p_err err = begin(r);
    if (err || r->complete) return err;
    bool before = !r->owed;
    if (before) err = score_before(r, score);
    if (before && r->stopping) return err;
    while (!err && (r->owed || (!finished(r) && !r->stopping))) err = train_and_score(r, score);
    if (!err && train__waited_enough(r->settings, r->best_epoch, r->scored)) say_best(r);
    if (!err) err = save_at_end(r);
    return err ? err : train__keep_end(r);
}

static p2p_err run(train_runner *r, train_score *score)
{
    p2p_err err = open_memory(r);
    if (!err) err = open_network(r);
    if (!err) err = settle_sharding(r);
    if (!err) err = train__keep_open(r);
    if (!err) err = run_generation(r, score);
    while (err == P2P_ERR_PEER_DEAD && r->kept && !r->hook_ended) {
        err = train__repair(r);
        if (!err) err = run_generation(r, score);
    }
    return err;
}

/* Nothing here may need the other ranks: they may not end here. With --shard rank 0 has no more than the weights. */
static void save_for_hook(train_runner *r)
{
    const train_settings *s = r->settings;
    bool has_weights = r->sharding != TRAIN_SHARD_PARAMETERS;
    if (r->shard && r->rank == 0 && (s->out || (s->save && !has_weights)))
        fprintf(stderr, "train: %s: with --shard %s\n", has_weights ? "no checkpoint was written" : "nothing was saved",
                has_weights ? "no rank alone has the optimizer's state" : "parameters no rank alone has the weights");
    train_error why = *r->error;
    if (has_weights && !train__report_settle(r)) {
        if (!r->shard) train__checkpoint_alone(r);
        save_at_end(r);
    }
    *r->error = why;
}

p2p_err train__run_once(p2p_comm *comm, const train_job *job, train_start *start, train_result *result,
                        train_error *error)
{
    train_error unused;
    enum train_sharding asked = job->settings.shard;
    bool repairs = job->settings.repair || job->settings.shrink; /* if no rank is left, from the start again */
    train_result last = {.saved = true};
    if (!error) error = &unused;
    train_runner r = {.comm = comm,
                      .rank = p2p_rank(comm),
                      .size = p2p_size(comm),
                      .job = job,
                      .settings = &job->settings,
                      .begun = repairs ? NULL : start,
                      .data = job->data,
                      .optimizer = train__optimizer_of(&job->settings),
                      .lock = -1,
                      .error = error};
    r.sharding = asked != TRAIN_SHARD_AUTO ? asked : updates_parts(&r) ? TRAIN_SHARD_OPTIMIZER : TRAIN_SHARD_NONE;
    if (repairs) p2p_set_errors(comm, P2P_ERRORS_RETURN);
    p2p_err err = run(&r, &last.score);
    if (err && r.hook_ended) save_for_hook(&r);
    end(&r);
    last.saved = !r.save_failed && !r.metrics_failed && !r.best_failed;
    last.stopped = r.stopping;
    last.checkpoint = r.checkpoint && r.checkpoint == r.step;
    last.step = r.step;
    if (!err && result) *result = last;
    return err;
}

p2p_err train_run(p2p_comm *comm, const train_job *job, train_result *result, train_error *error)
{
    return train__run_once(comm, job, NULL, result, error);
}
