/* SPDX-License-Identifier: MIT */
/*
 * A dup without waiting: rank 0 takes a context at once, and sends it to each of the others; a rank has its copy when it knows the
 * context, and all ranks agree that this is a dup. Messages are in the order of the calls, as on every rank. They are not counted in
 * p2p_stats.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/group/internal.h"

typedef struct {
    uint64_t number; /* of the collective */
    const char *file;
    int line;
    p2p_comm **copy; /* where it goes */
    p2p_request *requests;
    size_t count;
    uint32_t answer[]; /* as that to a split: its head comes from rank 0 */
} dup_state;

static p2p_err post(p2p_comm *comm, dup_state *s, enum request_kind kind, int peer)
{
    p2p_request *request = &s->requests[s->count];
    p2p_err err = p2p__request_new(comm, kind, comm->context + 1, s->answer, WIRE_SPLIT_WORDS * sizeof *s->answer,
                                   request);
    if (err) return err;
    (*request)->counted = false;
    s->count++;
    return kind == REQUEST_SEND ? p2p__start_send(*request, peer, WIRE_DUP_TAG, false)
                                : p2p__start_recv(*request, peer, WIRE_DUP_TAG);
}

static p2p_err move_on(p2p_comm *comm, void *state, bool *done)
{
    dup_state *s = state;
    bool ended = true;
    p2p_err err = P2P_OK;
    *done = false;
    for (size_t i = 0; !err && i < s->count && ended; i++) err = p2p_layer_done(&s->requests[i], &ended);
    if (!err && ended) err = p2p_layer_test_agree(comm, s->number, &ended);
    if (err || !ended) return err;
    err = p2p__comm_build(comm, s->answer, s->copy);
    if (err) return err;
    (*s->copy)->file = s->file;
    (*s->copy)->line = s->line;
    *done = true;
    return P2P_OK;
}

static size_t waits_for(void *state, const p2p_request **requests)
{
    const dup_state *s = state;
    *requests = s->requests;
    return s->count;
}

/* After an error a message may still be on its way into the answer: then it stays. */
static void release(void *state)
{
    dup_state *s = state;
    bool done, all = true;
    for (size_t i = 0; i < s->count; i++) {
        p2p_layer_done(&s->requests[i], &done);
        all = all && done;
    }
    if (!all) return;
    free(s->requests);
    free(s);
}

static p2p_err start(p2p_comm *comm, dup_state *s, p2p_request *request)
{
    static const p2p_layer_ops ops = {move_on, waits_for, release};
    p2p_err err = P2P_OK;
    s->number = p2p_layer_number(comm);
    p2p_layer_line(comm, &s->file, &s->line);
    for (int i = 0; i < comm->size; i++) s->answer[WIRE_SPLIT_WORDS + i] = (uint32_t)i;
    if (comm->rank == 0) p2p__split_head(comm->engine->scoreboard, comm->size, s->answer);
    for (int i = 1; !err && comm->rank == 0 && i < comm->size; i++) err = post(comm, s, REQUEST_SEND, i);
    if (comm->rank) err = post(comm, s, REQUEST_RECV, 0);
    if (!err) err = p2p_layer_request(comm, &ops, s, request);
    if (err) release(s);
    return err;
}

p2p_err p2p_layer_idup(p2p_comm *comm, p2p_comm **copy, p2p_request *request)
{
    static const p2p_fingerprint what = {
        .operation = "p2p_layer_idup", .count = SIZE_MAX, .root = -1, .late = true, .returns = true};
    p2p_err err = p2p_layer_begin(comm, &what);
    if (err || !comm) return err;
    size_t ranks = (size_t)comm->size;
    dup_state *s = calloc(1, sizeof *s + (WIRE_SPLIT_WORDS + ranks) * sizeof *s->answer);
    if (s) s->requests = calloc(ranks, sizeof *s->requests);
    if (!s || !s->requests) {
        free(s);
        return p2p_layer_end(comm, p2p__fail(comm, CAUSE_NO_SPLIT, comm->size));
    }
    s->copy = copy;
    return p2p_layer_end(comm, start(comm, s, request));
}
