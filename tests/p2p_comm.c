/* SPDX-License-Identifier: MIT */
// worlds: last; short writes; 3 hosts
/*
 * p2p_comm: communicators (split, dup, contexts, free), what they count, how they fail, and their life from init to
 * finalize. The layer's own door is in p2p_layer.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ring/ring.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Split ---- */

/* Every rank sends its parent rank to all others and so finds the members of the group. */
static int check_members(p2p_comm *sub, int parent_rank, const int members[])
{
    int size = p2p_size(sub), got[8];
    p2p_request requests[16];
    p2p_status statuses[16];

    for (int q = 0; q < size; q++) CALL(p2p_irecv(sub, &got[q], sizeof got[q], q, 3, &requests[q]));
    for (int q = 0; q < size; q++) CALL(p2p_isend(sub, &parent_rank, sizeof parent_rank, q, 3, &requests[size + q]));
    CALL(p2p_wait_all(2 * (size_t)size, requests, statuses));
    for (int q = 0; q < size; q++) {
        CHECK(got[q] == members[q], "rank %d of the group is %d, expected %d", q, got[q], members[q]);
        CHECK(statuses[q].source == q, "source %d in the group, expected %d", statuses[q].source, q);
    }
    return 0;
}

/* Even and odd ranks, in reverse order of rank. */
static int split_by_parity(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), members[8], count = 0, mine = -1;
    p2p_comm *sub;

    (void)arg;
    for (int r = size - 1; r >= 0; r--)
        if (r % 2 == rank % 2) {
            if (r == rank) mine = count;
            members[count++] = r;
        }
    CALL(p2p_split(world, rank % 2, -rank, &sub));
    CHECK(sub, "no communicator");
    CHECK(p2p_size(sub) == count && p2p_rank(sub) == mine, "rank %d of %d, expected %d of %d", p2p_rank(sub),
          p2p_size(sub), mine, count);
    STEP(check_members(sub, rank, members));
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, split_by_colour_and_key)
{
    ASSERT_RIGHT(job_matrix(split_by_parity, NULL));
}

/* Equal keys: by rank. Rank 0 stays out. */
static int split_without_rank_0(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), members[8];
    p2p_comm *sub = world;

    (void)arg;
    CALL(p2p_split(world, rank == 0 ? P2P_UNDEFINED : INT_MAX, 5, &sub));
    if (rank == 0) {
        CHECK(sub == NULL, "a communicator for P2P_UNDEFINED");
        return 0;
    }
    for (int q = 0; q < size - 1; q++) members[q] = q + 1;
    CHECK(p2p_rank(sub) == rank - 1 && p2p_size(sub) == size - 1, "rank %d of %d", p2p_rank(sub), p2p_size(sub));
    STEP(check_members(sub, rank, members));
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, split_undefined_and_equal_keys)
{
    ASSERT_RIGHT(job_matrix(split_without_rank_0, NULL));
}

/* Halves of halves, down to single ranks; ranks compared by a message round each group. */
static int halve(p2p_comm *comm, int first)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), half = (size + 1) / 2, members[8];
    p2p_comm *sub;

    for (int q = 0; q < size; q++) members[q] = first + q;
    STEP(check_members(comm, first + rank, members));
    if (size == 1) return 0;
    CALL(p2p_split(comm, rank < half ? 0 : 1, rank, &sub));
    STEP(halve(sub, rank < half ? first : first + half));
    STEP(check_members(comm, first + rank, members));
    CALL(p2p_free(sub));
    return 0;
}

static int nested(p2p_comm *world, void *arg)
{
    (void)arg;
    return halve(world, 0);
}

Test(p2p, nested_splits)
{
    ASSERT_RIGHT(job_matrix(nested, NULL));
}

/* The same ranks, source and tag in two communicators: a receive meets only messages of its own. */
static int contexts(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), right = (rank + 1) % size, left = (rank + size - 1) % size;
    int in_world = 100 + rank, in_twin = 200 + rank, got = -1;
    p2p_request sends[2];
    p2p_comm *twin;
    bool found;

    (void)arg;
    CALL(p2p_split(world, 0, rank, &twin));
    CALL(p2p_isend(world, &in_world, sizeof in_world, right, 7, &sends[0]));
    CALL(p2p_probe(world, left, 7, NULL));
    CALL(p2p_iprobe(twin, P2P_ANY_SOURCE, P2P_ANY_TAG, &found, NULL));
    CHECK(!found, "a message of the world is seen in its twin");
    /* The right one has looked: only then may its twin's message come. */
    CALL(p2p_sendrecv(world, NULL, 0, left, 8, NULL, 0, right, 8, NULL));
    CALL(p2p_isend(twin, &in_twin, sizeof in_twin, right, 7, &sends[1]));
    CALL(p2p_recv(twin, &got, sizeof got, P2P_ANY_SOURCE, P2P_ANY_TAG, NULL));
    CHECK(got == 200 + left, "the twin received %d", got);
    CALL(p2p_recv(world, &got, sizeof got, P2P_ANY_SOURCE, P2P_ANY_TAG, NULL));
    CHECK(got == 100 + left, "the world received %d", got);
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    CALL(p2p_free(twin));
    return 0;
}

