/* SPDX-License-Identifier: MIT */
// worlds: each
/*
 * library: what p2p and collectives have for libraries on top of them (mpi/), where it is not tested with those: messages that
 * are taken out of the queue, synchronous sends with a request, groups of some ranks, element types of a program's own,
 * collectives of blocks of any length without waiting.
 */
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "tests/util/suite.h"

enum { MOST = 16 };

/* ---- Messages that are taken ---- */

static int take(p2p_comm *world, void *arg)
{
    int out[3] = {p2p_rank(world), 1, 2}, in[3] = {-1, -1, -1};
    bool found = true;
    p2p_request send, receive;
    p2p_message message = NULL;
    p2p_status status;
    (void)arg;
    CALL(p2p_isend(world, out, sizeof out, right_of(world), 4, &send));
    CALL(p2p_take(world, left_of(world), P2P_ANY_TAG, &message, &status));
    CHECK(message && status.source == left_of(world) && status.tag == 4 && status.bytes == sizeof in,
          "not that message");
    CALL(p2p_iprobe(world, left_of(world), 4, &found, NULL));
    CHECK(!found, "it is still in the queue");
    CALL(p2p_recv_taken(world, in, sizeof in, &message, &status));
    CHECK(!message && in[0] == left_of(world) && in[2] == 2, "got %d", in[0]);
    CALL(p2p_wait(&send, NULL));
    CALL(p2p_isend(world, out, sizeof out, right_of(world), 5, &send));
    for (found = false; !found;) CALL(p2p_itake(world, P2P_ANY_SOURCE, 5, &found, &message, NULL));
    CALL(p2p_irecv_taken(world, in, 2, &message, &receive));
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    CHECK(p2p_wait(&receive, NULL) == P2P_ERR_TRUNCATE, "it did not fit");
    CHECK(p2p_recv_taken(world, in, sizeof in, &message, NULL) == P2P_ERR_ARG, "there is no message");
    CALL(p2p_wait(&send, NULL));
    return 0;
}

Test(library, a_message_that_is_taken_is_received_once)
{
    ASSERT_RIGHT(job_matrix(take, NULL));
}

static int synchronous(p2p_comm *world, void *arg)
{
    int out = 7, in = 0;
    bool done = true;
    p2p_request send;
    (void)arg;
    CALL(p2p_issend(world, &out, sizeof out, p2p_rank(world), 0, &send));
    CALL(p2p_test(&send, &done, NULL));
    CHECK(!done, "it has ended without its receive");
    CALL(p2p_recv(world, &in, sizeof in, p2p_rank(world), 0, NULL));
    CALL(p2p_wait(&send, NULL));
    CHECK(in == 7, "got %d", in);
    return 0;
}

Test(library, a_synchronous_send_ends_with_its_receive)
{
    ASSERT_RIGHT(job_matrix(synchronous, NULL));
}

/* ---- Groups ---- */

static int some_ranks(p2p_comm *world, void *arg)
{
    int size = p2p_size(world), count = 0, ranks[MOST], sum = 0;
    p2p_comm *sub = NULL, *self = NULL;
    (void)arg;
    for (int i = size - 1; i >= 0; i -= 2) ranks[count++] = i;
    if ((size - 1 - p2p_rank(world)) % 2 == 0) {
        CALL(p2p_layer_subset(world, count, ranks, 3, &sub));
        CHECK(p2p_size(sub) == count && ranks[p2p_rank(sub)] == p2p_rank(world), "rank %d", p2p_rank(sub));
        sum = 1;
        CALL(coll_all_reduce(sub, &sum, 1, DTYPE_I32, OP_SUM));
        CHECK(sum == count, "%d of %d", sum, count);
        CALL(p2p_free(sub));
    }
    CALL(p2p_layer_self(world, &self));
    CHECK(p2p_size(self) == 1 && p2p_layer_world_rank(self, 0) == p2p_rank(world), "not this rank");
    CALL(coll_barrier(self));
    return 0;
}

Test(library, some_ranks_form_a_group)
{
    ASSERT_RIGHT(job_matrix(some_ranks, NULL));
}

/* ---- Element types ---- */

