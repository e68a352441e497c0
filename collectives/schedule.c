/* SPDX-License-Identifier: MIT */
/*
 * The machine that follows a schedule (schedule.h):
 *
 *      step 0 ---> step 1 ---> ... ---> all steps done ---> every rank agrees ---> done
 *
 * Several may be in flight: the number of the collective, the same on every rank, is the tag of its messages. It never
 * blocks: where a step writes to the caller's buffer, the machine stays before it until every rank has shown the same
 * call. The request ends only then, too, so that a difference is an error on every rank.
 */
#include "collectives/schedule.h"

#include <stdlib.h>

enum { SEND, RECEIVE, BOTH };

struct coll__schedule {
    coll__call call;
    uint64_t number;
    size_t count, at;
    bool posted;
    p2p_err failed; /* the very first post did, with nobody to tell but the next step */
    p2p_request under_way[BOTH];
    void *scratch;
    coll__step steps[];
};

void coll__needs_request(coll__call *call, const p2p_request *request)
{
    if (request) return;
    call->wrong = "request is NULL: nothing could wait for this";
    call->wrong_argument = P2P_ARGUMENT_REQUEST;
}

/* After an error a message may still be on its way into the scratch memory: then it is not given back. */
static void release(void *state)
{
    coll__schedule *s = state;
    if (!s->under_way[SEND] && !s->under_way[RECEIVE]) free(s->scratch);
    free(s);
}

p2p_err coll__schedule_make(const coll__call *call, size_t steps, size_t scratch_bytes, coll__schedule **schedule)
{
    coll__schedule *s = malloc(sizeof *s + steps * sizeof *s->steps);
    void *scratch = scratch_bytes ? malloc(scratch_bytes) : NULL;
    if (!s || (scratch_bytes && !scratch)) {
        free(s);
        free(scratch);
        return p2p_layer_error(call->comm, P2P_ERR_NOMEM, "no memory for %zu steps and %zu bytes beside the buffer",
                               steps, scratch_bytes);
    }
    *s = (coll__schedule){.call = *call, .number = p2p_layer_number(call->comm), .scratch = scratch};
    *schedule = s;
    return P2P_OK;
}

char *coll__schedule_scratch(coll__schedule *schedule)
{
    return schedule->scratch;
}

coll__step *coll__schedule_add(coll__schedule *schedule)
{
    coll__step *step = &schedule->steps[schedule->count++];
    *step = (coll__step){.to = COLL_NO_RANK, .from = COLL_NO_RANK, .out_block = COLL_NO_RANK, .in_block = COLL_NO_RANK};
    return step;
}

/* ---- Following it ---- */

/* COLL_TAG stays for the blocking calls; numbers so far apart are never in flight together. */
static int tag_of(const coll__schedule *s)
{
    return 1 + (int)(s->number % INT_MAX);
}

static void tell_parts(const coll__schedule *s, const coll__step *step)
{
    coll__blocks blocks = {.each = s->call.count};
    if (step->out_block >= 0) coll__sends_block(&s->call, &blocks, step->out_block);
    if (step->in_block >= 0) coll__receives_block(&s->call, &blocks, step->in_block, step->count > 0);
}

static p2p_err post(coll__schedule *s)
{
    const coll__step *step = &s->steps[s->at];
    p2p_comm *comm = s->call.comm;
    p2p_err err = P2P_OK;
    tell_parts(s, step);
    if (step->from >= 0)
        err = p2p_layer_irecv(comm, step->in, step->in_bytes, step->from, tag_of(s), &s->under_way[RECEIVE]);
    if (!err && step->to >= 0)
        err = p2p_layer_isend(comm, step->out, step->out_bytes, step->to, tag_of(s), &s->under_way[SEND]);
    s->posted = true;
    return err;
}

static p2p_err both_ended(coll__schedule *s, bool *ended)
{
    bool sent, received;
    p2p_err err = p2p_layer_done(&s->under_way[SEND], &sent);
    if (!err) err = p2p_layer_done(&s->under_way[RECEIVE], &received);
    if (!err) *ended = sent && received;
    return err;
}

static void finish(coll__schedule *s)
{
    const coll__step *step = &s->steps[s->at++];
    s->posted = false;
    if (step->to < 0 && step->from < 0) coll__copy(step->in, step->out, step->out_bytes);
    if (!step->count) return;
    coll__combine_some(&s->call, step->sum, step->left, step->right, step->count);
    if (step->ends_mean && s->call.op == OP_MEAN) dtype_scale(step->sum, step->count, s->call.dtype, s->call.size);
}

static bool must_agree_first(const coll__schedule *s)
{
    return s->at == s->count || (s->steps[s->at].writes && !s->posted);
}

static p2p_err move_on(p2p_comm *comm, void *state, bool *done)
{
    coll__schedule *s = state;
    if (s->failed) return s->failed;
    for (;;) {
        bool go_on = true;
        p2p_err err = must_agree_first(s) ? p2p_layer_test_agree(comm, s->number, &go_on) : P2P_OK;
        if (err || !go_on) return err;
        if (s->at == s->count) break;
        if (!s->posted) err = post(s);
        if (!err) err = both_ended(s, &go_on);
        if (err || !go_on) return err;
        finish(s);
    }
    *done = true;
    return P2P_OK;
}

static size_t waits_for(void *state, const p2p_request **requests)
{
    coll__schedule *s = state;
    *requests = s->under_way;
    return BOTH;
}

p2p_err coll__schedule_start(coll__schedule *schedule, p2p_request *request)
{
    static const p2p_layer_ops ops = {move_on, waits_for, release};
    p2p_err err = p2p_layer_request(schedule->call.comm, &ops, schedule, request);
    if (err)
        release(schedule);
    else if (schedule->count && !schedule->steps[0].writes)
        schedule->failed = post(schedule); /* now, so that the first message travels while the program computes */
    return err;
}
