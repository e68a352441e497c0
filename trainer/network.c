/* SPDX-License-Identifier: MIT */
/* A model on a device, whole passes at a time. */
#include <stdlib.h>
#include <string.h>

#include "trainer/network.h"

p2p_err train__device_fail(const train_network *net, kernel_err err, train_error *error)
{
    const char *said = kernel_error_message(net->device);
    p2p_err code = err == KERNEL_ERR_NOMEM ? P2P_ERR_NOMEM : err == KERNEL_ERR_ARG ? P2P_ERR_ARG : P2P_ERR_SYS;
    return train__fail(error, code, "%s", said[0] ? said : kernel_strerror(err));
}

static p2p_err ended(const train_network *net, kernel_err err, train_error *error)
{
    if (err && net->watch.said) return train__comm(net->comm, error, net->watch.said);
    return err ? train__device_fail(net, err, error) : P2P_OK;
}

/* ---- Open and close ---- */

static void forget(kernel_event **event)
{
    kernel_event_free(*event);
    *event = NULL;
}

p2p_err train_network_open(const train_model *model, const train_network_options *options, train_network **network,
                           train_error *error)
{
    train_network *net = calloc(1, sizeof *net);
    if (!net) return train__fail(error, P2P_ERR_NOMEM, "no memory for a network");
    net->model = model;
    net->comm = options->comm;
    net->capacity = options->batch;
    net->frozen = options->frozen;
    net->smoothing = options->label_smoothing;
    net->shard = options->shard == TRAIN_SHARD_AUTO ? TRAIN_SHARD_NONE : options->shard;
    p2p_err err = ended(net, kernel_open(options->device, options->cores, &net->device), error);
    if (!err) err = ended(net, kernel_info(net->device, &net->info), error);
    if (!err) err = train__allocate(net, error);
    if (err)
        train_network_close(net);
    else
        *network = net;
    return err;
}

void train_network_close(train_network *net)
{
    if (!net) return;
    if (net->device) kernel_finish(net->device);
    forget(&net->counted);
    train__release(net);
    kernel_close(net->device);
    free(net);
}

/* ---- The host's arrays ---- */

static train_shared *array(train_network *net, enum train_array_kind kind)
{
    switch (kind) {
    case TRAIN_PARAMETERS: return &net->parameters;
    case TRAIN_GRADIENTS: return &net->gradients;
    case TRAIN_STATISTICS: return &net->statistics;
    case TRAIN_FIRST_STATE: return &net->state[0];
    case TRAIN_SECOND_STATE: return &net->state[1];
    }
    return NULL;
}

float *train_map(train_network *net, enum train_array_kind kind, train_error *error)
{
    train_shared *s = array(net, kind);
    p2p_err err = ended(net, kernel_fetch(net->device, kernel_at(s->on, 0), s->floats, NULL), error);
    return err ? NULL : s->host;
}

static bool within(const train_shared *s, size_t first, size_t count)
{
    return first <= s->floats && count <= s->floats - first;
}

float *train_map_part(train_network *net, enum train_array_kind kind, size_t first, size_t count, kernel_event **done,
                      train_error *error)
{
    train_shared *s = array(net, kind);
    if (!within(s, first, count)) {
        train__explain(error, "elements %zu to %zu: there are %zu", first, first + count, s->floats);
        return NULL;
    }
    p2p_err err = ended(net, kernel_fetch(net->device, kernel_at(s->on, first), count, done), error);
    return err ? NULL : (float *)s->host + first;
}

p2p_err train_flush_part(train_network *net, enum train_array_kind kind, size_t first, size_t count, train_error *error)
{
    train_shared *s = array(net, kind);
    if (!within(s, first, count))
        return train__fail(error, P2P_ERR_ARG, "elements %zu to %zu: there are %zu", first, first + count, s->floats);
    return ended(net, kernel_push(net->device, kernel_at(s->on, first), count), error);
}

p2p_err train_flush(train_network *net, enum train_array_kind kind, train_error *error)
{
    train_shared *s = array(net, kind);
    return ended(net, kernel_push(net->device, kernel_at(s->on, 0), s->floats), error);
}

size_t train_length(const train_network *net, enum train_array_kind kind)
{
    return kind == TRAIN_STATISTICS ? net->statistics.floats : net->parameters.floats;
}

/* ---- Batches: the slot that the device is not busy with is filled ---- */

/* The device may still be reading what was in the slot before the last batch. */
static kernel_err await_slot(train_slot *slot)
{
    kernel_err err = slot->busy ? kernel_event_wait(slot->busy) : KERNEL_OK;
    forget(&slot->busy);
    return err;
}

