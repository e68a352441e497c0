/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * explain: launch --explain. On a virtual network what a collective takes is exact, so that what is predicted for it, from a
 * table of its steps (ring/predict_steps.c), must be what it took: a wrong step, length or rank in that table is seen here.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST = 8, ELEMENTS = 20000, CALLS = 3 };

/* Buffers of one rank, and blocks that are longer for higher ranks. */
static float from[MOST * ELEMENTS], to[MOST * ELEMENTS];
static size_t counts[MOST], offsets[MOST];

typedef struct {
    p2p_comm *comm;
    size_t n;
    int rank, root;
} setting;

static size_t own(const setting *s)
{
    return counts[s->rank];
}

/* X(operation, algorithm, call), with s, and request. */
#define BLOCKING(X)                                                                                       \
    X(coll_barrier, "dissemination", (s->comm))                                                           \
    X(coll_naive_broadcast, "naive", (s->comm, from, s->n, DTYPE_F32, s->root))                           \
    X(coll_tree_broadcast, "tree", (s->comm, from, s->n, DTYPE_F32, s->root))                             \
    X(coll_naive_reduce, "naive", (s->comm, from, s->n, DTYPE_F32, OP_SUM, s->root))                      \
    X(coll_tree_reduce, "tree", (s->comm, from, s->n, DTYPE_F32, OP_SUM, s->root))                        \
    X(coll_naive_all_reduce, "naive", (s->comm, from, s->n, DTYPE_F32, OP_SUM))                           \
    X(coll_tree_all_reduce, "tree", (s->comm, from, s->n, DTYPE_F32, OP_SUM))                             \
    X(coll_recursive_doubling_all_reduce, "recursive-doubling", (s->comm, from, s->n, DTYPE_F32, OP_SUM)) \
    X(ring_all_reduce, "ring", (s->comm, from, s->n, DTYPE_F32, OP_SUM))                                  \
    X(coll_leaders_all_reduce, "leaders", (s->comm, from, s->n, DTYPE_F32, OP_SUM))                       \
    X(coll_hierarchical_all_reduce, "hierarchical", (s->comm, from, s->n, DTYPE_F32, OP_SUM))             \
    X(ring_reduce_scatter, "ring", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &(size_t){0}, &(size_t){0}))  \
    X(ring_all_gather, "ring", (s->comm, from, s->n, DTYPE_F32))                                          \
    X(coll_all_gather, "ring", (s->comm, from, to, s->n, DTYPE_F32))                                      \
    X(coll_all_gatherv, "ring", (s->comm, from, own(s), to, counts, offsets, DTYPE_F32))                  \
    X(coll_reduce_scatter, "ring", (s->comm, from, to, s->n, DTYPE_F32, OP_SUM))                          \
    X(coll_reduce_scatterv, "ring", (s->comm, from, counts, offsets, to, own(s), DTYPE_F32, OP_SUM))      \
    X(coll_scatter, "linear", (s->comm, from, to, s->n, DTYPE_F32, s->root))                              \
    X(coll_scatterv, "linear", (s->comm, from, counts, offsets, to, own(s), DTYPE_F32, s->root - 1))      \
    X(coll_gather, "linear", (s->comm, from, to, s->n, DTYPE_F32, s->root))                               \
    X(coll_gatherv, "linear", (s->comm, from, own(s), to, counts, offsets, DTYPE_F32, s->root))           \
    X(coll_all_to_all, "pairwise-exchange", (s->comm, from, to, s->n, DTYPE_F32))                         \
    X(coll_scan, "chain", (s->comm, from, s->n, DTYPE_F32, OP_SUM))                                       \
    X(coll_exscan, "chain", (s->comm, from, s->n, DTYPE_F32, OP_SUM))

#define REQUESTS(X)                                                                                              \
    X(coll_ibarrier, "dissemination", (s->comm, &request))                                                       \
    X(coll_ibroadcast, "tree", (s->comm, from, s->n, DTYPE_F32, s->root, &request))                              \
    X(coll_iall_reduce, "ring", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &request))                              \
    X(ring_iall_reduce, "ring", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &request))                              \
    X(coll_naive_iall_reduce, "naive", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &request))                       \
    X(coll_ireduce, "naive", (s->comm, from, s->n, DTYPE_F32, OP_SUM, s->root, &request))                        \
    X(coll_iall_gather, "ring", (s->comm, from, to, s->n, DTYPE_F32, &request))                                  \
    X(coll_ireduce_scatter, "ring", (s->comm, from, to, s->n, DTYPE_F32, OP_SUM, &request))                      \
    X(coll_iall_gatherv, "pairwise-exchange", (s->comm, from, own(s), to, counts, offsets, DTYPE_F32, &request)) \
    X(coll_ireduce_scatterv, "pairwise-exchange",                                                                \
      (s->comm, from, counts, offsets, to, own(s), DTYPE_F32, OP_SUM, &request))                                 \
    X(coll_igatherv, "linear", (s->comm, from, own(s), to, counts, offsets, DTYPE_F32, s->root, &request))       \
    X(coll_iscatterv, "linear", (s->comm, from, counts, offsets, to, own(s), DTYPE_F32, s->root - 1, &request))  \
    X(coll_iscan, "chain", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &request))                                   \
    X(coll_iexscan, "chain", (s->comm, from, s->n, DTYPE_F32, OP_SUM, &request))

