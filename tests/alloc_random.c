/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * alloc_random: buffers from p2p_alloc that come and go at random on each rank, beside ordinary ones, and collectives
 * and messages on them. What is done is drawn from a seed that all ranks have, on which buffers from one of each rank's
 * own.
 */
#include <stdlib.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SLOTS = 6, MOST = 60000, MOST_RANKS = 8, MARGIN = 512, STEPS = 150, LONG_STEPS = 1000 };

typedef struct {
    int64_t *at;
    size_t room; /* elements */
    bool shared; /* from p2p_alloc */
} slot;

typedef struct {
    p2p_comm *comm;
    int rank, n;
    uint64_t common, own;
    slot slots[SLOTS];
    size_t step;
} player;

static size_t draw(uint64_t *seed, size_t limit)
{
    return pattern_random(seed) % limit;
}

/* ---- Buffers ---- */

static int drop(player *p, slot *s)
{
    if (s->shared) CALL(p2p_release(p->comm, s->at));
    if (!s->shared) free(s->at);
    *s = (slot){NULL, 0, false};
    return 0;
}

static int renew(player *p, slot *s, size_t room)
{
    void *at = NULL;

    STEP(drop(p, s));
    bool shared = draw(&p->own, 4);
    if (shared) CALL(p2p_alloc(p->comm, room * sizeof *s->at, &at));
    if (!shared) at = malloc(room * sizeof *s->at);
    CHECK(at, "no memory");
    *s = (slot){at, room, shared};
    return 0;
}

/* Room for so many elements somewhere: in a buffer that is there, or in a new one; not always from its beginning on.
 * Slot 0 of rank 0 stays. */
static int buffer(player *p, size_t which, size_t count, int64_t **at)
{
    slot *s = &p->slots[which];

    bool stays = which + (size_t)p->rank == 0 && s->room >= count;
    if (s->room < count || (!stays && draw(&p->own, 3) == 0)) STEP(renew(p, s, count + draw(&p->own, MARGIN)));
    *at = s->at + draw(&p->own, s->room - count + 1);
    return 0;
}

static int64_t element(const player *p, int rank, size_t i)
{
    return (int64_t)((p->step + 1) * 1000003 * (size_t)(rank + 1) + i * (size_t)(rank + 3));
}

static void fill(const player *p, int64_t *at, size_t count)
{
    for (size_t i = 0; i < count; i++) at[i] = element(p, p->rank, i);
}

static int check_sum(const player *p, const char *name, const int64_t *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (int q = 0; q < p->n; q++) sum += element(p, q, i);
        CHECK(at[i] == sum, "step %zu, %s of %zu: element %zu is %lld, not %lld", p->step, name, count, i,
              (long long)at[i], (long long)sum);
    }
    return 0;
}

static int check_of(const player *p, const char *name, const int64_t *at, size_t first, size_t count, int rank)
{
    for (size_t i = 0; i < count; i++)
        CHECK(at[i] == element(p, rank, first + i), "step %zu, %s of %zu: element %zu is not that of rank %d", p->step,
              name, count, i, rank);
    return 0;
}

/* ---- Operations ---- */

typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

static int reduce_all(player *p, size_t count)
{
    static const all_reduce functions[] = {coll_all_reduce,       coll_all_reduce,
                                           ring_all_reduce,       coll_tree_all_reduce,
                                           coll_naive_all_reduce, coll_recursive_doubling_all_reduce};
    int64_t *at;

    all_reduce function = functions[draw(&p->common, COUNT(functions))];
    STEP(buffer(p, draw(&p->own, SLOTS), count, &at));
    fill(p, at, count);
    CALL(function(p->comm, at, count, DTYPE_I64, OP_SUM));
    return check_sum(p, "all_reduce", at, count);
}

/* Two at a time, in buffers that stay until both have ended. */
static int reduce_later(player *p, size_t count)
{
    int64_t *at[2];
    p2p_request requests[2];
    size_t first = draw(&p->own, SLOTS);

    for (size_t k = 0; k < 2; k++) {
        STEP(buffer(p, (first + k) % SLOTS, count, &at[k]));
        fill(p, at[k], count);
        CALL(ring_iall_reduce(p->comm, at[k], count, DTYPE_I64, OP_SUM, &requests[k]));
    }
    size_t last = draw(&p->own, 2);
    CALL(p2p_wait(&requests[1 - last], P2P_STATUS_IGNORE));
    CALL(p2p_wait(&requests[last], P2P_STATUS_IGNORE));
    STEP(check_sum(p, "the first iall_reduce", at[0], count));
    return check_sum(p, "the second iall_reduce", at[1], count);
}

