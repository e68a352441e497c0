/* SPDX-License-Identifier: MIT */
// worlds: each; short writes; 3 hosts
/* p2p_waiting: how requests end: wait and test, of one, all or any, of null requests and of some with an error; and
 * cancel. */
#include <sched.h>

#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { KI = 1024, MI = 1024 * 1024, ROOM = 4 * MI };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static unsigned char out[ROOM], in[ROOM];

/* ---- wait_any, test and wait with null requests ---- */

static int null_requests(p2p_comm *world, void *arg)
{
    p2p_request none[3] = {P2P_REQUEST_NULL, P2P_REQUEST_NULL, P2P_REQUEST_NULL};
    p2p_status statuses[3] = {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}};
    size_t index = 77;
    bool done = false;

    (void)world, (void)arg;
    CALL(p2p_wait(&none[0], &statuses[0]));
    CHECK(statuses[0].bytes == 0, "a null request's status has %zu bytes", statuses[0].bytes);
    CALL(p2p_test(&none[0], &done, NULL));
    CHECK(done, "a null request is not done");
    CALL(p2p_wait_all(3, none, statuses));
    CALL(p2p_wait_all(0, NULL, NULL));
    CALL(p2p_wait_any(3, none, &index, NULL));
    CHECK(index == (size_t)P2P_UNDEFINED, "p2p_wait_any of nothing says %zu", index);
    index = 77;
    CALL(p2p_wait_any(0, NULL, &index, NULL));
    CHECK(index == (size_t)P2P_UNDEFINED, "p2p_wait_any of none says %zu", index);
    return 0;
}

static int null_requests_tested(p2p_comm *world, void *arg)
{
    p2p_request none[2] = {P2P_REQUEST_NULL, P2P_REQUEST_NULL};
    p2p_status statuses[2] = {{5, 5, 5}, {5, 5, 5}};
    size_t index = 77;
    bool done = false;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CALL(p2p_test_all(2, none, &done, statuses));
    CHECK(done && statuses[0].bytes == 0 && statuses[1].bytes == 0, "null requests: done %d, %zu bytes", done,
          statuses[0].bytes);
    done = false;
    CALL(p2p_test_all(0, NULL, &done, NULL));
    CHECK(done, "all of none are not done");
    done = false;
    CALL(p2p_test_any(2, none, &index, &done, &statuses[0]));
    CHECK(done && index == (size_t)P2P_UNDEFINED, "p2p_test_any of nothing: done %d, index %zu", done, index);
    RETURNS(P2P_ERR_ARG, p2p_test_all(2, none, NULL, statuses));
    RETURNS(P2P_ERR_ARG, p2p_test_any(2, none, NULL, &done, statuses));
    RETURNS(P2P_ERR_ARG, p2p_test_any(2, NULL, &index, &done, statuses));
    return 0;
}

Test(p2p, null_requests_return_at_once)
{
    ASSERT_RIGHT(job_matrix(null_requests, NULL));
    ASSERT_RIGHT(job_matrix(null_requests_tested, NULL));
}

static int collect_any(p2p_comm *world, int size, p2p_request requests[], int got[])
{
    unsigned seen = 0;
    p2p_status status;
    size_t index;

    for (int i = 0; i < size; i++) {
        CALL(p2p_wait_any((size_t)size, requests, &index, &status));
        CHECK(index < (size_t)size && !(seen >> index & 1), "p2p_wait_any says %zu again", index);
        CHECK(requests[index] == P2P_REQUEST_NULL, "request %zu is not null", index);
        CHECK(status.source == (int)index && got[index] == (int)index * 10 + p2p_rank(world),
              "request %zu: from %d, content %d", index, status.source, got[index]);
        seen |= 1u << index;
    }
    CALL(p2p_wait_any((size_t)size, requests, &index, NULL));
    CHECK(index == (size_t)P2P_UNDEFINED, "one more than there were: %zu", index);
    return 0;
}

