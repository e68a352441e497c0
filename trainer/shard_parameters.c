/* SPDX-License-Identifier: MIT */
/*
 * Parameters. Between the operations a rank has its own part only. Before an operation, forward or backward, its
 * parameters are gathered from all ranks; while the device computes it, those of the next one are; then they are given
 * back.
 *
 *      device      | layer 1            | layer 2            | layer 3
 *      host        | gather 2           | drop 1, gather 3   | drop 2, gather 4
 *      here        | 1 2                | 2 3                | 3 4              and the rank's own part of all
 *
 * Every rank goes through the same operations in the same order, with no images if it has none left: each gather is a
 * collective.
 */
#include "ring/ring.h"
#include "trainer/shard.h"

/* The chunk of this rank must be up to date. */
static p2p_err gather(train__shard *s, train__part *p)
{
    if (p->whole) return P2P_OK;
    if (s->updating && kernel_finish(s->network->device)) return P2P_ERR_SYS;
    s->updating = false;
    p->whole = true;
    return ring_all_gather(s->comm, train__shard_at(&s->network->parameters, p), p->count, DTYPE_F32);
}

p2p_err train__shard_before(void *shard, size_t operation)
{
    train__shard *s = shard;
    p2p_err err = P2P_OK;
    for (size_t i = 0; i < s->count && !err; i++)
        if (train__shard_uses(s, &s->parts[i], operation)) err = gather(s, &s->parts[i]);
    return err;
}

/* The operation before this one is done when the device has come to this one. */
static p2p_err await_one_before(train__shard *s)
{
    kernel_event *now = NULL;
    kernel_err err = kernel_record(s->network->device, &now);
    if (!err && s->behind) err = kernel_event_wait(s->behind);
    kernel_event_free(s->behind);
    s->behind = now;
    return err ? P2P_ERR_SYS : P2P_OK;
}

p2p_err train__shard_queued(void *shard, size_t operation, size_t next)
{
    train__shard *s = shard;
    p2p_err err = await_one_before(s);
    for (size_t i = 0; i < s->count && !err; i++) {
        train__part *p = &s->parts[i];
        if (!p->whole || train__shard_uses(s, p, operation) || train__shard_uses(s, p, next)) continue;
        train__shard_drop(&s->network->parameters, p);
        p->whole = false;
    }
    if (!err) err = train__shard_before(s, next);
    train__shard_measure(s);
    return err;
}
