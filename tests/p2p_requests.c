/* SPDX-License-Identifier: MIT */
// worlds: each; short writes; 3 hosts
/* p2p_requests: isend and irecv, and the one progress engine behind them: a call that waits for one request makes
 * progress on all others too. */
#include <sched.h>
#include <stdlib.h>

#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { KI = 1024, MI = 1024 * 1024, ROOM = 4 * MI + 100 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static unsigned char out[ROOM], in[ROOM];

/* ---- Circles: no rank goes on unless the sends and receives of all ranks move together ---- */

typedef enum { SEND_FIRST, RECEIVE_FIRST, BOTH, BY_TEST, BY_ANY, BY_TEST_ALL, BY_TEST_ANY, WAYS } way;

/* A rank that finds nothing yields: the rank it waits for may need this core. */
static int finish_by_test(p2p_request requests[2], p2p_status statuses[2])
{
    bool done[2] = {false, false};

    for (; !done[0] || !done[1]; sched_yield())
        for (int i = 0; i < 2; i++)
            if (!done[i]) CALL(p2p_test(&requests[i], &done[i], &statuses[i]));
    return 0;
}

static int finish_by_any(p2p_request requests[2], p2p_status statuses[2])
{
    p2p_status status;
    size_t index;

    for (int i = 0; i < 2; i++) {
        CALL(p2p_wait_any(2, requests, &index, &status));
        CHECK(index < 2, "p2p_wait_any says %zu of 2", index);
        statuses[index] = status;
    }
    return 0;
}

static int finish_by_test_all(p2p_request requests[2], p2p_status statuses[2])
{
    bool done = false;

    for (; !done; sched_yield()) CALL(p2p_test_all(2, requests, &done, statuses));
    return 0;
}

static int finish_by_test_any(p2p_request requests[2], p2p_status statuses[2])
{
    p2p_status status;
    size_t index = 77;
    bool done;

    for (int ended = 0; ended < 2; sched_yield()) {
        CALL(p2p_test_any(2, requests, &index, &done, &status));
        if (!done) continue;
        CHECK(index < 2, "p2p_test_any says %zu of 2", index);
        statuses[index] = status;
        ended++;
    }
    return 0;
}

/* requests[0] receives, requests[1] sends. */
static int finish(way how, p2p_request requests[2], p2p_status statuses[2])
{
    switch (how) {
    case SEND_FIRST:
        CALL(p2p_wait(&requests[1], &statuses[1]));
        CALL(p2p_wait(&requests[0], &statuses[0]));
        return 0;
    case RECEIVE_FIRST:
        CALL(p2p_wait(&requests[0], &statuses[0]));
        CALL(p2p_wait(&requests[1], &statuses[1]));
        return 0;
    case BY_TEST: return finish_by_test(requests, statuses);
    case BY_ANY: return finish_by_any(requests, statuses);
    case BY_TEST_ALL: return finish_by_test_all(requests, statuses);
    case BY_TEST_ANY: return finish_by_test_any(requests, statuses);
    case BOTH:
    default: CALL(p2p_wait_all(2, requests, statuses)); return 0;
    }
}

static int circle(p2p_comm *world, size_t bytes, way how)
{
    int rank = p2p_rank(world), left = left_of(world), right = right_of(world), tag = (int)how;
    p2p_request requests[2];
    p2p_status statuses[2];

    pattern_fill(out, bytes, pattern_key(rank, right, tag));
    memset(in, 0, bytes);
    if (how == SEND_FIRST) CALL(p2p_isend(world, out, bytes, right, tag, &requests[1]));
    CALL(p2p_irecv(world, in, bytes, left, tag, &requests[0]));
    if (how != SEND_FIRST) CALL(p2p_isend(world, out, bytes, right, tag, &requests[1]));
    STEP(finish(how, requests, statuses));
    CHECK(!requests[0] && !requests[1], "a request is not null when it is done");
    return job_check_message(in, &statuses[0], left, rank, tag, bytes);
}

