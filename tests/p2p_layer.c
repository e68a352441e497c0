/* SPDX-License-Identifier: MIT */
// worlds: last; short writes; 3 hosts
/*
 * p2p_layer: the interface for those who write collectives. Two small ones are written here as a layer would, a
 * blocking all-gather and a non-blocking all-reduce, and used beside user messages that must never meet theirs.
 */
#include "p2p/p2p_layer.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "p2p/group/internal.h"
#include "tests/util/suite.h"

enum { TAG = 1 };

/* ---- A blocking collective: every rank gets all ranks' numbers, round the ring ---- */

static p2p_err pass_round(p2p_comm *comm, int values[])
{
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int step = 0; step < size - 1; step++) {
        int *mine = &values[(rank - step + size) % size], *next = &values[(rank - step - 1 + size) % size];
        p2p_err err = p2p_layer_sendrecv(comm, mine, sizeof *mine, right_of(comm), TAG, next, sizeof *next,
                                         left_of(comm), TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}

static p2p_err gather_all(p2p_comm *comm, int value, int values[])
{
    p2p_fingerprint what = {.operation = "gather_all", .algorithm = "ring", .count = 1, .root = -1};
    p2p_err err = p2p_layer_begin(comm, &what);

    if (err) return err;
    values[p2p_rank(comm)] = value;
    return p2p_layer_end(comm, pass_round(comm, values));
}

static int check_gathered(p2p_comm *comm, int round)
{
    int values[8] = {0};

    CALL(gather_all(comm, 100 * round + p2p_rank(comm), values));
    for (int q = 0; q < p2p_size(comm); q++)
        CHECK(values[q] == 100 * round + q, "round %d: rank %d's number is %d", round, q, values[q]);
    return 0;
}

/* User messages with the layer's own tag, and receives of anything, all open while the collectives run. */
static int beside_user_messages(p2p_comm *world, void *arg)
{
    int sent = 7777, got[2] = {0, 0};
    p2p_request requests[4];

    (void)arg;
    CALL(p2p_irecv(world, &got[0], sizeof got[0], P2P_ANY_SOURCE, P2P_ANY_TAG, &requests[0]));
    CALL(p2p_irecv(world, &got[1], sizeof got[1], left_of(world), TAG, &requests[1]));
    for (int round = 0; round < 20; round++) STEP(check_gathered(world, round));
    for (int i = 0; i < 2; i++) /* the left one may be further on already, and have sent */
        CHECK(got[i] == 0 || got[i] == sent, "a user's receive met a collective's message: %d", got[i]);
    CALL(p2p_isend(world, &sent, sizeof sent, right_of(world), TAG, &requests[2]));
    CALL(p2p_isend(world, &sent, sizeof sent, right_of(world), TAG, &requests[3]));
    CALL(p2p_wait_all(4, requests, P2P_STATUSES_IGNORE));
    CHECK(got[0] == sent && got[1] == sent, "received %d and %d", got[0], got[1]);
    return 0;
}

Test(p2p, layer_messages_have_a_context_of_their_own)
{
    ASSERT_RIGHT(job_matrix(beside_user_messages, NULL));
}

static int in_groups(p2p_comm *world, void *arg)
{
    p2p_comm *sub;

    (void)arg;
    CALL(p2p_split(world, p2p_rank(world) % 2, 0, &sub));
    for (int round = 0; round < 5; round++) {
        STEP(check_gathered(sub, round));
        STEP(check_gathered(world, round));
    }
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, layer_in_several_communicators)
{
    ASSERT_RIGHT(job_matrix(in_groups, NULL));
}

static int counted(p2p_comm *world, void *arg)
{
    int size = p2p_size(world);
    uint64_t sent = 0, received = 0;
    p2p_traffic rows[8];

    (void)arg;
    STEP(check_gathered(world, 1));
    CALL(p2p_stats(world, rows));
    for (int q = 0; q < size; q++) {
        sent += rows[q].messages_sent;
        received += rows[q].messages_received;
    }
    CHECK(sent == (uint64_t)size - 1 && received == sent, "%lu sent and %lu received in %d steps", (unsigned long)sent,
          (unsigned long)received, size - 1);
    return 0;
}

Test(p2p, layer_messages_count_in_stats)
{
    ASSERT_RIGHT(job_matrix(counted, NULL));
}

/* ---- Errors of a layer ---- */

static p2p_err refuse(p2p_comm *comm)
{
    p2p_fingerprint what = {.operation = "refuse", .root = -1};
    p2p_err err = p2p_layer_begin(comm, &what);

    if (err) return err;
    p2p_layer_advise(comm, "4 instead");
    return p2p_layer_end(comm, p2p_layer_error(comm, P2P_ERR_ARG, "%s is not allowed", "three"));
}

static int own_words(p2p_comm *world, void *arg)
{
    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_ARG, refuse(world));
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, "three is not allowed") && strstr(message, "try: 4 instead"), "message: %s", message);
    return check_gathered(world, 3); /* an error does not leave the communicator inside */
}