#define NAMES(operation, algorithm, arguments) {#operation, algorithm},
static const struct {
    const char *operation, *algorithm;
} all[] = {BLOCKING(NAMES) REQUESTS(NAMES)};

static setting set(p2p_comm *comm, const size_t *elements)
{
    setting s = {.comm = comm, .n = *elements, .rank = p2p_rank(comm), .root = p2p_size(comm) > 2 ? 2 : 1};
    for (int q = 0; q < p2p_size(comm); q++) {
        counts[q] = s.n * (size_t)(q + 1) / (size_t)p2p_size(comm);
        offsets[q] = (size_t)q * s.n;
    }
    return s;
}

/* This rank computes until its clock is at a multiple of a quarter of a second. */
static void compute_until_then(p2p_comm *comm)
{
    enum { BYTES = 1000000 };
    const double period = 0.25;
    double before = p2p_time(comm), until = period;
    p2p_layer_compute(comm, BYTES);
    double rate = BYTES / (p2p_time(comm) - before);
    while (until < before + period / 2) until += period;
    p2p_layer_compute(comm, (size_t)((until - p2p_time(comm)) * rate));
}

/* All ranks begin a collective when all ports are free, and go on with the next one when its messages have ended. */
static int begin_together(p2p_comm *comm)
{
    compute_until_then(comm);
    CALL(coll_barrier(comm));
    compute_until_then(comm);
    return 0;
}

static int call_all(p2p_comm *world, void *elements)
{
    const setting now = set(world, elements), *s = &now;
    p2p_request request;
#define CALL_IT(operation, algorithm, arguments) \
    for (int i = 0; i < CALLS; i++) {            \
        STEP(begin_together(world));             \
        CALL(operation arguments);               \
    }
#define REQUEST_IT(operation, algorithm, arguments)  \
    for (int i = 0; i < CALLS; i++) {                \
        STEP(begin_together(world));                 \
        CALL(operation arguments);                   \
        CALL(p2p_wait(&request, P2P_STATUS_IGNORE)); \
    }
    BLOCKING(CALL_IT)
    REQUESTS(REQUEST_IT)
    return 0;
}

/* ---- Reading the tables ---- */

typedef struct {
    char algorithm[32];
    int ranks, hosts;
    size_t calls;
    double predicted, measured;
} row;

/* The row of an operation, from `text` on; what is behind it, NULL if there is none or it has no prediction. */
static const char *find_row(const char *text, const char *operation, row *r)
{
    char name[64], count[32], predicted[32];
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (sscanf(at, " %63s %31s %d %d %31s %*s %zu %31s %lf", name, r->algorithm, &r->ranks, &r->hosts, count,
                   &r->calls, predicted, &r->measured) == 8 &&
            strcmp(name, operation) == 0)
            return sscanf(predicted, "%lf", &r->predicted) == 1 ? at + strlen(operation) : NULL;
    }
    return NULL;
}

static bool is_near(double predicted, double measured, double factor)
{
    return predicted < measured * factor && measured < predicted * factor;
}

/* ---- Predicted is measured ---- */

static void check_network(const char *network, int n, size_t elements, double factor)
{
    p2p_options options = {.network = network, .explain = true};
    job_result result;
    job_run(n, &options, call_all, &elements, &result);
    cr_expect(result.err == P2P_OK, "%s", result.note);
    const char *said = result.process.err;
    for (size_t i = 0; i < COUNT(all); i++) {
        row r;
        if (!find_row(said, all[i].operation, &r)) {
            cr_expect(0, "%s, %d ranks: no prediction of %s in\n%.8000s", network, n, all[i].operation, said);
            break;
        }
        cr_expect_str_eq(r.algorithm, all[i].algorithm, "%s", all[i].operation);
        cr_expect(is_near(r.predicted, r.measured, factor), "%s, %d ranks, %zu elements: %s: %.1f, measured %.1f",
                  network, n, elements, all[i].operation, r.predicted, r.measured);
    }
    job_free(&result);
}

Test(explain, predicted_is_measured)
{
    static const size_t sizes[] = {1, 1001, ELEMENTS};
    static const int ranks[] = {2, 3, 4, 5, 7, 8};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(ranks); k++) check_network("10GbE", ranks[k], sizes[i], 1.02);
}

Test(explain, predicted_is_measured_where_one_link_or_rank_is_slow)
{
    check_network("slow-link", 4, 1001, 1.02);
    check_network("10GbE,straggler=1:20,reduce=1G", 5, 1001, 1.02);
}

