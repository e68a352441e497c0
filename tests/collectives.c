/* SPDX-License-Identifier: MIT */
// worlds: last; short writes; 2 hosts
/*
 * collectives: right results, to the bit. Every algorithm is held, element by element, to a reference that combines in
 * the order which the algorithm documents.
 *
 *      matrix    ranks x counts x types x operators x roots, buffered and strict, in sub-communicators
 *      bits      the same bits on all ranks and in every run, for values on which every rounding shows
 *      ieee      NaN, infinities, signed zeros, subnormals: as the reference
 *      order     which order that is
 *
 * PAIRWISE_LONG=1 makes all of it larger.
 */
#include "collectives/collectives.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "p2p/p2p_layer.h"
#include "p2p/shared/clock.h"
#include "ring/ring.h"
#include "tests/util/algorithms.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { CANARY = 0xA5, MARGIN = 64, MI = 1024 * 1024, ROOM = 8 * MI, BIG = 65536 + 13 };

static unsigned char room[ROOM + 2 * MARGIN];
static unsigned char *const buffer = room + MARGIN;

static bool in_long_run(void)
{
    return getenv("PAIRWISE_LONG") != NULL;
}

/* ---- One call of one algorithm, checked ---- */

typedef struct {
    enum values kind;
    size_t count;
    enum dtype dtype;
    enum op op;
    int root, seed;
} sample;

static int check_margins(const char *name, size_t bytes)
{
    for (int i = 0; i < MARGIN; i++)
        CHECK(room[i] == CANARY && buffer[bytes + (size_t)i] == CANARY, "%s wrote outside its buffer", name);
    return 0;
}

#define SAMPLE_FORMAT "%s, %d ranks, count %zu, %s %s, root %d, seed %d"
#define SAMPLE_TEXT(a, n, s) (a)->name, n, (s)->count, dtype_name((s)->dtype), op_name((s)->op), (s)->root, (s)->seed

static int check_range(const algorithm *a, const sample *s, int n, enum shape shape, int at, size_t first,
                       size_t length)
{
    size_t wrong = values_wrong(buffer, first, length, shape, at, n, s->kind, s->dtype, s->op, s->seed);

    if (wrong == first + length) return 0;
    return complaint_make(__FILE__, __LINE__, SAMPLE_FORMAT ": element %zu is %#llx, not %#llx", SAMPLE_TEXT(a, n, s),
                          wrong, (unsigned long long)value_at(buffer, s->dtype, wrong),
                          (unsigned long long)value_expected(shape, at, n, s->kind, s->dtype, s->op, wrong, s->seed));
}

static int check_element(const algorithm *a, const sample *s, int n, size_t i, uint64_t want)
{
    uint64_t got = value_at(buffer, s->dtype, i);

    CHECK(got == want, SAMPLE_FORMAT ": element %zu is %#llx, not %#llx", SAMPLE_TEXT(a, n, s), i,
          (unsigned long long)got, (unsigned long long)want);
    return 0;
}

/* Slices, as many as the host with the fewest ranks has; each in a chunk for each host. */
static int check_on_hosts(p2p_comm *comm, const algorithm *a, const sample *s, int n)
{
    int host[P2P_MAX_RANKS], on[P2P_MAX_RANKS] = {0}, hosts = p2p_hosts(comm), slices = n;

    for (int q = 0; q < n; q++) on[host[q] = p2p_host(comm, q)]++;
    for (int h = 0; h < hosts; h++) slices = on[h] < slices ? on[h] : slices;
    for (int part = 0; part < slices * hosts; part++) {
        size_t slice, length, first, count;
        ring_chunk(s->count, slices, part / hosts, &slice, &length);
        ring_chunk(length, hosts, part % hosts, &first, &count);
        for (size_t i = slice + first; i < slice + first + count; i++) {
            uint64_t want = value_on_hosts(host, hosts, part % hosts, n, s->kind, s->dtype, s->op, i, s->seed);
            STEP(check_element(a, s, n, i, want));
        }
    }
    return 0;
}