Test(p2p, layer_error_has_the_words_of_the_layer)
{
    ASSERT_RIGHT(job_matrix(own_words, NULL));
}

/* ---- A non-blocking collective: the sum of all ranks' numbers, n - 1 steps round the ring ---- */

typedef struct {
    p2p_comm *comm;
    int tag, step;
    int sent, got;
    p2p_request inner[2];   /* receive, send */
    p2p_request waiting[2]; /* those of inner that are under way */
    int *sum, *released;
} ring_sum;

static p2p_err post_step(ring_sum *s)
{
    p2p_err err = p2p_layer_irecv(s->comm, &s->got, sizeof s->got, left_of(s->comm), s->tag, &s->inner[0]);

    if (err) return err;
    return p2p_layer_isend(s->comm, &s->sent, sizeof s->sent, right_of(s->comm), s->tag, &s->inner[1]);
}

static p2p_err inner_done(ring_sum *s, bool *done)
{
    bool each[2] = {true, true};

    for (int i = 0; i < 2; i++) {
        if (!s->inner[i]) continue;
        p2p_err err = p2p_layer_done(&s->inner[i], &each[i]);
        if (err) return err;
    }
    *done = each[0] && each[1];
    return P2P_OK;
}

static p2p_err ring_sum_step(p2p_comm *comm, void *state, bool *done)
{
    ring_sum *s = state;
    bool ready = true;

    *done = false;
    for (;;) {
        p2p_err err = inner_done(s, &ready);
        if (err || !ready) return err;
        if (s->step > 0) *s->sum += s->sent = s->got;
        if (s->step++ == p2p_size(comm) - 1) break;
        err = post_step(s);
        if (err) return err;
    }
    *done = true;
    return P2P_OK;
}

static size_t ring_sum_waits_for(void *state, const p2p_request **requests)
{
    ring_sum *s = state;
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        if (s->inner[i]) s->waiting[count++] = s->inner[i];
    *requests = s->waiting;
    return count;
}

static void ring_sum_release(void *state)
{
    ring_sum *s = state;

    ++*s->released;
    free(s);
}

static p2p_err isum(p2p_comm *comm, int tag, int value, int *sum, int *released, p2p_request *request)
{
    static const p2p_layer_ops ops = {ring_sum_step, ring_sum_waits_for, ring_sum_release};
    p2p_fingerprint what = {.operation = "isum", .count = 1, .op = "sum", .root = -1};
    p2p_err err = p2p_layer_begin(comm, &what);
    ring_sum *s = calloc(1, sizeof *s);

    if (err) return err;
    if (!s) return p2p_layer_end(comm, P2P_ERR_NOMEM);
    *s = (ring_sum){.comm = comm, .tag = tag, .sent = value, .sum = sum, .released = released};
    *sum = value;
    err = p2p_layer_request(comm, &ops, s, request);
    if (err) free(s);
    return p2p_layer_end(comm, err);
}