static int from_root(player *p, size_t count)
{
    int root = (int)draw(&p->common, (size_t)p->n);
    int64_t *at;

    STEP(buffer(p, draw(&p->own, SLOTS), count, &at));
    fill(p, at, count);
    CALL(coll_broadcast(p->comm, at, count, DTYPE_I64, root));
    STEP(check_of(p, "broadcast", at, 0, count, root));
    fill(p, at, count);
    CALL(coll_reduce(p->comm, at, count, DTYPE_I64, OP_SUM, root));
    return p->rank == root ? check_sum(p, "reduce", at, count) : check_of(p, "reduce", at, 0, count, p->rank);
}

static int exchange_all(player *p, size_t count)
{
    size_t n = (size_t)p->n, each = count / n, first = draw(&p->own, SLOTS);
    int64_t *out, *in;

    STEP(buffer(p, first, each * n, &out));
    STEP(buffer(p, (first + 1) % SLOTS, each * n, &in));
    fill(p, out, each * n);
    CALL(coll_all_gather(p->comm, out, in, each, DTYPE_I64));
    for (size_t q = 0; q < n; q++) STEP(check_of(p, "all_gather", in + q * each, 0, each, (int)q));
    CALL(coll_all_to_all(p->comm, out, in, each, DTYPE_I64));
    for (size_t q = 0; q < n; q++) STEP(check_of(p, "all_to_all", in + q * each, (size_t)p->rank * each, each, (int)q));
    return 0;
}

/* Round the circle; what was sent may be gone as soon as it has been sent. */
static int pass_on(player *p, size_t count)
{
    int right = (p->rank + 1) % p->n, left = (p->rank + p->n - 1) % p->n;
    size_t first = draw(&p->own, SLOTS);
    p2p_request request;
    int64_t *out, *in;

    STEP(buffer(p, first, count, &out));
    STEP(buffer(p, (first + 1) % SLOTS, count, &in));
    fill(p, out, count);
    CALL(p2p_irecv(p->comm, in, count * sizeof *in, left, 0, &request));
    CALL(p2p_send(p->comm, out, count * sizeof *out, right, 0));
    if (first || p->rank) STEP(renew(p, &p->slots[first], draw(&p->own, MOST)));
    CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
    return check_of(p, "message", in, 0, count, left);
}

/* The same in a group, whose memory comes and goes with it. */
static int in_a_group(player *p, size_t count)
{
    player part = *p;
    p2p_comm *group;

    CALL(p2p_split(p->comm, (int)(((size_t)p->rank + p->step) % 2), 0, &group));
    part.comm = group;
    part.rank = p2p_rank(group);
    part.n = p2p_size(group);
    STEP(reduce_all(&part, count));
    memcpy(p->slots, part.slots, sizeof p->slots);
    p->own = part.own;
    p->common = pattern_key(0, 0, (int)p->step); /* the groups may have drawn differently */
    CALL(p2p_free(group));
    return 0;
}

/* ---- Jobs ---- */

static size_t draw_count(player *p)
{
    static const size_t limits[] = {8, 600, 5000, MOST};
    return draw(&p->common, limits[draw(&p->common, COUNT(limits))]);
}

static int play(p2p_comm *world, void *arg)
{
    static int (*const operations[])(player *, size_t) = {reduce_all,   reduce_all, reduce_later, from_root,
                                                          exchange_all, pass_on,    in_a_group};
    const uint64_t *seed = arg;
    player p = {.comm = world, .rank = p2p_rank(world), .n = p2p_size(world), .common = *seed};

    p.own = *seed * 31 + (uint64_t)p.rank;
    size_t steps = getenv("PAIRWISE_RANDOM_PROGRAMS") ? LONG_STEPS : STEPS;
    for (p.step = 0; p.step < steps; p.step++) {
        size_t count = draw_count(&p);
        STEP(operations[draw(&p.common, COUNT(operations))](&p, count));
    }
    for (size_t k = 0; k < SLOTS; k++) STEP(drop(&p, &p.slots[k]));
    return 0;
}

/* PAIRWISE_RANDOM_PROGRAMS: how many jobs, and longer ones, for long runs. */
Test(alloc_random, everything_on_buffers_that_come_and_go)
{
    const char *many = getenv("PAIRWISE_RANDOM_PROGRAMS");
    uint64_t count = many ? strtoull(many, NULL, 10) : MOST_RANKS, *seed = job_shared(sizeof *seed);

    for (uint64_t k = 0; k < count; k++) {
        *seed = (k + 1) * UINT64_C(0x9E3779B97F4A7C15);
        const char *why = job_right(1 + (int)(k % MOST_RANKS), k / MOST_RANKS % 2, play, seed);
        cr_assert(!why, "job %lu: %s", (unsigned long)k, why ? why : "");
    }
}
