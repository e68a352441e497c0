/* SPDX-License-Identifier: MIT */
/* Faults around collectives: arguments that are wrong by themselves, long sequences, a communicator that has failed,
 * many operations in flight. Ranks that disagree: mismatch.c. Ranks that die: crash.c. */
#include "lab.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collectives/collectives.h"
#include "ring/ring.h"

enum { ROOM = 4096, CANARY = 0xC3 };

static unsigned char a[ROOM], b[ROOM];

/* ---- Wrong arguments: refused before anything is sent or written; the communicator is as before ---- */

#define WANT_SAID(comm, expected, words, call)                                                                        \
    do {                                                                                                              \
        CHECK_ERR(comm, expected, call);                                                                              \
        CHECK(strstr(p2p_error_message(comm), words), "%s: no \"%s\" in: %s", #call, words, p2p_error_message(comm)); \
    } while (0)

static int (*mistakes)(p2p_comm *world);

static int body_mistakes(p2p_comm *world)
{
    p2p_traffic before[LAB_RANKS], after[LAB_RANKS];
    memset(a, CANARY, ROOM);
    memset(b, CANARY, ROOM);
    CHECK_OK(world, p2p_stats(world, before));
    int failed = mistakes(world), sum = 1;
    if (failed) return failed;
    CHECK_OK(world, p2p_stats(world, after));
    CHECK(memcmp(before, after, (size_t)p2p_size(world) * sizeof *after) == 0, "something was sent");
    CHECK(lab_all(a, ROOM, CANARY) && lab_all(b, ROOM, CANARY), "a buffer was written");
    CHECK_OK(world, coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_SUM));
    CHECK(sum == p2p_size(world), "the sum of ones is %d", sum);
    return lab_works(world);
}

static void refuse(int (*which)(p2p_comm *world), int n)
{
    static lab_job job;
    job = (lab_job){.size = n, .body = body_mistakes};
    mistakes = which;
    lab_run(&job);
    lab_expect_fine(&job);
}