/* Sum over q < n of 10 q + k. */
static int expected_sum(int size, int k)
{
    return 5 * size * (size - 1) + k * size;
}

static int sums_in_flight(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), sum[4], released = 0;
    p2p_request requests[4];

    (void)arg;
    for (int k = 0; k < 4; k++) CALL(isum(world, 10 + k, 10 * rank + k, &sum[k], &released, &requests[k]));
    STEP(check_gathered(world, 5));
    CALL(p2p_wait(&requests[2], P2P_STATUS_IGNORE));
    bool done = false;
    while (!done) CALL(p2p_test(&requests[1], &done, P2P_STATUS_IGNORE));
    CALL(p2p_wait_all(4, requests, P2P_STATUSES_IGNORE));
    for (int k = 0; k < 4; k++)
        CHECK(sum[k] == expected_sum(size, k) && !requests[k], "sum %d is %d, expected %d", k, sum[k],
              expected_sum(size, k));
    CHECK(released == 4, "released %d times", released);
    return 0;
}

Test(p2p, layer_requests_are_driven_by_any_waiting_call)
{
    ASSERT_RIGHT(job_matrix(sums_in_flight, NULL));
}

/* The other ranks' steps move on although they wait for something else altogether. */
static int driven_in_recv(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), sum, released = 0;
    p2p_request request;

    (void)arg;
    CALL(isum(world, 3, 10 * rank, &sum, &released, &request));
    if (rank > 0) CALL(p2p_recv(world, NULL, 0, 0, 9, NULL)); /* comes only when rank 0 has the sum */
    CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(sum == expected_sum(size, 0) && released == 1, "sum %d, released %d times", sum, released);
    for (int q = 1; rank == 0 && q < size; q++) CALL(p2p_send(world, NULL, 0, q, 9));
    return 0;
}

Test(p2p, layer_requests_move_on_inside_a_receive)
{
    ASSERT_RIGHT(job_matrix(driven_in_recv, NULL));
}

static int with_wait_any(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), sum, released = 0, got = 0;
    p2p_request requests[2], send;
    size_t index;

    (void)arg;
    CALL(p2p_irecv(world, &got, sizeof got, left_of(world), 2, &requests[0]));
    CALL(isum(world, 3, 10 * rank, &sum, &released, &requests[1]));
    CALL(p2p_wait_any(2, requests, &index, NULL));
    CHECK(index == 1 && sum == expected_sum(size, 0), "request %zu first, sum %d", index, sum);
    CALL(p2p_sendrecv(world, NULL, 0, left_of(world), 4, NULL, 0, right_of(world), 4, NULL));
    CALL(p2p_isend(world, &rank, sizeof rank, right_of(world), 2, &send));
    CALL(p2p_wait_any(2, requests, &index, NULL));
    CHECK(index == 0 && got == left_of(world), "request %zu, content %d", index, got);
    CALL(p2p_wait(&send, NULL));
    return 0;
}

Test(p2p, layer_requests_in_wait_any)
{
    ASSERT_RIGHT(job_matrix(with_wait_any, NULL));
}

/* ---- Nesting: a collective made of collectives ---- */

static p2p_err gather_twice(p2p_comm *comm, int value, int values[])
{
    p2p_fingerprint what = {.operation = "gather_twice", .count = 1, .root = -1};
    p2p_err err = p2p_layer_begin(comm, &what);

    if (err) return err;
    err = gather_all(comm, value - 1, values);
    if (!err) err = gather_all(comm, value, values);
    return p2p_layer_end(comm, err);
}

static int nested(p2p_comm *world, void *arg)
{
    int values[8] = {0};

    (void)arg;
    CALL(gather_twice(world, p2p_rank(world) * 3, values));
    for (int q = 0; q < p2p_size(world); q++) CHECK(values[q] == q * 3, "rank %d's number is %d", q, values[q]);
    return 0;
}

Test(p2p, layer_calls_nest)
{
    ASSERT_RIGHT(job_matrix(nested, NULL));
}

