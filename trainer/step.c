/* SPDX-License-Identifier: MIT */
/* One epoch, one step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "trainer/internal.h"
#include "trainer/run.h"

static p2p_err hook_fail(train_runner *r, p2p_err err)
{
    r->hook_ended = true;
    if (err == TRAIN_STOP) return train__fail(r->error, P2P_ERR_ARG, "a hook: TRAIN_STOP is for after_step only");
    return train__fail(r->error, err, "a hook ended the training: %s", p2p_strerror(err));
}

static p2p_err call_hook(train_runner *r, p2p_err (*hook)(void *arg, const train_hook_context *now))
{
    const train_hook_context now = {r->comm, r->network, &r->data, r->epoch, r->step};
    p2p_err err = hook ? hook(r->job->hooks.arg, &now) : P2P_OK;
    return err ? hook_fail(r, err) : P2P_OK;
}

/* Of all ranks, so that one may decide alone. */
static p2p_err call_after_step(train_runner *r)
{
    const train_hook_context now = {r->comm, r->network, &r->data, r->epoch, r->step};
    const train_hooks *hooks = &r->job->hooks;
    if (!hooks->after_step) return P2P_OK;
    p2p_err said = hooks->after_step(hooks->arg, &now);
    int32_t stop = said == TRAIN_STOP;
    if (said && !stop) return hook_fail(r, said);
    r->hook_stopped = stop; /* also if the others do not learn of it now: train__go_on */
    p2p_err err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, &stop, 1, DTYPE_I32, OP_MAX));
    if (!err) r->hook_stopped = stop;
    return err;
}

/* ---- Which rank has which images ---- */

/* How many images this rank has in step s of what remains of the epoch. */
static size_t images_of(const train_runner *r, int rank, size_t s)
{
    size_t batch = train__step_images(r->settings), before = s * batch, share = r->shares[rank];
    if (before >= share) return 0;
    return share - before < batch ? share - before : batch;
}

static size_t images_of_all(const train_runner *r, size_t s)
{
    size_t images = 0;
    for (int rank = 0; rank < r->size; rank++) images += images_of(r, rank, s);
    return images;
}

/* Change 2: shard the data. Every rank computes the shares of all ranks, because a step's gradients are weighted by all
 * images in it; its own last, which stays in `mine`. */
static p2p_err shard(train_runner *r)
{
    const train_settings *s = r->settings;
    p2p_err err = call_hook(r, r->job->hooks.before_shard);
    train_epoch_order(r->data.train.count, s->seed, r->epoch, s->shuffle, r->order);
    r->first = r->position;
    r->remaining = r->position < r->data.train.count ? r->data.train.count - r->position : 0;
    r->steps_left = 0;
    for (int i = 1; i <= r->size && !err; i++) {
        int rank = (r->rank + i) % r->size;
        r->shares[rank] = r->job->parallel.shard(r->remaining, rank, r->size, r->mine);
        err = train__check_share(r->mine, r->shares[rank], r->remaining, rank, r->error);
        size_t steps = (r->shares[rank] + train__step_images(s) - 1) / train__step_images(s);
        if (steps > r->steps_left) r->steps_left = steps;
    }
    if (!err && !r->steps_left && !r->position)
        return train__fail(r->error, P2P_ERR_ARG, "the sampler gave no rank any of %zu images", r->data.train.count);
    size_t each = train__step_images(s) * (size_t)r->size;
    r->epoch_before = (r->position + each - 1) / each;
    r->epoch_steps = r->steps_left;
    if (s->steps && r->epoch_steps > s->steps - r->step) r->epoch_steps = s->steps - r->step;
    return err;
}

/* Fill the next batch: batch b of step s of what remains. Of a full step, K batches on n ranks are those that K n ranks
 * have. */
static p2p_err load(train_runner *r, size_t s, size_t b)
{
    const train_settings *settings = r->settings;
    const train_view view = {settings->augment, settings->seed, r->epoch};
    size_t images = images_of(r, r->rank, s), dealt = train__dealt(settings, images);
    size_t count = train__images_in(images, dealt, b), *chosen = malloc((count + 1) * sizeof *chosen);
    if (!chosen) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for a batch");
    for (size_t i = 0; i < count; i++)
        chosen[i] = r->order[r->first + r->mine[s * train__step_images(settings) + i * dealt + b]];
    p2p_err err = train_load(r->network, &r->data.train, chosen, count, &view, r->error);
    free(chosen);
    return err;
}

