/* SPDX-License-Identifier: MIT */
/*
 * The optimiser. Each rank has the gradients' sum of its own part, so it can take the optimiser's step there, and needs
 * no state for the rest. Then everybody gets the new parameters of all:
 *
 *      plain step      all-reduce gradients                                update all
 *      here            reduce-scatter gradients       update own part      all-gather parameters
 *
 * An all-reduce is a reduce-scatter and an all-gather, so the bytes are the same. But the all-gather waits for the
 * update, and cannot hide behind the backward pass.
 */
#include "ring/ring.h"
#include "trainer/shard.h"

p2p_err train__shard_gather(train__shard *s, train_error *error)
{
    const train_shared *parameters = &s->network->parameters;
    kernel_err broken = kernel_finish(s->network->device);
    double since = p2p_time(s->comm);
    p2p_err err = P2P_OK;
    if (broken) return train__device_fail(s->network, broken, error);
    for (size_t i = 0; i < s->count && !err; i++)
        err = ring_all_gather(s->comm, train__shard_at(parameters, &s->parts[i]), s->parts[i].count, DTYPE_F32);
    s->waited += p2p_time(s->comm) - since;
    return train__comm(s->comm, error, err);
}

/* With --shard parameters the others' old ones go here; the next forward pass asks for the new ones. */
static void forget(train__shard *s)
{
    for (size_t i = 0; i < s->count; i++) {
        train__shard_drop(&s->network->parameters, &s->parts[i]);
        s->parts[i].whole = false;
    }
    s->updating = true;
}

p2p_err train__shard_update(train__shard *s, const kernel_optimizer *optimizer, uint64_t step, train_error *error)
{
    train_network *net = s->network;
    kernel_err err = train__mark(net, TRAIN_UPDATE);
    s->updates++;
    if (s->what == TRAIN_SHARD_PARAMETERS) forget(s);
    for (size_t i = 0; i < s->count && !err; i++)
        if (s->parts[i].own_count)
            err = train__queue_update(net, optimizer, step, s->parts[i].own, s->parts[i].own_count);
    if (!err) err = train__mark(net, TRAIN_UPDATE_DONE);
    if (err) return train__device_fail(net, err, error);
    p2p_err kept = train__shard_keep(s, step, error);
    return kept || s->what == TRAIN_SHARD_PARAMETERS ? kept : train__shard_gather(s, error);
}
