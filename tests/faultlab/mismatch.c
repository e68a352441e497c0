/* SPDX-License-Identifier: MIT */
/*
 * Ranks that disagree about a collective. One of them, the odd one, calls something else: P2P_ERR_MISMATCH on all
 * ranks, with rank and value of both sides, and every buffer, to send or to receive, as it was.
 */
#include "lab.h"

#include <stdio.h>
#include <string.h>

#include "collectives/collectives.h"
#include "ring/ring.h"

enum { SHORT = 16, LONG = 40000 }; /* elements: buffered, and not */
enum { ROOM = 1 << 20, CANARY = 0xC3 };

static unsigned char from[ROOM], into[ROOM];

/* ---- One call ---- */

enum kind {
    ALL_REDUCE,
    NAIVE,
    TREE,
    DOUBLING,
    RING,
    BEGUN_RING,
    HALF_RING,
    REDUCE,
    BROADCAST,
    SCATTER,
    GATHER,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    BARRIER,
    NOTHING
};

typedef struct {
    enum kind kind;
    size_t count; /* of the whole buffer; blocks have an eighth */
    enum dtype dtype;
    enum op op;
    int root;
} call;

static p2p_err begun_ring(p2p_comm *comm, const call *c)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(comm, into, c->count, c->dtype, c->op, &request);
    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static p2p_err reduces(p2p_comm *comm, const call *c)
{
    size_t first, length;
    switch (c->kind) {
    case NAIVE: return coll_naive_all_reduce(comm, into, c->count, c->dtype, c->op);
    case TREE: return coll_tree_all_reduce(comm, into, c->count, c->dtype, c->op);
    case DOUBLING: return coll_recursive_doubling_all_reduce(comm, into, c->count, c->dtype, c->op);
    case RING: return ring_all_reduce(comm, into, c->count, c->dtype, c->op);
    case BEGUN_RING: return begun_ring(comm, c);
    case HALF_RING: return ring_reduce_scatter(comm, into, c->count, c->dtype, c->op, &first, &length);
    case REDUCE: return coll_reduce(comm, into, c->count, c->dtype, c->op, c->root);
    default: return coll_all_reduce(comm, into, c->count, c->dtype, c->op);
    }
}

static p2p_err make(p2p_comm *comm, const call *c)
{
    size_t block = c->count / 8;
    switch (c->kind) {
    case BROADCAST: return coll_broadcast(comm, into, c->count, c->dtype, c->root);
    case SCATTER: return coll_scatter(comm, from, into, block, c->dtype, c->root);
    case GATHER: return coll_gather(comm, from, into, block, c->dtype, c->root);
    case ALL_GATHER: return coll_all_gather(comm, from, into, block, c->dtype);
    case REDUCE_SCATTER: return coll_reduce_scatter(comm, from, into, block, c->dtype, c->op);
    case ALL_TO_ALL: return coll_all_to_all(comm, from, into, block, c->dtype);
    case BARRIER: return coll_barrier(comm);
    case NOTHING: return P2P_OK;
    default: return reduces(comm, c);
    }
}

/* ---- A disagreement: what the odd rank calls, and what the others call, one after the other ---- */

static call others[2], odd[2];
static int odd_rank, right_before;

static int untouched(void)
{
    CHECK(lab_all(from, ROOM, CANARY), "a buffer to send from was written");
    CHECK(lab_all(into, ROOM, CANARY), "a buffer to receive into was written");
    return 0;
}

static int body_disagrees(p2p_comm *world)
{
    const call *mine = p2p_rank(world) == odd_rank ? odd : others;
    p2p_err err = P2P_OK;
    int zero = 0;
    for (int i = 0; i < right_before; i++) CHECK_OK(world, coll_all_reduce(world, &zero, 1, DTYPE_I32, OP_SUM));
    memset(from, CANARY, ROOM);
    memset(into, CANARY, ROOM);
    for (int i = 0; i < 2 && !err; i++) err = NOTE(world, make(world, &mine[i]));
    int failed = untouched();
    if (failed) return failed;
    CHECK(err, "the calls succeeded");
    p2p_err again = coll_barrier(world);
    CHECK(again == err, "after %d, a barrier gave %d", (int)err, (int)again);
    return 0;
}

/* Does the message say that this rank has this, or is in it? */
static bool names_side(const char *message, int rank, const char *what)
{
    return lab_has(message, "rank %d has %s", rank, what) || lab_has(message, "rank %d is in %s", rank, what) ||
           lab_has(message, "rank %d in %s", rank, what);
}

