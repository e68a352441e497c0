/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * operators: those that a program makes. The one that does not commute composes functions x -> a x + b modulo a prime:
 * what comes out of another order of ranks is another function, so every algorithm must keep the order, or refuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/util/algorithms.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PRIME = 65521, BIG = 40009 };

/* ---- a and b in the halves of an i64; left after right ---- */

static int64_t function_of(int rank, size_t i)
{
    int64_t a = (rank * 31 + (int64_t)i * 7 + 2) % PRIME, b = (rank * 101 + (int64_t)i * 13 + 5) % PRIME;
    return a << 32 | b;
}

static int64_t after(int64_t left, int64_t right)
{
    int64_t a = left >> 32, b = left & 0xffffffff, c = right >> 32, d = right & 0xffffffff;
    return a * c % PRIME << 32 | (a * d + b) % PRIME;
}

static void compose(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg)
{
    const int64_t *l = left, *r = right;
    int64_t *o = out;

    (void)dtype;
    ++*(int *)arg;
    for (size_t i = 0; i < count; i++) o[i] = after(l[i], r[i]);
}

static int64_t composed(int ranks, size_t i)
{
    int64_t all = function_of(0, i);

    for (int q = 1; q < ranks; q++) all = after(all, function_of(q, i));
    return all;
}

/* ---- One that commutes: exclusive or ---- */

static void differ(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg)
{
    const unsigned char *l = left, *r = right;
    unsigned char *o = out;

    (void)arg;
    for (size_t i = 0; i < count * dtype_size(dtype); i++) o[i] = l[i] ^ r[i];
}

/* ---- Names and limits ---- */

Test(operators, are_made_and_forgotten)
{
    enum op op = OP_SUM, made[OP_OWN_MOST];
    static const char *const names[] = {"o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7"};
    char more[OP_OWN_MOST][4];

    cr_expect(!op_make(NULL, differ, NULL, true, &op) && !op_make("", differ, NULL, true, &op));
    cr_expect(!op_make("eight888", differ, NULL, true, &op) && !op_make("xor", NULL, NULL, true, &op));
    cr_expect(!op_make("xor", differ, NULL, true, NULL) && !op_make("sum", differ, NULL, true, &op));
    cr_expect(op == OP_SUM);
    cr_assert(op_make("xor", differ, NULL, false, &op));
    cr_expect(!op_make("xor", differ, NULL, true, &made[0]));
    cr_expect_str_eq(op_name(op), "xor");
    cr_expect(dtype_problem(DTYPE_U8, op) == NULL && !op_commutes(op) && op_commutes(OP_SUM));
    op_free(op);
    cr_expect(dtype_problem(DTYPE_U8, op) && op_commutes(op));
    op_free(op);
    op_free(OP_SUM);
    for (int i = 0; i < OP_OWN_MOST; i++) {
        snprintf(more[i], sizeof more[i], "m%d", i);
        cr_assert(op_make(i < 8 ? names[i] : more[i], differ, NULL, true, &made[i]), "operator %d", i);
    }
    cr_expect(!op_make("toomany", differ, NULL, true, &op));
    for (int i = 0; i < OP_OWN_MOST; i++) op_free(made[i]);
}

/* ---- The order of ranks ---- */

static int64_t here[BIG], there[BIG];

static void fill(int rank, size_t count)
{
    for (size_t i = 0; i < count; i++) here[i] = function_of(rank, i);
}

static bool goes_round(const algorithm *a, int root)
{
    return a->shape == RING ? strncmp(a->name, "ring", 4) == 0
                            : a->shape == HIERARCHICAL || a->shape == LEADERS ||
                                  (strcmp(a->name, "coll_tree_reduce") == 0 && root != 0);
}

static int in_order(p2p_comm *world, const algorithm *a, size_t count, int root, enum op op)
{
    int rank = p2p_rank(world), n = p2p_size(world);

    fill(rank, count);
    p2p_err err = a->run(&(operation){world, here, count, DTYPE_I64, op, root});
    CHECK(err == P2P_OK || err == P2P_ERR_ARG, "%s: %s", a->name, p2p_error_message(world));
    bool has_result = err == P2P_OK && (a->kind == ALL_REDUCE || rank == root);
    for (size_t i = 0; i < count; i++)
        CHECK(here[i] == (has_result ? composed(n, i) : function_of(rank, i)),
              "%s, %d ranks, root %d, count %zu: element %zu", a->name, n, root, count, i);
    return err == P2P_OK ? 0 : 1;
}

