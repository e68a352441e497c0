/* SPDX-License-Identifier: MIT */
// worlds: last; 3 hosts
/*
 * mismatch: ranks that disagree about a collective all get P2P_ERR_MISMATCH, both sides named, and no buffer is
 * touched; and arguments that are wrong by themselves are refused before anything is sent.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROOM = 1 << 20, SHORT = 10, LONG = 50000, CANARY = 0xC3 };

static unsigned char a[ROOM], b[ROOM];

/* ---- The nine kinds: what the last rank does otherwise. `count` is that of the others. ---- */

typedef p2p_err (*variant)(p2p_comm *comm, size_t count);

#define RUNS(name, call)                              \
    static p2p_err name(p2p_comm *comm, size_t count) \
    {                                                 \
        return call;                                  \
    }

RUNS(all_reduce, coll_all_reduce(comm, a, count, DTYPE_F32, OP_SUM))
RUNS(all_reduce_more, coll_all_reduce(comm, a, 2 * count, DTYPE_F32, OP_SUM))
RUNS(all_reduce_max, coll_all_reduce(comm, a, count, DTYPE_F32, OP_MAX))
RUNS(all_reduce_i32, coll_all_reduce(comm, a, count, DTYPE_I32, OP_SUM))
RUNS(by_tree, coll_tree_all_reduce(comm, a, count, DTYPE_F32, OP_SUM))
RUNS(by_ring, ring_all_reduce(comm, a, count, DTYPE_F32, OP_SUM))
RUNS(by_doubling, coll_recursive_doubling_all_reduce(comm, a, count, DTYPE_F32, OP_SUM))
RUNS(broadcast, coll_broadcast(comm, a, count, DTYPE_F32, 0))
RUNS(broadcast_more, coll_broadcast(comm, a, 2 * count, DTYPE_F32, 0))
RUNS(broadcast_less, coll_broadcast(comm, a, count / 2, DTYPE_F32, 0))
RUNS(broadcast_from_last, coll_broadcast(comm, a, count, DTYPE_F32, p2p_size(comm) - 1))
RUNS(all_gather, coll_all_gather(comm, b, a, count / 8, DTYPE_F32))
RUNS(all_gather_more, coll_all_gather(comm, b, a, count / 8 + 1, DTYPE_F32))
RUNS(barrier, count ? coll_barrier(comm) : P2P_ERR_ARG)

static p2p_err begun_ring(p2p_comm *comm, size_t count)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(comm, a, count, DTYPE_F32, OP_SUM, &request);

    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static p2p_err begun_ring_more(p2p_comm *comm, size_t count)
{
    return begun_ring(comm, 2 * count);
}

/* Begin, and wait: a difference may be found in either. */
static p2p_err waited(p2p_err err, p2p_request *request)
{
    return err ? err : p2p_wait(request, P2P_STATUS_IGNORE);
}

#define BEGINS(name, call)                            \
    static p2p_err name(p2p_comm *comm, size_t count) \
    {                                                 \
        p2p_request r = P2P_REQUEST_NULL;             \
        return waited(call, &r);                      \
    }

BEGINS(begun_barrier, count ? coll_ibarrier(comm, &r) : P2P_ERR_ARG)
BEGINS(begun_broadcast, coll_ibroadcast(comm, a, count, DTYPE_F32, 0, &r))
BEGINS(begun_broadcast_from_last, coll_ibroadcast(comm, a, count, DTYPE_F32, p2p_size(comm) - 1, &r))
BEGINS(begun_all_reduce, coll_iall_reduce(comm, a, count, DTYPE_F32, OP_SUM, &r))
BEGINS(begun_all_reduce_max, coll_iall_reduce(comm, a, count, DTYPE_F32, OP_MAX, &r))
BEGINS(begun_all_gather, coll_iall_gather(comm, b, a, count / 8, DTYPE_F32, &r))
BEGINS(begun_all_gather_i32, coll_iall_gather(comm, b, a, count / 8, DTYPE_I32, &r))
BEGINS(begun_scatter, coll_ireduce_scatter(comm, b, a, count / 8, DTYPE_F32, OP_SUM, &r))
BEGINS(begun_scatter_more, coll_ireduce_scatter(comm, b, a, count / 8 + 1, DTYPE_F32, OP_SUM, &r))
RUNS(scan, coll_scan(comm, a, count, DTYPE_F32, OP_SUM))
RUNS(scan_more, coll_scan(comm, a, 2 * count, DTYPE_F32, OP_SUM))
RUNS(exscan, coll_exscan(comm, a, count, DTYPE_F32, OP_SUM))

