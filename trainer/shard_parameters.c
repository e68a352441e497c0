/* SPDX-License-Identifier: MIT */
/*
 * Parameters. Of all of them a rank has its own part only. Before an operation, forward or backward, its parameters are
 * gathered from all ranks into a window (window.h), which is as long as the longest operation needs it; while the device
 * computes, those of the next one are, as far as they have room beside those in use:
 *
 *      device      | layer 1        | layer 2        | layer 3
 *      host        | gather 2       | gather 3       | gather a part of 4         the rest of 4 when layer 3 is done
 *      window      | 1 2            | 1 2 3          | 2 3 4                      what makes room is lost
 *
 * Every rank goes through the same operations in the same order, with no images if it has none left: each gather is a
 * collective.
 */
#include <string.h>

#include "ring/ring.h"
#include "trainer/shard.h"

static bool collide(const train__shard *s, const train__part *p, const train__part *q)
{
    return train__window_collide(&s->gathered, p->first, p->count, q->first, q->count);
}

static void make_room(train__shard *s, const train__part *p)
{
    for (size_t i = 0; i < s->count; i++)
        if (collide(s, p, &s->parts[i])) s->parts[i].whole = false;
}

/* The chunk of this rank must be up to date, and what makes room not in use. */
static p2p_err gather(train__shard *s, train__part *p)
{
    const float *parameters = s->network->parameters.host;
    float *at = train__window_host(&s->gathered, p->first);
    if (s->updating && kernel_finish(s->network->device)) return P2P_ERR_SYS;
    s->updating = false;
    make_room(s, p);
    p->whole = true;
    memcpy(at + (p->own - p->first), parameters + p->own, p->own_count * sizeof *at);
    return ring_all_gather(s->comm, at, p->count, DTYPE_F32);
}

static bool is_missing(const train__shard *s, const train__part *p, size_t operation)
{
    return !p->whole && train__shard_uses(s, p, operation);
}

p2p_err train__shard_gathered(train__shard *s, size_t operation)
{
    bool any = false;
    p2p_err err = P2P_OK;
    for (size_t i = 0; i < s->count; i++) any = any || is_missing(s, &s->parts[i], operation);
    if (any && kernel_finish(s->network->device)) return P2P_ERR_SYS;
    for (size_t i = 0; i < s->count && !err; i++)
        if (is_missing(s, &s->parts[i], operation)) err = gather(s, &s->parts[i]);
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

static bool has_room(const train__shard *s, const train__part *p, size_t operation)
{
    for (size_t i = 0; i < s->count; i++)
        if (train__shard_uses(s, &s->parts[i], operation) && collide(s, p, &s->parts[i])) return false;
    return true;
}

p2p_err train__shard_queued(void *shard, size_t operation, size_t next)
{
    train__shard *s = shard;
    p2p_err err = await_one_before(s);
    for (size_t i = 0; i < s->count && !err; i++) {
        train__part *p = &s->parts[i];
        if (is_missing(s, p, next) && has_room(s, p, operation)) err = gather(s, p);
    }
    train__shard_measure(s);
    return err;
}
