/* SPDX-License-Identifier: MIT */
/* Which part is whose; from the whole to the parts, and back. */
#include "trainer/shard.h"

#include <stdlib.h>
#include <string.h>

#include "p2p/p2p_layer.h"
#include "ring/ring.h"

static const char *const names[] = {"none", "optimizer", "gradients", "parameters", "auto"};

bool train__shard_named(const char *name, enum train_sharding *what)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *what = (enum train_sharding)i;
        return true;
    }
    return false;
}

float *train__shard_at(const train_shared *array, const train__part *p)
{
    return (float *)array->host + p->first;
}

void train__shard_drop(const train_shared *array, const train__part *p)
{
    size_t behind = p->own + p->own_count;
    if (!array->paged) return;
    train__pages_drop(array->host, p->first, p->own - p->first);
    train__pages_drop(array->host, behind, p->first + p->count - behind);
}

bool train__shard_uses(const train__shard *s, const train__part *p, size_t operation)
{
    size_t first, count;
    if (operation >= s->network->model->operation_count) return false;
    train_gradients_of(s->network->model, operation, &first, &count);
    return first < p->first + p->count && p->first < first + count;
}

bool train__shard_spans(const train__shard *s, const train__part *p, size_t operation)
{
    (void)s;
    return p->low <= operation && operation <= p->high;
}

/* ---- Open and close ---- */

static void cut(train__shard *s, const train_sync *sync, train__part *p)
{
    bool found = false;
    train__sync_piece(sync, s->count, &p->first, &p->count);
    ring_chunk(p->count, p2p_size(s->comm), p2p_rank(s->comm), &p->own, &p->own_count);
    p->own += p->first;
    for (size_t i = 0; i < s->network->model->operation_count; i++) {
        if (!train__shard_uses(s, p, i)) continue;
        if (!found) p->low = i;
        p->high = i;
        found = true;
    }
    s->count++;
}

/* From the first to the last element of the pieces that an operation reaches, at most. */
static size_t longest(const train__shard *s,
                      bool reaches(const train__shard *s, const train__part *p, size_t operation))
{
    size_t most = 0;
    for (size_t i = 0; i < s->network->model->operation_count; i++) {
        size_t begin = SIZE_MAX, end = 0;
        for (size_t k = 0; k < s->count; k++) {
            const train__part *p = &s->parts[k];
            if (!reaches(s, p, i)) continue;
            if (p->first < begin) begin = p->first;
            if (p->first + p->count > end) end = p->first + p->count;
        }
        if (end > begin && end - begin > most) most = end - begin;
    }
    return most;
}

static kernel_err open_windows(train__shard *s, size_t batches)
{
    train_network *net = s->network;
    kernel_err err = KERNEL_OK;
    if (s->what == TRAIN_SHARD_PARAMETERS)
        err = train__window_open(&s->gathered, net->device, "gathered parameters", longest(s, train__shard_uses));
    if (s->what >= TRAIN_SHARD_GRADIENTS && batches == 1 && !err)
        err = train__window_open(&s->unreduced, net->device, "gradients not added up", longest(s, train__shard_spans));
    if (err) return err;
    if (s->gathered.on) net->parameters.window = &s->gathered;
    if (s->unreduced.on) net->gradients.window = &s->unreduced;
    return KERNEL_OK;
}

static void close_windows(train__shard *s)
{
    s->network->parameters.window = s->network->gradients.window = NULL;
    train__window_close(&s->gathered);
    train__window_close(&s->unreduced);
}

p2p_err train__shard_before(void *shard, size_t operation)
{
    train__shard *s = shard;
    p2p_err err = s->gathered.on ? train__shard_gathered(s, operation) : P2P_OK;
    if (!err && s->unreduced.on) train__shard_room(s, operation);
    return err;
}

static void watch(train__shard *s)
{
    bool gathers = s->what == TRAIN_SHARD_PARAMETERS;
    if (s->what < TRAIN_SHARD_GRADIENTS) return;
    s->network->watch = (train_watch){train__shard_before, gathers ? train__shard_queued : NULL, s, P2P_OK};
}

p2p_err train__shard_open(train_network *network, p2p_comm *comm, const train_sync *sync, size_t batches,
                          train__shard **shard, train_error *error)
{
    size_t first, count, pieces = 0;
    if (!network->info.shares_memory)
        return train__fail(error, P2P_ERR_ARG,
                           "--shard: %s has memory of its own, which is not divided\n  try: --device cpu",
                           network->info.name);
    train__shard *s = calloc(1, sizeof *s);
    if (!s) return train__fail(error, P2P_ERR_NOMEM, "no memory for --shard");
    *s = (train__shard){.network = network,
                        .comm = comm,
                        .what = network->shard,
                        .batches = batches,
                        .late = network->shard == TRAIN_SHARD_OPTIMIZER && p2p_layer_has_shared_memory(comm),
                        .wire = train__sync_compressor(sync)};
    while (train__sync_piece(sync, pieces, &first, &count)) pieces++;
    s->parts = calloc(pieces + 1, sizeof *s->parts);
    if (!s->parts) {
        train__shard_close(s);
        return train__fail(error, P2P_ERR_NOMEM, "no memory for %zu parts", pieces);
    }
    for (size_t i = 0; i < pieces; i++) cut(s, sync, &s->parts[i]);
    train__shard_divide(s);
    kernel_err err = open_windows(s, batches);
    if (err) {
        train__shard_close(s);
        return train__fail(error, P2P_ERR_NOMEM, "no memory for a layer of --shard: %s", kernel_strerror(err));
    }
    watch(s);
    *shard = s;
    return P2P_OK;
}

void train__shard_close(train__shard *s)
{
    if (!s) return;
    kernel_finish(s->network->device);
    s->network->watch = (train_watch){0};
    for (size_t i = 0; i < s->count; i++) kernel_event_free(s->parts[i].ready);
    kernel_event_free(s->behind);
    close_windows(s);
    free(s->parts);
    free(s);
}

/* ---- For files ---- */

void train__shard_divide(train__shard *s)
{
    for (size_t i = 0; i < s->count; i++) {
        train__part *p = &s->parts[i];
        for (int k = 0; k < TRAIN_STATES; k++) train__shard_drop(&s->network->state[k], p);
        train__shard_drop(&s->network->parameters, p);
        train__shard_drop(&s->network->gradients, p);
        p->whole = false;
    }
}

/* The other ranks pass the chunks on, and keep none of them. */
static p2p_err collect(train__shard *s, const train_shared *array)
{
    p2p_err err = P2P_OK;
    for (size_t i = 0; i < s->count && !err; i++) {
        const train__part *p = &s->parts[i];
        err = ring_all_gather(s->comm, train__shard_at(array, p), p->count, DTYPE_F32);
        if (p2p_rank(s->comm) != 0) train__shard_drop(array, p);
    }
    return err;
}

p2p_err train__shard_collect(train__shard *s, int states, train_error *error)
{
    kernel_err broken = kernel_finish(s->network->device);
    p2p_err err = P2P_OK;
    if (broken) return train__device_fail(s->network, broken, error);
    for (int k = 0; k < states && !err; k++) err = collect(s, &s->network->state[k]);
    if (!err && s->what == TRAIN_SHARD_PARAMETERS) err = collect(s, &s->network->parameters);
    return train__comm(s->comm, error, err);
}