/* ---- One step ---- */

/* All batches of the step but the last: their gradients are kept, and not reduced. */
static p2p_err accumulate(train_runner *r, size_t s, float scale)
{
    p2p_err err = P2P_OK;
    for (size_t b = 1; b < train__batches_of(r->settings) && !err; b++) {
        err = train_forward(r->network, scale, r->error);
        if (!err) err = train_backward(r->network, NULL, NULL, r->error);
        if (!err) err = train_accumulate(r->network, r->error);
        if (!err) err = load(r, s, b);
    }
    return err;
}

/* Compute the step again, without all-reduce, to find the rank whose gradients are not finite. No weight has been
 * changed. */
static p2p_err find_nonfinite(train_runner *r, size_t s, float scale)
{
    train_network *net = r->network;
    bool alone = !r->replica && train__no_sync(r->job);
    net->adding = false;
    net->gradients.window = NULL; /* all of them are looked at */
    p2p_err err = load(r, s, 0);
    if (!err) err = accumulate(r, s, scale);
    if (!err) err = train_forward(net, scale, r->error);
    if (!err) err = train_backward(net, NULL, NULL, r->error);
    const float *gradients = err ? NULL : train_map(net, TRAIN_GRADIENTS, r->error);
    if (!gradients) return P2P_ERR_SYS;
    return alone ? train__find_nonfinite_alone(r->rank, r->job->model, gradients, r->error)
                 : train_find_nonfinite(r->comm, r->job->model, gradients, r->error);
}

/* Calls queue work and return: a trace of them would show a device that computes nothing and a host that waits for the
 * others. So in a run that is traced, a phase ends when the device has finished it; what is queued is the same. */
static p2p_err until_done(train_runner *r, enum train_mark mark)
{
    if (!p2p_layer_is_traced(r->comm)) return P2P_OK;
    kernel_err err = kernel_event_wait(r->network->marks.at[mark]);
    return err ? train__device_fail(r->network, err, r->error) : P2P_OK;
}

/* Change 3: all-reduce gradients. The next batch is filled while the device computes. */
static p2p_err backward_and_sync(train_runner *r, size_t s, float scale, double *load_seconds)
{
    bool finite = true;
    size_t images = images_of_all(r, s), own = images_of(r, r->rank, s);
    p2p_err err = r->replica ? train__keep_step(r, images, own) : P2P_OK;
    p2p_layer_phase_begin(r->comm, "backward");
    if (r->replica && !err)
        err = train_data_parallel_backward(r->replica, r->error);
    else if (!err && r->shard)
        err = train_backward(r->network, train__shard_ready, r->shard, r->error);
    else if (!err)
        err = train_backward(r->network, train_sync_ready, r->sync, r->error);
    double since = p2p_time(r->comm);
    if (!err && s + 1 < r->steps_left) err = load(r, s + 1, 0);
    *load_seconds = p2p_time(r->comm) - since;
    if (!err && !r->replica) err = train__keep_step(r, images, own);
    if (!err && !r->replica) /* in it "sync" follows "backward" */
        err = r->shard ? train__shard_wait(r->shard, &finite, r->error) : train_sync_wait(r->sync, &finite, r->error);
    p2p_layer_phase_end(r->comm, "backward");
    return err || finite ? err : find_nonfinite(r, s, scale);
}

/* What is known of the step now; the rest is known when the device has finished it. */
static p2p_err note(train_runner *r, size_t images, double load_seconds)
{
    kernel_counters counters;
    size_t correct;
    train_pending p = {
        .step = r->step + 1, .epoch = r->epoch, .images = images, .lr = r->lr, .norm = r->norm, .load = load_seconds};
    p2p_err err = train_loss(r->network, &p.sums[0], &correct, r->error);
    p.sums[1] = (double)correct;
    p.sums[2] = train__asked_to_stop(r->job);
    p.sync = r->shard ? r->shard->waited : train_sync_waited(r->replica ? train__replica_sync(r->replica) : r->sync);
    p.held = r->shard ? r->shard->most : 0;
    kernel_stats(r->network->device, &counters);
    p.copied = counters.bytes_to_device + counters.bytes_from_device - r->last_copied;
    r->last_copied += p.copied;
    if (!err) err = train__report_settle(r); /* of the step before */
    if (!err) r->pending = p;
    return err;
}

