/* SPDX-License-Identifier: MIT */
// worlds: last; short writes
/*
 * blocks: scatter, gather and their relatives, with blocks that are all alike and with blocks of any length. Element i
 * of rank q's buffer is value_of(q, i), so that a block from the wrong rank or place is noticed; what lies between and
 * behind blocks must not be touched.
 */
#include <stdlib.h>

#include "collectives/collectives.h"
#include "tests/util/suite.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { CANARY = 0xA5, MARGIN = 64, ROOM = 4 * 1024 * 1024, BIG = 65536 + 13 };

static unsigned char sent[ROOM], buffer[ROOM];

typedef struct {
    p2p_comm *comm;
    enum dtype dtype;
    int n, rank, root, seed;
    size_t count;                         /* of one block, where all are alike */
    size_t counts[64], offsets[64], span; /* where they are not: with gaps between them */
} block_case;

static uint64_t element(const block_case *b, int rank, size_t i)
{
    return value_of(WILD, b->dtype, OP_SUM, rank, i, b->seed);
}

static void prepare(block_case *b, size_t send_count)
{
    memset(buffer, CANARY, sizeof buffer);
    values_fill(sent, send_count, WILD, b->dtype, OP_SUM, b->rank, b->seed);
}

/* received[first...] is what `rank` has from element `from` on. */
static int check_block(const block_case *b, const char *name, size_t first, size_t count, int rank, size_t from)
{
    for (size_t i = 0; i < count; i++)
        CHECK(value_at(buffer, b->dtype, first + i) == element(b, rank, from + i),
              "%s, %d ranks, root %d, count %zu, %s: element %zu is not element %zu of rank %d", name, b->n, b->root,
              b->count, dtype_name(b->dtype), first + i, from + i, rank);
    return 0;
}

static int check_untouched(const block_case *b, const char *name, size_t first, size_t count)
{
    size_t size = dtype_size(b->dtype);

    for (size_t i = 0; i < count * size; i++)
        CHECK(buffer[first * size + i] == CANARY, "%s, %d ranks: wrote to element %zu", name, b->n, first + i / size);
    return 0;
}

static int check_sent(const block_case *b, const char *name, size_t count)
{
    CHECK(values_changed(sent, count, WILD, b->dtype, OP_SUM, b->rank, b->seed) == count, "%s changed the send buffer",
          name);
    return 0;
}

static int scatter(block_case *b)
{
    prepare(b, b->count * (size_t)b->n);
    CALL(coll_scatter(b->comm, b->rank == b->root ? sent : NULL, buffer, b->count, b->dtype, b->root));
    STEP(check_sent(b, "coll_scatter", b->count * (size_t)b->n));
    STEP(check_block(b, "coll_scatter", 0, b->count, b->root, (size_t)b->rank * b->count));
    return check_untouched(b, "coll_scatter", b->count, MARGIN);
}

static int gather(block_case *b)
{
    prepare(b, b->count);
    CALL(coll_gather(b->comm, sent, b->rank == b->root ? buffer : NULL, b->count, b->dtype, b->root));
    for (int q = 0; q < b->n && b->rank == b->root; q++)
        STEP(check_block(b, "coll_gather", (size_t)q * b->count, b->count, q, 0));
    return check_untouched(b, "coll_gather", b->rank == b->root ? (size_t)b->n * b->count : 0, MARGIN);
}

static int all_gather(block_case *b)
{
    prepare(b, b->count);
    CALL(coll_all_gather(b->comm, sent, buffer, b->count, b->dtype));
    for (int q = 0; q < b->n; q++) STEP(check_block(b, "coll_all_gather", (size_t)q * b->count, b->count, q, 0));
    return check_untouched(b, "coll_all_gather", (size_t)b->n * b->count, MARGIN);
}

static int all_to_all(block_case *b)
{
    prepare(b, b->count * (size_t)b->n);
    CALL(coll_all_to_all(b->comm, sent, buffer, b->count, b->dtype));
    STEP(check_sent(b, "coll_all_to_all", b->count * (size_t)b->n));
    for (int q = 0; q < b->n; q++)
        STEP(check_block(b, "coll_all_to_all", (size_t)q * b->count, b->count, q, (size_t)b->rank * b->count));
    return check_untouched(b, "coll_all_to_all", (size_t)b->n * b->count, MARGIN);
}