static int wrong_roots(p2p_comm *world)
{
    const int n = p2p_size(world), roots[] = {-1, n, INT_MAX, INT_MIN};
    size_t none[LAB_RANKS] = {0};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char said[64];
        snprintf(said, sizeof said, "root %d is not a rank: not in [0,%d)", roots[i], n);
        WANT_SAID(world, P2P_ERR_RANK, said, coll_broadcast(world, a, 8, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_naive_broadcast(world, a, 8, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_tree_broadcast(world, a, 8, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_reduce(world, a, 8, DTYPE_F32, OP_SUM, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_naive_reduce(world, a, 8, DTYPE_F32, OP_SUM, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_tree_reduce(world, a, 8, DTYPE_F32, OP_SUM, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_scatter(world, a, b, 8, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_gather(world, a, b, 8, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_scatterv(world, a, none, none, b, 0, DTYPE_F32, roots[i]));
        WANT_SAID(world, P2P_ERR_RANK, said, coll_gatherv(world, a, 0, b, none, none, DTYPE_F32, roots[i]));
    }
    return 0;
}

static void bad_root(void)
{
    for (int n = 1; n <= 3; n++) refuse(wrong_roots, n);
}

static int means_of_integers(p2p_comm *world)
{
    static const enum dtype integers[] = {DTYPE_I32, DTYPE_I64, DTYPE_U8};
    static const char *const names[] = {"i32", "i64", "u8"};
    p2p_request request = P2P_REQUEST_NULL;
    size_t first = 7, length = 8;
    for (size_t i = 0; i < 3; i++) {
        enum dtype t = integers[i];
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_all_reduce(world, a, 8, t, OP_MEAN));
        CHECK(strstr(p2p_error_message(world), names[i]), "no %s in: %s", names[i], p2p_error_message(world));
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_naive_all_reduce(world, a, 8, t, OP_MEAN));
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_tree_all_reduce(world, a, 8, t, OP_MEAN));
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_recursive_doubling_all_reduce(world, a, 8, t, OP_MEAN));
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_reduce(world, a, 8, t, OP_MEAN, 0));
        WANT_SAID(world, P2P_ERR_ARG, "mean", coll_reduce_scatter(world, a, b, 8, t, OP_MEAN));
        WANT_SAID(world, P2P_ERR_ARG, "mean", ring_all_reduce(world, a, 8, t, OP_MEAN));
        WANT_SAID(world, P2P_ERR_ARG, "mean", ring_iall_reduce(world, a, 8, t, OP_MEAN, &request));
        WANT_SAID(world, P2P_ERR_ARG, "mean", ring_reduce_scatter(world, a, 8, t, OP_MEAN, &first, &length));
    }
    CHECK(!request && first == 7 && length == 8, "an output was set");
    return 0;
}

static int body_fatal_mean(p2p_comm *world)
{
    NOTE(world, coll_all_reduce(world, a, 8, DTYPE_I32, OP_MEAN));
    return complaint_make(__FILE__, __LINE__, "the call came back");
}

static void int_mean(void)
{
    static lab_job fatal = {.size = 2, .body = body_fatal_mean, .fatal = true};
    for (int n = 1; n <= 3; n++) refuse(means_of_integers, n);
    lab_run(&fatal);
    EXPECT(fatal.status == 1, "exit status %d", fatal.status);
    FACTS(fatal.text, "coll_all_reduce", "mean", "i32", "try:");
    lab_expect_line(&fatal, __FILE__, 0);
}

/* ---- Buffers that overlap ---- */

static int overlaps(p2p_comm *world)
{
    size_t n = (size_t)p2p_size(world), counts[LAB_RANKS], offsets[LAB_RANKS];
    unsigned char *last = a + 32 * n - 1; /* of n blocks of 8 f32 */
    for (size_t q = 0; q < n; q++) counts[q] = 8, offsets[q] = 8 * q;
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_all_gather(world, a, a, 8, DTYPE_F32));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_all_gather(world, last - 3, a, 8, DTYPE_F32));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_all_gather(world, a, a + 28, 8, DTYPE_F32));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_reduce_scatter(world, a, last - 3, 8, DTYPE_F32, OP_SUM));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_all_to_all(world, a, last - 3, 8, DTYPE_F32));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_all_gatherv(world, last - 3, 8, a, counts, offsets, DTYPE_F32));
    WANT_SAID(world, P2P_ERR_ARG, "overlap",
              coll_all_to_allv(world, a, counts, offsets, last - 3, counts, offsets, DTYPE_F32));
    if (n > 1) { /* blocks of one buffer */
        size_t too_near[LAB_RANKS];
        for (size_t q = 0; q < n; q++) too_near[q] = 4 * q;
        WANT_SAID(world, P2P_ERR_ARG, "blocks of the receive buffer overlap",
                  coll_all_gatherv(world, b, 8, a, counts, too_near, DTYPE_F32));
    }
    if (p2p_rank(world) != 0) return 0; /* elsewhere one of the two does not matter */
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_scatter(world, a, last - 3, 8, DTYPE_F32, 0));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_gather(world, a, a, 8, DTYPE_F32, 0));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_scatterv(world, a, counts, offsets, a, 8, DTYPE_F32, 0));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", coll_gatherv(world, last - 3, 8, a, counts, offsets, DTYPE_F32, 0));
    return 0;
}

/* Side by side is no overlap, nor is a buffer that does not matter on this rank. */
static int body_neighbours(p2p_comm *world)
{
    size_t n = (size_t)p2p_size(world);
    CHECK_OK(world, coll_all_gather(world, a, a + 32, 8, DTYPE_F32));
    CHECK_OK(world, coll_all_gather(world, a + 32 * n, a, 8, DTYPE_F32));
    CHECK_OK(world, coll_all_to_all(world, a, a, 0, DTYPE_F32));
    CHECK_OK(world, coll_gather(world, a, p2p_rank(world) == 0 ? b : a, 8, DTYPE_F32, 0));
    CHECK_OK(world, coll_scatter(world, p2p_rank(world) == 0 ? b : a, a, 8, DTYPE_F32, 0));
    return 0;
}