static void check_message(int n, int rank, const char *odd_has, const char *others_have)
{
    const char *message = lab->rank[rank].message;
    bool other_named = false;
    EXPECT(names_side(message, odd_rank, odd_has), "%d ranks, rank %d: no rank %d with %s in: %s", n, rank, odd_rank,
           odd_has, message);
    for (int other = 0; other < n; other++)
        if (other != odd_rank) other_named = other_named || names_side(message, other, others_have);
    EXPECT(other_named, "%d ranks, rank %d: no other rank with %s in: %s", n, rank, others_have, message);
}

static void expect_mismatch(int n, const char *odd_has, const char *others_have)
{
    static lab_job job;
    job = (lab_job){.size = n, .body = body_disagrees};
    lab_run(&job);
    for (int rank = 0; rank < n; rank++) {
        lab_expect_err(rank, P2P_ERR_MISMATCH);
        check_message(n, rank, odd_has, others_have);
    }
    EXPECT(job.status == 1, "exit status %d", job.status);
}

/* For 2 to 8 ranks; the first, the last and one in the middle are the odd one. */
static void disagree(const char *odd_has, const char *others_have)
{
    for (int n = 2; n <= 8; n += n < 3 ? 1 : n < 5 ? 2 : 3)
        for (odd_rank = 0; odd_rank < n; odd_rank += n - 1) expect_mismatch(n, odd_has, others_have);
    odd_rank = 2;
    expect_mismatch(4, odd_has, others_have);
}

static const call plain = {ALL_REDUCE, SHORT, DTYPE_F32, OP_SUM, 0};

/* Both call the same, but for what the caller of this changes in odd[0]. */
static void same_call(enum kind kind, size_t count)
{
    others[0] = plain;
    others[0].kind = kind;
    others[0].count = count;
    odd[0] = others[0];
    odd[1] = others[1] = (call){.kind = NOTHING};
}

static void mm_count(void)
{
    static const enum kind kinds[] = {ALL_REDUCE, RING, BEGUN_RING};
    static const enum kind blocks[] = {SCATTER, GATHER, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        same_call(kinds[i], i ? SHORT : LONG);
        odd[0].count += 3;
        if (i == 0)
            disagree("count 40003", "count 40000");
        else
            disagree("count 19", "count 16");
    }
    odd_rank = 1;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        same_call(blocks[i], LONG);
        odd[0].count += 8;
        expect_mismatch(3, "count 5001", "count 5000");
        same_call(blocks[i], SHORT);
        odd[0].count -= 8;
        expect_mismatch(4, "count 1", "count 2");
    }
    right_before = 16;
    same_call(ALL_REDUCE, 1000);
    odd[0].count = 2000;
    expect_mismatch(2, "count 2000", "count 1000");
    FACTS(lab->rank[0].message, "coll_all_reduce #17");
}

/* Longer and shorter, at the root and elsewhere: a message may even have left before the difference is known. */
static void mm_bcast(void)
{
    same_call(BROADCAST, LONG);
    odd[0].count = LONG + 1;
    disagree("count 40001", "count 40000");
    same_call(BROADCAST, SHORT);
    odd[0].count = SHORT + 1;
    disagree("count 17", "count 16");
    same_call(BROADCAST, LONG);
    odd[0].count = SHORT;
    disagree("count 16", "count 40000");
}

static void mm_op(void)
{
    same_call(ALL_REDUCE, SHORT);
    odd[0].op = OP_MAX;
    disagree("op max", "op sum");
    same_call(RING, LONG);
    odd[0].op = OP_MEAN;
    disagree("op mean", "op sum");
    odd_rank = 0;
    same_call(REDUCE_SCATTER, SHORT);
    odd[0].op = OP_PROD;
    expect_mismatch(3, "op prod", "op sum");
    same_call(REDUCE, LONG);
    odd[0].op = OP_MIN;
    expect_mismatch(5, "op min", "op sum");
}

static void mm_root(void)
{
    static const enum kind kinds[] = {BROADCAST, REDUCE, SCATTER, GATHER};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        same_call(kinds[i], i % 2 ? LONG : SHORT);
        odd[0].root = 1;
        disagree("root 1", "root 0");
    }
}