Test(explain, predicted_is_measured_on_hosts)
{
    static const struct {
        const char *network;
        int ranks;
    } cases[] = {{"10GbE,hosts=4", 8},
                 {"10GbE,hosts=1:5", 6},
                 {"10GbE,hosts=5:1", 6},
                 {"10GbE,hosts=2", 4},
                 {"1GbE,hosts=1:4:2", 7}};
    static const size_t sizes[] = {1, 1001, ELEMENTS};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) check_network(cases[i].network, cases[i].ranks, sizes[k], 1.02);
}

/* ---- Who shows what ---- */

/* Two communicators, and in each one what only it calls; where a rank is alone, nothing is shown. */
static int call_on_parts(p2p_comm *world, void *time)
{
    int rank = p2p_rank(world), odd = rank % 2;
    p2p_comm *part, *alone;
    CALL(p2p_split(world, odd, 0, &part));
    CALL(p2p_split(world, rank, 0, &alone));
    for (int i = 0; i < CALLS; i++) {
        if (odd)
            CALL(ring_all_reduce(part, from, 1000, DTYPE_F32, OP_SUM));
        else
            CALL(coll_tree_broadcast(part, from, 1000, DTYPE_F32, 0));
        CALL(coll_all_reduce(alone, from, 1000, DTYPE_F32, OP_SUM));
    }
    CALL(p2p_free(part));
    CALL(p2p_free(alone));
    CALL(coll_recursive_doubling_all_reduce(world, from, 1000, DTYPE_F32, OP_SUM));
    if (rank == 0) *(double *)time = p2p_time(world);
    return 0;
}

static const char *line_end(const char *at)
{
    return at + strcspn(at, "\n");
}

Test(explain, the_first_rank_of_each_communicator_shows_it)
{
    double *time = job_shared(sizeof *time), explained = 0;
    for (int i = 0; i < 2; i++) {
        p2p_options options = {.network = "10GbE,hosts=2", .explain = i == 0};
        job_result result;
        row r;
        job_run(7, &options, call_on_parts, time, &result);
        cr_expect(result.err == P2P_OK, "%s", result.note);
        const char *said = result.process.err;
        if (i == 1) {
            ASSERT_LACKS(said, "collectives of");
            cr_expect_eq(explained, *time, "with --explain %.12g s have passed, without it %.12g", explained, *time);
            job_free(&result);
            continue;
        }
        explained = *time;
        const char *odd = strstr(said, "collectives of ranks 1, 3, 5, in virtual microseconds"),
                   *even = strstr(said, "collectives of ranks 0, 2, 4, 6, in virtual"),
                   *world = strstr(said, "collectives of ranks 0-6, in virtual");
        cr_assert(odd && even && world, "%s", said);
        cr_expect(find_row(odd, "ring_all_reduce", &r) && r.ranks == 3 && r.hosts == 2 && r.calls == CALLS, "%s", odd);
        cr_expect(find_row(even, "coll_tree_broadcast", &r) && r.ranks == 4 && r.hosts == 2, "%s", even);
        cr_expect(find_row(world, "coll_recursive_doubling_all_reduce", &r) && r.ranks == 7, "%s", world);
        ASSERT_LACKS(said, "coll_all_reduce ");
        job_free(&result);
    }
}

static int last_comes_late(p2p_comm *world, void *arg)
{
    float whole[1000] = {0};
    (void)arg;
    if (p2p_rank(world) == p2p_size(world) - 1) p2p_layer_compute(world, 1 << 30);
    CALL(coll_tree_broadcast(world, whole, COUNT(whole), DTYPE_F32, 0));
    return 0;
}

/* A message that waits for the last rank takes it no time: that is a prediction, and not none. */
Test(explain, nothing_is_left_to_do_when_the_last_rank_has_come)
{
    p2p_options options = {.network = "10GbE", .explain = true};
    job_result result;
    row r;
    job_run(4, &options, last_comes_late, NULL, &result);
    cr_expect(result.err == P2P_OK, "%s", result.note);
    cr_expect(find_row(result.process.err, "coll_tree_broadcast", &r), "%s", result.process.err);
    job_free(&result);
}

/* Every column begins below its title, however long the names are. */
Test(explain, the_table_fits)
{
    size_t elements = 1000;
    p2p_options options = {.network = "10GbE", .explain = true};
    job_result result;
    job_run(4, &options, call_all, &elements, &result);
    const char *titles = strstr(result.process.err, "  operation ");
    cr_assert(titles, "%s", result.process.err);
    const long why = strstr(titles, "why") - titles, algorithm = strstr(titles, "algorithm") - titles;
    const char *at = line_end(titles) + 1;
    size_t rows = 0;
    for (; strncmp(at, "  ", 2) == 0; at = line_end(at) + 1, rows++) {
        cr_expect(at[why - 1] == ' ' && at[why - 2] == ' ' && at[why] != ' ', "%.250s", at);
        cr_expect(at[algorithm - 1] == ' ' && at[algorithm] != ' ', "%.250s", at);
    }
    cr_expect_eq(rows, COUNT(all), "%zu rows", rows);
    job_free(&result);
}
