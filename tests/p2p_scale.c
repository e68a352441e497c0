/* SPDX-License-Identifier: MIT */
// worlds: each; alone; hosts
/*
 * p2p_scale: many ranks with little to spend. Links are opened when first used and passed by the supervisor, so that
 * 64 ranks do not need 4,032 descriptors each; an ordinary user may have few descriptors on the way at once.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/util/suite.h"

enum { NOBODY = 65534, LIMIT_S = 100 };

typedef struct {
    int ranks;
    bool strict;
    rlim_t files; /* RLIMIT_NOFILE; 0: as it is */
    job_main rank_main;
} big_job;

/* An ordinary user with few descriptors, as a program started by that user would be. */
static int become_ordinary(rlim_t files)
{
    struct rlimit limit = {files, files};

    if (files && setrlimit(RLIMIT_NOFILE, &limit)) return 101;
    if (geteuid() != 0) return 0;
    if (setgid(NOBODY) || setuid(NOBODY)) return 102;
    prctl(PR_SET_DUMPABLE, 1); /* setuid takes both away */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return 0;
}

static int launch_big(void *arg)
{
    big_job *what = arg;
    p2p_options options = {.strict = what->strict, .timeout_s = LIMIT_S - 10};
    int code = become_ordinary(what->files);

    if (code) return code;
    return p2p_launch(what->ranks, what->rank_main, NULL, &options) ? 1 : 0;
}

static void expect_big(big_job what)
{
    process_result result;

    process_run(launch_big, &what, NULL, LIMIT_S, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(result.err_bytes, 0, "on stderr: %.3000s", result.err);
    cr_log_info("%d ranks: %.2f s\n", what.ranks, result.seconds);
    process_free(&result);
}

/* ---- Every rank to every rank ---- */

enum { MOST = 64, WORDS = 50 };

/* Ranks are not told apart from the test here: a wrong one says so on stderr. */
static int complain(p2p_comm *world, const char *what, int about)
{
    fprintf(stderr, "rank %d: %s %d\n", p2p_rank(world), what, about);
    return 1;
}

static int word(int source, int dest, int i)
{
    return (source * MOST + dest) * WORDS + i;
}

static int all_to_all(p2p_comm *world, void *arg)
{
    static int sent[MOST][WORDS], got[MOST][WORDS];
    int rank = p2p_rank(world), size = p2p_size(world);
    p2p_request requests[2 * MOST];

    (void)arg;
    for (int q = 0; q < size; q++)
        for (int i = 0; i < WORDS; i++) sent[q][i] = word(rank, q, i);
    for (int q = 0; q < size; q++) p2p_irecv(world, got[q], sizeof got[q], q, 0, &requests[q]);
    for (int q = 0; q < size; q++) p2p_isend(world, sent[q], sizeof sent[q], q, 0, &requests[size + q]);
    p2p_wait_all(2 * (size_t)size, requests, P2P_STATUSES_IGNORE);
    for (int q = 0; q < size; q++)
        for (int i = 0; i < WORDS; i++)
            if (got[q][i] != word(q, rank, i)) return complain(world, "wrong message from", q);
    return 0;
}

Test(p2p, all_to_all_of_64_ranks_as_an_ordinary_user)
{
    expect_big((big_job){64, false, 0, all_to_all});
    expect_big((big_job){64, true, 0, all_to_all});
}

Test(p2p, all_to_all_of_64_ranks_with_256_descriptors)
{
    expect_big((big_job){64, false, 256, all_to_all});
}

/* Descriptors of this user under way: from this process to itself, never taken. */
static int fill_flight(int count)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(100 * sizeof(int))];
    } control;
    int ends[2], some[100];

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 103;
    for (int i = 0; i < 100; i++) some[i] = ends[0];
    for (int now; count > 0; count -= now) {
        now = count < 100 ? count : 100;
        struct iovec part = {"", 1};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.room,
                                 .msg_controllen = CMSG_SPACE((size_t)now * sizeof(int))};
        control.header = (struct cmsghdr){CMSG_LEN((size_t)now * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), some, (size_t)now * sizeof(int));
        if (sendmsg(ends[0], &message, 0) != 1) return errno == ETOOMANYREFS ? 0 : 104;
    }
    return 0;
}

/* The system takes the first end of a link, not the second: the supervisor keeps that one, and has 96 descriptors. */
static int launch_with_full_flight(void *arg)
{
    p2p_options options = {.timeout_s = LIMIT_S - 10};
    int code = become_ordinary(96);

    (void)arg;
    if (!code) code = fill_flight(96);
    if (code) return code;
    return p2p_launch(24, all_to_all, NULL, &options) ? 1 : 0;
}

Test(p2p, all_to_all_where_few_descriptors_may_be_under_way)
{
    process_result result;

    process_run(launch_with_full_flight, NULL, NULL, LIMIT_S, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

/* ---- Rings ---- */

static int ring(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), token = rank;

    (void)arg;
    for (int step = 1; step < size; step++) {
        int got;
        p2p_sendrecv(world, &token, sizeof token, (rank + 1) % size, 0, &got, sizeof got, (rank + size - 1) % size, 0,
                     NULL);
        token = got;
        if (token != (rank - step + size) % size) return complain(world, "wrong token", token);
    }
    return 0;
}

Test(p2p, ring_of_64_ranks_with_256_descriptors_for_ranks_and_supervisor)
{
    expect_big((big_job){64, false, 256, ring});
    expect_big((big_job){64, true, 256, ring});
}

static int token_round(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), token = 0;

    (void)arg;
    if (rank > 0) p2p_recv(world, &token, sizeof token, rank - 1, 0, NULL);
    token++;
    p2p_send(world, &token, sizeof token, (rank + 1) % size, 0);
    if (rank > 0) return token == rank + 1 ? 0 : complain(world, "wrong token", token);
    p2p_recv(world, &token, sizeof token, size - 1, 0, NULL);
    return token == size ? 0 : complain(world, "wrong token", token);
}

/* Meant to take under 2 s; the time is printed, and only ten times as much is an error. */
Test(p2p, two_hundred_ranks_pass_a_token)
{
    big_job what = {200, false, 0, token_round};
    process_result result;

    process_run(launch_big, &what, NULL, LIMIT_S, &result);
    ASSERT_STATUS(result, 0);
    cr_log_info("200 ranks started and passed a token in %.2f s\n", result.seconds);
    cr_expect_lt(result.seconds, 20.0, "%.1f s", result.seconds);
    process_free(&result);
}