/* Two receives into one buffer: allowed, as in MPI's practice; each writes what it has received when it ends. */
static int body_shared_buffer(p2p_comm *world)
{
    static unsigned char word[8];
    p2p_request requests[2];
    for (int i = 0; i < 2 && p2p_rank(world) == 0; i++)
        CHECK_OK(world, p2p_irecv(world, word, sizeof word, 1, i, &requests[i]));
    for (int i = 1; i >= 0; i--) {
        lab_fill(b, sizeof word, 1, (size_t)i);
        CHECK_OK(world, coll_barrier(world)); /* one message at a time */
        if (p2p_rank(world) == 1) CHECK_OK(world, p2p_send(world, b, sizeof word, 0, i));
        if (p2p_rank(world) != 0) continue;
        CHECK_OK(world, p2p_wait(&requests[i], P2P_STATUS_IGNORE));
        CHECK(lab_intact(word, sizeof word, 1, (size_t)i), "message %d is not what was sent", i);
    }
    return 0;
}

static void alias(void)
{
    static lab_job neighbours = {.size = 3, .body = body_neighbours}, shared = {.size = 2, .body = body_shared_buffer};
    for (int n = 1; n <= 4; n += 3) refuse(overlaps, n);
    lab_run(&neighbours);
    lab_expect_fine(&neighbours);
    lab_run(&shared);
    lab_expect_fine(&shared);
}

/* ---- A thousand steps, one after the other, every rank at its own pace ---- */

enum { MOST = 20000 };

static int64_t numbers[MOST];
static int steps;

/* Mostly nothing, sometimes up to a millisecond. */
static void dawdle(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    struct timespec pause = {0, (long)(*random >> 12)};
    if ((*random >> 8) % 8 == 0) nanosleep(&pause, NULL);
}

static int64_t part(int rank, int step, size_t i)
{
    return ((int64_t)step << 32) + (rank + 1) * ((int64_t)i + 1);
}

static int64_t whole(int n, int step, size_t i)
{
    return n * ((int64_t)step << 32) + n * (n + 1) / 2 * ((int64_t)i + 1);
}

static p2p_err reduce_somehow(p2p_comm *world, int step, size_t count)
{
    p2p_request request = P2P_REQUEST_NULL;
    switch (step % 6) {
    case 0: return coll_all_reduce(world, numbers, count, DTYPE_I64, OP_SUM);
    case 1: return ring_all_reduce(world, numbers, count, DTYPE_I64, OP_SUM);
    case 2: return coll_naive_all_reduce(world, numbers, count, DTYPE_I64, OP_SUM);
    case 3: return coll_tree_all_reduce(world, numbers, count, DTYPE_I64, OP_SUM);
    case 4: return coll_recursive_doubling_all_reduce(world, numbers, count, DTYPE_I64, OP_SUM);
    default: {
        p2p_err err = ring_iall_reduce(world, numbers, count, DTYPE_I64, OP_SUM, &request);
        return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
    }
    }
}

static int body_soak(p2p_comm *world)
{
    int rank = p2p_rank(world), n = p2p_size(world);
    unsigned random = (unsigned)rank * 7919u + 17;
    for (int step = 0; step < steps; step++) {
        size_t count = step % 50 == 49 ? MOST : (size_t)(step * 37 % 300);
        int root = step % n;
        for (size_t i = 0; i < count; i++) numbers[i] = part(rank, step, i);
        dawdle(&random);
        CHECK_OK(world, reduce_somehow(world, step, count));
        for (size_t i = 0; i < count; i++)
            CHECK(numbers[i] == whole(n, step, i), "step %d: element %zu is wrong", step, i);
        int64_t word = rank == root ? part(root, step, 5) : -1;
        dawdle(&random);
        CHECK_OK(world, coll_broadcast(world, &word, 1, DTYPE_I64, root));
        CHECK(word == part(root, step, 5), "step %d: the broadcast is wrong", step);
    }
    return 0;
}

static void soak(int how_many)
{
    static lab_job job = {.size = 4, .body = body_soak};
    steps = how_many;
    lab_run(&job);
    lab_expect_fine(&job);
}

static void soak_seq(void)
{
    soak(200);
}
static void soak_seq_all(void)
{
    soak(1000);
}