static p2p_err scatterv_of(p2p_comm *comm, size_t each)
{
    size_t counts[8], offsets[8];

    for (size_t q = 0; q < 8; q++) counts[q] = each, offsets[q] = q * each;
    return coll_reduce_scatterv(comm, b, counts, offsets, a, each, DTYPE_F32, OP_SUM);
}

RUNS(scatterv, scatterv_of(comm, count / 8))
RUNS(scatterv_more, scatterv_of(comm, count / 8 + 1))

static p2p_err dup(p2p_comm *comm, size_t count)
{
    p2p_comm *copy;

    return count ? p2p_dup(comm, &copy) : P2P_ERR_ARG;
}

static p2p_err in_halves(p2p_comm *comm, size_t count)
{
    size_t first, length;

    return ring_reduce_scatter(comm, a, count, DTYPE_F32, OP_SUM, &first, &length);
}

static const struct kind {
    const char *name;
    variant others, last;
    const char *both[2]; /* what the message says of either side */
} kinds[] = {
    {"count", all_reduce, all_reduce_more, {"coll_all_reduce #1", "count"}},
    {"broadcast, longer on the last rank", broadcast, broadcast_more, {"coll_broadcast #1", "count"}},
    {"broadcast, shorter on the last rank", broadcast, broadcast_less, {"coll_broadcast #1", "count"}},
    {"op", all_reduce, all_reduce_max, {"op sum", "op max"}},
    {"root", broadcast, broadcast_from_last, {"root 0", "root"}},
    {"dtype", all_reduce, all_reduce_i32, {"dtype f32", "dtype i32"}},
    {"kind", all_reduce, broadcast, {"coll_all_reduce #1", "coll_broadcast #1"}},
    {"order", broadcast, barrier, {"coll_broadcast #1", "coll_barrier #1"}}, /* a barrier, then a broadcast */
    {"algorithm", by_tree, by_ring, {"coll_tree_all_reduce #1", "ring_all_reduce #1"}},
    {"algorithm, plain against named",
     all_reduce,
     by_doubling,
     {"coll_all_reduce #1", "coll_recursive_doubling_all_reduce #1"}},
    {"count of blocks", all_gather, all_gather_more, {"coll_all_gather #1", "count"}},
    {"non-blocking", begun_ring, begun_ring_more, {"ring_iall_reduce #1", "count"}},
    {"non-blocking against blocking", begun_ring, by_ring, {"ring_iall_reduce #1", "ring_all_reduce #1"}},
    {"begun: order", begun_barrier, begun_broadcast, {"coll_ibarrier #1", "coll_ibroadcast #1"}},
    {"begun: root", begun_broadcast, begun_broadcast_from_last, {"coll_ibroadcast #1", "root 0"}},
    {"begun: op", begun_all_reduce, begun_all_reduce_max, {"op sum", "op max"}},
    {"begun: dtype", begun_all_gather, begun_all_gather_i32, {"coll_iall_gather #1", "dtype i32"}},
    {"begun: count", begun_scatter, begun_scatter_more, {"coll_ireduce_scatter #1", "count"}},
    {"begun against blocking", all_reduce, begun_all_reduce, {"coll_all_reduce #1", "coll_iall_reduce #1"}},
    {"scan: count", scan, scan_more, {"coll_scan #1", "count"}},
    {"scan against exclusive", scan, exscan, {"coll_scan #1", "coll_exscan #1"}},
    {"blocks of any length", scatterv, scatterv_more, {"coll_reduce_scatterv #1", "count"}},
    {"dup", dup, barrier, {"p2p_dup #1", "coll_barrier #1"}},
    {"half against whole", in_halves, by_ring, {"ring_reduce_scatter #1", "ring_all_reduce #1"}},
};

typedef struct {
    const struct kind *kind;
    size_t count;
    int here;  /* ranks that have begun */
    int right; /* ranks that found everything right */
} mismatch;