static int check_by_leaders(p2p_comm *comm, const algorithm *a, const sample *s, int n)
{
    int host[P2P_MAX_RANKS];

    for (int q = 0; q < n; q++) host[q] = p2p_host(comm, q);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t want = value_of_leaders(host, p2p_hosts(comm), n, s->kind, s->dtype, s->op, i, s->seed);
        STEP(check_element(a, s, n, i, want));
    }
    return 0;
}

static int check_reduced(p2p_comm *comm, const algorithm *a, const sample *s, int n)
{
    size_t bytes = s->count * dtype_size(s->dtype);

    if (algorithm_is_by_host(a, comm, bytes, HIERARCHICAL)) return check_on_hosts(comm, a, s, n);
    if (algorithm_is_by_host(a, comm, bytes, LEADERS)) return check_by_leaders(comm, a, s, n);
    enum shape shape = algorithm_shape(a, n, bytes);
    size_t first, length;

    if (shape != RING) return check_range(a, s, n, shape, a->kind == REDUCE ? s->root : 0, 0, s->count);
    for (int c = 0; c < n; c++) {
        ring_chunk(s->count, n, c, &first, &length);
        STEP(check_range(a, s, n, shape, c, first, length));
    }
    return 0;
}

static int check_unchanged(const algorithm *a, const sample *s, int n, int of_rank)
{
    size_t changed = values_changed(buffer, s->count, s->kind, s->dtype, s->op, of_rank, s->seed);

    CHECK(changed == s->count, SAMPLE_FORMAT ": element %zu is not that of rank %d", SAMPLE_TEXT(a, n, s), changed,
          of_rank);
    return 0;
}

static int check_one(p2p_comm *comm, const algorithm *a, const sample *s)
{
    size_t bytes = s->count * dtype_size(s->dtype);
    int rank = p2p_rank(comm), n = p2p_size(comm);
    operation what = {comm, bytes ? buffer : NULL, s->count, s->dtype, s->op, s->root};

    memset(room, CANARY, MARGIN);
    memset(buffer + bytes, CANARY, MARGIN);
    values_fill(buffer, s->count, s->kind, s->dtype, s->op, rank, s->seed);
    p2p_err err = a->run(&what);
    CHECK(err == P2P_OK, SAMPLE_FORMAT ": %s", SAMPLE_TEXT(a, n, s), p2p_strerror(err));
    STEP(check_margins(a->name, bytes));
    if (a->kind == BROADCAST) return check_unchanged(a, s, n, s->root);
    if (a->kind == REDUCE && rank != s->root) return check_unchanged(a, s, n, rank);
    return check_reduced(comm, a, s, n);
}

/* All roots of a small communicator; of a larger one the first, one inside, the last. */
static int check_roots(p2p_comm *comm, const algorithm *a, sample s)
{
    int n = p2p_size(comm);

    for (s.root = 0; s.root < n; s.root++) {
        if (s.root > 0 && (a->kind == ALL_REDUCE || (n > 5 && s.root != n / 2 && s.root != n - 1))) continue;
        STEP(check_one(comm, a, &s));
    }
    return 0;
}

/* The next pair of a type and an operator that go together. */
static void next_kernel(sample *s)
{
    do {
        s->op = (enum op)((s->op + 1) % OP_COUNT);
        if (s->op == 0) s->dtype = (enum dtype)((s->dtype + 1) % DTYPE_COUNT);
    } while (dtype_problem(s->dtype, s->op));
}

static int check_counts(p2p_comm *comm, const algorithm *a, const size_t counts[], size_t many, sample *s)
{
    for (size_t i = 0; i < many; i++) {
        s->count = counts[i];
        s->seed++;
        STEP(check_roots(comm, a, *s));
        next_kernel(s);
    }
    return 0;
}

static int check_algorithms(p2p_comm *comm, const size_t counts[], size_t many, enum values kind)
{
    sample s = {.kind = kind};

    for (size_t a = 0; a < algorithm_count; a++) STEP(check_counts(comm, &algorithms[a], counts, many, &s));
    return 0;
}