Test(p2p, contexts_do_not_mix)
{
    ASSERT_RIGHT(job_matrix(contexts, NULL));
}

/* Many of them, one after the other and several at once: none runs out of anything. */
static int many_splits(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), members[8];
    p2p_comm *subs[10];

    (void)arg;
    for (int q = 0; q < size; q++) members[q] = q;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 10; i++) CALL(p2p_split(world, round, rank, &subs[i]));
        for (int i = 10; i-- > 0;) STEP(check_members(subs[i], rank, members));
        for (int i = 0; i < 10; i++) CALL(p2p_free(subs[i]));
    }
    return 0;
}

Test(p2p, a_hundred_splits)
{
    ASSERT_RIGHT(job_matrix(many_splits, NULL));
}

static int refused_frees(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), token = 5, got;
    p2p_request receive, send;
    p2p_comm *sub;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CHECK(p2p_free(world) != P2P_OK, "the world was freed");
    RETURNS(P2P_ERR_ARG, p2p_split(world, -7, 0, &sub));
    CALL(p2p_split(world, 0, rank, &sub));
    CALL(p2p_irecv(sub, &got, sizeof got, rank, 1, &receive));
    CHECK(p2p_free(sub) != P2P_OK, "freed with a receive pending");
    CALL(p2p_isend(sub, &token, sizeof token, rank, 1, &send));
    CALL(p2p_wait(&receive, NULL));
    CALL(p2p_wait(&send, NULL));
    CALL(p2p_free(sub));
    return 0;
}

/* The refused split is an error of each rank alone, so the others may go on to the next one. */
Test(p2p, free_refuses_the_world_and_pending_requests)
{
    ASSERT_RIGHT(job_matrix(refused_frees, NULL));
}

/* ---- Dup ---- */

static int duplicated(p2p_comm *comm, int first)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), members[8];
    p2p_comm *copy, *again;

    for (int q = 0; q < size; q++) members[q] = first + q;
    CALL(p2p_dup(comm, &copy));
    CHECK(p2p_rank(copy) == rank && p2p_size(copy) == size, "rank %d of %d", p2p_rank(copy), p2p_size(copy));
    CALL(p2p_dup(copy, &again));
    STEP(check_members(again, first + rank, members));
    CALL(p2p_free(again));
    STEP(check_members(copy, first + rank, members));
    CALL(p2p_free(copy));
    return check_members(comm, first + rank, members);
}

/* Of the world, and of a group of it. */
static int dups(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), half = (p2p_size(world) + 1) / 2;
    p2p_comm *sub;

    (void)arg;
    STEP(duplicated(world, 0));
    CALL(p2p_split(world, rank < half, rank, &sub));
    STEP(duplicated(sub, rank < half ? 0 : half));
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, dup_has_the_same_ranks)
{
    ASSERT_RIGHT(job_matrix(dups, NULL));
}

/* Messages with the same source and tag, and collectives that are open at the same time, do not meet. */
static int dup_is_apart(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), right = (rank + 1) % size, left = (rank + size - 1) % size;
    int sent[2] = {100 + rank, 200 + rank}, got[2] = {-1, -1}, sums[2] = {1, 10};
    p2p_request sends[2], sum[2];
    p2p_traffic rows[8];
    p2p_comm *copy;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_ARG, p2p_dup(world, NULL));
    CALL(p2p_dup(world, &copy));
    RETURNS(P2P_ERR_RANK, p2p_send(copy, NULL, 0, 4242, 0)); /* the mode is the parent's */
    CALL(p2p_isend(world, &sent[0], sizeof sent[0], right, 7, &sends[0]));
    CALL(p2p_isend(copy, &sent[1], sizeof sent[1], right, 7, &sends[1]));
    CALL(p2p_recv(copy, &got[1], sizeof got[1], P2P_ANY_SOURCE, P2P_ANY_TAG, NULL));
    CALL(p2p_recv(world, &got[0], sizeof got[0], P2P_ANY_SOURCE, P2P_ANY_TAG, NULL));
    CHECK(got[0] == 100 + left && got[1] == 200 + left, "received %d and %d", got[0], got[1]);
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    CALL(p2p_stats(copy, rows));
    CHECK(rows[right].messages_sent == 1, "the copy counts %d messages", (int)rows[right].messages_sent);
    CALL(ring_iall_reduce(world, &sums[0], 1, DTYPE_I32, OP_SUM, &sum[0]));
    CALL(ring_iall_reduce(copy, &sums[1], 1, DTYPE_I32, OP_SUM, &sum[1]));
    CALL(p2p_wait_all(2, sum, P2P_STATUSES_IGNORE));
    CHECK(sums[0] == size && sums[1] == 10 * size, "sums %d and %d", sums[0], sums[1]);
    CALL(p2p_free(copy));
    return 0;
}