/* ---- Alarms there must not be: the supervisor looks every 50 ms, so a rank that works for 300 ms is looked at ---- */

static void work(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0) continue;
}

/* A long send ends with its last packet leaving; then the sender works, still inside the collective. */
static int works_after_sending(p2p_comm *world, void *arg)
{
    size_t bytes = (size_t)8 << 20;
    char *buf = calloc(bytes, 1), word = 0;
    p2p_fingerprint what = {.operation = "send_and_work", .count = 1, .root = -1};

    (void)arg;
    CHECK(buf, "no memory");
    CALL(p2p_layer_begin(world, &what));
    if (p2p_rank(world) == 0) {
        CALL(p2p_layer_send(world, buf, bytes, 1, TAG));
        work(300);
        CALL(p2p_layer_send(world, &word, 1, 1, TAG));
    } else {
        CALL(p2p_layer_recv(world, buf, bytes, 0, TAG, P2P_STATUS_IGNORE));
        CALL(p2p_layer_recv(world, &word, 1, 0, TAG, P2P_STATUS_IGNORE));
    }
    free(buf);
    CALL(p2p_layer_end(world, P2P_OK));
    return 0;
}

/* Rank 0 waits for all to agree; rank 1 comes later and waits for rank 0; rank 2 comes last and releases both. */
static int agrees_late(p2p_comm *world, void *arg)
{
    char word = 0;
    p2p_fingerprint what = {.operation = "late", .count = 1, .root = -1, .late = true};

    (void)arg;
    work(p2p_rank(world) * 200);
    CALL(p2p_layer_begin(world, &what));
    if (p2p_rank(world) == 0) {
        CALL(p2p_layer_agree(world));
        CALL(p2p_layer_send(world, &word, 1, 1, TAG));
    } else if (p2p_rank(world) == 1) {
        CALL(p2p_layer_recv(world, &word, 1, 0, TAG, P2P_STATUS_IGNORE));
    }
    CALL(p2p_layer_end(world, P2P_OK));
    return 0;
}

Test(p2p, layer_raises_no_alarm)
{
    ASSERT_RIGHT(job_sizes((const int[]){2}, 1, true, true, works_after_sending, NULL));
    ASSERT_RIGHT(job_sizes((const int[]){3}, 1, true, true, agrees_late, NULL));
}

/* ---- Communicators: one inside another's collective; and more than there is room for, one after the other ---- */

static int on_a_fresh_communicator(p2p_comm *world, void *arg)
{
    int values[8] = {0};
    p2p_comm *sub;
    p2p_fingerprint what = {.operation = "outer", .count = 1, .root = -1};

    (void)arg;
    CALL(p2p_split(world, 0, 0, &sub));
    CALL(p2p_layer_begin(world, &what));
    CALL(gather_all(sub, p2p_rank(world), values));
    CALL(p2p_layer_agree(sub)); /* as a collective does that is written for either place */
    CALL(p2p_layer_end(world, P2P_OK));
    CALL(p2p_free(sub));
    for (int q = 0; q < p2p_size(world); q++) CHECK(values[q] == q, "rank %d's number is %d", q, values[q]);
    return 0;
}

Test(p2p, layer_nests_on_a_fresh_communicator)
{
    ASSERT_RIGHT(job_matrix(on_a_fresh_communicator, NULL));
}

static int agree_on(p2p_comm *comm, size_t count)
{
    p2p_fingerprint what = {.operation = "agree_on", .count = count, .root = -1};

    CALL(p2p_layer_begin(comm, &what));
    CALL(p2p_layer_end(comm, P2P_OK));
    return 0;
}