/* Both sides: the last rank, and one of the others. */
static int check_message(p2p_comm *world, const struct kind *kind)
{
    const char *message = p2p_error_message(world);
    char last[32];

    snprintf(last, sizeof last, "rank %d ", p2p_size(world) - 1);
    CHECK(strstr(message, last), "%s: the last rank is not named: %s", kind->name, message);
    for (int i = 0; i < 2; i++)
        CHECK(strstr(message, kind->both[i]), "%s: no \"%s\" in: %s", kind->name, kind->both[i], message);
    return 0;
}

static int check_untouched(const char *name)
{
    for (size_t i = 0; i < ROOM; i++) CHECK(a[i] == CANARY && b[i] == CANARY, "%s: byte %zu was written", name, i);
    return 0;
}

/* A job that fails leaves its ranks a second: all of them are there before one disagrees. */
static int disagree(p2p_comm *world, void *arg)
{
    mismatch *what = arg;
    bool last = p2p_rank(world) == p2p_size(world) - 1;

    memset(a, CANARY, ROOM);
    memset(b, CANARY, ROOM);
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    __atomic_fetch_add(&what->here, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&what->here, __ATOMIC_SEQ_CST) < p2p_size(world)) sched_yield();
    p2p_err err = (last ? what->kind->last : what->kind->others)(world, what->count);
    CHECK(err == P2P_ERR_MISMATCH, "%s, %d ranks, count %zu: %s (%s)", what->kind->name, p2p_size(world), what->count,
          p2p_strerror(err), p2p_error_message(world));
    STEP(check_message(world, what->kind));
    STEP(check_untouched(what->kind->name));
    RETURNS(P2P_ERR_MISMATCH, coll_barrier(world)); /* the communicator is poisoned */
    __atomic_fetch_add(&what->right, 1, __ATOMIC_SEQ_CST);
    return 0;
}

static void expect_mismatch(const struct kind *kind, int n, size_t count, bool strict)
{
    mismatch *what = job_shared(sizeof *what);
    p2p_options options = {.strict = strict};
    job_result result;

    *what = (mismatch){.kind = kind, .count = count};
    job_run(n, &options, disagree, what, &result);
    cr_expect(result.note[0] == '\0' && what->right == n, "%s, %d ranks, count %zu%s: %d ranks right; %s\n%.2000s",
              kind->name, n, count, strict ? ", strict" : "", what->right, result.note, result.process.err);
    job_free(&result);
}

static void expect_all_kinds(int n, size_t count, bool strict)
{
    for (size_t k = 0; k < COUNT(kinds); k++) expect_mismatch(&kinds[k], n, count, strict);
}

/* 2, 5 and 8 ranks, in a sample without the last, in the long run all. */
static int most(void)
{
    return job_is_quick() ? 5 : 8;
}

static int step(void)
{
    return getenv("PAIRWISE_LONG") ? 1 : 3;
}

Test(mismatch, short_buffers)
{
    for (int n = 2; n <= most(); n += step()) expect_all_kinds(n, SHORT, false);
}

Test(mismatch, long_buffers)
{
    for (int n = 2; n <= most(); n += step()) expect_all_kinds(n, LONG, n == 5);
}

/* Several collectives went well before. A rank that is still in the last of these may hear there of what others
 * found. */
static int after_some(p2p_comm *world, void *arg)
{
    int sum[2], last = p2p_size(world) - 1;
    p2p_err err = P2P_OK;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (int i = 0; i < 15; i++) CALL(coll_all_reduce(world, (sum[0] = i, sum), 1, DTYPE_I32, OP_SUM));
    err = coll_all_reduce(world, sum, 1, DTYPE_I32, OP_SUM);
    if (!err) {
        sum[0] = sum[1] = 4711;
        err = coll_all_reduce(world, sum, p2p_rank(world) == last ? 2 : 1, DTYPE_I32, OP_SUM);
        CHECK(sum[0] == 4711 && sum[1] == 4711, "the buffer has %d, %d", sum[0], sum[1]);
    }
    CHECK(err == P2P_ERR_MISMATCH, "it returned %d: %s", (int)err, p2p_error_message(world));
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, "coll_all_reduce #17") && strstr(message, "count 1") && strstr(message, "count 2"), "%s",
          message);
    return 0;
}