p2p_err train_load(train_network *net, const train_images *images, const size_t chosen[], size_t count,
                   const train_view *view, train_error *error)
{
    train_slot *slot = &net->slots[net->next_slot];
    float *at = slot->images.host;
    int32_t *labels = slot->labels.host;
    if (count > net->capacity)
        return train__fail(error, P2P_ERR_ARG, "%zu images: there is room for %zu", count, net->capacity);
    kernel_err err = await_slot(slot);
    if (err) return train__device_fail(net, err, error);
    for (size_t i = 0; i < count; i++) {
        train_preprocess(images, chosen[i], view, at + i * TRAIN_PIXELS);
        labels[i] = train_label(images, chosen[i]);
    }
    slot->count = count;
    net->loaded = slot;
    net->next_slot = 1 - net->next_slot;
    return P2P_OK;
}

/* ---- Passes ---- */

kernel_err train__mark(train_network *net, enum train_mark which)
{
    forget(&net->marks.at[which]);
    return kernel_record(net->device, &net->marks.at[which]);
}

static kernel_err begin_batch(train_network *net, bool first)
{
    train_slot *slot = net->running = net->loaded;
    kernel_err err = first ? kernel_fill(net->device, kernel_at(net->result.on, 0), TRAIN_RESULT, 0.0f) : KERNEL_OK;
    if (!err) err = kernel_push(net->device, kernel_at(slot->images.on, 0), slot->count * TRAIN_PIXELS);
    if (!err) err = kernel_push(net->device, kernel_at(slot->labels.on, 0), slot->count);
    return err ? err
               : kernel_from_nchw(net->device, train__shape(net, 0, slot->count), kernel_at(slot->images.on, 0),
                                  kernel_at(net->values[0], 0));
}

static kernel_err before(train_network *net, size_t operation)
{
    train_watch *w = &net->watch;
    w->said = w->before ? w->before(w->arg, operation) : P2P_OK;
    return w->said ? KERNEL_ERR_ARG : KERNEL_OK;
}

static kernel_err queued(train_network *net, size_t operation, size_t next)
{
    train_watch *w = &net->watch;
    w->said = w->queued ? w->queued(w->arg, operation, next) : P2P_OK;
    return w->said ? KERNEL_ERR_ARG : KERNEL_OK;
}

static int logits_of(const train_network *net)
{
    return net->model->operations[net->model->operation_count - 1].out;
}

static kernel_err forward(train_network *net, bool evaluating, float scale)
{
    const train_model *m = net->model;
    size_t n = net->running->count;
    int logits = logits_of(net), dlogits = net->plan[m->operation_count - 1].dy;
    kernel_err err = KERNEL_OK;
    for (size_t i = 0; i < m->operation_count && !err; i++) {
        err = before(net, i);
        if (!err) err = train__operation_forward(net, i, n, evaluating);
        if (!err) err = queued(net, i, i + 1);
    }
    if (!err)
        err = kernel_cross_entropy_smoothed(
            net->device, train__shape(net, logits, n), kernel_at(net->values[logits], 0),
            kernel_at(net->running->labels.on, 0), evaluating ? 0 : net->smoothing, scale,
            evaluating ? KERNEL_NONE : kernel_at(net->pool[dlogits], 0), kernel_at(net->result.on, 0));
    forget(&net->counted);
    if (!err) err = kernel_fetch(net->device, kernel_at(net->result.on, 0), TRAIN_RESULT, &net->counted);
    forget(&net->running->busy);
    return err ? err : kernel_record(net->device, &net->running->busy);
}

p2p_err train_forward(train_network *net, float scale, train_error *error)
{
    kernel_err err = train__mark(net, TRAIN_BEGIN);
    if (!err) err = begin_batch(net, !net->adding);
    if (!err) err = forward(net, false, scale);
    if (!err) err = train__mark(net, TRAIN_FORWARD_DONE);
    if (!net->frozen && net->running->count) net->batches++;
    return ended(net, err, error);
}

p2p_err train__keep_statistics(train_network *net, train_error *error)
{
    size_t floats = net->statistics.floats;
    kernel_err err = KERNEL_OK;
    if (!net->before) err = kernel_buffer_new(net->device, "the statistics of before", floats, &net->before);
    if (!err) err = kernel_copy(net->device, kernel_at(net->before, 0), kernel_at(net->statistics.on, 0), floats);
    net->batches_before = net->batches;
    return ended(net, err, error);
}

void train__restore_statistics(train_network *net)
{
    kernel_copy(net->device, kernel_at(net->statistics.on, 0), kernel_at(net->before, 0), net->statistics.floats);
    net->batches = net->batches_before;
}

