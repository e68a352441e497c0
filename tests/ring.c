/* SPDX-License-Identifier: MIT */
// worlds: last; short writes; hosts
/*
 * ring: what is particular to it. Its results are held to the reference in tests/collectives.c, its messages to their
 * formulas in tests/contracts.c; here are its chunks, its halves, and its non-blocking form, many of them at once.
 */
#include "ring/ring.h"

#include <sched.h>

#include "collectives/collectives.h"
#include "tests/util/suite.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Chunks ---- */

static void check_chunks(size_t count, int n)
{
    size_t first, length, end = 0;

    for (int c = 0; c < n; c++) {
        ring_chunk(count, n, c, &first, &length);
        cr_assert(first == end, "count %zu, %d ranks: chunk %d begins at %zu, not %zu", count, n, c, first, end);
        cr_assert(length == count / (size_t)n + ((size_t)c < count % (size_t)n), "chunk %d has %zu", c, length);
        end = first + length;
    }
    cr_assert_eq(end, count);
}

Test(chunks, cover_every_element_once)
{
    for (int n = 1; n <= 64; n++)
        for (size_t count = 0; count < 300; count++) check_chunks(count, n);
    check_chunks(SIZE_MAX, 7);
    check_chunks((size_t)1 << 40, 63);
}

/* ---- The halves ---- */

/* After the first half this rank's chunk is the sum; the rest is as it was. */
static int first_half(p2p_comm *world, void *arg)
{
    static const size_t counts[] = {0, 1, 5, 1000};
    int n = p2p_size(world), rank = p2p_rank(world);
    uint64_t buf[1000];
    size_t first, length, expected_first, expected_length;

    (void)arg;
    for (size_t i = 0; i < COUNT(counts); i++) {
        values_fill(buf, counts[i], WILD, DTYPE_F64, OP_MEAN, rank, 5);
        CALL(ring_reduce_scatter(world, buf, counts[i], DTYPE_F64, OP_MEAN, &first, &length));
        ring_chunk(counts[i], n, rank, &expected_first, &expected_length);
        CHECK(first == expected_first && length == expected_length, "[%zu, %zu) of %zu", first, first + length,
              counts[i]);
        CHECK(values_wrong(buf, first, length, RING, rank, n, WILD, DTYPE_F64, OP_MEAN, 5) == first + length,
              "wrong sum");
        for (size_t k = 0; k < counts[i]; k++)
            CHECK((k >= first && k < first + length) || buf[k] == value_of(WILD, DTYPE_F64, OP_MEAN, rank, k, 5),
                  "element %zu of another chunk was changed", k);
    }
    return 0;
}

Test(halves, reduce_scatter_leaves_one_chunk)
{
    ASSERT_RIGHT(job_matrix(first_half, NULL));
}

static int second_half(p2p_comm *world, void *arg)
{
    enum { LENGTH = 101 };
    int n = p2p_size(world);
    uint8_t buf[LENGTH] = {0};
    size_t first, length;

    (void)arg;
    ring_chunk(LENGTH, n, p2p_rank(world), &first, &length);
    for (size_t i = first; i < first + length; i++) buf[i] = (uint8_t)(3 * i + 1);
    CALL(ring_all_gather(world, buf, LENGTH, DTYPE_U8));
    for (size_t i = 0; i < LENGTH; i++) CHECK(buf[i] == (uint8_t)(3 * i + 1), "element %zu is %d", i, buf[i]);
    return 0;
}

Test(halves, all_gather_from_chunks)
{
    ASSERT_RIGHT(job_matrix(second_half, NULL));
}

/* ---- Non-blocking ---- */

enum { FLIGHTS = 12, LENGTH = 20000 };

static float flights[FLIGHTS][LENGTH];

/* Short ones and long ones (over 64 KiB), an empty one among them. */
static size_t length_of(int k)
{
    return k % 4 == 3 ? 0 : k % 4 == 2 ? LENGTH : (size_t)(37 * k + 1);
}

static int begin_flight(p2p_comm *comm, int k, p2p_request *request)
{
    values_fill(flights[k], length_of(k), WILD, DTYPE_F32, OP_SUM, p2p_rank(comm), k);
    CALL(ring_iall_reduce(comm, flights[k], length_of(k), DTYPE_F32, OP_SUM, request));
    return 0;
}

static int check_flight(p2p_comm *comm, int k)
{
    size_t first, length;

    for (int c = 0; c < p2p_size(comm); c++) {
        ring_chunk(length_of(k), p2p_size(comm), c, &first, &length);
        size_t wrong = values_wrong(flights[k], first, length, RING, c, p2p_size(comm), WILD, DTYPE_F32, OP_SUM, k);
        CHECK(wrong == first + length, "flight %d of %d: element %zu of %zu", k, FLIGHTS, wrong, length_of(k));
    }
    return 0;
}

