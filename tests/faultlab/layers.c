/* SPDX-License-Identifier: MIT */
/* Collectives of a layer's own, as requests: whatever can let one move on wakes its rank, and none is called deadlocked
 * while something can. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

#include "p2p/p2p_layer.h"

enum flags { LATE_HAS_COME };

/* A request that waits until every rank has begun it, and for a message from `source` to this rank, -1: from no
 * rank. */
typedef struct {
    uint64_t number;
    int source, dest, word;
    bool posted;
    p2p_request under_way[2];
} exchange;

static p2p_err exchange_step(p2p_comm *comm, void *state, bool *done)
{
    exchange *x = state;
    bool agreed, sent, received;
    if (x->source >= 0 && !x->posted && !x->under_way[0]) {
        p2p_err err = p2p_layer_irecv(comm, &x->word, sizeof x->word, x->source, 1, &x->under_way[0]);
        if (err) return err;
    }
    p2p_err err = p2p_layer_test_agree(comm, x->number, &agreed);
    if (err || !agreed) return err;
    if (x->source >= 0 && !x->posted) err = p2p_layer_isend(comm, &x->number, 4, x->dest, 1, &x->under_way[1]);
    x->posted = true;
    if (!err) err = p2p_layer_done(&x->under_way[0], &received);
    if (!err) err = p2p_layer_done(&x->under_way[1], &sent);
    if (!err) *done = sent && received;
    return err;
}

static size_t exchange_waits_for(void *state, const p2p_request **requests)
{
    *requests = ((exchange *)state)->under_way;
    return 2;
}

static p2p_err begin_exchange(p2p_comm *comm, exchange *x, bool carries, p2p_request *request)
{
    static const p2p_layer_ops ops = {exchange_step, exchange_waits_for, NULL};
    p2p_fingerprint what = {.operation = "exchange", .root = -1, .late = true, .barriers = carries};
    p2p_err err = p2p_layer_begin(comm, &what);
    if (err) return err;
    x->number = p2p_layer_number(comm);
    return p2p_layer_end(comm, p2p_layer_request(comm, &ops, x, request));
}

/* ---- All only wait for agreement; the last one comes once the others sleep, and has nothing to send ---- */

static int agree_late(p2p_comm *world, bool carries)
{
    int rank = p2p_rank(world), last = p2p_size(world) - 1;
    exchange x = {.source = -1};
    p2p_request request;
    for (int q = 0; rank == last && q < last; q++) CHECK(lab_wait_inside(q), "rank %d does not wait", q);
    CHECK_OK(world, begin_exchange(world, &x, carries, &request));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return 0;
}

static int body_agree_late(p2p_comm *world)
{
    return agree_late(world, false);
}

static int body_carry_late(p2p_comm *world)
{
    return agree_late(world, true);
}

/* ---- Two wait for each other's message, which each sends when the third has come: that is no cycle ---- */

static int body_third_is_late(p2p_comm *world)
{
    int rank = p2p_rank(world), other = rank == 2 ? -1 : 1 - rank;
    exchange x = {.source = other, .dest = other};
    p2p_request request;
    if (rank == 2) {
        CHECK(lab_wait_inside(0) && lab_wait_inside(1), "ranks 0 and 1 do not wait");
        for (double until = process_now() + 0.4; process_now() < until;) continue; /* eight looks of the supervisor */
        lab_raise_flag(LATE_HAS_COME);
    }
    CHECK_OK(world, begin_exchange(world, &x, false, &request));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(lab->flag[LATE_HAS_COME], "rank %d did not wait for rank 2", rank);
    return 0;
}

static void run_late(int (*body)(p2p_comm *world), int size)
{
    static lab_job job;
    lab_job fresh = {.size = size, .body = body};
    job = fresh;
    for (int q = 0; q < size; q++) lab->rank[q].inside = 0;
    lab_run(&job);
    lab_expect_fine(&job);
}

static void late_agree(void)
{
    run_late(body_agree_late, 2);
    run_late(body_agree_late, 3);
    run_late(body_carry_late, 2);
    run_late(body_third_is_late, 3);
}

/* ---- What one layer waits for, the step of a later one sends: to this very rank ---- */

typedef struct {
    int to, word;
    bool sends, posted;
    p2p_request under_way;
} half;

static p2p_err half_step(p2p_comm *comm, void *state, bool *done)
{
    half *h = state;
    p2p_err err = P2P_OK;
    if (!h->posted && h->sends) err = p2p_layer_isend(comm, &h->word, sizeof h->word, h->to, 2, &h->under_way);
    if (!h->posted && !h->sends) err = p2p_layer_irecv(comm, &h->word, sizeof h->word, h->to, 2, &h->under_way);
    if (err || !h->posted) {
        h->posted = true;
        return err;
    }
    return p2p_layer_done(&h->under_way, done);
}

static size_t half_waits_for(void *state, const p2p_request **requests)
{
    *requests = &((half *)state)->under_way;
    return 1;
}

static p2p_err begin_half(p2p_comm *comm, half *h, p2p_request *request)
{
    static const p2p_layer_ops ops = {half_step, half_waits_for, NULL};
    p2p_fingerprint what = {.operation = "half", .root = -1};
    p2p_err err = p2p_layer_begin(comm, &what);
    return err ? err : p2p_layer_end(comm, p2p_layer_request(comm, &ops, h, request));
}

static int body_halves(p2p_comm *world)
{
    int rank = p2p_rank(world);
    half receives = {.to = rank}, sends = {.to = rank, .sends = true, .word = 7};
    p2p_request requests[2];
    CHECK_OK(world, begin_half(world, &receives, &requests[0]));
    CHECK_OK(world, begin_half(world, &sends, &requests[1]));
    CHECK_OK(world, p2p_wait(&requests[0], P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_wait(&requests[1], P2P_STATUS_IGNORE));
    CHECK(receives.word == 7, "received %d", receives.word);
    return 0;
}

static void step_to_step(void)
{
    setenv("PAIRWISE_WAIT", "sleep", 1);
    run_late(body_halves, 2);
}

/* ---- Left at finalize: the collective is named, and not the messages it is made of ---- */

static int body_left(p2p_comm *world)
{
    half receives = {.to = p2p_rank(world)};
    p2p_request request;
    CHECK_OK(world, begin_half(world, &receives, &request));
    CHECK_ERR(world, P2P_ERR_LEAK, p2p_finalize(world));
    const char *said = p2p_error_message(world);
    CHECK(strstr(said, "1 request never waited for: collective"), "it says %s", said);
    return 0;
}

static void left_at_finalize(void)
{
    static lab_job job = {.size = 2, .body = body_left};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
}

const lab_case lab_layers[] = {
    {"late-agree", "layers that only wait for agreement, one of them late: woken, and no verdict", late_agree, false},
    {"layer-left", "a layer's request left at finalize: it is named, its inner requests are not", left_at_finalize,
     false},
    {"step-to-step", "a layer's step ends what another layer of its rank waits for: that one moves on", step_to_step,
     false},
    {NULL, NULL, NULL, false},
};
