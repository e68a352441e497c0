/* SPDX-License-Identifier: MIT */
/* The test of exercise 14: the chunks, chunk r complete on rank r, and what a lap of the ring may send. */
#include "exercises/exercises.h"
#include "tests/exercises/ring_rules.h"

#pragma weak my_chunk
#pragma weak my_ring_reduce_scatter

enum { RING = 0 }; /* a variant: the ring; any other: my_chunk alone, for so many ranks */

/* More elements than an int can count. */
#define MANY ((size_t)5 * 1000 * 1000 * 1000 + 3)

static const enum op ops[] = {OP_SUM, OP_MIN, OP_MEAN, OP_MAX};

static void add(check_plan *plan, size_t count, int turn)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(ops[turn % 4], turn / 4),
                                 .op = ops[turn % 4],
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE | CHECK_SHOW_OP});
}

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {5 * n + 1, 0, 1, n - 1, n, n + 1, 2 * n - 1, 1000};
    for (int turn = 0; turn < 4; turn++) add(plan, 5 * n, turn);
    for (int i = 0; i < 8; i++) add(plan, counts[i], i + 4);
    if (ranks == 3) add(plan, 60000, 0); /* a chunk is too long to be buffered */
}

static void add_chunks(check_plan *plan, size_t count, int n)
{
    check_add(plan, (check_case){.count = count, .variant = n, .call = "my_chunk"});
}

/* my_chunk first: it can be tried before the rest is written. */
static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 5, 3};
    check_world(plan, 1, false, NULL);
    add_chunks(plan, 10, 4);
    add_chunks(plan, MANY, CHECK_MAX_RANKS);
    for (int n = 1; n <= CHECK_MAX_RANKS; n++)
        for (size_t count = 0; count < 3; count++) add_chunks(plan, count * (size_t)n / 2 + count, n);
    check_matrix(plan, add_cases);
    for (int i = 0; i < 3; i++) {
        check_world(plan, ranks[i], false, RING_NETWORK);
        add(plan, 500 * (size_t)ranks[i], 0);
    }
}

/* ---- In a rank ---- */

enum { FIRST, LENGTH, BOTH };

static void run_chunk(const check_case *c)
{
    int64_t chunks[BOTH * CHECK_MAX_RANKS];
    for (int q = 0; q < c->variant; q++) {
        size_t first = SIZE_MAX, length = SIZE_MAX;
        my_chunk(c->count, c->variant, q, &first, &length);
        chunks[BOTH * q + FIRST] = (int64_t)first;
        chunks[BOTH * q + LENGTH] = (int64_t)length;
    }
    check_report(c, "chunks", chunks, BOTH * (size_t)c->variant, DTYPE_I64);
}

static void run_ring(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t begin = ring_begin(c->count, c->ranks, rank), length = ring_length(c->count, c->ranks, rank);
    void *buf = check_buffer(c, rank, c->count, c->dtype);
    const char *chunk = (const char *)buf + begin * dtype_size(c->dtype);
    check_report(c, "chunk before", chunk, length, c->dtype);
    check_returned(c, my_ring_reduce_scatter(comm, buf, c->count, c->dtype, c->op));
    check_report(c, "chunk", chunk, length, c->dtype);
    check_report(c, "buf", buf, c->count, c->dtype);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == RING)
        run_ring(comm, c);
    else
        run_chunk(c);
}

/* ---- In learn ---- */

static double chunk_of(const check_case *c, int q, int what)
{
    return check_element(c, 0, "chunks", BOTH * (size_t)q + (size_t)what);
}

/* What is said of a count that no int can hold. */
static const char *overflow(const check_case *c)
{
    return c->count > UINT32_MAX
               ? " That many do not fit into an int: all of it must be counted in size_t, products too."
               : "";
}