/* ---- matrix ---- */

static int awkward_counts(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), counts[] = {0, 1, n - 1, n, n + 1, 17, 1000};

    (void)arg;
    return check_algorithms(world, counts, COUNT(counts), TAME);
}

static const char *every_size(job_main rank_main, void *arg, bool strict)
{
    static const int few[] = {1, 2, 3, 4, 5, 7, 8, 16},
                     all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33, 64};
    bool whole = in_long_run();

    return job_sizes(whole ? all : few, whole ? COUNT(all) : COUNT(few), !strict, strict, rank_main, arg);
}

Test(matrix, awkward_counts)
{
    ASSERT_RIGHT(every_size(awkward_counts, NULL, false));
}

Test(matrix, awkward_counts_strict)
{
    ASSERT_RIGHT(every_size(awkward_counts, NULL, true));
}

static int every_kernel(p2p_comm *world, void *arg)
{
    sample s = {.kind = TAME, .count = 37};

    (void)arg;
    for (size_t a = 0; a < algorithm_count; a++)
        for (int k = 0; k < 32; k++, s.seed++, next_kernel(&s)) {
            s.root = k % p2p_size(world);
            STEP(check_one(world, &algorithms[a], &s));
        }
    return 0;
}

Test(matrix, every_type_with_every_operator)
{
    static const int sizes[] = {2, 3, 6};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, true, every_kernel, NULL));
}

/* Chunks over 256 KiB; and buffers around the length from which they are worked on in place. */
static int large_buffers(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), counts[] = {16383, 16384, 16385, n * BIG + 1};
    sample s = {.kind = WILD};

    for (size_t a = *(const size_t *)arg; a < algorithm_count; a += 2)
        for (size_t i = 0; i < COUNT(counts); i++) {
            s.count = counts[i];
            s.seed++;
            s.root = (int)(i % n);
            STEP(check_one(world, &algorithms[a], &s));
        }
    return 0;
}

/* Every other algorithm, so that the halves can run side by side. */
static void half_of_the_large_buffers(size_t first)
{
    static const int few[] = {3, 2, 5}, all[] = {1, 2, 3, 4, 5, 7, 8};
    bool whole = in_long_run();

    ASSERT_RIGHT(job_sizes(whole ? all : few,
                           whole            ? COUNT(all)
                           : job_is_quick() ? 1
                                            : COUNT(few),
                           true, true, large_buffers, &first));
}

Test(matrix, large_buffers)
{
    half_of_the_large_buffers(0);
}

Test(matrix, large_buffers_of_the_others)
{
    half_of_the_large_buffers(1);
}

/* The others send messages, which take long on one core if the queues are small. */
static bool combines_in_shared_memory(const algorithm *a)
{
    return a->kind == ALL_REDUCE && (strstr(a->name, "_shot") || strcmp(a->name, "coll_all_reduce") == 0);
}

/* Two-shot where whoever comes combines: at least three ranks on a core. They come in another order each time. */
static int combined_by_whoever_comes(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), most = n * 16 * 1024;
    sample s = {.kind = WILD};

    (void)arg;
    if (p2p_layer_has_shared_memory(world) && !getenv("PAIRWISE_WAIT"))
        CHECK(p2p_layer_turns(world) == (int)n, "%d turns", p2p_layer_turns(world));
    for (size_t a = 0; a < algorithm_count; a++)
        for (int round = 0; combines_in_shared_memory(&algorithms[a]) && round < 24;
             round++, s.seed++, next_kernel(&s)) {
            const size_t bytes[] = {8, 4104, 8 * 1024 * n, 8 * 1024 * n + 64 + 8, most, most + 8};
            s.count = bytes[(size_t)round % COUNT(bytes)] / dtype_size(s.dtype);
            if ((p2p_rank(world) + round) % 3 == 0) sched_yield();
            STEP(check_one(world, &algorithms[a], &s));
        }
    return 0;
}