Test(p2p, dup_keeps_messages_and_collectives_apart)
{
    ASSERT_RIGHT(job_matrix(dup_is_apart, NULL));
}

/* ---- Traffic ---- */

static int distance(int from, int to, int size)
{
    return (to - from + size) % size;
}

/* To the rank at distance d: d + 1 messages of 10 d + 5 bytes, and one large one. */
static int make_traffic(p2p_comm *comm, int rank, int size)
{
    static char sent[70000], got[70000];

    for (int d = 0; d < size; d++) {
        int dest = (rank + d) % size, source = (rank - d + size) % size;
        size_t bytes = 10 * (size_t)d + 5;
        for (int i = 0; i <= d; i++) CALL(p2p_sendrecv(comm, sent, bytes, dest, i, got, sizeof got, source, i, NULL));
        CALL(p2p_sendrecv(comm, sent, sizeof sent, dest, 99, got, sizeof got, source, 99, NULL));
    }
    return 0;
}

static int check_traffic(const p2p_traffic *row, int peer, int to, int from)
{
    uint64_t sent = (uint64_t)to + 2, received = (uint64_t)from + 2;
    uint64_t sent_bytes = ((uint64_t)to + 1) * (10 * (uint64_t)to + 5) + 70000;
    uint64_t received_bytes = ((uint64_t)from + 1) * (10 * (uint64_t)from + 5) + 70000;

    CHECK(row->messages_sent == sent && row->bytes_sent == sent_bytes, "to %d: %lu messages, %lu bytes", peer,
          (unsigned long)row->messages_sent, (unsigned long)row->bytes_sent);
    CHECK(row->messages_received == received && row->bytes_received == received_bytes,
          "from %d: %lu messages, %lu bytes", peer, (unsigned long)row->messages_received,
          (unsigned long)row->bytes_received);
    return 0;
}

static int check_all_traffic(p2p_comm *comm)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    p2p_traffic rows[8];

    CALL(p2p_stats(comm, rows));
    for (int q = 0; q < size; q++) STEP(check_traffic(&rows[q], q, distance(rank, q, size), distance(q, rank, size)));
    return 0;
}

static int check_no_traffic(p2p_comm *comm)
{
    p2p_traffic rows[8], zero = {0, 0, 0, 0};

    memset(rows, 0xFF, sizeof rows);
    CALL(p2p_stats(comm, rows));
    for (int q = 0; q < p2p_size(comm); q++)
        CHECK(memcmp(&rows[q], &zero, sizeof zero) == 0, "traffic with %d before any", q);
    return 0;
}

static int traffic(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);
    p2p_comm *sub;

    (void)arg;
    STEP(check_no_traffic(world));
    STEP(make_traffic(world, rank, p2p_size(world)));
    STEP(check_all_traffic(world));
    CALL(p2p_split(world, rank % 2, 0, &sub));
    STEP(check_no_traffic(sub));
    STEP(make_traffic(sub, p2p_rank(sub), p2p_size(sub)));
    STEP(check_all_traffic(sub));
    STEP(check_all_traffic(world)); /* the split and its messages changed nothing here */
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, stats_count_messages_and_bytes_by_peer)
{
    ASSERT_RIGHT(job_matrix(traffic, NULL));
}

/* ---- Errors ---- */

Test(p2p, strerror_has_a_text_for_each)
{
#define CODE(name, value, text) {name, text},
    static const struct {
        p2p_err err;
        const char *text;
    } all[] = {P2P_ERROR_LIST(CODE)};
#undef CODE

    for (size_t i = 0; i < COUNT(all); i++) cr_expect_str_eq(p2p_strerror(all[i].err), all[i].text);
    cr_expect_not_null(p2p_strerror((p2p_err)-1000));
    cr_expect_not_null(p2p_strerror((p2p_err)1));
}

static int error_messages(p2p_comm *world, void *arg)
{
    char rank[32], byte;
    p2p_comm *sub;

    (void)arg;
    snprintf(rank, sizeof rank, "rank %d", p2p_rank(world));
    CHECK(p2p_error_message(world)[0] == '\0', "a message before any error");
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_RANK, p2p_send(world, &byte, 1, 4242, 17));
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, rank) && strstr(message, "p2p_send") && strstr(message, "4242") && strstr(message, "17"),
          "message lacks rank, call, peer or tag: %s", message);
    CHECK(strstr(message, "p2p_comm.c:"), "message lacks the line: %s", message);
    CALL(p2p_split(world, 0, 0, &sub));
    RETURNS(P2P_ERR_RANK, p2p_recv(sub, &byte, 1, 4242, 0, NULL)); /* the mode is the parent's */
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, error_message_says_who_did_what_where)
{
    ASSERT_RIGHT(job_matrix(error_messages, NULL));
}