static int reduce_scatter(block_case *b)
{
    size_t mine = (size_t)b->rank * b->count;

    prepare(b, b->count * (size_t)b->n);
    CALL(coll_reduce_scatter(b->comm, sent, buffer, b->count, b->dtype, OP_SUM));
    for (size_t i = 0; i < b->count; i++)
        CHECK(value_at(buffer, b->dtype, i) ==
                  value_expected(RING, b->rank, b->n, WILD, b->dtype, OP_SUM, mine + i, b->seed),
              "coll_reduce_scatter, %d ranks, count %zu: element %zu", b->n, b->count, i);
    STEP(check_sent(b, "coll_reduce_scatter", b->count * (size_t)b->n));
    return check_untouched(b, "coll_reduce_scatter", b->count, MARGIN);
}

/* Lengths 0 to 4 blocks' worth, every third one empty; a gap behind each. */
static void uneven(block_case *b)
{
    b->span = 0;
    for (int q = 0; q < b->n; q++) {
        b->counts[q] = q % 3 == 2 ? 0 : b->count * (size_t)(1 + q % 4) + (size_t)q;
        b->offsets[q] = b->span + 3;
        b->span = b->offsets[q] + b->counts[q];
    }
}

static int check_gaps(const block_case *b, const char *name)
{
    size_t at = 0;

    for (int q = 0; q < b->n; q++) {
        STEP(check_untouched(b, name, at, b->offsets[q] - at));
        at = b->offsets[q] + b->counts[q];
    }
    return check_untouched(b, name, at, MARGIN);
}

static int scatterv(block_case *b)
{
    bool at_root = b->rank == b->root;

    prepare(b, b->span);
    CALL(coll_scatterv(b->comm, at_root ? sent : NULL, at_root ? b->counts : NULL, at_root ? b->offsets : NULL, buffer,
                       b->counts[b->rank], b->dtype, b->root));
    STEP(check_block(b, "coll_scatterv", 0, b->counts[b->rank], b->root, b->offsets[b->rank]));
    return check_untouched(b, "coll_scatterv", b->counts[b->rank], MARGIN);
}

static int gatherv(block_case *b)
{
    bool at_root = b->rank == b->root;

    prepare(b, b->counts[b->rank]);
    CALL(coll_gatherv(b->comm, sent, b->counts[b->rank], at_root ? buffer : NULL, at_root ? b->counts : NULL,
                      at_root ? b->offsets : NULL, b->dtype, b->root));
    if (!at_root) return check_untouched(b, "coll_gatherv", 0, MARGIN);
    for (int q = 0; q < b->n; q++) STEP(check_block(b, "coll_gatherv", b->offsets[q], b->counts[q], q, 0));
    return check_gaps(b, "coll_gatherv");
}

static int all_gatherv(block_case *b)
{
    prepare(b, b->counts[b->rank]);
    CALL(coll_all_gatherv(b->comm, sent, b->counts[b->rank], buffer, b->counts, b->offsets, b->dtype));
    for (int q = 0; q < b->n; q++) STEP(check_block(b, "coll_all_gatherv", b->offsets[q], b->counts[q], q, 0));
    return check_gaps(b, "coll_all_gatherv");
}

/* A block of each rank at any place of send; a mean's division is of this rank's block alone. */
static int reduce_scatterv_with(block_case *b, enum op op)
{
    size_t mine = b->counts[b->rank], size = dtype_size(b->dtype);

    memset(buffer, CANARY, sizeof buffer);
    values_fill(sent, b->span, WILD, b->dtype, op, b->rank, b->seed);
    CALL(coll_reduce_scatterv(b->comm, sent, b->counts, b->offsets, buffer, mine, b->dtype, op));
    for (size_t i = 0; i < mine; i++)
        CHECK(value_at(buffer, b->dtype, i) ==
                  value_expected(RING, b->rank, b->n, WILD, b->dtype, op, b->offsets[b->rank] + i, b->seed),
              "coll_reduce_scatterv, %s, %d ranks, %s: element %zu of %zu", op_name(op), b->n, dtype_name(b->dtype), i,
              mine);
    CHECK(values_changed(sent, b->span, WILD, b->dtype, op, b->rank, b->seed) == b->span, "changed the send buffer");
    for (size_t i = 0; i < MARGIN; i++) CHECK(buffer[mine * size + i] == CANARY, "wrote behind its block");
    return 0;
}