static int circles(p2p_comm *world, void *arg)
{
    static const size_t sizes[] = {0, 8, 64 * KI, 64 * KI + 1, 4 * MI + 1};

    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int how = *(const int *)arg; how < WAYS; how += 2) STEP(circle(world, sizes[s], (way)how));
    return 0;
}

/* Every other way, so that the halves can run side by side. */
Test(p2p, circles_of_isend_and_irecv)
{
    int first = 0;
    ASSERT_RIGHT(job_matrix(circles, &first));
}

Test(p2p, circles_of_isend_and_irecv_in_other_ways)
{
    int first = 1;
    ASSERT_RIGHT(job_matrix(circles, &first));
}

/* ---- Floods: more than any socket buffers, in every direction, before any rank receives ---- */

static int receive_flood(p2p_comm *world, int count)
{
    int got[2];

    for (int i = 0; i < count; i++)
        for (int source = 0; source < p2p_size(world); source++) {
            CALL(p2p_recv(world, got, sizeof got, source, 1, NULL));
            CHECK(got[0] == source && got[1] == i, "from %d: message %d, expected %d", got[0], got[1], i);
        }
    return 0;
}

static int flood_blocking(p2p_comm *world, void *arg)
{
    int count = *(int *)arg, message[2] = {p2p_rank(world), 0};

    for (int i = 0; i < count; i++)
        for (int dest = 0; dest < p2p_size(world); dest++) {
            message[1] = i;
            CALL(p2p_send(world, message, sizeof message, dest, 1));
        }
    return receive_flood(world, count);
}

static int flood_requests(p2p_comm *world, void *arg)
{
    int count = *(int *)arg, size = p2p_size(world), rank = p2p_rank(world);
    size_t total = (size_t)count * (size_t)size;
    p2p_request *requests = calloc(total, sizeof(p2p_request));
    int(*messages)[2] = calloc((size_t)count, sizeof *messages);

    CHECK(requests && messages, "no memory");
    for (int i = 0; i < count; i++) {
        messages[i][0] = rank;
        messages[i][1] = i;
        for (int dest = 0; dest < size; dest++)
            CALL(p2p_isend(world, messages[i], sizeof messages[i], dest, 1, &requests[i * size + dest]));
    }
    STEP(receive_flood(world, count));
    CALL(p2p_wait_all(total, requests, P2P_STATUSES_IGNORE));
    free(requests);
    free(messages);
    return 0;
}

Test(p2p, flood_of_tiny_messages_in_every_direction)
{
    static const int few[] = {1, 2, 3};
    int count = job_is_quick() ? 4000 : 20000;

    ASSERT_RIGHT(job_sizes(few, COUNT(few), true, false, flood_blocking, &count));
    ASSERT_RIGHT(job_sizes(few, 2, true, true, flood_requests, &count));
}

Test(p2p, flood_among_eight_ranks)
{
    int count = job_is_quick() ? 600 : 2500;

    ASSERT_RIGHT(job_right(8, false, flood_blocking, &count));
    ASSERT_RIGHT(job_right(8, true, flood_requests, &count));
}

/* One direction, while the other side sends large messages the other way. */
static int flood_against_large(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = 1 - rank, number;

    (void)arg;
    if (rank == 0) {
        for (int i = 0; i < 20000; i++) CALL(p2p_send(world, &i, sizeof i, other, 1));
        for (int i = 0; i < 5; i++) CALL(p2p_recv(world, in, ROOM, other, 2, NULL));
        return 0;
    }
    p2p_request requests[5];
    for (int i = 0; i < 5; i++) CALL(p2p_isend(world, out, 4 * MI, other, 2, &requests[i]));
    for (int i = 0; i < 20000; i++) {
        CALL(p2p_recv(world, &number, sizeof number, other, 1, NULL));
        CHECK(number == i, "message %d, expected %d", number, i);
    }
    CALL(p2p_wait_all(5, requests, P2P_STATUSES_IGNORE));
    return 0;
}

Test(p2p, flood_one_way_large_messages_the_other)
{
    static const int two[] = {2};

    ASSERT_RIGHT(job_sizes(two, 1, true, true, flood_against_large, NULL));
}