Test(matrix, combined_by_whoever_comes)
{
    cpu_set_t allowed, one;

    cr_assert_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&one);
    for (size_t core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &allowed)) CPU_SET(core, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int ranks = 3; ranks <= 6; ranks++)
        ASSERT_RIGHT(job_right(ranks, ranks == 5, combined_by_whoever_comes, NULL));
}

/* More elements than an int can count; only in the long run, for it takes 4 GiB and more. */
static int over_two_gi_elements(p2p_comm *world, void *arg)
{
    const size_t count = ((size_t)1 << 31) + 17;
    unsigned char *buf = malloc(count), first = (unsigned char)p2p_rank(world);
    p2p_err (*run)(p2p_comm *, void *, size_t, enum dtype, enum op) = *(bool *)arg ? ring_all_reduce
                                                                                   : coll_tree_all_reduce;

    CHECK(buf, "no memory for %zu bytes", count);
    for (size_t i = 0; i < count; i++) buf[i] = (unsigned char)(i * 7 + (i >> 8) + first);
    CALL(run(world, buf, count, DTYPE_U8, OP_SUM));
    for (size_t i = 0; i < count; i++)
        CHECK(buf[i] == (unsigned char)(2 * (i * 7 + (i >> 8)) + 1), "element %zu is %d", i, buf[i]);
    free(buf);
    return 0;
}

Test(matrix, over_two_gi_elements)
{
    for (int ring = 0; ring < 2 && in_long_run(); ring++) {
        bool by_ring = ring;
        ASSERT_RIGHT(job_right(2, false, over_two_gi_elements, &by_ring));
    }
}

/* Odd and even ranks, the order reversed, both groups and the world in turn. */
static int in_groups(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), counts[] = {1, n, 100};
    p2p_comm *sub;

    (void)arg;
    CALL(p2p_split(world, p2p_rank(world) % 2, -p2p_rank(world), &sub));
    STEP(check_algorithms(sub, counts, COUNT(counts), TAME));
    STEP(check_algorithms(world, counts, COUNT(counts), TAME));
    STEP(check_algorithms(sub, counts, COUNT(counts), TAME));
    CALL(p2p_free(sub));
    return 0;
}

Test(matrix, sub_communicators)
{
    ASSERT_RIGHT(job_matrix(in_groups, NULL));
}

/* A user's receives of anything are open all the while, and must meet nothing of a collective's. */
static int beside_user_messages(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), right = (p2p_rank(world) + 1) % n, left = (p2p_rank(world) + n - 1) % n, out = 4711,
        in = 0;
    size_t counts[] = {5};
    p2p_request requests[2];

    (void)arg;
    CALL(p2p_irecv(world, &in, sizeof in, P2P_ANY_SOURCE, P2P_ANY_TAG, &requests[0]));
    STEP(check_algorithms(world, counts, 1, TAME));
    CHECK(in == 0, "a collective's message came out of a user's receive");
    CALL(coll_barrier(world));
    CALL(p2p_isend(world, &out, sizeof out, right, 0, &requests[1]));
    CALL(p2p_wait_all(2, requests, P2P_STATUSES_IGNORE));
    CHECK(in == 4711, "from %d: %d", left, in);
    return 0;
}

Test(matrix, beside_user_messages)
{
    ASSERT_RIGHT(job_matrix(beside_user_messages, NULL));
}

/* ---- bits and ieee: the reference is the same for all ranks, and simulates the documented order ---- */

static int wild_values(p2p_comm *world, void *arg)
{
    static const enum dtype floats[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    sample s = {.kind = WILD, .count = 150};

    (void)arg;
    for (size_t a = 0; a < algorithm_count; a++)
        for (int k = 0; k < 4 * OP_COUNT; k++, s.seed++) {
            s.dtype = floats[k % 4];
            s.op = (enum op)(k / 4);
            s.root = s.seed % p2p_size(world);
            STEP(check_one(world, &algorithms[a], &s));
        }
    return 0;
}

Test(ieee, special_values_as_the_reference)
{
    ASSERT_RIGHT(every_size(wild_values, NULL, false));
}

/* What two runs must share: a hash of every result of every rank. */
typedef struct {
    uint64_t of_rank[2][16];
    int run;
} hashes;

static uint64_t hash(uint64_t h, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) h = (h ^ bytes[i]) * 0x100000001B3u;
    return h;
}

