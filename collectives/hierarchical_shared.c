/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical all-reduce where the ranks of a host share memory: what goes on within a host is two-shot's (two_shot.c), and
 * what crosses leaves from the shared memory itself. In rounds, so short that what is read again is still in a cache. Each
 * round takes some elements of every part (one of the ring of hosts, of one slice), so that the order is that of messages:
 *
 *      round k      copies in          what others here will combine
 *                   (barrier of this host)
 *                   combines           this rank's slice, out of everyone's memory, in order of rank
 *                   ring of hosts      begins its first step for the slice: hierarchical.c
 *      round k - 1  ring of hosts      ends its last step
 *                   (barrier of this host)
 *                   copies out         every slice, from its owner
 *      round k      ring of hosts      the steps between; begins the last one
 *
 * A rank that is at a barrier has left the copies before it: so one piece of memory for what is copied in and two for slices do.
 * (Before the first round there is none to end: a barrier in its place.)
 *
 * Counted as hierarchical.c sends: to and from the owner of each slice its bytes, as one message.
 */
#include "collectives/hierarchical.h"

enum { BLOCK = 8 * 1024 };       /* bytes combined at a time: the sum so far stays in the nearest cache */
enum { PART_LEAST = 16 * 1024 }; /* bytes: shorter messages between hosts cost more than their bytes */

typedef struct {
    frame__call *call;
    const coll__layout *l;
    size_t round;   /* elements of each part in a round */
    p2p_scratch in; /* of each slice its parts */
    unsigned step;
} shared;

typedef struct {
    size_t done;     /* elements of each part in rounds before this one */
    p2p_scratch out; /* the parts of this rank's slice, and one that has arrived */
    p2p_request requests[2];
} round_of;

size_t coll__hierarchical_round(const frame__call *call, const coll__layout *l)
{
    if (!p2p_layer_has_inline(call->comm) || !call->bytes || call->size == l->hosts) return 0;
    size_t parts = (size_t)l->slices * (size_t)l->hosts,
           whole = (call->count + parts - 1) / parts + 1; /* a part, at least */
    size_t pieces = parts > (size_t)l->hosts + 1 ? parts
                                                 : (size_t)l->hosts + 1; /* of the longer one of `in` and `out` */
    size_t most = p2p_layer_scratch_most(call->comm) / pieces / call->element;
    if (whole <= most) return whole;
    return most * call->element < PART_LEAST ? 0 : most;
}

/* What of a part of a slice is in this round. */
static coll__span now_of(const shared *d, const round_of *r, int slice, int part)
{
    const coll__span whole = {0, d->call->count};
    coll__span now = coll__part_of(coll__part_of(whole, d->l->slices, slice), d->l->hosts, part);
    size_t skipped = r->done < now.count ? r->done : now.count;
    now.first += skipped;
    now.count = now.count - skipped < d->round ? now.count - skipped : d->round;
    return now;
}

static char *user_at(const shared *d, coll__span s)
{
    return d->call->user + s.first * d->call->element;
}

/* Where a part lies in the memory of a rank: of a slice that it has copied in; of the slice that is its own. */
static char *in_at(const shared *d, int rank, int slice, int part)
{
    size_t place = (size_t)slice * (size_t)d->l->hosts + (size_t)part;
    return (char *)d->in.first + (size_t)rank * d->in.stride + place * d->round * d->call->element;
}

static char *out_at(const shared *d, const round_of *r, int rank, int part)
{
    return (char *)r->out.first + (size_t)rank * r->out.stride + (size_t)part * d->round * d->call->element;
}

static void copy_in(const shared *d, const round_of *r)
{
    for (int s = 0; s < d->l->slices; s++)
        for (int p = 0; p < d->l->hosts && s != d->l->number; p++) {
            const coll__span now = now_of(d, r, s, p);
            frame__copy(in_at(d, d->call->rank, s, p), user_at(d, now), now.count * d->call->element);
        }
}

/* What rank number q of this host has of a part of this rank's slice. */
static const char *theirs(const shared *d, int q, int part, coll__span now)
{
    return q == d->l->number ? user_at(d, now) : in_at(d, d->l->local[q], d->l->number, part);
}

static void combine_part(const shared *d, const round_of *r, int part)
{
    const frame__call *call = d->call;
    const coll__span now = now_of(d, r, d->l->number, part);
    size_t block = BLOCK / call->element;
    char *out = out_at(d, r, call->rank, part);
    if (d->l->here == 1) frame__copy(out, user_at(d, now), now.count * call->element);
    for (size_t at = 0, some; at < now.count && d->l->here > 1; at += some) {
        size_t from = at * call->element;
        some = now.count - at < block ? now.count - at : block;
        frame__combine_some(call, out + from, theirs(d, 0, part, now) + from, theirs(d, 1, part, now) + from, some);
        for (int q = 2; q < d->l->here; q++)
            frame__combine_some(call, out + from, out + from, theirs(d, q, part, now) + from, some);
    }
}

/* ---- Across hosts: the ring of hierarchical.c, of what is in a round, step by step ---- */

static int steps_of(const shared *d)
{
    return d->l->number < d->l->slices ? 2 * (d->l->hosts - 1) : 0;
}

/* The part that leaves in a step, and the one that comes: hosts - 1 steps of reduce-scatter, as many of all-gather. */
static int leaving_in(const shared *d, int step)
{
    int hosts = d->l->hosts, before = step < hosts - 1 ? step + 1 : step - (hosts - 1);
    return (d->l->own - before + hosts) % hosts;
}

static int coming_in(const shared *d, int step)
{
    return (leaving_in(d, step) - 1 + d->l->hosts) % d->l->hosts;
}