static int any_of_many(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), got[8], sent[8];
    p2p_request receives[8], sends[8];

    (void)arg;
    for (int q = 0; q < size; q++) CALL(p2p_irecv(world, &got[q], sizeof got[q], q, 1, &receives[q]));
    for (int q = 0; q < size; q++) {
        sent[q] = rank * 10 + q;
        CALL(p2p_isend(world, &sent[q], sizeof sent[q], q, 1, &sends[q]));
    }
    STEP(collect_any(world, size, receives, got));
    CALL(p2p_wait_all((size_t)size, sends, P2P_STATUSES_IGNORE));
    return 0;
}

Test(p2p, wait_any_gives_each_exactly_once)
{
    ASSERT_RIGHT(job_matrix(any_of_many, NULL));
}

/* Of two receives only the second can be filled now; the first is filled afterwards. */
static int any_picks_what_is_there(p2p_comm *world, void *arg)
{
    int left = left_of(world), right = right_of(world), got[2], sent[2] = {10, 20};
    p2p_request receives[2], sends[2];
    size_t index;

    (void)arg;
    CALL(p2p_irecv(world, &got[0], sizeof got[0], left, 1, &receives[0]));
    CALL(p2p_irecv(world, &got[1], sizeof got[1], left, 2, &receives[1]));
    CALL(p2p_isend(world, &sent[1], sizeof sent[1], right, 2, &sends[1]));
    CALL(p2p_wait_any(2, receives, &index, NULL));
    CHECK(index == 1 && got[1] == 20, "p2p_wait_any says %zu, content %d", index, got[1]);
    CALL(p2p_sendrecv(world, NULL, 0, left, 3, NULL, 0, right, 3, NULL)); /* the right one has had its second */
    CALL(p2p_isend(world, &sent[0], sizeof sent[0], right, 1, &sends[0]));
    CALL(p2p_wait_any(2, receives, &index, NULL));
    CHECK(index == 0 && got[0] == 10, "p2p_wait_any says %zu, content %d", index, got[0]);
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    return 0;
}

Test(p2p, wait_any_picks_what_has_come)
{
    ASSERT_RIGHT(job_matrix(any_picks_what_is_there, NULL));
}

/* ---- test_all, test_any: what has ended stays a request until all have, or until it is given ---- */

/* As p2p_wait_all, by looking. */
static p2p_err test_until_done(size_t count, p2p_request requests[], p2p_status statuses[])
{
    bool done = false;
    p2p_err err = P2P_OK;

    for (; !err && !done; sched_yield()) err = p2p_test_all(count, requests, &done, statuses);
    return err;
}

/* The left one's first message is here, the second comes once it is asked for. */
static int one_of_two_has_come(p2p_comm *world, void *arg)
{
    int left = left_of(world), right = right_of(world), got[2] = {0, 0}, sent[2] = {10, 20};
    p2p_status statuses[2] = {{5, 5, 5}, {5, 5, 5}};
    p2p_request receives[2], sends[2];
    size_t index = 77;
    bool done = true;

    (void)arg;
    for (int i = 0; i < 2; i++) CALL(p2p_irecv(world, &got[i], sizeof got[i], left, i, &receives[i]));
    CALL(p2p_isend(world, &sent[0], sizeof sent[0], right, 0, &sends[0]));
    for (int i = 0; i < 100; i++) {
        CALL(p2p_test_all(2, receives, &done, statuses));
        CHECK(!done && receives[0] && receives[1] && statuses[0].source == 5, "one of two is all");
    }
    for (; !done; sched_yield()) CALL(p2p_test_any(2, receives, &index, &done, &statuses[0]));
    CHECK(index == 0 && !receives[0] && got[0] == 10 && statuses[0].source == left, "index %zu", index);
    for (int i = 0; i < 100; i++) {
        CALL(p2p_test_any(2, receives, &index, &done, &statuses[1]));
        CHECK(!done && index == 0 && receives[1] && statuses[1].source == 5, "a receive has ended too early");
    }
    CALL(p2p_sendrecv(world, NULL, 0, left, 4, NULL, 0, right, 4, NULL)); /* the right one has looked */
    CALL(p2p_isend(world, &sent[1], sizeof sent[1], right, 1, &sends[1]));
    CALL(test_until_done(2, receives, statuses));
    CHECK(got[1] == 20 && statuses[1].source == left && statuses[1].bytes == sizeof got[1], "received %d", got[1]);
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    return 0;
}

