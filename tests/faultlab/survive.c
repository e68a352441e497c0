/* SPDX-License-Identifier: MIT */
/* What survives which error, sentence by sentence of p2p.h; what it says; and that nothing is printed. */
#include "lab.h"

#include <signal.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"

enum { LONG = 1 << 20 };

enum flags { GAVE_UP, READ, WAITED };

static char big[LONG];

/* ---- As before: nothing has happened, or only this message is gone ---- */

/* Rank 1 computes meanwhile: otherwise that were a deadlock. */
static int wait_in_vain(p2p_comm *comm, p2p_request *request, int *word)
{
    int other;
    p2p_status status;
    CHECK_ERR(comm, P2P_ERR_TIMEOUT, p2p_recv(comm, &other, 4, 1, 5, &status));
    CHECK_ERR(comm, P2P_ERR_TIMEOUT, p2p_probe(comm, 1, 5, &status));
    CHECK_OK(comm, p2p_irecv(comm, word, 4, 1, 6, request));
    CHECK_ERR(comm, P2P_ERR_TIMEOUT, p2p_wait(request, &status));
    return 0;
}

static int small_errors(p2p_comm *comm, int round)
{
    int rank = p2p_rank(comm), word = 1 - rank;
    p2p_request request = P2P_REQUEST_NULL;
    p2p_status status;
    CHECK_ERR(comm, P2P_ERR_ARG, p2p_send(comm, NULL, 4, 1 - rank, 0));
    CHECK_ERR(comm, P2P_ERR_RANK, p2p_send(comm, &word, 4, 9, 0));
    if (rank == 0 && wait_in_vain(comm, &request, &word)) return 1;
    if (rank == 0) lab_raise_flag(WAITED);
    CHECK(lab_wait_flag(WAITED, round), "rank 0 waits for ever");
    CHECK_OK(comm, p2p_send(comm, "12345678", 8, 1 - rank, 7));
    CHECK_ERR(comm, P2P_ERR_TRUNCATE, p2p_recv(comm, &word, 4, 1 - rank, 7, &status));
    if (rank == 1) CHECK_OK(comm, p2p_send(comm, &rank, 4, 0, 6));
    CHECK_OK(comm, p2p_wait(&request, &status));
    CHECK(word == 1 - rank, "%d came", word);
    return lab_works(comm);
}

/* A call without a communicator is silent as well. */
static int null_arguments(p2p_comm *world)
{
    bool done;
    (void)world;
    CHECK(p2p_wait(NULL, P2P_STATUS_IGNORE) == P2P_ERR_ARG, "no request");
    CHECK(p2p_test(NULL, &done, P2P_STATUS_IGNORE) == P2P_ERR_ARG, "no request");
    CHECK(p2p_send(NULL, &done, 1, 0, 0) == P2P_ERR_STATE, "no communicator");
    return 0;
}

static int body_as_before(p2p_comm *world)
{
    p2p_comm *sub;
    CHECK_OK(world, p2p_split(world, 0, 0, &sub));
    if (small_errors(world, 1) || small_errors(sub, 2) || null_arguments(world)) return 1;
    CHECK_OK(world, p2p_free(sub));
    return 0;
}

static void as_before(void)
{
    static lab_job job = {.size = 2, .body = body_as_before};
    lab_short_timeout();
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- A rank gives up: all its communicators; what it had sent arrives ---- */

static int body_gives_up(p2p_comm *world)
{
    p2p_comm *sub;
    int word = 0;
    CHECK_OK(world, p2p_split(world, 0, 0, &sub));
    if (p2p_rank(world) == 0) {
        CHECK(lab_wait_flag(GAVE_UP, 1), "rank 1 never gave up");
        CHECK_OK(world, p2p_recv(world, &word, 4, 1, 1, P2P_STATUS_IGNORE));
        CHECK(word == 17, "%d came", word);
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_recv(world, big, LONG, 1, 2, P2P_STATUS_IGNORE));
        return 0;
    }
    word = 17;
    CHECK_OK(world, p2p_send(world, &word, 4, 0, 1));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_send(world, big, LONG, 0, 2));
    CHECK_ERR(sub, P2P_ERR_TIMEOUT, p2p_send(sub, &word, 4, 0, 2));
    CHECK_ERR(sub, P2P_ERR_TIMEOUT, coll_broadcast(sub, &word, 1, DTYPE_I32, 0));
    CHECK(lab_has(p2p_error_message(sub), "coll_broadcast(#1"), "not this collective: %s", p2p_error_message(sub));
    lab_raise_flag(GAVE_UP);
    return 0;
}

static void gives_up(void)
{
    static lab_job job = {.size = 2, .body = body_gives_up};
    lab_short_timeout();
    lab_run(&job);
    EXPECT(job.status != 0, "exit status 0");
}