Test(mismatch, names_the_number_of_the_call)
{
    job_result result;

    job_run(4, NULL, after_some, NULL, &result);
    cr_assert(result.note[0] == '\0', "%s", result.note);
    job_free(&result);
}

/* One rank calls once less, and ends. */
static int one_call_less(p2p_comm *world, void *arg)
{
    int *right = arg;

    memset(a, CANARY, ROOM);
    memset(b, CANARY, ROOM);
    for (int i = 0; i < 3; i++) CALL(coll_barrier(world));
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    if (p2p_rank(world) == p2p_size(world) - 1) return 0;
    p2p_err err = all_reduce(world, SHORT);
    CHECK(err == P2P_ERR_PEER_DEAD || err == P2P_ERR_DEADLOCK, "%s: %s", p2p_strerror(err), p2p_error_message(world));
    CHECK(strstr(p2p_error_message(world), "finished"), "message: %s", p2p_error_message(world));
    STEP(check_untouched("a missing call"));
    __atomic_fetch_add(right, 1, __ATOMIC_SEQ_CST);
    return 0;
}

Test(mismatch, one_rank_calls_once_less)
{
    for (int n = 2; n <= 8; n++) {
        int *right = job_shared(sizeof *right);
        job_result result;
        job_run(n, NULL, one_call_less, right, &result);
        cr_expect(result.note[0] == '\0' && *right == n - 1, "%d ranks: %d right; %s\n%.2000s", n, *right, result.note,
                  result.process.err);
        job_free(&result);
    }
}

/* ---- Blocks whose lengths differ between the two sides ---- */

static int blocks_differ(p2p_comm *world, void *arg)
{
    bool longer = *(bool *)arg;
    int n = p2p_size(world), rank = p2p_rank(world);
    size_t counts[8], offsets[8], mine = 4;

    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (int q = 0; q < n; q++) counts[q] = 4, offsets[q] = 10 * (size_t)q;
    if (rank == n - 1) mine = longer ? 6 : 3;
    p2p_err err = coll_gatherv(world, b, mine, a, counts, offsets, DTYPE_I64, 0);
    if (rank > 0) return 0; /* they may be done, or hear of it */
    CHECK(err == P2P_ERR_MISMATCH, "%s", p2p_strerror(err));
    CHECK(strstr(p2p_error_message(world), "elements"), "message: %s", p2p_error_message(world));
    return 0;
}

Test(mismatch, a_block_of_another_length)
{
    for (int longer = 0; longer < 2; longer++) {
        bool is_longer = longer;
        job_result result;
        job_run(3, NULL, blocks_differ, &is_longer, &result);
        cr_expect(result.note[0] == '\0', "%s", result.note);
        job_free(&result);
    }
}

/* ---- Arguments that are wrong by themselves: refused on every rank, and the communicator works on ---- */

static int works(p2p_comm *world)
{
    int sum = 1;

    CALL(coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_SUM));
    CHECK(sum == p2p_size(world), "all_reduce of 1: %d", sum);
    return 0;
}

/* The error, its words, and that nothing was sent. */
#define REFUSED(want, words, call)                                                           \
    do {                                                                                     \
        RETURNS(want, call);                                                                 \
        CHECK(strstr(p2p_error_message(world), words), "%s: no \"%s\" in: %s", #call, words, \
              p2p_error_message(world));                                                     \
    } while (0)

