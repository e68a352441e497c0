/* SPDX-License-Identifier: MIT */
/* The buffers of a network. */
#include <stdlib.h>
#include <string.h>

#include "trainer/network.h"

enum { ALIGNMENT = 64 };

static kernel_err wrap(train_network *net, train_shared *s, const char *name, size_t floats)
{
    s->floats = floats;
    kernel_err err = kernel_buffer_wrap(net->device, name, s->host, floats, &s->on);
    return err ? err : kernel_push(net->device, kernel_at(s->on, 0), floats);
}

/* Of which --shard gives parts back. */
static kernel_err share_pages(train_network *net, train_shared *s, const char *name, size_t floats)
{
    s->paged = floats * sizeof(float);
    s->host = train__pages_new(s->paged);
    return s->host ? wrap(net, s, name, floats) : KERNEL_ERR_NOMEM;
}

static kernel_err share(train_network *net, train_shared *s, const char *name, size_t floats)
{
    size_t bytes = (floats * sizeof(float) / ALIGNMENT + 1) * ALIGNMENT;
    s->host = aligned_alloc(ALIGNMENT, bytes);
    if (!s->host) return KERNEL_ERR_NOMEM;
    memset(s->host, 0, bytes);
    return wrap(net, s, name, floats);
}

/* In memory that the ranks of comm can read (p2p_alloc), if it is not NULL; with `paged` as share_pages. */
static p2p_err share_with(train_network *net, p2p_comm *comm, train_shared *s, const char *name, bool paged,
                          train_error *error)
{
    size_t floats = net->model->parameters;
    void *host = NULL;
    p2p_err err = P2P_OK;
    if (comm && !paged) err = train__comm(comm, error, p2p_alloc(comm, floats * sizeof(float), &host));
    if (err) return err;
    s->of = host ? comm : NULL;
    s->host = host;
    kernel_err failed = (paged ? share_pages : host ? wrap : share)(net, s, name, floats);
    return failed ? train__device_fail(net, failed, error) : P2P_OK;
}

static void unshare(train_shared *s)
{
    kernel_buffer_free(s->on);
    if (s->of)
        p2p_release(s->of, s->host);
    else if (s->paged)
        train__pages_free(s->host, s->paged);
    else
        free(s->host);
    *s = (train_shared){0};
}

static kernel_err share_all(train_network *net)
{
    static const char *const state_names[TRAIN_STATES] = {"the optimiser's first state",
                                                          "the optimiser's second state"};
    size_t parameters = net->model->parameters;
    kernel_err err = share(net, &net->statistics, "the running statistics", net->model->statistics);
    if (!err) err = share(net, &net->result, "the loss", TRAIN_RESULT);
    for (int i = 0; i < TRAIN_STATES && !err; i++)
        err = (net->shard ? share_pages : share)(net, &net->state[i], state_names[i], parameters);
    for (int i = 0; i < TRAIN_SLOTS && !err; i++) {
        err = share(net, &net->slots[i].images, "a batch of images", net->capacity * TRAIN_PIXELS);
        if (!err) err = share(net, &net->slots[i].labels, "a batch of labels", net->capacity);
    }
    return err;
}

/* A buffer that the device alone has. */
static kernel_err make(train_network *net, const char *name, size_t floats, kernel_buffer **buffer)
{
    net->activations += floats * sizeof(float);
    return kernel_buffer_new(net->device, name, floats, buffer);
}

/* What the device keeps of each value and operation between the passes. Names are those of the layer's weights. */
static kernel_err keep(train_network *net)
{
    const train_model *m = net->model;
    kernel_err err = KERNEL_OK;
    for (size_t v = 0; v < m->value_count && !err; v++) {
        size_t floats = kernel_floats(net->device, train__shape(net, (int)v, net->capacity));
        err = make(net, v ? "an activation" : "the images", floats, &net->values[v]);
    }
    for (size_t i = 0; i < m->operation_count && !err; i++) {
        const train_operation *o = &m->operations[i];
        kernel_shape out = train__shape(net, o->out, net->capacity);
        const char *name = o->weight >= 0 ? m->tensors[o->weight].name : "pool";
        size_t floats = kernel_floats(net->device, out);
        if (o->kind == TRAIN_MAX_POOL) err = make(net, "the max pool's choice", floats, &net->kept[i]);
        if (o->kind != TRAIN_CONV_NORM) continue;
        err = make(net, name, floats, &net->convolved[i]);
        if (!err) err = make(net, name, kernel_norm_floats(net->device, out), &net->kept[i]);
    }
    return err;
}

static kernel_err make_pool(train_network *net, int count, const size_t floats[])
{
    kernel_err err = make(net, "the logits", net->capacity * (size_t)net->model->classes, &net->plain);
    for (int i = 0; i < count && !err; i++) err = make(net, "the gradient of an activation", floats[i], &net->pool[i]);
    return err;
}

p2p_err train__allocate(train_network *net, train_error *error)
{
    const train_model *m = net->model;
    size_t floats[TRAIN_POOL];
    net->values = calloc(m->value_count, sizeof *net->values);
    net->convolved = calloc(m->operation_count, sizeof *net->convolved);
    net->kept = calloc(m->operation_count, sizeof *net->kept);
    net->plan = calloc(m->operation_count, sizeof *net->plan);
    if (!net->values || !net->convolved || !net->kept || !net->plan)
        return train__fail(error, P2P_ERR_NOMEM, "no memory for a network");
    int slots = train__plan_backward(net, floats);
    if (slots < 0) return train__fail(error, P2P_ERR_ARG, "%s is no chain of blocks", m->description.name);
    bool paged = net->shard >= TRAIN_SHARD_PARAMETERS;
    p2p_comm *readers = net->shard == TRAIN_SHARD_OPTIMIZER ? net->comm : NULL; /* they gather them after each step */
    p2p_err failed = share_with(net, readers, &net->parameters, "the parameters", paged, error);
    if (failed) return failed;
    kernel_err err = share_all(net);
    if (!err) err = keep(net);
    if (!err) err = make_pool(net, slots, floats);
    if (err) return train__device_fail(net, err, error);
    paged = net->shard >= TRAIN_SHARD_GRADIENTS;
    return share_with(net, net->comm, &net->gradients, "the gradients", paged, error);
}

void train__release(train_network *net)
{
    train_shared *shared[] = {&net->parameters, &net->gradients, &net->statistics, &net->result};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) unshare(shared[i]);
    for (int i = 0; i < TRAIN_STATES; i++) unshare(&net->state[i]);
    train__free_marks(&net->marks);
    for (int i = 0; i < TRAIN_SLOTS; i++) {
        kernel_event_free(net->slots[i].busy);
        unshare(&net->slots[i].images);
        unshare(&net->slots[i].labels);
    }
    for (size_t v = 0; net->values && v < net->model->value_count; v++) kernel_buffer_free(net->values[v]);
    for (size_t i = 0; i < net->model->operation_count; i++) {
        if (net->convolved) kernel_buffer_free(net->convolved[i]);
        if (net->kept) kernel_buffer_free(net->kept[i]);
    }
    for (int i = 0; i < TRAIN_POOL; i++) kernel_buffer_free(net->pool[i]);
    kernel_buffer_free(net->plain);
    kernel_buffer_free(net->before);
    kernel_buffer_free(net->sums);
    free(net->values);
    free(net->convolved);
    free(net->kept);
    free(net->plan);
}