static int reduce_scatterv(block_case *b)
{
    STEP(reduce_scatterv_with(b, OP_SUM));
    return dtype_problem(b->dtype, OP_MEAN) ? 0 : reduce_scatterv_with(b, OP_MEAN);
}

/* Rank r sends rank q a block of counts[(r + q) % n], which both can tell. */
static size_t between(const block_case *b, int r, int q)
{
    return b->counts[(r + q) % b->n];
}

static size_t offset_between(const block_case *b, int r, int q)
{
    size_t at = 2;

    for (int before = 0; before < q; before++) at += between(b, r, before) + 1;
    return at;
}

static int all_to_allv(block_case *b)
{
    size_t send_counts[64], recv_counts[64], send_offsets[64], recv_offsets[64];

    for (int q = 0; q < b->n; q++) {
        send_counts[q] = recv_counts[q] = between(b, b->rank, q);
        send_offsets[q] = recv_offsets[q] = offset_between(b, b->rank, q);
    }
    prepare(b, b->span + 64 + (size_t)b->n);
    CALL(coll_all_to_allv(b->comm, sent, send_counts, send_offsets, buffer, recv_counts, recv_offsets, b->dtype));
    for (int q = 0; q < b->n; q++)
        STEP(check_block(b, "coll_all_to_allv", recv_offsets[q], recv_counts[q], q, offset_between(b, q, b->rank)));
    return check_untouched(b, "coll_all_to_allv", 0, 2);
}

static int every_block_operation(block_case *b)
{
    static int (*const rooted[])(block_case *) = {scatter, gather, scatterv, gatherv};
    static int (*const others[])(block_case *) = {all_gather,  all_to_all,      reduce_scatter,
                                                  all_gatherv, reduce_scatterv, all_to_allv};

    uneven(b);
    for (b->root = 0; b->root < b->n; b->root++) {
        if (b->root > 0 && b->n > 5 && b->root != b->n / 2 && b->root != b->n - 1) continue;
        for (size_t i = 0; i < COUNT(rooted); i++, b->seed++) STEP(rooted[i](b));
    }
    for (size_t i = 0; i < COUNT(others); i++, b->seed++) STEP(others[i](b));
    return 0;
}

static int block_operations(p2p_comm *world, void *arg)
{
    static const size_t counts[] = {0, 1, 3, 17, 1000};
    block_case b = {.comm = world, .n = p2p_size(world), .rank = p2p_rank(world)};

    (void)arg;
    for (size_t i = 0; i < COUNT(counts); i++) {
        b.count = counts[i];
        b.dtype = (enum dtype)(i % DTYPE_COUNT);
        STEP(every_block_operation(&b));
    }
    return 0;
}

static const char *every_size(bool strict)
{
    static const int few[] = {1, 2, 3, 4, 5, 7, 8, 16},
                     all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33, 64};
    bool whole = getenv("PAIRWISE_LONG") != NULL;

    return job_sizes(whole ? all : few, whole ? COUNT(all) : COUNT(few), !strict, strict, block_operations, NULL);
}

Test(blocks, awkward_counts)
{
    ASSERT_RIGHT(every_size(false));
}

Test(blocks, awkward_counts_strict)
{
    ASSERT_RIGHT(every_size(true));
}

static int large_blocks(p2p_comm *world, void *arg)
{
    block_case b = {.comm = world, .n = p2p_size(world), .rank = p2p_rank(world), .count = BIG, .dtype = DTYPE_F32};

    (void)arg;
    return every_block_operation(&b);
}

Test(blocks_long, large)
{
    static const int sizes[] = {2, 3, 5};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, !job_is_quick(), large_blocks, NULL));
}

static int means_of_blocks(p2p_comm *world, void *arg)
{
    int n = p2p_size(world);
    double all[8 * 3], mine[3];

    (void)arg;
    for (int i = 0; i < n * 3; i++) all[i] = i + 10 * p2p_rank(world);
    CALL(coll_reduce_scatter(world, all, mine, 3, DTYPE_F64, OP_MEAN));
    for (int i = 0; i < 3; i++) CHECK(mine[i] == p2p_rank(world) * 3 + i + 5.0 * (n - 1), "element %d: %g", i, mine[i]);
    return 0;
}

Test(blocks, mean)
{
    ASSERT_RIGHT(job_matrix(means_of_blocks, NULL));
}