static void mm_dtype(void)
{
    same_call(ALL_REDUCE, SHORT);
    odd[0].dtype = DTYPE_I32; /* as many bytes */
    disagree("dtype i32", "dtype f32");
    same_call(RING, LONG);
    odd[0].dtype = DTYPE_U8;
    disagree("dtype u8", "dtype f32");
    same_call(ALL_GATHER, SHORT);
    odd_rank = 1;
    odd[0].dtype = DTYPE_F64;
    expect_mismatch(4, "dtype f64", "dtype f32");
}

static void mm_kind(void)
{
    same_call(ALL_REDUCE, SHORT);
    odd[0].kind = BROADCAST;
    disagree("coll_broadcast #1", "coll_all_reduce #1");
}

/* The same calls in another order: different operations, or only different counts. */
static void mm_order(void)
{
    same_call(ALL_REDUCE, SHORT);
    others[1] = odd[0] = (call){.kind = BROADCAST, .count = SHORT};
    odd[1] = others[0];
    disagree("coll_broadcast #1", "coll_all_reduce #1");
    same_call(ALL_REDUCE, LONG);
    others[1] = odd[0];
    others[1].count = odd[0].count = 777;
    odd[1] = others[0];
    disagree("count 777", "count 40000");
}

static void mm_algorithm(void)
{
    static const struct {
        enum kind kind;
        const char *name;
    } ways[] = {{NAIVE, "coll_naive_all_reduce #1"}, {TREE, "coll_tree_all_reduce #1"},
                {RING, "ring_all_reduce #1"},        {DOUBLING, "coll_recursive_doubling_all_reduce #1"},
                {BEGUN_RING, "ring_iall_reduce #1"}, {HALF_RING, "ring_reduce_scatter #1"}};
    for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
        same_call(ways[i - 1].kind, i % 2 ? SHORT : LONG);
        odd[0].kind = ways[i].kind;
        disagree(ways[i].name, ways[i - 1].name);
    }
}

/* ---- One rank calls once less, and ends ---- */

static int body_misses_one(p2p_comm *world)
{
    for (int i = 0; i < 99; i++) CHECK_OK(world, coll_barrier(world));
    if (p2p_rank(world) == odd_rank) return 0;
    memset(from, CANARY, ROOM);
    memset(into, CANARY, ROOM);
    double before = process_now();
    p2p_err err = NOTE(world, make(world, &others[0]));
    CHECK(lab_in_time(process_now() - before, LAB_DEADLOCK_BAR), "it took %.3f s", process_now() - before);
    CHECK(err == P2P_ERR_DEADLOCK || err == P2P_ERR_PEER_DEAD, "%d: %s", (int)err, p2p_error_message(world));
    return untouched();
}

static void mm_missing(void)
{
    static const enum kind kinds[] = {ALL_REDUCE, BARRIER, BROADCAST, RING, ALL_GATHER, BEGUN_RING};
    static lab_job job;
    char name[32];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int n = 2 + (int)i;
        same_call(kinds[i], i % 2 ? LONG : SHORT);
        odd_rank = i % 2 ? n - 1 : 0;
        job = (lab_job){.size = n, .body = body_misses_one};
        lab_run(&job);
        snprintf(name, sizeof name, "rank %d", odd_rank);
        for (int rank = 0; rank < n; rank++)
            if (rank != odd_rank)
                FACTS(lab->rank[rank].message, name, "finished", kinds[i] == BEGUN_RING ? "ring_iall_reduce" : "#100");
        EXPECT(job.status == 1, "exit status %d", job.status);
    }
}

const lab_case lab_mismatch[] = {
    {"mm-count", "another count: P2P_ERR_MISMATCH on all ranks, both sides named, buffers untouched", mm_count, false},
    {"mm-bcast", "a broadcast of another count, longer and shorter, at the root and elsewhere: the same", mm_bcast,
     false},
    {"mm-op", "another operator: the same", mm_op, false},
    {"mm-root", "another root: the same", mm_root, false},
    {"mm-dtype", "another element type, of the same size too: the same", mm_dtype, false},
    {"mm-kind", "another collective: the same", mm_kind, false},
    {"mm-order", "the same calls in another order: the same", mm_order, false},
    {"mm-algorithm", "another algorithm for the same: the same", mm_algorithm, false},
    {"mm-missing", "a rank calls once less and ends: an error at once, naming it and the call", mm_missing, false},
    {NULL, NULL, NULL, false},
};