/* Those that go round say so; each of the others gives the composition in rank order. */
static int order_is_kept(p2p_comm *world, void *arg)
{
    static const size_t counts[] = {0, 1, 7, 1000, BIG};
    int calls = 0, n = p2p_size(world);
    enum op op;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CHECK(op_make("compose", compose, &calls, false, &op), "no operator");
    for (size_t k = 0; k < algorithm_count; k++)
        for (size_t c = 0; c < COUNT(counts) && algorithms[k].kind != BROADCAST; c++)
            for (int root = 0; root < (algorithms[k].kind == REDUCE && c < 4 ? n : 1); root++) {
                int refused = in_order(world, &algorithms[k], counts[c], root, op);
                if (refused == COMPLAINED) return refused;
                CHECK(refused == goes_round(&algorithms[k], root), "%s, root %d: refused %d", algorithms[k].name, root,
                      refused);
                CHECK(!refused || strstr(p2p_error_message(world), "does not commute"), "it says: %s",
                      p2p_error_message(world));
            }
    CHECK(n == 1 || calls > 0, "the function was never called");
    op_free(op);
    return 0;
}

Test(operators, order_of_ranks_is_kept)
{
    ASSERT_RIGHT(job_matrix(order_is_kept, NULL));
}

static int scans_in_order(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), calls = 0;
    enum op op;

    (void)arg;
    CHECK(op_make("compose", compose, &calls, false, &op), "no operator");
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        fill(rank, 1000);
        CALL((exclusive ? coll_exscan : coll_scan)(world, here, 1000, DTYPE_I64, op));
        for (size_t i = 0; i < 1000; i++)
            CHECK(here[i] == (exclusive && !rank ? function_of(0, i) : composed(rank + !exclusive, i)),
                  "exclusive %d: element %zu", exclusive, i);
    }
    op_free(op);
    return 0;
}

Test(operators, scans_keep_the_order)
{
    ASSERT_RIGHT(job_matrix(scans_in_order, NULL));
}

static int rounds_refuse(p2p_comm *world, void *arg)
{
    size_t counts[8], offsets[8], first = 7, length = 7;
    p2p_request request = P2P_REQUEST_NULL;
    int calls = 0;
    enum op op;

    (void)arg;
    for (size_t q = 0; q < 8; q++) counts[q] = 1, offsets[q] = q;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CHECK(op_make("compose", compose, &calls, false, &op), "no operator");
    RETURNS(P2P_ERR_ARG, ring_all_reduce(world, here, 9, DTYPE_I64, op));
    RETURNS(P2P_ERR_ARG, ring_iall_reduce(world, here, 9, DTYPE_I64, op, &request));
    RETURNS(P2P_ERR_ARG, ring_reduce_scatter(world, here, 9, DTYPE_I64, op, &first, &length));
    RETURNS(P2P_ERR_ARG, coll_iall_reduce(world, here, 9, DTYPE_I64, op, &request));
    RETURNS(P2P_ERR_ARG, coll_reduce_scatter(world, here, there, 9, DTYPE_I64, op));
    RETURNS(P2P_ERR_ARG, coll_reduce_scatterv(world, here, counts, offsets, there, 1, DTYPE_I64, op));
    RETURNS(P2P_ERR_ARG, coll_ireduce_scatter(world, here, there, 9, DTYPE_I64, op, &request));
    if (p2p_size(world) > 1) RETURNS(P2P_ERR_ARG, coll_tree_reduce(world, here, 9, DTYPE_I64, op, 1));
    CHECK(!request && calls == 0, "something was begun");
    op_free(op);
    RETURNS(P2P_ERR_ARG, coll_all_reduce(world, here, 9, DTYPE_I64, op));
    return 0;
}

Test(operators, what_goes_round_refuses)
{
    ASSERT_RIGHT(job_matrix(rounds_refuse, NULL));
}

/* ---- One that commutes goes everywhere ---- */

static int64_t all_of(int ranks, size_t i)
{
    int64_t all = 0;

    for (int q = 0; q < ranks; q++) all ^= function_of(q, i);
    return all;
}

