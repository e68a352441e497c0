/* SPDX-License-Identifier: MIT */
/*
 * Gradients. Instead of an all-reduce each piece is reduce-scattered, as soon as the backward pass has completed it:
 * every rank gets the sum of its chunk. With --shard gradients the rest of the piece is then given back.
 *
 *      device      ... | layer 3 | layer 2           | layer 1           |
 *      host                      | pieces of layer 3 | pieces of layer 2 | pieces of layer 1 | update
 *
 * The host is one operation behind the device, and never more. Gradients of other ranks' parts are in a window (window.h)
 * as long as the longest operation needs it: where the next one's would go over those of before, these are added up first.
 * A step of several batches has all gradients until the last one, in the array itself, and gives them back.
 *
 * Ranks that share memory take turns with their own devices, which have all cores: what is added up during the backward pass
 * only makes that longer, and finds less in the caches. With --shard optimizer, which has all gradients anyway, they add up
 * after it.
 */
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "trainer/shard.h"

/* *at: all of the piece. */
static p2p_err add_up_floats(train__shard *s, const train__part *p, float *at)
{
    size_t first, count;
    p2p_err err = ring_reduce_scatter(s->comm, at, p->count, DTYPE_F32, OP_SUM, &first, &count);
    if (!err && s->unreduced.on) memcpy((float *)s->network->gradients.host + p->own, at + first, count * sizeof *at);
    return err;
}

/* This rank's chunk of a piece; the rest of the piece is as before, or not of use any more. */
static p2p_err add_up(train__shard *s, const train__part *p)
{
    const train_shared *gradients = &s->network->gradients;
    float *at = s->unreduced.on ? train__window_host(&s->unreduced, p->first) : train__shard_at(gradients, p);
    train__compressor *c = s->wire;
    if (!c) return add_up_floats(s, p, at);
    size_t first, count;
    train__wire_pack(c, at, p->first, p->count);
    p2p_err err = ring_reduce_scatter(s->comm, c->halves + p->first, p->count, c->options->compress.wire, OP_SUM,
                                      &first, &count);
    if (!err) train__wire_unpack(c, gradients->host, p->own, p->own_count);
    return err;
}

static p2p_err reduce(train__shard *s, train__part *p)
{
    const train_shared *gradients = &s->network->gradients;
    s->broken = kernel_event_wait(p->ready);
    kernel_event_free(p->ready);
    p->ready = NULL;
    if (s->broken) return P2P_ERR_SYS;
    p2p_err err = add_up(s, p);
    if (err) return err;
    if (!train__all_finite((const float *)gradients->host + p->own, p->own_count)) s->not_finite = true;
    if (!s->unreduced.on) train__shard_drop(gradients, p);
    return P2P_OK;
}

/* What is complete, in the order of the pieces: the same on every rank. */
static void reduce_ready(train__shard *s)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) any = any || s->parts[i].ready;
    if (any && !s->failed) train__shard_measure(s);
    for (size_t i = 0; i < s->count; i++)
        if (s->parts[i].ready && !s->failed) s->failed = reduce(s, &s->parts[i]);
}

/* Of what is complete and not yet added up: is it where this operation's gradients go? */
static bool is_in_the_way(const train__shard *s, const train__part *p, size_t operation)
{
    for (size_t i = 0; i < s->count && p->ready; i++) {
        const train__part *q = &s->parts[i];
        if (!train__shard_spans(s, q, operation)) continue;
        if (train__window_collide(&s->unreduced, p->first, p->count, q->first, q->count)) return true;
    }
    return false;
}

void train__shard_room(train__shard *s, size_t operation)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) any = any || is_in_the_way(s, &s->parts[i], operation);
    if (any) reduce_ready(s);
}

/* First the pieces of before: the device computes this operation meanwhile. Or else all of them in train__shard_wait. */
void train__shard_ready(void *shard, size_t operation)
{
    train__shard *s = shard;
    kernel_event *flushed = NULL;
    kernel_err err = kernel_record(s->network->device, &flushed);
    if (!s->late) reduce_ready(s);
    for (size_t i = 0; i < s->count && !err && !s->failed; i++)
        if (s->parts[i].low == operation) err = kernel_record(s->network->device, &s->parts[i].ready);
    kernel_event_free(flushed);
    if (err && !s->failed) {
        s->broken = err;
        s->failed = P2P_ERR_SYS;
    }
}

/* Each rank has looked at its own part only. */
static p2p_err agree(train__shard *s, bool *finite)
{
    int32_t bad = s->not_finite;
    p2p_err err = coll_all_reduce(s->comm, &bad, 1, DTYPE_I32, OP_MAX);
    s->not_finite = false;
    if (!err) *finite = !bad;
    return err;
}

p2p_err train__shard_wait(train__shard *s, bool *finite, train_error *error)
{
    for (size_t i = 0; i < s->count && !s->failed; i++)
        if (s->parts[i].ready) kernel_event_wait(s->parts[i].ready); /* an error comes again in reduce */
    p2p_layer_phase_end(s->comm, "backward");
    p2p_layer_phase_begin(s->comm, "sync");
    double since = p2p_time(s->comm);
    reduce_ready(s);
    if (!s->failed) s->failed = agree(s, finite);
    s->waited = p2p_time(s->comm) - since;
    p2p_layer_phase_end(s->comm, "sync");
    return s->broken ? train__device_fail(s->network, s->broken, error) : train__comm(s->comm, error, s->failed);
}
