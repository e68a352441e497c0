/* SPDX-License-Identifier: MIT */
/*
 * first use: on most devices the driver compiles a kernel when it is first used, which takes up to two seconds each;
 * what it has compiled it keeps on disk. The ranks of a host share this work out before the first step:
 *
 *      list        all calls of a step and of an evaluation are made, for every length that a batch will have on any
 *                  rank, and launch nothing: that says which kernels there are
 *      share       the same calls: each rank launches, once, what no rank is compiling at this moment
 *      once        the same calls: each rank launches the rest, which its driver finds on disk
 *
 * No list says who compiles what: a rank that has finished one kernel takes the next (KERNEL_SHARE). A batch of another
 * length may need other kernels, so the last one of an epoch counts. What was computed is wiped.
 */
#include <pthread.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "trainer/run.h"

enum pass { EVALUATE, FORWARD, LOSS, BACKWARD, UPDATE };
static const char *const pass_names[] = {"evaluation", "forward", "loss", "backward", "optimiser"};

typedef struct {
    train_runner *runner;
    bool *trained, *tested; /* [n]: will a batch have n images, in training, or in an evaluation? */
    enum pass pass;
    size_t all, done; /* kernels */
    double since;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool watched, is_over;
} plan;

/* ---- How long batches will be ---- */

static p2p_err share_out(plan *p, size_t images, size_t shares[])
{
    train_runner *r = p->runner;
    size_t *mine = malloc((images + 1) * sizeof *mine);
    if (!mine) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for %zu numbers", images);
    for (int i = 0; i < r->size; i++) shares[i] = r->job->parallel.shard(images, i, r->size, mine);
    free(mine);
    return P2P_OK;
}

static size_t longest(const size_t shares[], int ranks)
{
    size_t most = 0;
    for (int i = 0; i < ranks; i++)
        if (shares[i] > most) most = shares[i];
    return most;
}

/* A rank whose images have come to an end goes on with empty batches. */
static void note_share(bool lengths[], const train_settings *s, size_t batches, size_t share, size_t steps)
{
    size_t step = s->batch * batches, full = share / step, rest = share % step, dealt = train__dealt(s, rest);
    if (full && steps) lengths[s->batch] = true;
    if (full >= steps) return;
    for (size_t b = 0; b < batches; b++) lengths[train__images_in(rest, dealt, b)] = true;
    if (full + 1 < steps) lengths[0] = true;
}

static p2p_err list_tested(plan *p, size_t shares[])
{
    train_runner *r = p->runner;
    size_t batch = r->settings->batch;
    p2p_err err = share_out(p, r->data.test.count, shares);
    for (int i = 0; i < r->size && !err; i++)
        note_share(p->tested, r->settings, 1, shares[i], (shares[i] + batch - 1) / batch);
    return err;
}

/* `images` are those of an epoch, or what a run that is resumed has left of one. */
static p2p_err list_trained(plan *p, size_t shares[], size_t images, uint64_t *steps_left)
{
    train_runner *r = p->runner;
    const train_settings *s = r->settings;
    size_t step = train__step_images(s);
    p2p_err err = share_out(p, images, shares);
    size_t steps = err ? 0 : (longest(shares, r->size) + step - 1) / step;
    if (steps > *steps_left) steps = (size_t)*steps_left;
    *steps_left -= steps;
    for (int i = 0; i < r->size && !err; i++) note_share(p->trained, s, train__batches_of(s), shares[i], steps);
    return err;
}

static p2p_err list_lengths(plan *p)
{
    train_runner *r = p->runner;
    const train_start *start = &r->job->start;
    size_t images = r->data.train.count, *shares = calloc((size_t)r->size, sizeof *shares);
    uint64_t steps = r->settings->steps ? r->settings->steps - start->step : UINT64_MAX;
    if (!shares) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for %d numbers", r->size);
    p2p_err err = list_tested(p, shares);
    if (!err && !train__finished(r->settings, start->step, start->epoch)) {
        err = list_trained(p, shares, images - start->position, &steps);
        if (!err) err = list_trained(p, shares, images, &steps);
    }
    free(shares);
    return err;
}

/* ---- The calls ---- */

static void enter(plan *p, enum pass pass)
{
    pthread_mutex_lock(&p->lock);
    p->pass = pass;
    pthread_mutex_unlock(&p->lock);
}

/* After a call that returned `err`. */
static kernel_err count(plan *p, kernel_err err)
{
    kernel_counters counters;
    if (!err) err = kernel_stats(p->runner->network->device, &counters);
    if (err) return err;
    pthread_mutex_lock(&p->lock);
    p->all = counters.kernels_listed;
    p->done = counters.kernels_used;
    pthread_mutex_unlock(&p->lock);
    return KERNEL_OK;
}

static kernel_err call_loss(plan *p, size_t n, bool trains)
{
    train_network *net = p->runner->network;
    size_t last = net->model->operation_count - 1;
    int value = net->model->operations[last].out;
    train_slot *slot = &net->slots[0];
    kernel_err err = kernel_from_nchw(net->device, train__shape(net, 0, n), kernel_at(slot->images.on, 0),
                                      kernel_at(net->values[0], 0));
    if (!err)
        err = kernel_cross_entropy(
            net->device, train__shape(net, value, n), kernel_at(net->values[value], 0), kernel_at(slot->labels.on, 0),
            1.0f, trains ? kernel_at(net->pool[net->plan[last].dy], 0) : KERNEL_NONE, kernel_at(net->result.on, 0));
    if (!err && !trains && p->runner->settings->dump_logits)
        err = kernel_to_nchw(net->device, train__shape(net, value, n), kernel_at(net->values[value], 0),
                             kernel_at(net->plain, 0));
    return err;
}