Test(p2p, test_all_and_test_any_tell_what_has_come)
{
    ASSERT_RIGHT(job_matrix(one_of_two_has_come, NULL));
}

/* ---- cancel: a receive that no message has met ends without one; any other goes on ---- */

static int is_cancelled(const p2p_status *status)
{
    return status->source == P2P_CANCELLED && status->tag == P2P_CANCELLED && status->bytes == 0;
}

/* Of five receives the second and the fourth are taken back: the messages go to the others, in order. */
static int cancelled_receives(p2p_comm *world, void *arg)
{
    int left = left_of(world), right = right_of(world), got[5] = {-1, -1, -1, -1, -1}, sent[3] = {10, 20, 30};
    p2p_request receives[5], sends[3];
    p2p_status statuses[5];
    p2p_traffic rows[8];

    (void)arg;
    for (int i = 0; i < 5; i++)
        CALL(p2p_irecv(world, &got[i], sizeof got[i], i == 3 ? P2P_ANY_SOURCE : left, i == 3 ? P2P_ANY_TAG : 1,
                       &receives[i]));
    CALL(p2p_cancel(&receives[1]));
    CALL(p2p_cancel(&receives[3]));
    CALL(p2p_cancel(&receives[3]));
    CHECK(receives[1] && receives[3], "a cancelled request is still to be waited for");
    for (int i = 0; i < 3; i++) CALL(p2p_isend(world, &sent[i], sizeof sent[i], right, 1, &sends[i]));
    CALL(p2p_wait_all(5, receives, statuses));
    for (int i = 0; i < 5; i++)
        CHECK(i % 2 ? is_cancelled(&statuses[i]) && got[i] == -1 : statuses[i].source == left && got[i] == 5 * i + 10,
              "receive %d: source %d, content %d", i, statuses[i].source, got[i]);
    CALL(p2p_wait_all(3, sends, P2P_STATUSES_IGNORE));
    CALL(p2p_stats(world, rows));
    CHECK(rows[left].messages_received == 3, "%d messages counted", (int)rows[left].messages_received);
    return 0;
}

/* It ends in whatever looks at it, and a message that comes later waits for another receive. */
static int cancelled_and_tested(p2p_comm *world, void *arg)
{
    int left = left_of(world), right = right_of(world), got = -1, sent = 7;
    p2p_request request, send;
    p2p_status status;
    size_t index = 77;
    bool done = false;

    (void)arg;
    CALL(p2p_irecv(world, &got, sizeof got, left, 2, &request));
    CALL(p2p_cancel(&request));
    CALL(p2p_test(&request, &done, &status));
    CHECK(done && !request && is_cancelled(&status), "p2p_test: done %d, source %d", done, status.source);
    CALL(p2p_irecv(world, &got, sizeof got, left, 2, &request));
    CALL(p2p_cancel(&request));
    CALL(p2p_wait_any(1, &request, &index, &status));
    CHECK(index == 0 && is_cancelled(&status) && got == -1, "p2p_wait_any: index %zu, content %d", index, got);
    CALL(p2p_cancel(&request)); /* a null request: nothing happens */
    CALL(p2p_isend(world, &sent, sizeof sent, right, 2, &send));
    CALL(p2p_recv(world, &got, sizeof got, left, 2, &status));
    CHECK(got == 7 && status.source == left, "a later message is gone: %d", got);
    CALL(p2p_wait(&send, NULL));
    return 0;
}