typedef struct {
    int64_t key, place;
} element;

static void least(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg)
{
    const element *a = left, *b = right;
    element *to = out;
    (void)dtype, (void)arg;
    for (size_t i = 0; i < count; i++) to[i] = b[i].key < a[i].key ? b[i] : a[i];
}

static int own_type(p2p_comm *world, void *arg)
{
    element e[3];
    enum dtype dtype;
    enum op op;
    (void)arg;
    CHECK(dtype_make("element", sizeof(element), &dtype) && op_make("least", least, NULL, false, &op),
          "cannot be made");
    CHECK(dtype_size(dtype) == sizeof(element) && dtype_problem(dtype, OP_SUM) && !dtype_problem(dtype, op), "not so");
    for (int i = 0; i < 3; i++) e[i] = (element){(p2p_rank(world) + i) % p2p_size(world), p2p_rank(world)};
    CALL(coll_all_reduce(world, e, 3, dtype, op));
    for (int i = 0; i < 3; i++)
        CHECK(e[i].key == 0 && (e[i].place + i) % p2p_size(world) == 0, "element %d is from %d", i, (int)e[i].place);
    op_free(op);
    return 0;
}

Test(library, element_types_of_a_programs_own)
{
    ASSERT_RIGHT(job_matrix(own_type, NULL));
}

/* ---- Without waiting ---- */

static int blocks(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), r = p2p_rank(world), out[MOST], in[MOST * MOST], mine = r + 1;
    int sum = mine, all = mine, scan = mine;
    size_t counts[MOST], offsets[MOST], ones[MOST], places[MOST];
    p2p_request requests[6];
    (void)arg;
    for (int q = 0; q < n; q++) {
        counts[q] = (size_t)q;
        offsets[q] = (size_t)(q * MOST);
        ones[q] = 1;
        places[q] = (size_t)q;
        out[q] = 100 * r + q;
    }
    int gathered[MOST * MOST], pairs[MOST], own[MOST], part = -1;
    CALL(coll_igatherv(world, out, counts[r], gathered, counts, offsets, DTYPE_I32, n - 1, &requests[0]));
    CALL(coll_iall_gatherv(world, out, counts[r], in, counts, offsets, DTYPE_I32, &requests[1]));
    CALL(coll_iall_to_allv(world, out, ones, places, pairs, ones, places, DTYPE_I32, &requests[2]));
    CALL(coll_ireduce(world, &sum, 1, DTYPE_I32, OP_SUM, n - 1, &requests[3]));
    CALL(coll_naive_iall_reduce(world, &all, 1, DTYPE_I32, OP_SUM, &requests[4]));
    CALL(coll_iscan(world, &scan, 1, DTYPE_I32, OP_SUM, &requests[5]));
    CALL(p2p_wait_all(6, requests, NULL));
    CALL(coll_iscatterv(world, out, ones, places, own, 1, DTYPE_I32, 0, &requests[0]));
    CALL(coll_ireduce_scatterv(world, out, ones, places, &part, 1, DTYPE_I32, OP_SUM, &requests[1]));
    CALL(p2p_wait_all(2, requests, NULL));
    for (int q = 0; q < n; q++) {
        for (int i = 0; i < q; i++) {
            CHECK(in[q * MOST + i] == 100 * q + i, "of rank %d: %d", q, in[q * MOST + i]);
            CHECK(r != n - 1 || gathered[q * MOST + i] == 100 * q + i, "of rank %d: %d", q, gathered[q * MOST + i]);
        }
        CHECK(pairs[q] == 100 * q + r, "from rank %d: %d", q, pairs[q]);
    }
    CHECK(r != n - 1 || sum == n * (n + 1) / 2, "sum %d", sum);
    CHECK(all == n * (n + 1) / 2 && scan == (r + 1) * (r + 2) / 2, "%d, %d", all, scan);
    CHECK(own[0] == r && part == 50 * n * (n - 1) + n * r, "%d, %d", own[0], part);
    return 0;
}

Test(library, blocks_of_any_length_without_waiting)
{
    ASSERT_RIGHT(job_matrix(blocks, NULL));
}