static int hash_results(p2p_comm *world, void *arg)
{
    hashes *found = arg;
    uint64_t h = 0xCBF29CE484222325u;

    for (size_t a = 0; a < algorithm_count; a++)
        for (int op = 0; op < OP_COUNT; op++) {
            if (algorithms[a].kind != ALL_REDUCE) continue;
            operation what = {world, buffer, 1001, DTYPE_F32, (enum op)op, 0};
            values_fill(buffer, what.count, WILD, what.dtype, what.op, p2p_rank(world), 77);
            CALL(algorithms[a].run(&what));
            h = hash(h, buffer, what.count * sizeof(float));
        }
    found->of_rank[found->run][p2p_rank(world)] = h;
    return 0;
}

Test(bits, the_same_on_all_ranks_and_in_every_run)
{
    hashes *found = job_shared(sizeof *found);

    for (int n = 2; n <= 16; n += in_long_run() || n < 5 ? 1 : 3) {
        for (found->run = 0; found->run < 2; found->run++)
            ASSERT_RIGHT(job_right(n, found->run == 1, hash_results, found));
        for (int q = 0; q < n; q++)
            for (int run = 0; run < 2; run++)
                cr_assert(found->of_rank[run][q] == found->of_rank[0][0], "%d ranks: rank %d, run %d", n, q, run);
    }
}

/* ---- order ---- */

/* 1e8 swallows a 1: ((1e8 + 1) - 1e8) + 1 = 1 in rank order, other orders give 0 or 2. */
static int naive_is_in_rank_order(p2p_comm *world, void *arg)
{
    static const float parts[] = {1e8f, 1, -1e8f, 1};
    int rank = p2p_rank(world);

    (void)arg;
    for (int root = 0; root < 4; root++) {
        float x = parts[rank];
        CALL(coll_naive_reduce(world, &x, 1, DTYPE_F32, OP_SUM, root));
        CHECK(x == (rank == root ? 1.0f : parts[rank]), "root %d has %g", root, (double)x);
    }
    float x = parts[rank];
    CALL(coll_naive_all_reduce(world, &x, 1, DTYPE_F32, OP_SUM));
    CHECK(x == 1.0f, "all_reduce: %g", (double)x);
    return 0;
}

Test(order, naive_is_in_rank_order)
{
    ASSERT_RIGHT(job_right(4, false, naive_is_in_rank_order, NULL));
}

/* (1e8 + 1) + (-1e8 + 1) = 1e8 - 1e8 = 0; in a ring chunk 3 of four begins at rank 0, so it is in rank order. */
static int others_as_documented(p2p_comm *world, void *arg)
{
    static const float parts[] = {1e8f, 1, -1e8f, 1};
    float x = parts[p2p_rank(world)], y[4] = {0, 0, 0, x};

    (void)arg;
    CALL(coll_tree_all_reduce(world, &x, 1, DTYPE_F32, OP_SUM));
    CHECK(x == 0.0f, "tree: %g", (double)x);
    x = parts[p2p_rank(world)];
    CALL(coll_recursive_doubling_all_reduce(world, &x, 1, DTYPE_F32, OP_SUM));
    CHECK(x == 0.0f, "doubling: %g", (double)x);
    CALL(ring_all_reduce(world, y, 4, DTYPE_F32, OP_SUM));
    CHECK(y[3] == 1.0f, "ring, chunk 3: %g", (double)y[3]);
    return 0;
}

Test(order, tree_doubling_and_ring_as_documented)
{
    ASSERT_RIGHT(job_right(4, false, others_as_documented, NULL));
}

