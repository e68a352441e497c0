/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical all-reduce where the ranks of a host share memory: what goes on within a host is two-shot's (two_shot.c), and
 * what crosses leaves from the shared memory itself. In rounds, so short that what is read again is still in a cache. Each
 * round takes some elements of every part (one of the ring of hosts, of one slice), so that the order is that of messages:
 *
 *      copies in         what others here will combine
 *      (barrier of this host)
 *      combines          this rank's slice, out of everyone's memory, in order of rank
 *      ring of hosts     for the slice: hierarchical.c
 *      (barrier of this host)
 *      copies out        every slice, from its owner
 *
 * A rank that is at a barrier has left the copies before it; so one piece of memory for what is copied in and one for slices do.
 *
 * Counted as hierarchical.c sends: to and from the owner of each slice its bytes, as one message.
 */
#include "collectives/hierarchical.h"

enum { BLOCK = 8 * 1024 }; /* bytes combined at a time: the sum so far stays in the nearest cache */
/* Bytes of a part in a round: shorter messages between hosts cost more than their bytes, and longer ones leave the nearest
 * cache (two hosts of two ranks, 16 MiB: 18.4 ms with 64 KiB, 22 with 128). */
enum { PART_LEAST = 16 * 1024, PART_MOST = 64 * 1024 };

typedef struct {
    frame__call *call;
    const coll__layout *l;
    size_t round, done;  /* elements of each part: in a round; in those before this one */
    p2p_scratch in, out; /* `in`: of each slice its parts; `out`: the parts of this rank's, and one that has arrived */
    unsigned step;
} shared;

size_t coll__hierarchical_round(const frame__call *call, const coll__layout *l)
{
    if (!call->barriers || !call->bytes || call->size == l->hosts || call->element > BLOCK) return 0;
    size_t hosts = (size_t)l->hosts, parts = (size_t)l->slices * hosts;
    size_t whole = (call->count + parts - 1) / parts + 1;  /* a part, at least */
    size_t longer = parts > hosts + 1 ? parts : hosts + 1; /* parts of `in`, or of `out` */
    size_t most = p2p_layer_scratch_most(call->comm) / longer;
    most = (most < PART_MOST ? most : PART_MOST) / call->element;
    if (whole <= most) return whole;
    return most * call->element < PART_LEAST ? 0 : most;
}

/* What of a part of a slice is in this round. */
static coll__span now_of(const shared *d, int slice, int part)
{
    const coll__span whole = {0, d->call->count};
    coll__span now = coll__part_of(coll__part_of(whole, d->l->slices, slice), d->l->hosts, part);
    size_t skipped = d->done < now.count ? d->done : now.count;
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

static char *out_at(const shared *d, int rank, int part)
{
    return (char *)d->out.first + (size_t)rank * d->out.stride + (size_t)part * d->round * d->call->element;
}

static void copy_in(const shared *d)
{
    for (int s = 0; s < d->l->slices; s++)
        for (int p = 0; p < d->l->hosts && s != d->l->number; p++) {
            const coll__span now = now_of(d, s, p);
            p2p_layer_copy(in_at(d, d->call->rank, s, p), user_at(d, now), now.count * d->call->element);
        }
}

/* What rank number q of this host has of a part of this rank's slice. */
static const char *theirs(const shared *d, int q, int part, coll__span now)
{
    return q == d->l->number ? user_at(d, now) : in_at(d, d->l->local[q], d->l->number, part);
}

static void combine_part(const shared *d, int part)
{
    const frame__call *call = d->call;
    const coll__span now = now_of(d, d->l->number, part);
    size_t block = BLOCK / call->element;
    char *out = out_at(d, call->rank, part);
    if (d->l->here == 1) p2p_layer_copy(out, user_at(d, now), now.count * call->element);
    for (size_t at = 0, some; at < now.count && d->l->here > 1; at += some) {
        size_t from = at * call->element;
        some = now.count - at < block ? now.count - at : block;
        frame__combine_some(call, out + from, theirs(d, 0, part, now) + from, theirs(d, 1, part, now) + from, some);
        for (int q = 2; q < d->l->here; q++)
            frame__combine_some(call, out + from, out + from, theirs(d, q, part, now) + from, some);
    }
}

static p2p_err ring_of_hosts(const shared *d)
{
    frame__piece parts[P2P_MAX_RANKS];
    for (int p = 0; p < d->l->hosts; p++)
        parts[p] = (frame__piece){out_at(d, d->call->rank, p), now_of(d, d->l->number, p).count * d->call->element};
    return coll__ring_of_hosts(d->call, d->l, parts, out_at(d, d->call->rank, d->l->hosts));
}

static void copy_out(const shared *d)
{
    for (int s = 0; s < d->l->slices; s++)
        for (int p = 0; p < d->l->hosts; p++) {
            const coll__span now = now_of(d, s, p);
            p2p_layer_copy(user_at(d, now), out_at(d, d->l->local[s], p), now.count * d->call->element);
        }
}

static p2p_err one_round(shared *d)
{
    const coll__layout *l = d->l;
    copy_in(d);
    p2p_err err = p2p_layer_host_barrier(d->call->comm, d->step++);
    for (int p = 0; p < l->hosts && l->number < l->slices && !err; p++) combine_part(d, p);
    if (!err && l->number < l->slices) err = ring_of_hosts(d);
    if (!err) err = p2p_layer_agree(d->call->comm); /* the caller's buffer is written now */
    if (!err) err = p2p_layer_host_barrier(d->call->comm, d->step++);
    if (!err) copy_out(d);
    return err;
}

/* Of each two ranks here: to the owner of a slice, and back; on both sides in the same order. */
static void count_traffic(const shared *d)
{
    const coll__layout *l = d->l;
    for (int q = 0; q < l->here; q++)
        for (int owner = 0; owner < l->slices; owner++) {
            size_t bytes = coll__part_of((coll__span){0, d->call->count}, l->slices, owner).count * d->call->element;
            if (q != l->number && (owner == q || owner == l->number))
                p2p_layer_count(d->call->comm, l->local[q], bytes, bytes);
        }
}

p2p_err coll__hierarchical_shared(frame__call *call, const coll__layout *l, size_t round)
{
    shared d = {.call = call, .l = l, .round = round, .step = 1};
    size_t longest = coll__part_of(coll__part_of((coll__span){0, call->count}, l->slices, 0), l->hosts, 0).count;
    size_t hosts = (size_t)l->hosts, part = round * call->element;
    call->work = call->user;
    p2p_err err = p2p_layer_scratch(call->comm, (size_t)l->slices * hosts * part, &d.in);
    if (!err) err = p2p_layer_scratch(call->comm, (hosts + 1) * part, &d.out);
    for (; !err && d.done < longest; d.done += round) err = one_round(&d);
    if (!err) count_traffic(&d);
    return err;
}
