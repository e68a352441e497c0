/* SPDX-License-Identifier: MIT */
// worlds: last; hosts
/*
 * nonblocking: the collectives that return a request. Each gives what its blocking namesake does, bit for bit, in
 * whatever way its request is ended, with others in flight, beside messages and blocking collectives.
 */
#include <sched.h>
#include <stdio.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/util/suite.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROOM = 2 << 20, BIG = 20011, FLIGHTS = 12, LONG = 1000, CANARY = 0xA5 };

typedef enum { BARRIER, BROADCAST, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, KINDS } kind;

static const char *const names[] = {"ibarrier", "ibroadcast", "iall_reduce", "iall_gather", "ireduce_scatter"};

/* One under way. */
typedef struct {
    kind kind;
    enum dtype dtype;
    enum op op;
    size_t count;
    int root, seed;
    unsigned char *from, *into;
    p2p_request request;
} flight;

static size_t sent_count(p2p_comm *comm, const flight *f)
{
    return f->kind == REDUCE_SCATTER ? f->count * (size_t)p2p_size(comm) : f->count;
}

static p2p_err begin(p2p_comm *comm, flight *f)
{
    switch (f->kind) {
    case BARRIER: return coll_ibarrier(comm, &f->request);
    case BROADCAST: return coll_ibroadcast(comm, f->into, f->count, f->dtype, f->root, &f->request);
    case ALL_REDUCE: return coll_iall_reduce(comm, f->into, f->count, f->dtype, f->op, &f->request);
    case ALL_GATHER: return coll_iall_gather(comm, f->from, f->into, f->count, f->dtype, &f->request);
    default: return coll_ireduce_scatter(comm, f->from, f->into, f->count, f->dtype, f->op, &f->request);
    }
}

static int take_off(p2p_comm *comm, flight *f)
{
    int rank = p2p_rank(comm);

    values_fill(f->from, sent_count(comm, f), WILD, f->dtype, f->op, rank, f->seed);
    if (f->kind == BROADCAST || f->kind == ALL_REDUCE)
        values_fill(f->into, f->count, WILD, f->dtype, f->op, rank, f->seed);
    CALL(begin(comm, f));
    CHECK(f->request, "%s gave no request", names[f->kind]);
    return 0;
}

/* The first wrong element of block `at` of what came, which has its values from element `first` of ranks' buffers. */
static uint64_t expected(p2p_comm *comm, const flight *f, size_t i)
{
    int n = p2p_size(comm), rank = p2p_rank(comm), c = 0;
    size_t first, length;

    switch (f->kind) {
    case BROADCAST: return value_of(WILD, f->dtype, f->op, f->root, i, f->seed);
    case ALL_GATHER: return value_of(WILD, f->dtype, f->op, (int)(i / f->count), i % f->count, f->seed);
    case REDUCE_SCATTER:
        return value_expected(RING, rank, n, WILD, f->dtype, f->op, (size_t)rank * f->count + i, f->seed);
    default:
        for (; c < n; c++) { /* the chunk of the ring that i is in */
            size_t each = f->count / (size_t)n, longer = f->count % (size_t)n, k = (size_t)c;
            first = k * each + (k < longer ? k : longer);
            length = each + (k < longer);
            if (i < first + length) break;
        }
        return value_expected(RING, c, n, WILD, f->dtype, f->op, i, f->seed);
    }
}

static int land(p2p_comm *comm, flight *f)
{
    size_t count = f->kind == BARRIER ? 0 : f->kind == ALL_GATHER ? f->count * (size_t)p2p_size(comm) : f->count;

    CHECK(!f->request, "%s is done and has a request", names[f->kind]);
    for (size_t i = 0; i < count; i++)
        CHECK(value_at(f->into, f->dtype, i) == expected(comm, f, i),
              "%s, %s of %s, %d ranks, root %d, count %zu: element %zu", names[f->kind], op_name(f->op),
              dtype_name(f->dtype), p2p_size(comm), f->root, f->count, i);
    CHECK(values_changed(f->from, sent_count(comm, f), WILD, f->dtype, f->op, p2p_rank(comm), f->seed) ==
              sent_count(comm, f),
          "%s changed the send buffer", names[f->kind]);
    return 0;
}

/* ---- Each alone ---- */

static unsigned char from[ROOM], into[ROOM];

static int fly(p2p_comm *world, flight f)
{
    f.from = from;
    f.into = into;
    memset(into, CANARY, 64);
    STEP(take_off(world, &f));
    CALL(p2p_wait(&f.request, P2P_STATUS_IGNORE));
    return land(world, &f);
}

