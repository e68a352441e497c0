/* SPDX-License-Identifier: MIT */
/* The test of exercise 15: every chunk on every rank, and what a lap of the ring may send. */
#include "exercises/exercises.h"
#include "tests/exercises/ring_rules.h"

#pragma weak my_ring_all_gather

static void add(check_plan *plan, size_t count, int turn)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(OP_SUM, turn),
                                 .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE});
}

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {5 * n, 5 * n + 1, 0, 1, n - 1, n, n + 1, 2 * n - 1, 1000};
    for (int i = 0; i < 9; i++) add(plan, counts[i], i);
    if (ranks == 3) add(plan, 60000, 0); /* a chunk is too long to be buffered */
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 5, 3};
    check_matrix(plan, add_cases);
    for (int i = 0; i < 3; i++) {
        check_world(plan, ranks[i], false, RING_NETWORK);
        add(plan, 500 * (size_t)ranks[i], 0);
    }
}

static int owner_of(const check_case *c, size_t index)
{
    int q = 0;
    while (ring_begin(c->count, c->ranks, q + 1) <= index) q++;
    return q;
}

/* What the owner of each chunk has in it; in all others there is something else before. */
static double want(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, owner_of(c, index), index);
}

static void run(p2p_comm *comm, const check_case *c)
{
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);
    check_report(c, "before", buf, c->count, c->dtype);
    check_returned(c, my_ring_all_gather(comm, buf, c->count, c->dtype));
    check_report(c, "buf", buf, c->count, c->dtype);
}

/* ---- In learn ---- */

/* Whose version of a chunk a rank has: -1 if no rank's, or if it cannot be told. */
static int version(const check_case *c, int rank, int chunk)
{
    size_t begin = ring_begin(c->count, c->ranks, chunk), length = ring_length(c->count, c->ranks, chunk);
    for (int q = 0; q < c->ranks && length >= 3; q++) {
        size_t i = begin;
        while (i < begin + length && check_element(c, rank, "buf", i) == check_value(c, q, i)) i++;
        if (i == begin + length) return q;
    }
    return -1;
}

/* Another chunk, of some rank, that lies where this one belongs: false if there is none. */
static bool misplaced(const check_case *c, int rank, int chunk, int *other)
{
    size_t begin = ring_begin(c->count, c->ranks, chunk), length = ring_length(c->count, c->ranks, chunk);
    for (*other = 0; *other < c->ranks && length >= 3; ++*other) {
        size_t there = ring_begin(c->count, c->ranks, *other), i = 0;
        if (*other == chunk || ring_length(c->count, c->ranks, *other) != length) continue;
        while (i < length && check_element(c, rank, "buf", begin + i) == check_value(c, *other, there + i)) i++;
        if (i == length) return true;
    }
    return false;
}

/* Only the elements behind the last whole chunk are as they were. */
static bool remainder_lost(const check_case *c)
{
    size_t n = (size_t)c->ranks, covered = c->count / n * n;
    if (covered == c->count || !check_sent(c, 0).messages_sent) return false;
    for (int rank = 0; rank < c->ranks; rank++)
        if (!expected_holds(c, rank, "buf", covered, c->count - covered, expected_own)) return false;
    return !check_fail(c, "lost",
                       "The end of the buffer is as it was, from element %zu on: %zu = %zu * %d + %zu, so if each "
                       "of the %d chunks has %zu element%s, %zu belong%s to no rank.",
                       covered, c->count, c->count / n, c->ranks, c->count % n, c->ranks, c->count / n,
                       c->count / n == 1 ? "" : "s", c->count % n, c->count % n == 1 ? "s" : "");
}