/* What takes longest to compile comes first, so that no rank begins with it when the others have finished. */
static kernel_err call_batch(plan *p, size_t n, bool trains)
{
    train_network *net = p->runner->network;
    size_t operations = net->model->operation_count;
    kernel_err err = KERNEL_OK;
    enter(p, BACKWARD);
    for (size_t i = 0; i < operations && !err && trains; i++) err = count(p, train__operation_backward(net, i, n));
    enter(p, trains ? FORWARD : EVALUATE);
    for (size_t i = 0; i < operations && !err; i++) err = count(p, train__operation_forward(net, i, n, !trains));
    enter(p, LOSS);
    return err ? err : count(p, call_loss(p, n, trains));
}

static p2p_err call_update(plan *p)
{
    train_runner *r = p->runner;
    train_network *net = r->network;
    size_t floats = train__longest_gradients(net->model);
    kernel_err failed = KERNEL_OK;
    enter(p, UPDATE);
    p2p_err err = train_update(net, &r->optimizer, 1, r->error);
    if (!err && train__batches_of(r->settings) > 1)
        failed = kernel_sum(net->device, kernel_at(net->gradients.on, 0), kernel_at(net->parameters.on, 0), floats);
    if (!err) failed = count(p, failed);
    return failed ? train__device_fail(net, failed, r->error) : err;
}

static p2p_err call_all(plan *p, kernel_mode mode)
{
    train_runner *r = p->runner;
    train_network *net = r->network;
    bool any = false;
    kernel_err err = KERNEL_OK;
    kernel_set_mode(net->device, mode);
    for (size_t n = r->settings->batch + 1; n-- > 0 && !err;) {
        if (p->trained[n]) err = call_batch(p, n, true);
        if (p->tested[n] && !err) err = call_batch(p, n, false);
        any = any || p->trained[n];
    }
    if (err) return train__device_fail(net, err, r->error);
    return any ? call_update(p) : P2P_OK;
}

/* As train__allocate left it. */
static p2p_err wipe(train_runner *r)
{
    train_network *net = r->network;
    train_shared *all[] = {&net->parameters, &net->gradients, &net->statistics,
                           &net->result,     &net->state[0],  &net->state[1]};
    kernel_err err = KERNEL_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !err; i++)
        err = kernel_fill(net->device, kernel_at(all[i]->on, 0), all[i]->floats, 0.0f);
    if (!err) err = kernel_finish(net->device);
    return err ? train__device_fail(net, err, r->error) : P2P_OK;
}

/* ---- A line a second, from rank 0 ---- */

static void *say_progress(void *arg)
{
    plan *p = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&p->lock);
    for (next.tv_sec++; !p->is_over; next.tv_sec++) {
        while (!p->is_over && pthread_cond_timedwait(&p->over, &p->lock, &next) == 0) continue;
        if (p->is_over) break;
        train__say(p->runner, "kernels, compiled once for each device: %s, %zu of %zu, %.0f s%s", pass_names[p->pass],
                   p->done, p->all, p2p_time(p->runner->comm) - p->since, p->runner->terminal ? "\033[K\r" : "\n");
        p->runner->drawn = p->runner->terminal;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Seconds are counted by a clock that nobody sets. */
static void start_watching(plan *p)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->over, &clock);
    pthread_condattr_destroy(&clock);
    p->watched = p->runner->rank == 0 && pthread_create(&p->thread, NULL, say_progress, p) == 0;
}

static void stop_watching(plan *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_over = true;
    pthread_cond_signal(&p->over);
    pthread_mutex_unlock(&p->lock);
    if (p->watched) pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->over);
    train__clear_bar(p->runner);
}

/* ---- All of it ---- */

static p2p_err use_all(plan *p)
{
    train_runner *r = p->runner;
    p2p_err err = list_lengths(p);
    if (!err) err = call_all(p, KERNEL_LIST);
    for (size_t before = SIZE_MAX; !err && p->done < p->all && p->done != before;) {
        before = p->done;
        err = call_all(p, KERNEL_SHARE);
    }
    if (!err) err = call_all(p, KERNEL_ONCE);
    kernel_set_mode(r->network->device, KERNEL_LAUNCH);
    return err ? err : train__comm(r->comm, r->error, coll_barrier(r->comm));
}

p2p_err train__first_use(train_runner *r)
{
    size_t lengths = r->settings->batch + 1;
    plan p = {.runner = r,
              .since = p2p_time(r->comm),
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .trained = calloc(2 * lengths, sizeof *p.trained)};
    if (!p.trained) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for a list of %zu lengths", 2 * lengths);
    p.tested = p.trained + lengths;
    start_watching(&p);
    p2p_err err = use_all(&p);
    stop_watching(&p);
    free(p.trained);
    p2p_err wiped = wipe(r); /* also after an error: a job that repairs itself goes on with these buffers */
    return err ? err : wiped;
}