Test(p2p, cancel_takes_back_what_no_message_has_met)
{
    ASSERT_RIGHT(job_matrix(cancelled_receives, NULL));
    ASSERT_RIGHT(job_matrix(cancelled_and_tested, NULL));
}

/* Rank 1 cancels when its message is here, all of it or its beginning: it comes as if nothing had been. */
static int too_late_to_cancel(p2p_comm *world, void *arg)
{
    static const size_t sizes[] = {8, 64 * KI, 4 * MI};
    p2p_request request;
    p2p_status status;

    (void)arg;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        if (p2p_rank(world) == 0) {
            pattern_fill(out, sizes[s], pattern_key(0, 1, 1));
            CALL(p2p_isend(world, out, sizes[s], 1, 1, &request));
            CALL(p2p_send(world, NULL, 0, 1, 2));
            CALL(p2p_wait(&request, NULL));
            continue;
        }
        memset(in, 0, sizes[s]);
        CALL(p2p_irecv(world, in, sizes[s], 0, 1, &request));
        CALL(p2p_recv(world, NULL, 0, 0, 2, NULL)); /* sent after it: it is here, or announced */
        CALL(p2p_cancel(&request));
        CALL(p2p_wait(&request, &status));
        STEP(job_check_message(in, &status, 0, 1, 1, sizes[s]));
    }
    return 0;
}

Test(p2p, cancel_too_late_changes_nothing)
{
    static const int two[] = {2};

    ASSERT_RIGHT(job_sizes(two, 1, true, true, too_late_to_cancel, NULL));
}

static int cancel_refuses(p2p_comm *world, void *arg)
{
    int word = 3, got = 0;
    p2p_request send;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_ARG, p2p_cancel(NULL));
    CALL(p2p_isend(world, &word, sizeof word, right_of(world), 1, &send));
    RETURNS(P2P_ERR_ARG, p2p_cancel(&send));
    CHECK(strstr(p2p_error_message(world), "p2p_cancel") && strstr(p2p_error_message(world), "a send"), "message: %s",
          p2p_error_message(world));
    CALL(p2p_recv(world, &got, sizeof got, left_of(world), 1, NULL));
    CALL(p2p_wait(&send, NULL));
    CHECK(got == 3, "received %d", got);
    return 0;
}

Test(p2p, cancel_refuses_what_is_no_receive)
{
    ASSERT_RIGHT(job_matrix(cancel_refuses, NULL));
}

/* ---- wait_all and test_all with an error among their requests ---- */

/* *arg: by p2p_test_all? */
static int one_of_three_fails(p2p_comm *world, void *arg)
{
    bool tests = *(const bool *)arg;
    int left = left_of(world), right = right_of(world);
    char got[3][100], sent[100] = "a message of a hundred bytes";
    p2p_request receives[3], sends[3];
    p2p_status statuses[3];

    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (int i = 0; i < 3; i++) {
        CALL(p2p_irecv(world, got[i], i == 1 ? 10 : 100, left, i, &receives[i]));
        CALL(p2p_isend(world, sent, sizeof sent, right, i, &sends[i]));
    }
    RETURNS(P2P_ERR_TRUNCATE, (tests ? test_until_done : p2p_wait_all)(3, receives, statuses));
    for (int i = 0; i < 3; i++) CHECK(receives[i] == P2P_REQUEST_NULL, "request %d has not ended", i);
    CHECK(statuses[0].bytes == 100 && statuses[2].bytes == 100, "the right ones have no status");
    CHECK(memcmp(got[0], sent, 100) == 0 && memcmp(got[2], sent, 100) == 0, "the right ones have other content");
    CALL(p2p_wait_all(3, sends, P2P_STATUSES_IGNORE));
    return 0;
}

Test(p2p, wait_all_ends_every_request_and_returns_the_error)
{
    bool tests = false;
    ASSERT_RIGHT(job_matrix(one_of_three_fails, &tests));
    tests = true;
    ASSERT_RIGHT(job_matrix(one_of_three_fails, &tests));
}