static int each_alone(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), counts[] = {0, 1, n - 1, n, n + 1, 1000};
    flight f = {.seed = 1};

    (void)arg;
    for (size_t i = 0; i < COUNT(counts); i++)
        for (int k = 0; k < KINDS; k++, f.seed++) {
            f.kind = (kind)k;
            f.count = counts[i];
            f.dtype = (enum dtype)((i + (size_t)k) % DTYPE_COUNT);
            f.op = f.dtype <= DTYPE_F64 && i % 2 ? OP_MEAN : i % 3 ? OP_SUM : OP_MAX;
            f.root = (int)(i * 3 + 1) % (int)n;
            STEP(fly(world, f));
        }
    return 0;
}

Test(nonblocking, each_alone)
{
    ASSERT_RIGHT(job_matrix(each_alone, NULL));
}

static int every_root(p2p_comm *world, void *arg)
{
    (void)arg;
    for (int root = 0; root < p2p_size(world); root++)
        STEP(fly(world, (flight){.kind = BROADCAST, .dtype = DTYPE_I64, .count = 37, .root = root, .seed = root}));
    return 0;
}

Test(nonblocking, broadcast_from_every_root)
{
    ASSERT_RIGHT(job_matrix(every_root, NULL));
}

static int large_ones(p2p_comm *world, void *arg)
{
    (void)arg;
    for (int k = BROADCAST; k < KINDS; k++)
        STEP(fly(world,
                 (flight){.kind = (kind)k, .dtype = DTYPE_F64, .op = OP_MEAN, .count = BIG, .root = 1, .seed = k}));
    return 0;
}

Test(nonblocking, large)
{
    static const int sizes[] = {2, 3, 5};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, true, large_ones, NULL));
}

/* ---- Many at once ---- */

static unsigned char froms[FLIGHTS][8 * LONG * 8], intos[FLIGHTS][8 * LONG * 8];

static flight numbered(p2p_comm *comm, int i)
{
    return (flight){.kind = (kind)(i % KINDS),
                    .dtype = i % 2 ? DTYPE_F64 : DTYPE_F32,
                    .op = i % 3 ? OP_SUM : OP_MEAN,
                    .count = i % 4 == 3   ? 0
                             : i % 4 == 2 ? LONG
                                          : (size_t)(7 * i + 1),
                    .root = i % p2p_size(comm),
                    .seed = i,
                    .from = froms[i],
                    .into = intos[i]};
}

/* Beside messages with their tags, which are received last, and a blocking collective in between. */
static int many_at_once(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), rank = p2p_rank(world), in[FLIGHTS], sum = rank;
    flight flights[FLIGHTS];
    p2p_request receives[FLIGHTS], send;

    (void)arg;
    for (int i = 0; i < FLIGHTS; i++) {
        flights[i] = numbered(world, i);
        CALL(p2p_irecv(world, &in[i], sizeof in[i], (rank + n - 1) % n, i, &receives[i]));
        STEP(take_off(world, &flights[i]));
        if (i == FLIGHTS / 2) CALL(coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_SUM));
    }
    CHECK(sum == n * (n - 1) / 2, "the blocking sum is %d", sum);
    for (int i = FLIGHTS - 1; i >= 0; i--) {
        int mine = 100 * rank + i;
        CALL(p2p_wait(&flights[i].request, P2P_STATUS_IGNORE));
        STEP(land(world, &flights[i]));
        CALL(p2p_isend(world, &mine, sizeof mine, (rank + 1) % n, i, &send));
        CALL(p2p_wait(&receives[i], P2P_STATUS_IGNORE));
        CALL(p2p_wait(&send, P2P_STATUS_IGNORE));
        CHECK(in[i] == 100 * ((rank + n - 1) % n) + i, "message %d: %d", i, in[i]);
    }
    return 0;
}

Test(nonblocking, many_at_once)
{
    ASSERT_RIGHT(job_matrix(many_at_once, NULL));
}

/* Looked at, never waited for, each rank beginning elsewhere. */
static int looked_at(p2p_comm *world, void *arg)
{
    flight flights[FLIGHTS];
    p2p_request requests[FLIGHTS];
    bool done = false;

    (void)arg;
    for (int i = 0; i < FLIGHTS; i++) {
        flights[i] = numbered(world, i);
        STEP(take_off(world, &flights[i]));
    }
    for (int at = p2p_rank(world); flights[at % 3].request; at += done ? 1 : 0, sched_yield())
        CALL(p2p_test(&flights[at % 3].request, &done, P2P_STATUS_IGNORE));
    for (int i = 0; i < FLIGHTS; i++) requests[i] = flights[i].request;
    for (done = false; !done; sched_yield()) CALL(p2p_test_all(FLIGHTS, requests, &done, P2P_STATUSES_IGNORE));
    for (int i = 0; i < FLIGHTS; i++) {
        flights[i].request = requests[i];
        STEP(land(world, &flights[i]));
    }
    return 0;
}