/* If this hook ends the training, the step does not count: the statistics that the forward pass changed are
 * restored. */
static p2p_err call_after_sync(train_runner *r)
{
    p2p_err err = call_hook(r, r->job->hooks.after_sync);
    if (err) train__restore_statistics(r->network);
    return err;
}

/* The optimiser of this step. */
static p2p_err plan_update(train_runner *r, kernel_optimizer *now)
{
    const train_hook_context context = {r->comm, r->network, &r->data, r->epoch, r->step};
    const train_hooks *hooks = &r->job->hooks;
    *now = r->optimizer;
    train_schedule_at(&r->settings->schedule, train__schedule_step(r->job, r->size, r->step + 1, r->epoch, r->position),
                      r->epoch, train__total_steps(r->job, r->size), now);
    if (hooks->learning_rate) now->lr = hooks->learning_rate(hooks->arg, &context, now->lr);
    if (isfinite(now->lr) && now->lr >= 0) return P2P_OK;
    return train__fail(r->error, P2P_ERR_ARG, "step %llu: a hook says that the learning rate is %g",
                       (unsigned long long)r->step + 1, now->lr);
}

static p2p_err update(train_runner *r)
{
    kernel_optimizer now;
    p2p_err err = plan_update(r, &now);
    r->lr = now.lr;
    if (!err) err = train__clip(r);
    if (err) return err;
    return r->shard ? train__shard_update(r->shard, &now, r->step + 1, r->error)
                    : train_update(r->network, &now, r->step + 1, r->error);
}

static p2p_err step(train_runner *r, size_t s)
{
    size_t images = images_of_all(r, s);
    float scale = 1.0f / (float)images; /* so that the sum over all ranks is the gradient of the mean of all losses */
    double load_seconds = 0;
    p2p_layer_phase_begin(r->comm, "forward");
    p2p_err err = r->job->hooks.after_sync ? train__keep_statistics(r->network, r->error) : P2P_OK;
    if (!err) err = accumulate(r, s, scale);
    if (!err) err = train_forward(r->network, scale, r->error);
    if (!err) err = train__keep_begin(r);
    if (!err) err = until_done(r, TRAIN_FORWARD_DONE);
    p2p_layer_phase_end(r->comm, "forward");
    if (!err) err = backward_and_sync(r, s, scale, &load_seconds);
    p2p_layer_phase_begin(r->comm, "optimiser");
    if (!err) err = call_after_sync(r);
    if (!err) err = update(r);
    if (!err) r->updated = r->step + 1;
    if (!err) err = until_done(r, TRAIN_UPDATE_DONE);
    p2p_layer_phase_end(r->comm, "optimiser");
    if (!err) err = note(r, images, load_seconds); /* while the device updates */
    if (err) return err;
    r->step++;
    r->position += images;
    r->examples += images;
    err = train__report_step(r);
    return err ? err : call_after_step(r);
}

static p2p_err settle(train_runner *r)
{
    kernel_err failed = kernel_finish(r->network->device);
    return failed ? train__device_fail(r->network, failed, r->error) : train__report_settle(r);
}

/* A checkpoint within an epoch; its time is not counted for any step. */
static p2p_err save_between(train_runner *r)
{
    p2p_err err = settle(r);
    if (!err) err = train__checkpoint(r);
    r->last_end = p2p_time(r->comm);
    return err;
}

static bool save_is_due(const train_runner *r)
{
    const train_settings *s = r->settings;
    return s->save_steps && r->step % s->save_steps == 0 && r->step != s->steps;
}

p2p_err train__epoch(train_runner *r)
{
    const train_settings *settings = r->settings;
    p2p_err err = shard(r);
    if (!err && r->owed && !r->hook_stopped) err = call_after_step(r);
    if (!err && r->steps_left && r->owed && save_is_due(r)) err = save_between(r);
    r->owed = false;
    if (!err && r->steps_left) err = load(r, 0, 0);
    size_t s = 0;
    for (; s < r->steps_left && !err && !r->stopping && !r->hook_stopped; s++) {
        if (settings->steps && r->step == settings->steps) break;
        err = step(r, s);
        bool last = s + 1 == r->steps_left || r->step == settings->steps || r->hook_stopped;
        if (!err && !last && save_is_due(r)) err = save_between(r);
    }
    r->epoch_over = !err && s == r->steps_left;
    return err ? err : settle(r);
}