static int wait_backwards(p2p_comm *world, void *arg)
{
    p2p_request requests[FLIGHTS];

    (void)arg;
    for (int k = 0; k < FLIGHTS; k++) STEP(begin_flight(world, k, &requests[k]));
    for (int k = FLIGHTS - 1; k >= 0; k--) {
        CALL(p2p_wait(&requests[k], P2P_STATUS_IGNORE));
        STEP(check_flight(world, k));
    }
    return 0;
}

Test(flights, many_at_once)
{
    ASSERT_RIGHT(job_matrix(wait_backwards, NULL));
}

/* Ranks look at different requests, in different orders, and never wait. */
static int poll_in_any_order(p2p_comm *world, void *arg)
{
    p2p_request requests[FLIGHTS];
    int left = FLIGHTS, at = p2p_rank(world);

    (void)arg;
    for (int k = 0; k < FLIGHTS; k++) STEP(begin_flight(world, k, &requests[k]));
    while (left > 0) {
        bool done;
        at = (at + 5) % FLIGHTS;
        if (!requests[at]) continue;
        sched_yield(); /* to the other ranks, who may share this core */
        CALL(p2p_test(&requests[at], &done, P2P_STATUS_IGNORE));
        left -= done ? 1 : 0;
    }
    for (int k = 0; k < FLIGHTS; k++) STEP(check_flight(world, k));
    return 0;
}

Test(flights, polled_in_any_order)
{
    ASSERT_RIGHT(job_matrix(poll_in_any_order, NULL));
}

/* Beside messages with the same tags, blocking collectives, and collectives of another communicator. */
static int beside_everything(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), rank = p2p_rank(world), in[FLIGHTS], sum, whole = n * (n - 1) / 2;
    p2p_request requests[FLIGHTS], receives[FLIGHTS];
    p2p_comm *sub;

    (void)arg;
    CALL(p2p_split(world, rank % 2, 0, &sub));
    for (int k = 0; k < FLIGHTS; k++) {
        STEP(begin_flight(world, k, &requests[k]));
        CALL(p2p_irecv(world, &in[k], sizeof in[k], (rank + n - 1) % n, k, &receives[k]));
        sum = rank;
        CALL(coll_all_reduce(k % 3 ? world : sub, &sum, 1, DTYPE_I32, OP_SUM));
        if (k % 3) CHECK(sum == whole, "blocking all-reduce %d: %d", k, sum);
    }
    for (int k = 0; k < FLIGHTS; k++) {
        int mine = 100 * rank + k;
        p2p_request send;
        CALL(p2p_isend(world, &mine, sizeof mine, (rank + 1) % n, k, &send));
        CALL(p2p_wait(&receives[k], P2P_STATUS_IGNORE));
        CALL(p2p_wait(&send, P2P_STATUS_IGNORE));
        CHECK(in[k] == 100 * ((rank + n - 1) % n) + k, "message %d: %d", k, in[k]);
    }
    CALL(p2p_wait_all(FLIGHTS, requests, P2P_STATUSES_IGNORE));
    for (int k = 0; k < FLIGHTS; k++) STEP(check_flight(world, k));
    CALL(p2p_free(sub));
    return 0;
}

Test(flights, beside_everything_else)
{
    ASSERT_RIGHT(job_matrix(beside_everything, NULL));
}

/* The others' requests move on inside a receive, in which they wait for the first to finish. */
static int driven_by_a_receive(p2p_comm *world, void *arg)
{
    p2p_request request;

    (void)arg;
    STEP(begin_flight(world, 2, &request));
    if (p2p_rank(world) > 0) CALL(p2p_recv(world, NULL, 0, 0, 1, P2P_STATUS_IGNORE));
    CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
    for (int q = 1; q < p2p_size(world) && p2p_rank(world) == 0; q++) CALL(p2p_send(world, NULL, 0, q, 1));
    return check_flight(world, 2);
}

Test(flights, move_on_inside_a_receive)
{
    ASSERT_RIGHT(job_matrix(driven_by_a_receive, NULL));
}

/* More than any table of collectives under way could hold. */
static int hundreds(p2p_comm *world, void *arg)
{
    enum { MANY = 400 };
    static int sums[MANY];
    static p2p_request requests[MANY];
    int n = p2p_size(world);

    (void)arg;
    for (int k = 0; k < MANY; k++) {
        sums[k] = k + p2p_rank(world);
        CALL(ring_iall_reduce(world, &sums[k], 1, DTYPE_I32, OP_SUM, &requests[k]));
    }
    CALL(p2p_wait_all(MANY, requests, P2P_STATUSES_IGNORE));
    for (int k = 0; k < MANY; k++) CHECK(sums[k] == n * k + n * (n - 1) / 2, "sum %d is %d", k, sums[k]);
    return 0;
}

Test(flights, hundreds_at_once)
{
    static const int sizes[] = {1, 2, 5};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, true, hundreds, NULL));
}