static p2p_err begin_step(const shared *d, round_of *r, int step)
{
    const frame__call *call = d->call;
    const coll__layout *l = d->l;
    int out = leaving_in(d, step), in = coming_in(d, step);
    char *to = out_at(d, r, call->rank, step < l->hosts - 1 ? l->hosts : in);
    p2p_err err = p2p_layer_irecv(call->comm, to, now_of(d, r, l->number, in).count * call->element, l->left, FRAME_TAG,
                                  &r->requests[0]);
    if (err) return err;
    return p2p_layer_isend(call->comm, out_at(d, r, call->rank, out),
                           now_of(d, r, l->number, out).count * call->element, l->right, FRAME_TAG, &r->requests[1]);
}

static p2p_err end_step(const shared *d, round_of *r, int step)
{
    const coll__layout *l = d->l;
    int in = coming_in(d, step);
    p2p_err err = p2p_wait_all(2, r->requests, NULL);
    if (err || step >= l->hosts - 1) return err;
    char *own = out_at(d, r, d->call->rank, in);
    frame__combine_some(d->call, own, out_at(d, r, d->call->rank, l->hosts), own, now_of(d, r, l->number, in).count);
    return P2P_OK;
}

/* The part that is complete here. */
static void finish_mean(const shared *d, const round_of *r)
{
    if (d->l->number < d->l->slices)
        frame__finish_mean(d->call, out_at(d, r, d->call->rank, d->l->own),
                           now_of(d, r, d->l->number, d->l->own).count);
}

/* ---- Rounds ---- */

static void copy_out(const shared *d, const round_of *r)
{
    for (int s = 0; s < d->l->slices; s++)
        for (int p = 0; p < d->l->hosts; p++) {
            const coll__span now = now_of(d, r, s, p);
            frame__copy(user_at(d, now), out_at(d, r, d->l->local[s], p), now.count * d->call->element);
        }
}

/* What the ranks here have, and the first step to the other hosts. */
static p2p_err begin_round(shared *d, round_of *r)
{
    r->requests[0] = r->requests[1] = P2P_REQUEST_NULL;
    copy_in(d, r);
    p2p_err err = p2p_layer_host_barrier(d->call->comm, d->step++);
    for (int p = 0; p < d->l->hosts && d->l->number < d->l->slices && !err; p++) combine_part(d, r, p);
    return !err && steps_of(d) ? begin_step(d, r, 0) : err;
}

/* All but the last step of the ring, which is begun. */
static p2p_err go_round(const shared *d, round_of *r)
{
    p2p_err err = P2P_OK;
    for (int step = 0; step < steps_of(d) - 1 && !err; step++) {
        err = end_step(d, r, step);
        if (!err && step == d->l->hosts - 2) finish_mean(d, r);
        if (!err) err = begin_step(d, r, step + 1);
    }
    if (d->l->hosts == 1) finish_mean(d, r);
    return err;
}

static p2p_err end_round(shared *d, round_of *r)
{
    p2p_err err = steps_of(d) ? end_step(d, r, steps_of(d) - 1) : P2P_OK;
    if (!err) err = p2p_layer_agree(d->call->comm); /* the caller's buffer is written now */
    if (!err) err = p2p_layer_host_barrier(d->call->comm, d->step++);
    if (!err) copy_out(d, r);
    return err;
}

/* What is on its way between hosts in one round leaves time for what goes on within them in the next. */
static p2p_err run_rounds(shared *d, round_of rounds[2], size_t count)
{
    p2p_err err = P2P_OK;
    for (size_t k = 0; k <= count && !err; k++) {
        round_of *now = &rounds[k % 2], *before = &rounds[(k + 1) % 2];
        now->done = k * d->round;
        if (k < count) err = begin_round(d, now);
        if (k == 0 && count > 1 && !err) err = p2p_layer_host_barrier(d->call->comm, d->step++); /* `in` has been read */
        if (k > 0 && !err) err = end_round(d, before);
        if (k < count && !err) err = go_round(d, now);
    }
    return err;
}

static void count_traffic(const shared *d)
{
    const coll__layout *l = d->l;
    const coll__span whole = {0, d->call->count};
    size_t own = l->number < l->slices ? coll__part_of(whole, l->slices, l->number).count * d->call->element : 0;
    for (int q = 0; q < l->here; q++) {
        if (q == l->number) continue;
        size_t bytes = q < l->slices ? coll__part_of(whole, l->slices, q).count * d->call->element : 0;
        if (q < l->slices) p2p_layer_count(d->call->comm, l->local[q], bytes, bytes);
        if (l->number < l->slices) p2p_layer_count(d->call->comm, l->local[q], own, own);
    }
}

p2p_err coll__hierarchical_shared(frame__call *call, const coll__layout *l, size_t round)
{
    shared d = {.call = call, .l = l, .round = round, .step = 1};
    round_of rounds[2] = {{.done = 0}, {.done = 0}};
    size_t longest = coll__part_of(coll__part_of((coll__span){0, call->count}, l->slices, 0), l->hosts, 0).count;
    size_t hosts = (size_t)l->hosts, part = round * call->element;
    call->work = call->user;
    p2p_err err = p2p_layer_scratch(call->comm, (size_t)l->slices * hosts * part, &d.in);
    for (int i = 0; i < 2 && !err; i++) err = p2p_layer_scratch(call->comm, (hosts + 1) * part, &rounds[i].out);
    if (!err) err = run_rounds(&d, rounds, (longest + round - 1) / round);
    for (int i = 0; i < 2; i++) p2p_wait_all(2, rounds[i].requests, NULL); /* none is left but after an error */
    if (!err) count_traffic(&d);
    return err;
}