/* ---- Random order: tags received in another order than sent, posted before and after they come ---- */

enum { SHUFFLED = 60 };

static size_t shuffled_length(int tag)
{
    return tag % 12 == 5 ? 64 * KI + (size_t)tag : (size_t)tag * 7;
}

static void shuffle(int order[], int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(pattern_random(&seed) % (uint32_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

typedef struct {
    int rank, left, right;
    unsigned char *sent, *received; /* SHUFFLED slots of `slot` bytes each */
    size_t slot;
    p2p_request sends[SHUFFLED], receives[SHUFFLED];
    p2p_status statuses[SHUFFLED];
} deck;

static int deal(p2p_comm *world, deck *d)
{
    d->rank = p2p_rank(world);
    d->left = left_of(world);
    d->right = right_of(world);
    d->slot = 64 * KI + SHUFFLED;
    d->sent = calloc(SHUFFLED, d->slot);
    d->received = calloc(SHUFFLED, d->slot);
    CHECK(d->sent && d->received, "no memory");
    return 0;
}

static int send_shuffled(p2p_comm *world, deck *d, uint64_t seed)
{
    int order[SHUFFLED];

    shuffle(order, SHUFFLED, seed);
    for (int i = 0; i < SHUFFLED; i++) {
        int tag = order[i];
        unsigned char *buf = d->sent + (size_t)tag * d->slot;
        pattern_fill(buf, shuffled_length(tag), pattern_key(d->rank, d->right, tag));
        CALL(p2p_isend(world, buf, shuffled_length(tag), d->right, tag, &d->sends[tag]));
    }
    return 0;
}

static int receive_shuffled(p2p_comm *world, deck *d, uint64_t seed)
{
    int order[SHUFFLED];

    shuffle(order, SHUFFLED, seed);
    for (int i = 0; i < SHUFFLED; i++) {
        int tag = order[i];
        CALL(p2p_irecv(world, d->received + (size_t)tag * d->slot, d->slot, d->left, tag, &d->receives[tag]));
    }
    return 0;
}

static int check_deck(deck *d)
{
    CALL(p2p_wait_all(SHUFFLED, d->receives, d->statuses));
    CALL(p2p_wait_all(SHUFFLED, d->sends, P2P_STATUSES_IGNORE));
    for (int tag = 0; tag < SHUFFLED; tag++)
        STEP(job_check_message(d->received + (size_t)tag * d->slot, &d->statuses[tag], d->left, d->rank, tag,
                               shuffled_length(tag)));
    free(d->sent);
    free(d->received);
    return 0;
}

static int random_order(p2p_comm *world, void *arg)
{
    static deck d;

    (void)arg;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t mine = seed * 100 + (uint64_t)p2p_rank(world);
        STEP(deal(world, &d));
        if (seed % 2) STEP(receive_shuffled(world, &d, mine));
        STEP(send_shuffled(world, &d, mine + 50));
        if (seed % 2 == 0) STEP(receive_shuffled(world, &d, mine));
        STEP(check_deck(&d));
    }
    return 0;
}

Test(p2p, random_order_posted_before_and_after)
{
    ASSERT_RIGHT(job_matrix(random_order, NULL));
}

/* Receives of one tag are filled in the order in which they were posted. */
static int posted_order(p2p_comm *world, void *arg)
{
    int left = left_of(world), right = right_of(world), got[20];
    p2p_request receives[20], sends[20];
    int sent[20];

    (void)arg;
    for (int i = 0; i < 20; i++)
        CALL(p2p_irecv(world, &got[i], sizeof got[i], i % 3 ? left : P2P_ANY_SOURCE, i % 5 ? 4 : P2P_ANY_TAG,
                       &receives[i]));
    for (int i = 0; i < 20; i++) {
        sent[i] = 1000 * p2p_rank(world) + i;
        CALL(p2p_isend(world, &sent[i], sizeof sent[i], right, 4, &sends[i]));
    }
    CALL(p2p_wait_all(20, receives, P2P_STATUSES_IGNORE));
    CALL(p2p_wait_all(20, sends, P2P_STATUSES_IGNORE));
    for (int i = 0; i < 20; i++) CHECK(got[i] == 1000 * left + i, "receive %d got message %d", i, got[i]);
    return 0;
}

Test(p2p, receives_fill_in_the_order_they_were_posted)
{
    ASSERT_RIGHT(job_matrix(posted_order, NULL));
}

/* ---- Progress: a call that waits for one thing moves the others on ---- */

/* The answer comes only after the whole large message, which was never waited for yet. */
static int move_on_in_recv(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = 1 - rank, token = 7;
    p2p_request request;

    (void)arg;
    if (rank == 1) {
        CALL(p2p_recv(world, in, 4 * MI, other, 1, NULL));
        CALL(p2p_send(world, &token, sizeof token, other, 2));
        return 0;
    }
    CALL(p2p_isend(world, out, 4 * MI, other, 1, &request));
    CALL(p2p_recv(world, &token, sizeof token, other, 2, NULL));
    CALL(p2p_wait(&request, NULL));
    return 0;
}

/* The same with a loop of p2p_iprobe instead of the blocking receive. */
static int move_on_in_iprobe(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = 1 - rank, token = 7;
    p2p_request request;
    bool found = false;

    if (rank == 1) return move_on_in_recv(world, arg);
    CALL(p2p_isend(world, out, 4 * MI, other, 1, &request));
    while (!found) CALL(p2p_iprobe(world, other, 2, &found, NULL));
    CALL(p2p_recv(world, &token, sizeof token, other, 2, NULL));
    CALL(p2p_wait(&request, NULL));
    return 0;
}

Test(p2p, requests_move_on_in_other_calls)
{
    static const int two[] = {2};

    ASSERT_RIGHT(job_sizes(two, 1, true, true, move_on_in_recv, NULL));
    ASSERT_RIGHT(job_sizes(two, 1, true, true, move_on_in_iprobe, NULL));
}

/* A send larger than 64 KiB, and any in strict mode, is not done before it has matched. Rank 1 receives only after
 * it was told to. */
static int not_done_before_match(p2p_comm *world, void *arg)
{
    size_t bytes = job_is_strict() ? 8 : 64 * KI + 1;
    p2p_request request;
    bool done = false;

    (void)arg;
    if (p2p_rank(world) == 1) {
        CALL(p2p_recv(world, NULL, 0, 0, 2, NULL));
        CALL(p2p_recv(world, in, bytes, 0, 1, NULL));
        return 0;
    }
    CALL(p2p_isend(world, out, bytes, 1, 1, &request));
    for (int i = 0; i < 1000; i++) {
        CALL(p2p_test(&request, &done, NULL));
        CHECK(!done && request, "the send was done before its receive");
    }
    CALL(p2p_send(world, NULL, 0, 1, 2));
    CALL(p2p_wait(&request, NULL));
    return 0;
}

Test(p2p, isend_is_done_when_it_has_matched)
{
    static const int two[] = {2};

    ASSERT_RIGHT(job_sizes(two, 1, true, true, not_done_before_match, NULL));
}

/* ---- Every rank with every rank, all at once ---- */

enum { ALL_BYTES = 70 * KI };

static int all_to_all(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    p2p_request requests[16];
    p2p_status statuses[16];

    (void)arg;
    for (int q = 0; q < size; q++) CALL(p2p_irecv(world, in + q * ALL_BYTES, ALL_BYTES, q, 6, &requests[q]));
    for (int q = 0; q < size; q++) {
        unsigned char *buf = out + q * ALL_BYTES;
        pattern_fill(buf, ALL_BYTES, pattern_key(rank, q, 6));
        CALL(p2p_isend(world, buf, ALL_BYTES, q, 6, &requests[size + q]));
    }
    CALL(p2p_wait_all(2 * (size_t)size, requests, statuses));
    for (int q = 0; q < size; q++) STEP(job_check_message(in + q * ALL_BYTES, &statuses[q], q, rank, 6, ALL_BYTES));
    return 0;
}

Test(p2p, all_to_all_at_once)
{
    ASSERT_RIGHT(job_matrix(all_to_all, NULL));
}