static int splits_for_ever(p2p_comm *world, void *arg)
{
    p2p_comm *kept, *sub;

    (void)arg;
    CALL(p2p_split(world, 0, 0, &kept));
    for (int i = 0; i < 4094;
         i++) { /* the next one has the 4,096th context: the world's place, if places were reused */
        CALL(p2p_split(world, 0, 0, &sub));
        CALL(p2p_free(sub));
    }
    CALL(p2p_split(world, 0, 0, &sub));
    for (int round = 0; round < 10; round++) {
        STEP(agree_on(world, 1));
        STEP(agree_on(kept, 2));
        STEP(agree_on(sub, 3));
    }
    CALL(p2p_free(kept));
    CALL(p2p_free(sub));
    return 0;
}

Test(p2p, layer_contexts_do_not_meet_after_many_splits)
{
    ASSERT_RIGHT(job_sizes((const int[]){2}, 1, true, false, splits_for_ever, NULL));
}

/* ---- Stages: of three in a row none overlaps another, and no rank's runs into the next one's ---- */

static size_t wanted_in_call(size_t k)
{
    static const size_t near[] = {1, 2048, 4096, 16 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20};
    size_t size = near[k * 7 / 3 % 8], off = k * 2654435761u % 5;

    return k % 3 == 2 ? k * 2654435761u % (600 << 10) + 1 : size + 64 * off - (size > 128 ? 128 : 0);
}

static int scratch_in_a_row(p2p_comm *world, void *arg)
{
    enum { CALLS = 500 };
    uintptr_t last[2][2] = {{0}};
    size_t ranks = (size_t)p2p_size(world);

    (void)arg;
    for (size_t k = 0; k < CALLS && p2p_layer_has_shared_memory(world); k++) {
        p2p_scratch stages;
        CALL(p2p_layer_scratch(world, wanted_in_call(k), &stages));
        uintptr_t begin = (uintptr_t)stages.first, end = begin + stages.bytes;
        CHECK(stages.bytes > 0 && stages.bytes % 64 == 0 && begin % 64 == 0, "call %zu: %zu bytes", k, stages.bytes);
        CHECK(stages.bytes >= wanted_in_call(k) || stages.bytes >= 4096, "call %zu: only %zu bytes", k, stages.bytes);
        CHECK(ranks == 1 || stages.bytes <= stages.stride, "call %zu: runs into the next rank's", k);
        for (int i = 0; i < 2; i++)
            CHECK(end <= last[i][0] || begin >= last[i][1], "call %zu overlaps one of the two before", k);
        last[k % 2][0] = begin;
        last[k % 2][1] = end;
        memset(stages.first + (size_t)p2p_rank(world) * stages.stride, 1, stages.bytes);
    }
    return 0;
}

Test(p2p, layer_scratch_in_a_row_does_not_overlap)
{
    ASSERT_RIGHT(job_matrix(scratch_in_a_row, NULL));
}

/* What travels with a call comes back to the same four places: to memory that is mapped, and in a cache. */
static int small_scratch_comes_back(p2p_comm *world, void *arg)
{
    const unsigned char *places[4];

    (void)arg;
    for (size_t k = 0; k < 40 && p2p_layer_has_shared_memory(world); k++) {
        p2p_scratch piece;
        CALL(p2p_layer_scratch(world, k % 3 ? P2P_LAYER_INLINE_MOST : P2P_LAYER_INLINE_MOST - 64, &piece));
        CHECK(k < 4 || piece.first == places[k % 4], "call %zu has another place than that of four calls ago", k);
        places[k % 4] = piece.first;
    }
    return 0;
}

Test(p2p, layer_scratch_that_is_small_comes_back)
{
    ASSERT_RIGHT(job_matrix(small_scratch_comes_back, NULL));
}

/* Ranks that ask for a communicator's scratch memory at the same time, again and again: the one before it with the same
 * index has left its own behind, which one of them gives back. */
typedef struct {
    _Atomic int came;
    memory_place places[4];
} asked;

static void meet(p2p_comm *world, asked *a, int times)
{
    atomic_fetch_add(&a->came, 1);
    while (atomic_load(&a->came) < times * p2p_size(world)) sched_yield();
}