static int commuting(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), n = p2p_size(world);
    p2p_request request;
    enum op op;

    (void)arg;
    CHECK(op_make("xor", differ, NULL, true, &op), "no operator");
    for (size_t k = 0; k < algorithm_count; k++) {
        if (algorithms[k].kind == BROADCAST) continue;
        fill(rank, 1000);
        CALL(algorithms[k].run(&(operation){world, here, 1000, DTYPE_I64, op, n - 1}));
        for (size_t i = 0; i < 1000 && (algorithms[k].kind == ALL_REDUCE || rank == n - 1); i++)
            CHECK(here[i] == all_of(n, i), "%s: element %zu", algorithms[k].name, i);
    }
    fill(rank, 100 * (size_t)n);
    CALL(coll_ireduce_scatter(world, here, there, 100, DTYPE_I64, op, &request));
    CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
    for (size_t i = 0; i < 100; i++) CHECK(there[i] == all_of(n, (size_t)rank * 100 + i), "block: element %zu", i);
    op_free(op);
    return 0;
}

Test(operators, one_that_commutes_goes_everywhere)
{
    ASSERT_RIGHT(job_matrix(commuting, NULL));
}

/* ---- Elements of any length: of some, pieces of scratch memory do not hold a whole number, or not one ---- */

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)((size_t)rank * 31 + i * 7 + i / 4096);
}

static int check_long(p2p_comm *world, const algorithm *a, enum dtype dtype, enum op op, size_t count,
                      unsigned char *buf)
{
    int rank = p2p_rank(world), n = p2p_size(world);
    size_t element = dtype_size(dtype), bytes = count * element;

    for (size_t i = 0; i < bytes; i++) buf[i] = byte_of(rank, i);
    p2p_err err = a->run(&(operation){world, buf, count, dtype, op, n - 1});
    bool by_name = strncmp(a->name, "coll_one_shot", 13) == 0 || strncmp(a->name, "coll_two_shot", 13) == 0;
    if (err == P2P_ERR_ARG && by_name && element > 8192) return 0; /* it says that it has no room */
    CHECK(err == P2P_OK, "%s, %zu elements of %zu bytes: %s", a->name, count, element, p2p_strerror(err));
    for (size_t i = 0; i < bytes && (a->kind == ALL_REDUCE || rank == n - 1); i++) {
        unsigned char all = 0;
        for (int q = 0; q < n; q++) all ^= byte_of(q, i);
        CHECK(buf[i] == all, "%s, %zu elements of %zu bytes: byte %zu", a->name, count, element, i);
    }
    return 0;
}

static int any_length(p2p_comm *world, void *arg)
{
    static const struct {
        const char *name;
        size_t element, counts[3];
    } kinds[] = {{"b24", 24, {1, 1000, 25000}},
                 {"b1000", 1000, {1, 7, 70}},
                 {"b8192", 8192, {1, 4, 9}},
                 {"b8200", 8200, {1, 4, 9}},
                 {"b600000", 600000, {0, 1, 2}}};
    unsigned char *buf = malloc(1200000);
    enum dtype dtype;
    enum op op;

    (void)arg;
    CHECK(buf && op_make("xor", differ, NULL, true, &op), "no memory, or no operator");
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (size_t t = 0; t < COUNT(kinds); t++) {
        CHECK(dtype_make(kinds[t].name, kinds[t].element, &dtype), "no type");
        for (size_t k = 0; k < algorithm_count; k++)
            for (size_t c = 0; c < 3 && algorithms[k].kind != BROADCAST; c++)
                STEP(check_long(world, &algorithms[k], dtype, op, kinds[t].counts[c], buf));
    }
    op_free(op);
    free(buf);
    return 0;
}

Test(operators, elements_of_any_length)
{
    for (int ranks = 1; ranks <= 5; ranks++) ASSERT_RIGHT(job_right(ranks, false, any_length, NULL));
}

/* ---- Ranks agree on it by its name ---- */

static int other_operator(p2p_comm *world, void *arg)
{
    bool last = p2p_rank(world) == p2p_size(world) - 1;
    enum op op;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CHECK(op_make(last ? "nor" : "xor", differ, NULL, true, &op), "no operator");
    fill(p2p_rank(world), 9);
    RETURNS(P2P_ERR_MISMATCH, coll_all_reduce(world, here, 9, DTYPE_I64, op));
    const char *said = p2p_error_message(world);
    CHECK(strstr(said, "op nor") && strstr(said, "op xor"), "message: %s", said);
    for (size_t i = 0; i < 9; i++) CHECK(here[i] == function_of(p2p_rank(world), i), "element %zu was written", i);
    return 0;
}

Test(operators, another_name_is_a_mismatch)
{
    job_result result;

    job_run(3, NULL, other_operator, NULL, &result);
    cr_expect(result.note[0] == '\0', "%s", result.note);
    cr_expect_eq(result.exit_status, 1);
    job_free(&result);
}