Test(nonblocking, looked_at_until_done)
{
    ASSERT_RIGHT(job_matrix(looked_at, NULL));
}

/* A barrier's request ends on no rank before the last one has begun it. */
static int barrier_waits_for_all(p2p_comm *world, void *arg)
{
    int *begun = arg, n = p2p_size(world);
    p2p_request request;
    bool done;

    for (int late = 0; late < n; late++) {
        if (p2p_rank(world) == late) {
            for (int i = 0; i < 50; i++) sched_yield();
            __atomic_fetch_add(begun, 1, __ATOMIC_SEQ_CST);
        }
        CALL(coll_ibarrier(world, &request));
        for (done = false; !done; sched_yield()) CALL(p2p_test(&request, &done, P2P_STATUS_IGNORE));
        CHECK(__atomic_load_n(begun, __ATOMIC_SEQ_CST) > late, "rank %d had not begun", late);
    }
    CALL(coll_barrier(world));
    if (p2p_rank(world) == 0) __atomic_store_n(begun, 0, __ATOMIC_SEQ_CST);
    CALL(coll_barrier(world));
    return 0;
}

Test(nonblocking, barrier_waits_for_all)
{
    ASSERT_RIGHT(job_matrix(barrier_waits_for_all, job_shared(sizeof(int))));
}

/* ---- The messages of its blocking namesake ---- */

static p2p_err blocking(p2p_comm *comm, const flight *f)
{
    switch (f->kind) {
    case BROADCAST: return coll_tree_broadcast(comm, into, f->count, f->dtype, f->root);
    case ALL_REDUCE: return ring_all_reduce(comm, into, f->count, f->dtype, f->op);
    case ALL_GATHER: return coll_all_gather(comm, from, into, f->count, f->dtype);
    default: return coll_reduce_scatter(comm, from, into, f->count, f->dtype, f->op);
    }
}

static int same_messages(p2p_comm *world, void *arg)
{
    p2p_traffic once[8], twice[8];
    p2p_comm *fresh;

    (void)arg;
    for (int k = BROADCAST; k < KINDS; k++) {
        flight f = {.kind = (kind)k, .count = 1003, .root = p2p_size(world) - 1};
        CALL(p2p_dup(world, &fresh));
        STEP(fly(fresh, f));
        CALL(p2p_stats(fresh, once));
        CALL(blocking(fresh, &f));
        CALL(p2p_stats(fresh, twice));
        for (int q = 0; q < p2p_size(world); q++)
            CHECK(2 * once[q].messages_sent == twice[q].messages_sent &&
                      2 * once[q].bytes_sent == twice[q].bytes_sent &&
                      2 * once[q].bytes_received == twice[q].bytes_received,
                  "%s: other messages to rank %d", names[k], q);
        CALL(p2p_free(fresh));
    }
    return 0;
}

Test(nonblocking, sends_what_its_namesake_sends)
{
    ASSERT_RIGHT(job_matrix(same_messages, NULL));
}

/* ---- What is wrong by itself begins nothing ---- */

static int refused(p2p_comm *world, void *arg)
{
    float here[16] = {0}, there[16] = {0};
    p2p_request request = P2P_REQUEST_NULL;
    int n = p2p_size(world);

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_ARG, coll_ibarrier(world, NULL));
    RETURNS(P2P_ERR_RANK, coll_ibroadcast(world, here, 1, DTYPE_F32, n, &request));
    RETURNS(P2P_ERR_ARG, coll_ibroadcast(world, NULL, 1, DTYPE_F32, 0, &request));
    RETURNS(P2P_ERR_ARG, coll_iall_reduce(world, here, 1, DTYPE_I32, OP_MEAN, &request));
    RETURNS(P2P_ERR_ARG, coll_iall_reduce(world, here, 1, DTYPE_F32, OP_SUM, NULL));
    RETURNS(P2P_ERR_ARG, coll_iall_gather(world, here, here, 1, DTYPE_F32, &request));
    RETURNS(P2P_ERR_ARG, coll_ireduce_scatter(world, here, there, 1, (enum dtype)99, OP_SUM, &request));
    RETURNS(P2P_ERR_ARG, coll_reduce_scatterv(world, here, NULL, NULL, there, 1, DTYPE_F32, OP_SUM));
    RETURNS(P2P_ERR_ARG, coll_scan(world, here, 1, DTYPE_I64, OP_MEAN));
    CHECK(!request, "a request came of it");
    return fly(world, (flight){.kind = ALL_GATHER, .count = 3});
}

Test(nonblocking, wrong_arguments_begin_nothing)
{
    ASSERT_RIGHT(job_matrix(refused, NULL));
}