/* ---- A communicator that has failed stays so: every later call returns the first error, at once ---- */

static int check_poisoned(p2p_comm *world, p2p_err first)
{
    p2p_request request = P2P_REQUEST_NULL;
    int word = 1, other = p2p_rank(world) == 0 ? 1 : 0;
    double before = process_now();
    p2p_comm *sub = NULL;
    CHECK_ERR(world, first, coll_barrier(world));
    CHECK_ERR(world, first, coll_all_reduce(world, &word, 1, DTYPE_I32, OP_SUM));
    CHECK_ERR(world, first, ring_all_reduce(world, &word, 1, DTYPE_I32, OP_SUM));
    CHECK_ERR(world, first, ring_iall_reduce(world, &word, 1, DTYPE_I32, OP_SUM, &request));
    CHECK_ERR(world, first, coll_gather(world, &word, a, 1, DTYPE_I32, 0));
    CHECK_ERR(world, first, p2p_send(world, &word, sizeof word, other, 0));
    CHECK_ERR(world, first, p2p_recv(world, &word, sizeof word, other, 0, P2P_STATUS_IGNORE));
    CHECK_ERR(world, first, p2p_irecv(world, &word, sizeof word, other, 0, &request));
    CHECK_ERR(world, first, p2p_split(world, 0, 0, &sub));
    CHECK(word == 1 && !request && !sub, "an output was set");
    CHECK(lab_in_time(process_now() - before, 0.5), "nine calls took %.3f s", process_now() - before);
    return 0;
}

/* Rank 1 comes only when the barrier of the others has timed out. */
static int body_late_barrier(p2p_comm *world)
{
    int n = p2p_size(world);
    if (p2p_rank(world) == 1) CHECK(lab_wait_flag(0, n - 1), "the others never timed out");
    p2p_err err = NOTE(world, coll_barrier(world));
    if (p2p_rank(world) == 1) return 0;
    lab_raise_flag(0);
    /* That one rank leaves first must not be an error of the others. */
    CHECK(lab_wait_flag(0, n - 1), "not every rank's barrier ended");
    CHECK(err == P2P_ERR_TIMEOUT, "the barrier gave %d: %s", (int)err, p2p_error_message(world));
    CHECK(strstr(p2p_error_message(world), "rank 1"), "rank 1 is not named: %s", p2p_error_message(world));
    return check_poisoned(world, P2P_ERR_TIMEOUT);
}

static int body_dead_barrier(p2p_comm *world)
{
    if (p2p_rank(world) == 1) lab_die(9);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    return check_poisoned(world, P2P_ERR_PEER_DEAD);
}

static int body_disputed_barrier(p2p_comm *world)
{
    int word = 0;
    CHECK_ERR(world, P2P_ERR_MISMATCH,
              p2p_rank(world) == 1 ? coll_broadcast(world, &word, 1, DTYPE_I32, 0) : coll_barrier(world));
    return check_poisoned(world, P2P_ERR_MISMATCH);
}

static void poisoned(void)
{
    static lab_job late = {.size = 3, .body = body_late_barrier}, dead = {.size = 3, .body = body_dead_barrier},
                   disputed = {.size = 3, .body = body_disputed_barrier};
    lab_run(&dead);
    EXPECT(dead.status == 137, "exit status %d", dead.status);
    lab_run(&disputed);
    EXPECT(disputed.status == 1, "exit status %d", disputed.status);
    lab_short_timeout();
    lab_run(&late);
    EXPECT(late.status != 0, "exit status 0");
}

/* ---- Many at once ---- */

enum { IN_FLIGHT = 8, BLOCK = 9000 };

static int64_t flights[IN_FLIGHT][BLOCK];

static size_t flight_count(int i)
{
    return i % 3 == 0   ? (size_t)i
           : i % 3 == 1 ? 1000
                        : BLOCK; /* 9,000 are 72 KB: parts of it are, too, for few ranks */
}