static int bad_roots(p2p_comm *world)
{
    const int n = p2p_size(world), roots[] = {-1, -2, n, n + 7, INT_MAX, INT_MIN};
    size_t counts[8] = {0}, offsets[8] = {0};

    for (size_t i = 0; i < COUNT(roots); i++) {
        int root = roots[i];
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_broadcast(world, a, 1, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_naive_broadcast(world, a, 1, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_tree_broadcast(world, a, 1, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_reduce(world, a, 1, DTYPE_F32, OP_SUM, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_naive_reduce(world, a, 1, DTYPE_F32, OP_SUM, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_tree_reduce(world, a, 1, DTYPE_F32, OP_SUM, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_scatter(world, a, b, 1, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_gather(world, a, b, 1, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_scatterv(world, a, counts, offsets, b, 0, DTYPE_F32, root));
        REFUSED(P2P_ERR_RANK, "not in [0,", coll_gatherv(world, a, 0, b, counts, offsets, DTYPE_F32, root));
    }
    return works(world);
}

static int bad_types(p2p_comm *world)
{
    static const enum dtype integers[] = {DTYPE_I32, DTYPE_I64, DTYPE_U8};
    p2p_request request = P2P_REQUEST_NULL;
    size_t first = 77, length = 78;

    for (size_t i = 0; i < COUNT(integers); i++) {
        REFUSED(P2P_ERR_ARG, "mean of integers", coll_all_reduce(world, a, 2, integers[i], OP_MEAN));
        REFUSED(P2P_ERR_ARG, "mean of integers", coll_recursive_doubling_all_reduce(world, a, 2, integers[i], OP_MEAN));
        REFUSED(P2P_ERR_ARG, "mean of integers", coll_reduce(world, a, 2, integers[i], OP_MEAN, 0));
        REFUSED(P2P_ERR_ARG, "mean of integers", coll_reduce_scatter(world, a, b, 2, integers[i], OP_MEAN));
        REFUSED(P2P_ERR_ARG, "mean of integers", ring_all_reduce(world, a, 2, integers[i], OP_MEAN));
        REFUSED(P2P_ERR_ARG, "mean of integers", ring_iall_reduce(world, a, 2, integers[i], OP_MEAN, &request));
        REFUSED(P2P_ERR_ARG, "mean of integers",
                ring_reduce_scatter(world, a, 2, integers[i], OP_MEAN, &first, &length));
    }
    REFUSED(P2P_ERR_ARG, "no such element type", coll_broadcast(world, a, 1, (enum dtype)9, 0));
    REFUSED(P2P_ERR_ARG, "no such element type", coll_all_to_all(world, a, b, 1, (enum dtype) - 1));
    REFUSED(P2P_ERR_ARG, "no such operator", coll_all_reduce(world, a, 1, DTYPE_F32, (enum op)5));
    REFUSED(P2P_ERR_ARG, "no such operator", coll_all_reduce(world, a, 1, DTYPE_F32, (enum op) - 1));
    REFUSED(P2P_ERR_ARG, "no such operator", ring_all_reduce(world, a, 1, DTYPE_F32, (enum op)17));
    CHECK(!request && first == 77 && length == 78, "an output was set");
    REFUSED(P2P_ERR_ARG, "request is NULL", ring_iall_reduce(world, a, 2, DTYPE_F32, OP_SUM, NULL));
    REFUSED(P2P_ERR_ARG, "nowhere to put", ring_reduce_scatter(world, a, 2, DTYPE_F32, OP_SUM, NULL, &length));
    REFUSED(P2P_ERR_ARG, "nowhere to put", ring_reduce_scatter(world, a, 2, DTYPE_F32, OP_SUM, &first, NULL));
    return works(world);
}

static int bad_buffers(p2p_comm *world)
{
    size_t n = (size_t)p2p_size(world), far = n * 10, counts[8] = {0}, offsets[8] = {0};

    REFUSED(P2P_ERR_ARG, "NULL", coll_all_reduce(world, NULL, 1, DTYPE_F32, OP_SUM));
    REFUSED(P2P_ERR_ARG, "NULL", ring_all_reduce(world, NULL, 1, DTYPE_F32, OP_SUM));
    REFUSED(P2P_ERR_ARG, "NULL", coll_all_gather(world, NULL, a, 1, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "NULL", coll_all_gather(world, a, NULL, 1, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "counts or offsets is NULL", coll_all_gatherv(world, a, 0, b, NULL, offsets, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "counts or offsets is NULL",
            coll_all_to_allv(world, a, counts, NULL, b, counts, offsets, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "counts", coll_all_gatherv(world, a, 3, b, counts, offsets, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "impossible", coll_broadcast(world, a, SIZE_MAX, DTYPE_U8, 0));
    REFUSED(P2P_ERR_ARG, "impossible", coll_all_reduce(world, a, SIZE_MAX / 4 + 2, DTYPE_F32, OP_SUM));
    REFUSED(P2P_ERR_ARG, "no buffer has so many", ring_all_reduce(world, a, SIZE_MAX / 8 + 1, DTYPE_F64, OP_SUM));
    REFUSED(P2P_ERR_ARG, "impossible", coll_all_gather(world, a, b, SIZE_MAX / 4 / n + 1, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "overlap", coll_all_gather(world, a + 4 * (far - 1), a, 10, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "overlap", coll_all_to_all(world, a, a + 4, 10, DTYPE_F32));
    REFUSED(P2P_ERR_ARG, "overlap", coll_reduce_scatter(world, a, a + 8, 10, DTYPE_F32, OP_SUM));
    REFUSED(P2P_ERR_ARG, "overlap", coll_all_gather(world, a, a, 10, DTYPE_F32));
    CALL(coll_all_gather(world, a, a + 40, 10, DTYPE_F32)); /* side by side is fine */
    CALL(coll_all_reduce(world, NULL, 0, DTYPE_F32, OP_SUM));
    CALL(coll_all_to_all(world, NULL, NULL, 0, DTYPE_F32));
    return works(world);
}

static int wrong_arguments(p2p_comm *world, void *arg)
{
    p2p_traffic before[8], after[8];

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CALL(p2p_stats(world, before));
    REFUSED(P2P_ERR_RANK, "root 9", coll_broadcast(world, a, 1, DTYPE_F32, 9));
    CALL(p2p_stats(world, after));
    CHECK(memcmp(before, after, (size_t)p2p_size(world) * sizeof *after) == 0, "something was sent");
    STEP(bad_roots(world));
    STEP(bad_types(world));
    return bad_buffers(world);
}

Test(arguments, refused_before_anything_is_sent)
{
    ASSERT_RIGHT(job_matrix(wrong_arguments, NULL));
}

/* One rank alone is wrong; the others never hear of it. */
static int on_one_rank_only(p2p_comm *world, void *arg)
{
    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (int round = 0; round < 3; round++) {
        if (p2p_rank(world) == p2p_size(world) - 1) {
            REFUSED(P2P_ERR_RANK, "root 9 is not a rank", coll_reduce(world, a, 1, DTYPE_I32, OP_SUM, 9));
            REFUSED(P2P_ERR_ARG, "NULL", ring_all_reduce(world, NULL, 5, DTYPE_I32, OP_SUM));
            REFUSED(P2P_ERR_ARG, "overlap", coll_all_gather(world, a, a, 1, DTYPE_I32));
        }
        STEP(works(world));
    }
    return 0;
}

Test(arguments, refused_on_one_rank_only)
{
    ASSERT_RIGHT(job_matrix(on_one_rank_only, NULL));
}

static int without_a_communicator(p2p_comm *world, void *arg)
{
    (void)arg;
    CHECK(freopen("/dev/null", "w", stderr), "no /dev/null"); /* it says so there */
    RETURNS(P2P_ERR_STATE, coll_barrier(NULL));
    RETURNS(P2P_ERR_STATE, coll_broadcast(NULL, a, 1, DTYPE_F32, 0));
    RETURNS(P2P_ERR_STATE, coll_gatherv(NULL, a, 0, b, NULL, NULL, DTYPE_F32, 0));
    RETURNS(P2P_ERR_STATE, coll_all_to_all(NULL, a, b, 1, DTYPE_F32));
    RETURNS(P2P_ERR_STATE, ring_all_reduce(NULL, a, 1, DTYPE_F32, OP_SUM));
    return works(world);
}

Test(arguments, without_a_communicator)
{
    ASSERT_RIGHT(job_right(2, false, without_a_communicator, NULL));
}

/* The default: one message with the call as it was written and its line, and the job ends. */
static int fatal(p2p_comm *world, void *arg)
{
    (void)arg;
    return (int)coll_reduce(world, a, 1, DTYPE_I32, OP_MEAN, 0);
}

Test(arguments, fatal_by_default_with_the_line)
{
    job_result result;

    job_run(2, NULL, fatal, NULL, &result);
    cr_assert_neq(result.err, P2P_OK);
    ASSERT_CONTAINS(result.process.err, "coll_reduce");
    ASSERT_CONTAINS(result.process.err, "tests/mismatch.c:");
    ASSERT_CONTAINS(result.process.err, "mean of integers");
    job_free(&result);
}
