/* SPDX-License-Identifier: MIT */
/*
 * first use: on most devices the driver compiles a kernel when it is first used, which takes up to a second each; what
 * it has compiled it keeps on disk. The ranks of a host share this work out before the first step: each uses a part of
 * the model's kernels once, on zeros; then the others' parts, which its driver finds on disk, compiled by theirs. What was
 * computed is wiped.
 */
#include <pthread.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "trainer/run.h"

enum { IMAGES = 32 }; /* these fill more than one vector on every CPU: a larger batch uses the same kernels */

enum pass { EVALUATE, FORWARD, LOSS, BACKWARD, UPDATE };
static const char *const pass_names[] = {"evaluation", "forward", "loss", "backward", "optimiser"};
static const int weights[] = {1, 2, 1, 4, 4}; /* about how long each takes to compile */

typedef struct {
    enum pass pass;
    size_t operation;
} use;

typedef struct {
    train_runner *runner;
    use *uses;
    size_t count, done;
    size_t first, part; /* where this rank begins, and how many of the uses are its part */
    double since;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool watched, is_over;
} plan;

/* ---- What there is to use ---- */

static bool same_shape(kernel_shape a, kernel_shape b)
{
    return a.c == b.c && a.h == b.h && a.w == b.w;
}

/* Do both use the same kernels? */
static bool are_alike(const train_network *net, size_t i, size_t k)
{
    const train_operation *a = &net->model->operations[i], *b = &net->model->operations[k];
    const train_backward_plan *p = &net->plan[i], *q = &net->plan[k];
    return a->kind == b->kind && a->size == b->size && a->stride == b->stride && a->padding == b->padding &&
           a->relu == b->relu && (a->residual < 0) == (b->residual < 0) && p->add == q->add &&
           (p->din < 0) == (q->din < 0) && same_shape(train__shape(net, a->in, 1), train__shape(net, b->in, 1)) &&
           same_shape(train__shape(net, a->out, 1), train__shape(net, b->out, 1));
}

static void add(plan *p, enum pass pass, size_t operation)
{
    p->uses[p->count++] = (use){pass, operation};
}

static void list_uses(plan *p)
{
    const train_network *net = p->runner->network;
    bool trains = !p->runner->settings->eval_only;
    size_t operations = net->model->operation_count, forwards;
    for (size_t i = 0, k; i < operations; i++) {
        for (k = 0; k < i && !are_alike(net, i, k); k++) continue;
        if (k == i) add(p, FORWARD, i);
    }
    forwards = p->count;
    for (size_t i = 0; i < forwards; i++) add(p, EVALUATE, p->uses[i].operation);
    add(p, LOSS, 0);
    for (size_t i = 0; i < forwards && trains; i++) add(p, BACKWARD, p->uses[i].operation);
    if (trains) add(p, UPDATE, 0);
}

/* The part of the `own`-th of `ranks`. */
static void take_part(plan *p, int own, int ranks)
{
    int total = 0, before = 0;
    size_t end = 0;
    for (size_t i = 0; i < p->count; i++) total += weights[p->uses[i].pass];
    for (size_t i = 0; i < p->count; i++) {
        if (before * ranks < total * own) p->first = i + 1;
        if (before * ranks < total * (own + 1)) end = i + 1;
        before += weights[p->uses[i].pass];
    }
    p->part = end - p->first;
}

static const use *use_at(const plan *p, size_t i)
{
    return &p->uses[(p->first + i) % p->count];
}

/* ---- Using it ---- */

static kernel_err run_loss(train_network *net, size_t n)
{
    size_t last = net->model->operation_count - 1;
    int value = net->model->operations[last].out;
    train_slot *slot = &net->slots[0];
    kernel_err err = kernel_from_nchw(net->device, train__shape(net, 0, n), kernel_at(slot->images.on, 0),
                                      kernel_at(net->values[0], 0));
    return err ? err
               : kernel_cross_entropy(net->device, train__shape(net, value, n), kernel_at(net->values[value], 0),
                                      kernel_at(slot->labels.on, 0), 1.0f, kernel_at(net->pool[net->plan[last].dy], 0),
                                      kernel_at(net->result.on, 0));
}

static p2p_err run_use(plan *p, const use *u)
{
    train_runner *r = p->runner;
    train_network *net = r->network;
    size_t n = net->capacity < IMAGES ? net->capacity : IMAGES;
    kernel_err err = KERNEL_OK;
    if (u->pass == UPDATE) return train_update(net, &r->optimizer, 1, r->error);
    if (u->pass == EVALUATE || u->pass == FORWARD)
        err = train__operation_forward(net, u->operation, n, u->pass == EVALUATE);
    else
        err = u->pass == LOSS ? run_loss(net, n) : train__operation_backward(net, u->operation, n);
    if (!err) err = kernel_finish(net->device);
    return err ? train__device_fail(net, err, r->error) : P2P_OK;
}

static p2p_err run_uses(plan *p, size_t end)
{
    p2p_err err = P2P_OK;
    while (!err && p->done < end) {
        err = run_use(p, use_at(p, p->done));
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_mutex_unlock(&p->lock);
    }
    return err;
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
    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&p->lock);
    for (next.tv_sec++; !p->is_over; next.tv_sec++) {
        while (!p->is_over && pthread_cond_timedwait(&p->over, &p->lock, &next) == 0) continue;
        if (p->is_over) break;
        size_t now = p->done < p->count ? p->done : p->count - 1;
        train__say(p->runner, "kernels, compiled once for each device: %s, %zu of %zu, %.0f s%s",
                   pass_names[use_at(p, now)->pass], now + 1, p->count, p2p_time(p->runner->comm) - p->since,
                   p->runner->terminal ? "\033[K\r" : "\n");
        p->runner->drawn = p->runner->terminal;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void stop_watching(plan *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_over = true;
    pthread_cond_signal(&p->over);
    pthread_mutex_unlock(&p->lock);
    if (p->watched) pthread_join(p->thread, NULL);
    train__clear_bar(p->runner);
}

/* ---- All of it ---- */

static p2p_err use_all(plan *p)
{
    train_runner *r = p->runner;
    int own = 0, ranks = 0;
    for (int i = 0; i < r->size; i++) {
        bool here = p2p_host(r->comm, i) == p2p_host(r->comm, r->rank);
        own += here && i < r->rank;
        ranks += here;
    }
    list_uses(p);
    take_part(p, own, ranks);
    p2p_err err = run_uses(p, p->part);
    if (!err) err = train__comm(r->comm, r->error, coll_barrier(r->comm));
    return err ? err : run_uses(p, p->count);
}

p2p_err train__first_use(train_runner *r)
{
    plan p = {.runner = r,
              .since = p2p_time(r->comm),
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .over = PTHREAD_COND_INITIALIZER,
              .uses = calloc(3 * r->job->model->operation_count + 2, sizeof *p.uses)};
    if (!p.uses) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for a list of kernels");
    p.watched = r->rank == 0 && pthread_create(&p.thread, NULL, say_progress, &p) == 0;
    p2p_err err = use_all(&p);
    stop_watching(&p);
    free(p.uses);
    p2p_err wiped = wipe(r); /* also after an error: a job that repairs itself goes on with these buffers */
    return err ? err : wiped;
}