static int asks_for_one_place(p2p_comm *world, void *arg)
{
    enum { TIMES = 20000, INDEX = 1 };
    p2p_engine *engine = world->engine;
    asked *a = arg;
    int rank = p2p_rank(world), differed = 0;
    for (int i = 0; i < TIMES && p2p_layer_has_shared_memory(world); i++) {
        uint32_t context = 2 * ((uint32_t)i * SCOREBOARD_CONTEXTS + INDEX);
        meet(world, a, 2 * i + 1);
        a->places[rank] = p2p__scratch_place(engine->scoreboard, engine->memory_fd, &engine->gaps, context, 2, false);
        meet(world, a, 2 * i + 2);
        differed += !a->places[rank] || a->places[rank] != a->places[0];
    }
    CHECK(!differed, "%d of %d times this rank had another place than rank 0, or none", differed, TIMES);
    return 0;
}

Test(p2p, layer_scratch_is_one_place_for_all)
{
    for (int ranks = 2; ranks <= 4; ranks += 2)
        ASSERT_RIGHT(job_right(ranks, NULL, asks_for_one_place, job_shared(sizeof(asked))));
}

/* Of two communicators with one index, the earlier one has left its scratch memory behind: whatever comes for it late, from
 * another host, does not touch what the later one has. */
static int leaves_the_later_one_alone(p2p_comm *world, void *arg)
{
    enum { INDEX = 1, TURNS = 1 << 19 };
    p2p_engine *engine = world->engine;
    scoreboard *b = engine->scoreboard;
    memory_gap **gaps = &engine->gaps;
    int fd = engine->memory_fd;

    (void)arg;
    for (uint32_t turn = 0; turn < 4 && p2p_layer_has_shared_memory(world); turn++) {
        uint32_t at = turn ? TURNS - turn : 0; /* they are counted round */
        uint32_t before = 2 * (at * SCOREBOARD_CONTEXTS + INDEX), after = before + 2 * SCOREBOARD_CONTEXTS;
        memory_place place = p2p__scratch_place(b, fd, gaps, before, 2, false);
        CHECK(place && p2p__scratch_known(b, before) == place, "turn %u: no place", at);
        CHECK(p2p__scratch_place(b, fd, gaps, before, 2, true) == place, "turn %u: another place", at);
        p2p__scratch_clear(b, fd, gaps, before, true);
        CHECK(p2p__scratch_known(b, before) == place, "turn %u: given back while it was written to", at);
        p2p__scratch_leave(b, before);
        place = p2p__scratch_place(b, fd, gaps, after, 3, false);
        CHECK(place && !p2p__scratch_known(b, before), "turn %u: the earlier one is still there", at);
        CHECK(!p2p__scratch_place(b, fd, gaps, before, 2, false) && errno == ESTALE, "turn %u: too late, but a place",
              at);
        CHECK(!p2p__scratch_place(b, fd, gaps, before, 2, true) && errno == ESTALE, "turn %u: too late, but entered",
              at);
        p2p__scratch_clear(b, fd, gaps, after, false);
        CHECK(p2p__scratch_known(b, after) == place, "turn %u: the later one has lost its place", at);
        p2p__scratch_clear(b, fd, gaps, before, false);
        CHECK(!p2p__scratch_known(b, after), "turn %u: what was left behind is still there", at);
    }
    return 0;
}

Test(p2p, layer_scratch_of_the_later_one)
{
    ASSERT_RIGHT(job_right(1, false, leaves_the_later_one_alone, NULL));
}

/* ---- More collectives than 32 bits count, in a communicator whose index the next one gets ---- */

