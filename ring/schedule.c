/* SPDX-License-Identifier: MIT */
/*
 * The machine that follows a schedule (schedule.h):
 *
 *      step 0 ---> step 1 ---> ... ---> all steps done ---> every rank agrees ---> done
 *
 * Several may be in flight: the number of the collective, the same on every rank, is the tag of its messages. It never
 * blocks: before a step writes to the caller's buffer the machine stops until every rank has shown the same call. The
 * request ends only then, too, so that a difference is an error on every rank.
 */
#include "ring/schedule.h"

#include <stdlib.h>

enum { SEND, RECEIVE, BOTH };

struct frame__schedule {
    frame__call call;
    uint64_t number;
    size_t count, at;
    bool posted;
    uint16_t kind;         /* of its messages, whichever call sends them */
    const uint16_t *kinds; /* of blocks to each rank, and from each; NULL: all are of `kind` */
    p2p_err failed;        /* the first post did, inside the call that began: the next step returns it */
    p2p_request in_flight[BOTH];
    frame__step steps[];
};

frame__step *frame__add_step(frame__schedule *schedule)
{
    frame__step *step = &schedule->steps[schedule->count++];
    *step = (frame__step){
        .to = FRAME_NO_RANK, .from = FRAME_NO_RANK, .part_out.chunk = FRAME_NO_RANK, .part_in.chunk = FRAME_NO_RANK};
    return step;
}

static p2p_err post(frame__schedule *s)
{
    const frame__step *step = &s->steps[s->at];
    p2p_comm *comm = s->call.comm;
    int tag = 1 + (int)(s->number % INT_MAX); /* FRAME_TAG is that of blocking calls */
    p2p_err err = P2P_OK;
    uint16_t callers = p2p_layer_send_kind(comm, s->kinds && step->to >= 0 ? s->kinds[step->to] : s->kind);
    p2p_layer_parts(comm, step->part_out.chunk < 0 ? NULL : &step->part_out,
                    step->part_in.chunk < 0 ? NULL : &step->part_in);
    if (step->from >= 0)
        err = p2p_layer_irecv(comm, step->in.at, step->in.bytes, step->from, tag, &s->in_flight[RECEIVE]);
    if (!err && step->to >= 0)
        err = p2p_layer_isend(comm, step->out.at, step->out.bytes, step->to, tag, &s->in_flight[SEND]);
    p2p_layer_send_kind(comm, callers);
    s->posted = true;
    return err;
}

static p2p_err both_ended(frame__schedule *s, bool *ended)
{
    const frame__step *step = &s->steps[s->at];
    p2p_status status = {.bytes = 0};
    bool sent = true, received = false, waited = s->in_flight[RECEIVE] != P2P_REQUEST_NULL;
    p2p_err err = p2p_layer_done(&s->in_flight[SEND], &sent);
    if (!err) err = p2p_layer_done_status(&s->in_flight[RECEIVE], &received, &status);
    if (waited && received) {
        uint16_t kind = s->kinds ? s->kinds[s->call.size + step->from] : s->kind;
        uint16_t callers = p2p_layer_send_kind(s->call.comm, kind);
        err = frame__check_block(&s->call, err, step->in.bytes, step->from, &status);
        p2p_layer_send_kind(s->call.comm, callers);
    }
    if (!err) *ended = sent && received;
    return err;
}

void frame__finish_step(const frame__call *call, const frame__step *step)
{
    if (step->to < 0 && step->from < 0) p2p_layer_copy(step->in.at, step->out.at, step->out.bytes);
    if (!step->count) return;
    frame__combine_some(call, step->sum, step->left, step->right, step->count);
    if (step->ends_mean) frame__finish_mean(call, step->sum, step->count);
}

static p2p_err move_on(p2p_comm *comm, void *state, bool *done)
{
    frame__schedule *s = state;
    p2p_err err = s->failed;
    bool go_on = true;
    for (; !err && s->at < s->count; s->at++) {
        const frame__step *step = &s->steps[s->at];
        if (!s->posted && step->agrees_first) err = p2p_layer_test_agree(comm, s->number, &go_on);
        if (!err && go_on && !s->posted) err = post(s);
        if (!err && go_on) err = both_ended(s, &go_on);
        if (!err && go_on && step->agrees_then) err = p2p_layer_test_agree(comm, s->number, &go_on);
        if (err || !go_on) return err;
        frame__finish_step(&s->call, step);
        s->posted = false;
    }
    return err ? err : p2p_layer_test_agree(comm, s->number, done);
}

static size_t waits_for(void *state, const p2p_request **requests)
{
    frame__schedule *s = state;
    *requests = s->in_flight;
    return BOTH;
}

/* After an error a message may still be on its way into the scratch memory: then it is not given back. */
static void release(void *state)
{
    frame__schedule *s = state;
    bool done;
    for (int i = 0; i < BOTH; i++) p2p_layer_done(&s->in_flight[i], &done); /* after p2p_repair nothing is */
    if (!s->in_flight[SEND] && !s->in_flight[RECEIVE]) free(s->call.scratch);
    free(s);
}

static p2p_err start(frame__schedule *s, void (*add_steps)(const frame__call *call, frame__schedule *schedule))
{
    static const p2p_layer_ops ops = {move_on, waits_for, release};
    add_steps(&s->call, s);
    p2p_err err = p2p_layer_request(s->call.comm, &ops, s, s->call.request);
    if (err)
        release(s);
    else if (s->count && !s->steps[0].agrees_first)
        s->failed = post(s); /* now: the first message travels while the program computes */
    return err;
}

p2p_err frame__start(const frame__call *call, size_t steps, size_t scratch_bytes,
                     void (*add_steps)(const frame__call *call, frame__schedule *schedule))
{
    frame__schedule *s = malloc(sizeof *s + steps * sizeof *s->steps);
    void *scratch = scratch_bytes ? malloc(scratch_bytes) : NULL;
    p2p_err err;
    if (!s || (scratch_bytes && !scratch)) {
        free(s);
        free(scratch);
        err = p2p_layer_error(call->comm, P2P_ERR_NOMEM, "no memory for %zu steps and %zu bytes beside the buffer",
                              steps, scratch_bytes);
        return p2p_layer_end(call->comm, err);
    }
    *s = (frame__schedule){.call = *call, .number = p2p_layer_number(call->comm)};
    s->kind = p2p_layer_send_kind(call->comm, 0);
    p2p_layer_send_kind(call->comm, s->kind);
    s->kinds = p2p_layer_block_kinds(call->comm);
    s->call.scratch = scratch;
    s->call.scratch_bytes = scratch_bytes;
    return p2p_layer_end(call->comm, start(s, add_steps));
}