static void judge_chunks(const check_case *c)
{
    int n = c->variant;
    size_t each = c->count / (size_t)n, longer = c->count % (size_t)n;
    double sum = 0, count = (double)c->count;
    for (int q = 0; q < n; q++) sum += chunk_of(c, q, LENGTH);
    if (sum >= 0 && sum < count) {
        check_fail(c, "lost",
                   "The %d chunks that my_chunk makes of %zu elements have %.0f together, so %.0f belong%s to no rank. "
                   "%zu = %zu * %d + %zu: that many of the first chunks have one element more.%s",
                   n, c->count, sum, count - sum, count - sum == 1 ? "s" : "", c->count, each, n, longer, overflow(c));
        return;
    }
    for (int q = 0; q < n; q++) {
        size_t first = ring_begin(c->count, n, q), length = ring_length(c->count, n, q);
        if (chunk_of(c, q, FIRST) == (double)first && chunk_of(c, q, LENGTH) == (double)length) continue;
        check_fail(c, "chunk",
                   "my_chunk(%zu, %d, %d) says first %.0f, length %.0f; it is first %zu, length %zu. %zu = %zu * %d + "
                   "%zu: each chunk has %zu element%s, the first %zu of them one more, and each begins where the one "
                   "before it ends.%s",
                   c->count, n, q, chunk_of(c, q, FIRST), chunk_of(c, q, LENGTH), first, length, c->count, each, n,
                   longer, each, each == 1 ? "" : "s", longer, overflow(c));
        return;
    }
}

static size_t count_chunk(const check_case *c, int rank)
{
    return ring_length(c->count, c->ranks, rank);
}

static double want_chunk(const check_case *c, int rank, size_t index)
{
    return expected_reduced(c, rank, ring_begin(c->count, c->ranks, rank) + index);
}

/* By how much the complete chunks lie beside their owners: 0 if they are nowhere. */
static int shift(const check_case *c)
{
    for (int by = 1; by < c->ranks; by++) {
        int rank = 0;
        for (; rank < c->ranks; rank++) {
            int q = (rank + by) % c->ranks;
            size_t begin = ring_begin(c->count, c->ranks, q), length = ring_length(c->count, c->ranks, q);
            if (length < 3 || !expected_holds(c, rank, "buf", begin, length, expected_reduced)) break;
        }
        if (rank == c->ranks) return by;
    }
    return 0;
}

/* The parts of all ranks but the owner's in the chunk behind a rank's own, which the rank sent last, divided by n. */
static double divided_last_sent(const check_case *c, int rank, size_t index)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++)
        if (q != (rank + 1) % c->ranks) sum += check_value(c, q, index);
    return sum / c->ranks;
}

static double own_sum(const check_case *c, int rank, size_t index)
{
    return c->ranks * expected_reduced(c, rank, index);
}

/* The mean's division is there, but for the chunk that was sent last. */
static bool explain_last_sent(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        int next = (rank + 1) % c->ranks;
        size_t begin = ring_begin(c->count, c->ranks, next), length = ring_length(c->count, c->ranks, next),
               own = ring_begin(c->count, c->ranks, rank), own_length = ring_length(c->count, c->ranks, rank);
        if (c->op != OP_MEAN || length < 3 || !expected_holds(c, rank, "buf", own, own_length, own_sum) ||
            !expected_holds(c, rank, "buf", begin, length, divided_last_sent))
            return false;
    }
    return !check_fail(
        c, "divided_other",
        "The wrong chunk was divided by n = %d: on rank 0 it is chunk 1, which it sent in the last step, "
        "and its own, chunk 0, has the sum and not the mean.",
        c->ranks);
}

static bool values(const check_case *c)
{
    static const ring_lap right = {.out = {1, -1, -1}, .in = {1, -1, -2}, .adds = true};
    if (check_values(c, "values", "chunk", "chunk before", count_chunk, want_chunk)) return true;
    int by = c->ranks > 1 ? shift(c) : 0;
    if (by)
        return check_fail(c, "shifted",
                          "The chunks are complete, but on other ranks: rank 0 has chunk %d, rank 1 has chunk %d. Rank "
                          "r is to end with chunk r: begin one chunk earlier. In step 0 rank r sends chunk r - 1.",
                          by % c->ranks, (1 + by) % c->ranks);
    if ((c->ranks > 1 && explain_last_sent(c)) || ring_rules_explain(c, &right)) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        char of[40];
        snprintf(of, sizeof of, "In chunk %d, ", rank);
        size_t begin = ring_begin(c->count, c->ranks, rank);
        if (expected_explain(c, rank, of, "buf", begin, ring_length(c->count, c->ranks, rank))) break;
    }
    ring_also_steps(c, 1);
    return false;
}

static void judge(const check_case *c)
{
    if (c->variant != RING)
        judge_chunks(c);
    else if (values(c))
        ring_contract(c, 1);
}

static const char *const files[] = {"ring_reduce_scatter.c", NULL};

const check_exercise check_14_ring_reduce_scatter = {
    .name = "14_ring_reduce_scatter",
    .idea = "the first half of the ring: each rank completes one chunk",
    .call = "my_ring_reduce_scatter",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge};