/* All of a host that gives an index out, and others alone. */
static int after_many_collectives(p2p_comm *world, void *arg)
{
    for (int apart = 0; apart <= 1; apart++) {
        int colour = apart && p2p_rank(world) > 0;
        _Atomic int *came = (_Atomic int *)arg + 2 * apart + colour;
        p2p_comm *sub;

        CALL(p2p_split(world, colour, 0, &sub));
        uint32_t index = sub->context / 2 % SCOREBOARD_CONTEXTS;
        sub->posted = sub->all_passed = sub->base + (UINT64_C(1) << 32); /* as if so many had been */
        for (int i = 0; i < 2 * SCOREBOARD_SLOTS; i++) STEP(agree_on(sub, 1));
        CALL(p2p_free(sub));
        for (int i = 0; i < 4; i++) STEP(agree_on(world, 1)); /* all have freed it */
        CALL(p2p_split(world, colour, 0, &sub));
        CHECK(p2p_hosts(world) > 1 || sub->context / 2 % SCOREBOARD_CONTEXTS == index,
              "the next one has another index");
        for (int i = 1; i <= SCOREBOARD_SLOTS; i++) {
            if (p2p_rank(sub) == i % p2p_size(sub)) p2p__pause(UINT64_C(1000000));
            atomic_fetch_add(came, 1);
            STEP(agree_on(sub, 2));
            CHECK(atomic_load(came) >= i * p2p_size(sub), "call %d: %d have come", i, atomic_load(came));
        }
        CALL(p2p_free(sub));
    }
    return 0;
}

Test(p2p, layer_after_many_collectives)
{
    for (int ranks = 2; ranks <= 4; ranks++)
        ASSERT_RIGHT(job_right(ranks, false, after_many_collectives, job_shared(4 * sizeof(_Atomic int))));
}

/* Work in parts: each is given out once; the barrier waits for parts that are given out, but not for ranks that do none. */
enum { PARTS = 7 };

typedef struct {
    _Atomic int given[PARTS], begun, left;
    int made;
} parts_work;

static bool all_others_sleep(const p2p_comm *comm)
{
    const scoreboard *b = comm->engine->scoreboard;
    const scoreboard_gate *gate = &b->gates[p2p__scoreboard_slot(comm->context, comm->posted)];
    return __builtin_popcountll(atomic_load(&gate->asleep[0])) ==
           comm->size - 2; /* nor the last rank, which has not come */
}

static int in_parts(p2p_comm *world, void *arg)
{
    const p2p_fingerprint what = {.operation = "parts", .root = -1, .late = true, .barriers = true, .parts = true};
    int rank = p2p_rank(world), n = p2p_size(world), first, part, own = 0;
    parts_work *w = arg;

    for (int round = 1; round <= 20 && p2p_hosts(world) == 1; round++) { /* parts, as steps, are a host's own */
        CALL(p2p_layer_begin(world, &what));
        CALL(p2p_layer_barrier(world, 1));
        while (rank == n - 1 && atomic_load(&w->left) < round * (n - 1)) sched_yield(); /* has come, and does nothing */
        first = rank == 0 || rank == n - 1 ? p2p_layer_next_part(world, PARTS) : -1;
        if (rank == 0) atomic_store(&w->begun, round);
        while (atomic_load(&w->begun) < round) sched_yield(); /* so that it has one */
        while ((part = p2p_layer_next_part(world, PARTS)) >= 0) {
            own += atomic_fetch_add(&w->given[part], 1) != round - 1;
            p2p_layer_part_done(world);
        }
        if (rank == 0) {
            while (round == 1 && n > 2 && !all_others_sleep(world)) sched_yield();
            own += atomic_fetch_add(&w->given[first], 1) != round - 1;
            w->made = round;
            p2p_layer_part_done(world);
        }
        CALL(p2p_layer_parts_barrier(world, 2, PARTS));
        CHECK(w->made == round, "round %d: left the barrier before the last part was done", round);
        CHECK(own == 0 && (rank == 0 || first < 0), "round %d: a part was given out twice, or not at all", round);
        atomic_fetch_add(&w->left, rank < n - 1);
        CALL(p2p_layer_end(world, P2P_OK));
    }
    return 0;
}

Test(p2p, layer_work_in_parts)
{
    for (int ranks = 2; ranks <= 5; ranks++)
        ASSERT_RIGHT(job_right(ranks, false, in_parts, job_shared(sizeof(parts_work))));
}