p2p_err train_evaluate(train_network *net, bool first, train_error *error)
{
    kernel_err err = begin_batch(net, first);
    if (!err) err = forward(net, true, 1.0f);
    return ended(net, err, error);
}

size_t train__longest_gradients(const train_model *model)
{
    size_t first, count, most = 0;
    for (size_t i = 0; i < model->operation_count; i++) {
        train_gradients_of(model, i, &first, &count);
        if (count > most) most = count;
    }
    return most;
}

p2p_err train_accumulate(train_network *net, train_error *error)
{
    kernel_err err = KERNEL_OK;
    if (!net->sums)
        err = kernel_buffer_new(net->device, "the gradients of a step's batches", train__longest_gradients(net->model),
                                &net->sums);
    net->adding = !err;
    return ended(net, err, error);
}

/* With train_accumulate the new gradients are added to the old ones, which wait in `sums` meanwhile. */
static kernel_err backward(train_network *net, size_t operation)
{
    size_t first, count;
    kernel_err err = KERNEL_OK;
    train_gradients_of(net->model, operation, &first, &count);
    bool adds = net->adding && count;
    if (adds) err = kernel_copy(net->device, kernel_at(net->sums, 0), kernel_at(net->gradients.on, first), count);
    if (!err) err = train__operation_backward(net, operation, net->running->count);
    if (!err && adds)
        err = kernel_sum(net->device, kernel_at(net->gradients.on, first), kernel_at(net->sums, 0), count);
    return err;
}

p2p_err train_backward(train_network *net, train_ready ready, void *arg, train_error *error)
{
    kernel_err err = KERNEL_OK;
    for (size_t i = net->model->operation_count; i-- > 0 && !err;) {
        err = before(net, i);
        if (!err) err = backward(net, i);
        if (!err && ready) ready(arg, i);
        if (!err) err = queued(net, i, i - 1);
    }
    if (!err) err = train__mark(net, TRAIN_BACKWARD_DONE);
    return ended(net, err, error);
}

kernel_err train__queue_update(train_network *net, const kernel_optimizer *optimizer, uint64_t step, size_t first,
                               size_t count)
{
    kernel_slice state[TRAIN_STATES];
    int states = kernel_optimizer_states(optimizer);
    for (int i = 0; i < TRAIN_STATES; i++) state[i] = i < states ? kernel_at(net->state[i].on, first) : KERNEL_NONE;
    net->adding = false;
    return kernel_update(net->device, optimizer, step, count, kernel_at(net->parameters.on, first),
                         kernel_at(net->gradients.on, first), state);
}

p2p_err train_update_part(train_network *net, const kernel_optimizer *optimizer, uint64_t step, size_t first,
                          size_t count, train_error *error)
{
    if (!within(&net->parameters, first, count))
        return train__fail(error, P2P_ERR_ARG, "parameters %zu to %zu: there are %zu", first, first + count,
                           net->parameters.floats);
    kernel_err err = train__mark(net, TRAIN_UPDATE);
    if (!err) err = train__queue_update(net, optimizer, step, first, count);
    if (!err) err = train__mark(net, TRAIN_UPDATE_DONE);
    return ended(net, err, error);
}

p2p_err train_update(train_network *net, const kernel_optimizer *optimizer, uint64_t step, train_error *error)
{
    return train_update_part(net, optimizer, step, 0, net->parameters.floats, error);
}

/* ---- Results ---- */

p2p_err train_loss(train_network *net, double *loss, size_t *correct, train_error *error)
{
    kernel_err err = kernel_event_wait(net->counted);
    if (err) return train__device_fail(net, err, error);
    const float *result = net->result.host;
    *loss = (double)result[0];
    *correct = (size_t)result[1];
    return P2P_OK;
}

p2p_err train_logits(train_network *net, float *logits, train_error *error)
{
    int value = logits_of(net);
    size_t n = net->running->count;
    kernel_err err = kernel_to_nchw(net->device, train__shape(net, value, n), kernel_at(net->values[value], 0),
                                    kernel_at(net->plain, 0));
    if (!err) err = kernel_read(net->device, logits, kernel_at(net->plain, 0), n * (size_t)net->model->classes);
    return ended(net, err, error);
}

/* ---- Time ---- */

train_marks train__take_marks(train_network *net)
{
    train_marks taken = net->marks;
    net->marks = (train_marks){0};
    return taken;
}

void train__free_marks(train_marks *marks)
{
    for (int i = 0; i < TRAIN_MARK_COUNT; i++) forget(&marks->at[i]);
}

double train__between(const train_marks *marks, enum train_mark from, enum train_mark to)
{
    double seconds = 0;
    if (marks->at[from] && marks->at[to]) kernel_event_elapsed(marks->at[from], marks->at[to], &seconds);
    return seconds;
}