/* ---- The job has failed: also in a group that the dead rank was not in ---- */

static int body_job_failed(p2p_comm *world)
{
    p2p_comm *sub;
    int rank = p2p_rank(world), word = 0;
    CHECK_OK(world, p2p_split(world, rank == 2, 0, &sub));
    if (rank == 2) {
        CHECK(lab_wait_inside(0) && lab_wait_inside(1), "no rank waits");
        lab_die(SIGKILL);
    }
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_all_reduce(world, &word, 1, DTYPE_I32, OP_SUM));
    CHECK_ERR(sub, P2P_ERR_PEER_DEAD, coll_broadcast(sub, &word, 1, DTYPE_I32, 0));
    CHECK(lab_has(p2p_error_message(sub), "coll_broadcast(#1"), "not this collective: %s", p2p_error_message(sub));
    CHECK_ERR(sub, P2P_ERR_PEER_DEAD, p2p_recv(sub, &word, 4, 1 - rank, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void job_failed(void)
{
    static lab_job job = {.size = 3, .body = body_job_failed};
    lab_run(&job);
    lab_expect_status(&job, 137);
}

/* ---- A buffer that others read in place: its rank gives up in the last meeting, before it has been read ---- */

static int body_view(p2p_comm *world)
{
    void *shared;
    const int *seen;
    if (!p2p_layer_has_shared_memory(world)) return 0;
    CHECK_OK(world, p2p_alloc(world, sizeof(int), &shared));
    p2p_export mine = p2p_layer_export(world, shared, sizeof(int)), theirs;
    p2p_fingerprint what = {
        .operation = "peek", .root = -1, .barriers = true, .inline_payload = &mine, .inline_bytes = sizeof mine};
    CHECK_OK(world, p2p_layer_begin(world, &what));
    p2p_err err = p2p_layer_barrier(world, 1);
    memcpy(&theirs, p2p_layer_inline(world, 1), sizeof theirs);
    seen = p2p_layer_attach(world, theirs, sizeof(int));
    bool late = p2p_rank(world) == 0 && lab_wait_flag(GAVE_UP, 1) && seen && *seen == 13;
    if (!err) err = p2p_layer_barrier(world, 2);
    err = p2p_layer_end(world, err);
    if (p2p_rank(world) == 1) {
        *(int *)shared = 13;
        lab_raise_flag(GAVE_UP);
        lab_wait_flag(READ, 1);
        CHECK(err == P2P_ERR_TIMEOUT, "%d, and no timeout", (int)err);
        return 0;
    }
    lab_raise_flag(READ);
    CHECK(late && err,
          "a success, for what was read too late"); /* or a timeout, if rank 1 gave up in the first meeting */
    return 0;
}

static void stale_view(void)
{
    static lab_job job = {.size = 2, .body = body_view, .options = {.world = "shm"}};
    lab_short_timeout();
    lab_run(&job);
    EXPECT(lab->flag[READ], "nothing was read in place");
}

/* ---- Memory that a request uses is not given back ---- */

static int body_release(p2p_comm *world)
{
    void *shared;
    p2p_request request;
    CHECK_OK(world, p2p_alloc(world, LONG, &shared));
    lab_fill(shared, LONG, p2p_rank(world), 0);
    if (p2p_rank(world) == 0) {
        CHECK_OK(world, p2p_isend(world, shared, LONG, 1, 0, &request));
        CHECK_ERR(world, P2P_ERR_STATE, p2p_release(world, shared));
        lab_raise_flag(GAVE_UP);
        CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    } else {
        CHECK(lab_wait_flag(GAVE_UP, 1), "not refused");
        CHECK_OK(world, p2p_recv(world, shared, LONG, 0, 0, P2P_STATUS_IGNORE));
        CHECK(lab_intact(shared, LONG, 0, 0), "not what was sent");
    }
    CHECK_OK(world, p2p_release(world, shared));
    return 0;
}

static void release_in_use(void)
{
    static lab_job job = {.size = 2, .body = body_release};
    lab_run(&job);
    lab_expect_fine(&job);
}

const lab_case lab_survive[] = {
    {"as-before", "errors that leave all as it was, in groups as well; nothing is printed", as_before, false},
    {"gives-up", "a rank that gives up: on every communicator; what it had sent arrives", gives_up, false},
    {"job-failed", "a dead rank: groups without it fail as well, and each call names itself", job_failed, false},
    {"stale-view", "read in place after its rank gave up: never a success", stale_view, false},
    {"release-in-use", "memory that a request uses is not given back", release_in_use, false},
    {NULL, NULL, NULL, false},
};