/* Each rank ends them in another order, and in another way. */
static int end_flights(p2p_comm *world, p2p_request requests[IN_FLIGHT])
{
    int rank = p2p_rank(world);
    bool done = false;
    if (rank % 4 == 0) {
        CHECK_OK(world, p2p_wait_all(IN_FLIGHT, requests, P2P_STATUSES_IGNORE));
        return 0;
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        p2p_request *one = &requests[rank % 4 == 1 ? IN_FLIGHT - 1 - i : i];
        size_t index;
        if (rank % 4 == 2) CHECK_OK(world, p2p_wait_any(IN_FLIGHT, requests, &index, P2P_STATUS_IGNORE));
        if (rank % 4 == 1) CHECK_OK(world, p2p_wait(one, P2P_STATUS_IGNORE));
        for (done = false; rank % 4 == 3 && !done;) CHECK_OK(world, p2p_test(one, &done, P2P_STATUS_IGNORE));
    }
    return 0;
}

/* Messages to the right, of the same tags as anything inside could have. */
static int pass_on(p2p_comm *world, int i)
{
    int rank = p2p_rank(world), n = p2p_size(world), left = (rank + n - 1) % n;
    static unsigned char out[100000], in[100000];
    size_t bytes = i % 2 ? 10 : sizeof out;
    lab_fill(out, bytes, rank, (size_t)i);
    CHECK_OK(world,
             p2p_sendrecv(world, out, bytes, (rank + 1) % n, i, in, sizeof in, left, P2P_ANY_TAG, P2P_STATUS_IGNORE));
    CHECK(lab_intact(in, bytes, left, (size_t)i), "message %d is not what was sent", i);
    return 0;
}

static int body_many(p2p_comm *world)
{
    int rank = p2p_rank(world), n = p2p_size(world), failed = 0, left = (rank + n - 1) % n;
    p2p_request requests[IN_FLIGHT], message[2];
    unsigned char in[40], out[40];
    lab_fill(out, sizeof out, rank, 77);
    CHECK_OK(world, p2p_irecv(world, in, sizeof in, left, 1000, &message[0]));
    for (int i = 0; i < IN_FLIGHT && !failed; i++) {
        for (size_t k = 0; k < flight_count(i); k++) flights[i][k] = part(rank, i, k);
        CHECK_OK(world, ring_iall_reduce(world, flights[i], flight_count(i), DTYPE_I64, OP_SUM, &requests[i]));
        failed = pass_on(world, i);
        if (i == 3 && !failed) CHECK_OK(world, coll_barrier(world));
    }
    if (failed) return failed;
    CHECK_OK(world, p2p_isend(world, out, sizeof out, (rank + 1) % n, 1000, &message[1]));
    failed = end_flights(world, requests);
    if (failed) return failed;
    CHECK_OK(world, p2p_wait_all(2, message, P2P_STATUSES_IGNORE));
    CHECK(lab_intact(in, sizeof in, left, 77), "the message beside them is not what was sent");
    for (int i = 0; i < IN_FLIGHT; i++)
        for (size_t k = 0; k < flight_count(i); k++)
            CHECK(flights[i][k] == whole(n, i, k), "collective %d: element %zu is wrong", i, k);
    return 0;
}

static void nb_many(void)
{
    static lab_job job;
    for (int n = 1; n <= 6; n++)
        for (int strict = 0; strict < 2; strict++) {
            job = (lab_job){.size = n, .body = body_many, .options = {.strict = strict}};
            lab_run(&job);
            lab_expect_fine(&job);
        }
}

const lab_case lab_collectives[] = {
    {"bad-root", "roots that do not exist: P2P_ERR_RANK with root and range, no effect", bad_root, false},
    {"int-mean", "the mean of integers: P2P_ERR_ARG with the type, no effect", int_mean, false},
    {"alias", "send and receive buffers that overlap: P2P_ERR_ARG, no effect; two receives into one buffer are allowed",
     alias, false},
    {"soak-seq", "200 steps of all algorithms with random delays, all exact", soak_seq, false},
    {"soak-seq-all", "1,000 steps of the same", soak_seq_all, true},
    {"poisoned", "after a barrier has failed, every later call returns its error at once", poisoned, false},
    {"nb-many", "eight ring_iall_reduce in flight beside messages and a barrier, all exact", nb_many, false},
    {NULL, NULL, NULL, false},
};