Test(order, the_table_of_choices_covers_everything)
{
    size_t rows;
    const coll_choice *choices = coll_choices(&rows);
    static const char *const operations[] = {"broadcast", "reduce", "all_reduce"};

    for (size_t i = 0; i < rows; i++) cr_assert(choices[i].operation && choices[i].algorithm && choices[i].ranks >= 1);
    for (size_t o = 0; o < COUNT(operations); o++)
        for (int n = 1; n <= 64; n++)
            for (size_t bytes = 0; bytes < (size_t)1 << 40; bytes = bytes * 3 + 1)
                cr_assert_not_null(coll_choose(operations[o], false, n, bytes));
    cr_assert_null(coll_choose("no_such_thing", false, 2, 8));
}

/* ---- A barrier: no rank leaves before every rank has entered ---- */

static int barrier_holds(p2p_comm *world, void *arg)
{
    volatile int *arrived = arg;
    int n = p2p_size(world);

    for (int round = 1; round <= 50; round++) {
        __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
        CALL(coll_barrier(world));
        int seen = __atomic_load_n(arrived, __ATOMIC_SEQ_CST);
        CHECK(seen >= round * n, "round %d: only %d have arrived", round, seen);
    }
    return 0;
}

Test(matrix, barrier_holds_everyone_back)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 16};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int *arrived = job_shared(sizeof *arrived);
        ASSERT_RIGHT(job_right(sizes[i], i % 2 == 1, barrier_holds, arrived));
    }
}

/* ---- A collective of the program's own that is made of these: ranks agree on the outer one alone ---- */

static int part_of_another(p2p_comm *world, void *arg)
{
    static const size_t counts[] = {1, 14, 1200, 70000};
    const p2p_fingerprint what = {.operation = "own", .count = 1, .root = -1};
    int n = p2p_size(world), rank = p2p_rank(world), *arrived = arg;
    p2p_comm *comms[] = {world, NULL};
    int32_t *numbers = malloc(counts[COUNT(counts) - 1] * sizeof *numbers);
    CHECK(numbers, "no memory");
    CALL(p2p_split(world, 0, 0, &comms[1]));
    for (int round = 0; round < 4; round++) {
        p2p_comm *comm = comms[round % 2];
        CALL(p2p_layer_begin(world, &what));
        for (size_t c = 0; c < COUNT(counts); c++) {
            for (size_t i = 0; i < counts[c]; i++) numbers[i] = rank + (int32_t)i + round;
            CALL(coll_all_reduce(comm, numbers, counts[c], DTYPE_I32, OP_SUM));
            for (size_t i = 0; i < counts[c]; i++) {
                int32_t sum = n * (n - 1) / 2 + n * ((int32_t)i + round);
                CHECK(numbers[i] == sum, "round %d, element %zu of %zu is %d, should be %d", round, i, counts[c],
                      (int)numbers[i], (int)sum);
            }
            if (rank == n - 1) p2p__pause(UINT64_C(1000000));
            __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
            CALL(coll_barrier(comm));
            int all = n * (int)((size_t)round * COUNT(counts) + c + 1),
                seen = __atomic_load_n(arrived, __ATOMIC_SEQ_CST);
            CHECK(seen >= all, "round %d: %d of %d have arrived", round, seen, all);
        }
        CALL(p2p_layer_end(world, P2P_OK));
    }
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN)); /* one that can only agree is refused */
    CALL(p2p_layer_begin(world, &what));
    p2p_err err = coll_two_shot_all_reduce(world, numbers, counts[0], DTYPE_I32, OP_SUM);
    CHECK(err == (n == 1 ? P2P_OK : P2P_ERR_ARG), "two-shot in another collective: %s", p2p_strerror(err));
    CALL(p2p_layer_end(world, P2P_OK));
    CALL(p2p_free(comms[1]));
    free(numbers);
    return 0;
}

Test(matrix, collectives_are_part_of_another)
{
    for (int ranks = 1; ranks <= 5; ranks++)
        ASSERT_RIGHT(job_right(ranks, ranks % 2 == 1, part_of_another, job_shared(sizeof(int))));
}