/* Of what came, only the beginning is there: the length was in another unit. */
static bool cut_short(const check_case *c, int rank, int chunk)
{
    size_t begin = ring_begin(c->count, c->ranks, chunk), length = ring_length(c->count, c->ranks, chunk), right = 0;
    made_of m = {c, rank, "", "buf", begin, length, c->dtype, OP_SUM, want};
    while (right < length && check_element(c, rank, "buf", begin + right) == want(c, rank, begin + right)) right++;
    if (!right || right == length || rank == chunk || !*made_of_unit(&m, right)) return false;
    return !check_fail(c, "beginning", "Of chunk %d only the first %zu of %zu elements have come to rank %d.%s", chunk,
                       right, length, rank, made_of_unit(&m, right));
}

static bool was_added(const check_case *c, int rank, int chunk)
{
    size_t begin = ring_begin(c->count, c->ranks, chunk), length = ring_length(c->count, c->ranks, chunk);
    for (size_t i = begin; i < begin + length; i++)
        if (check_element(c, rank, "buf", i) != check_value(c, rank, i) + want(c, rank, i)) return false;
    return length > 0 && rank != chunk;
}

static bool explain(const check_case *c, int rank, int chunk)
{
    if (cut_short(c, rank, chunk)) return false;
    int other, whose = version(c, rank, chunk), steps = (rank - chunk + c->ranks) % c->ranks;
    if (whose < 0 && misplaced(c, rank, chunk, &other))
        return check_fail(c, "place",
                          "At the place of chunk %d rank %d has chunk %d. What comes must be written where it belongs: "
                          "do sender and receiver mean the same chunk in each step?",
                          chunk, rank, other);
    if (whose < 0 && was_added(c, rank, chunk))
        return check_fail(c, "added",
                          "Chunk %d on rank %d is the true one added to what was there before: in this half nothing is "
                          "added, what comes takes the place of what is there.",
                          chunk, rank);
    if (whose < 0 || whose == chunk) return true;
    if (rank == chunk)
        return check_fail(c, "overwritten",
                          "Rank %d had chunk %d, the true one, from the beginning; now it has rank %d's, which is "
                          "something else. Who sends which chunk in the first step? Each rank its own: rank r chunk r.",
                          rank, chunk, whose);
    if (whose == rank)
        return check_fail(c, "missed",
                          "What rank %d has in chunk %d was there before. The true one sets out from rank %d, "
                          "its owner, and is at rank %d after %d step%s to the right.",
                          rank, chunk, chunk, rank, steps, steps > 1 ? "s" : "");
    return check_fail(c, "stale",
                      "Rank %d has chunk %d as it is on rank %d; its owner, who has the true one, is rank %d. A chunk "
                      "was sent on before the true one had come: in step s send what came in step s - 1.",
                      rank, chunk, whose, chunk);
}

static void explain_first(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int chunk = 0; chunk < c->ranks; chunk++)
            if (!explain(c, rank, chunk)) return;
}

static bool own_overwritten(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        int whose = version(c, rank, rank);
        if (whose >= 0 && whose != rank) return true;
    }
    return false;
}

static bool values(const check_case *c)
{
    static const ring_lap right = {.out = {1, -1, 0}, .in = {1, -1, -1}};
    if (check_values(c, "values", "buf", "before", NULL, want)) return true;
    if (!own_overwritten(c) && ring_rules_explain(c, &right)) return false;
    if (!remainder_lost(c)) explain_first(c);
    ring_also_steps(c, 1);
    return false;
}

static void judge(const check_case *c)
{
    if (values(c)) ring_contract(c, 1);
}

static const char *const files[] = {"ring_all_gather.c", NULL};
static const char *const uses[] = {"14_ring_reduce_scatter", NULL};

const check_exercise check_15_ring_all_gather = {.name = "15_ring_all_gather",
                                                 .idea = "the second half of the ring: every chunk travels once round",
                                                 .call = "my_ring_all_gather",
                                                 .files = files,
                                                 .hands_on_errors = true,
                                                 .uses = uses,
                                                 .library = CHECK_LIBRARY_P2P,
                                                 .cases = cases,
                                                 .run = run,
                                                 .judge = judge};