/* ---- Life ---- */

static int lifecycle(p2p_comm *world, void *arg)
{
    char byte = 0;

    (void)arg;
    CHECK(p2p_rank(NULL) == -1 && p2p_size(NULL) == 0, "rank and size of NULL");
    double before = p2p_time(world);
    CHECK(p2p_time(world) >= before, "time runs backwards");
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CALL(p2p_finalize(world));
    CHECK(p2p_rank(world) == -1 && p2p_size(world) == 0, "rank and size after finalize");
    RETURNS(P2P_ERR_STATE, p2p_send(world, &byte, 1, 0, 0));
    CALL(p2p_finalize(world));
    return 0; /* and p2p_launch finalizes a third time */
}

Test(p2p, finalize_as_often_as_you_like)
{
    ASSERT_RIGHT(job_matrix(lifecycle, NULL));
}

/* p2p_init has no communicator to ask how errors are wanted: it says what is wrong and returns. */
static int init_again(p2p_comm *world, void *arg)
{
    p2p_comm *second = NULL;

    (void)world, (void)arg;
    RETURNS(P2P_ERR_STATE, p2p_init(&second));
    CHECK(second == NULL, "the second p2p_init set its output");
    return 0;
}

Test(p2p, init_only_once)
{
    job_result result;

    job_run(2, NULL, init_again, NULL, &result);
    cr_expect_eq(result.err, P2P_OK, "%s: %s", p2p_strerror(result.err), result.note);
    ASSERT_CONTAINS(result.process.err, "p2p_init");
    job_free(&result);
}

typedef enum { UNRECEIVED, PENDING, CANCELLED, UNFREED, COPY } leftover;

/* Rank 1 has not received a message, has not waited for a request, or has not freed a communicator. */
static int leave_something(p2p_comm *world, void *arg)
{
    leftover what = *(leftover *)arg;
    int rank = p2p_rank(world), word = 4;
    p2p_request request;
    p2p_comm *sub;

    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    if (what == UNRECEIVED && rank == 0) CALL(p2p_send(world, &word, sizeof word, 1, 13));
    if ((what == PENDING || what == CANCELLED) && rank == 1)
        CALL(p2p_irecv(world, &word, sizeof word, 0, 13, &request));
    if (what == CANCELLED && rank == 1) CALL(p2p_cancel(&request));
    if (what == UNFREED) CALL(p2p_split(world, 0, 0, &sub));
    if (what == COPY) CALL(p2p_dup(world, &sub));
    if (what >= UNFREED && rank == 0) CALL(p2p_free(sub));
    p2p_err err = p2p_finalize(world);
    if (rank == 0) return err == P2P_OK ? 0 : complaint_make(__FILE__, __LINE__, "rank 0: %s", p2p_strerror(err));
    RETURNS(P2P_ERR_LEAK, err);
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, what < UNFREED ? "13" : "p2p_comm.c:"), "the message does not name the tag or the line: %s",
          message);
    return 0;
}

Test(p2p, finalize_reports_what_is_left)
{
    for (leftover what = UNRECEIVED; what <= COPY; what++) ASSERT_RIGHT(job_right(2, false, leave_something, &what));
}

/* ---- A world of one, without a launcher ---- */

static int alone(void *arg)
{
    p2p_comm *world;
    int got = 0, sent = 42;

    (void)arg;
    if (p2p_init(&world) || p2p_rank(world) != 0 || p2p_size(world) != 1) return 10;
    if (p2p_sendrecv(world, &sent, sizeof sent, 0, 0, &got, sizeof got, 0, 0, NULL) || got != sent) return 11;
    if (p2p_send(world, &sent, sizeof sent, 0, 1) || p2p_recv(world, &got, sizeof got, 0, 1, NULL)) return 12;
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    if (p2p_recv(world, &got, sizeof got, 0, 2, NULL) != P2P_ERR_DEADLOCK) return 13;
    if (p2p_recv(world, &got, sizeof got, P2P_ANY_SOURCE, P2P_ANY_TAG, NULL) != P2P_ERR_DEADLOCK) return 14;
    if (p2p_finalize(world) || p2p_finalize(world)) return 15;
    return p2p_init(&world) == P2P_ERR_STATE ? 0 : 16;
}

Test(p2p, a_world_of_one_needs_no_launcher)
{
    process_result result;

    process_run(alone, NULL, NULL, 30, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.err, "pairwise");
    process_free(&result);
}
