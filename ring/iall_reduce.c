/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking ring all-reduce: the same 2(n-1) steps, as a machine that p2p calls whenever something may have moved.
 *
 *      begin ---> step 0 ---> step 1 ---> ... ---> step 2n-3 ---> done
 *                 post a send to the right and a receive from the left; return;
 *                 when both have ended: combine (first half), and on to the next step
 *
 * Several may be in flight: the number of the collective, the same on every rank, is the tag of its messages. It never
 * waits for agreement either: the user's buffer is first written at the end of the first half, and whoever has come so
 * far has heard from every rank, through its neighbour, that it is in this collective.
 */
#include <stdlib.h>

#include "ring/internal.h"

enum { SEND, RECEIVE, BOTH };

typedef struct {
    ring_call ring;
    uint64_t number;
    int step; /* 0 to 2n - 3; n - 1 begins the second half */
    bool posted;
    p2p_err failed; /* the very first post did, with nobody to tell but the next step */
    p2p_request under_way[BOTH];
} machine;

/* RING_TAG stays for the blocking calls; numbers so far apart are never in flight together. */
static int tag_of(const machine *m)
{
    return 1 + (int)(m->number % INT_MAX);
}

static bool in_first_half(const machine *m)
{
    return m->step < m->ring.size - 1;
}

static p2p_err post(machine *m)
{
    const ring_call *ring = &m->ring;
    int gather_step = m->step - (ring->size - 1);
    ring_piece out = in_first_half(m) ? ring__reduce_out(ring, m->step) : ring__gather_out(ring, gather_step);
    ring_piece in = in_first_half(m) ? ring__reduce_in(ring, m->step) : ring__gather_in(ring, gather_step);
    if (in_first_half(m))
        ring__reduce_parts(ring, m->step);
    else
        ring__gather_parts(ring, gather_step);
    p2p_err err = p2p_layer_irecv(ring->comm, in.at, in.bytes, ring->left, tag_of(m), &m->under_way[RECEIVE]);
    if (!err) err = p2p_layer_isend(ring->comm, out.at, out.bytes, ring->right, tag_of(m), &m->under_way[SEND]);
    m->posted = true;
    return err;
}

static p2p_err both_ended(machine *m, bool *ended)
{
    bool sent, received;
    p2p_err err = p2p_layer_done(&m->under_way[SEND], &sent);
    if (!err) err = p2p_layer_done(&m->under_way[RECEIVE], &received);
    if (!err) *ended = sent && received;
    return err;
}

static p2p_err finish_step(machine *m, bool *may_go_on)
{
    *may_go_on = true;
    if (in_first_half(m)) {
        if (m->step == m->ring.size - 2) {
            p2p_err err = p2p_layer_test_agree(m->ring.comm, m->number, may_go_on);
            if (err || !*may_go_on) return err;
        }
        ring__reduce_done(&m->ring, m->step);
    }
    m->step++;
    m->posted = false;
    return P2P_OK;
}

static p2p_err move_on(p2p_comm *comm, void *state, bool *done)
{
    machine *m = state;
    bool go_on = true;
    (void)comm;
    if (m->failed) return m->failed;
    while (go_on && m->step < 2 * (m->ring.size - 1)) {
        p2p_err err = m->posted ? P2P_OK : post(m);
        if (!err) err = both_ended(m, &go_on);
        if (!err && go_on) err = finish_step(m, &go_on);
        if (err) return err;
    }
    *done = go_on;
    return P2P_OK;
}

static size_t waits_for(void *state, const p2p_request **requests)
{
    machine *m = state;
    *requests = m->under_way;
    return BOTH;
}

/* After an error a message may still be on its way into the memory: then it is not given back. */
static void release(void *state)
{
    machine *m = state;
    if (!m->under_way[SEND] && !m->under_way[RECEIVE]) free(m->ring.memory);
    free(m);
}

static p2p_err start(const ring_call *ring, p2p_request *request)
{
    static const p2p_layer_ops ops = {move_on, waits_for, release};
    machine *m = malloc(sizeof *m);
    if (!m) return p2p_layer_error(ring->comm, P2P_ERR_NOMEM, "no memory for a request (%zu bytes)", sizeof *m);
    *m = (machine){.ring = *ring, .number = p2p_layer_number(ring->comm)};
    p2p_err err = ring__memory(&m->ring);
    if (!err) err = p2p_layer_request(ring->comm, &ops, m, request);
    if (err)
        release(m);
    else if (ring->size > 1)
        m->failed = post(m); /* now, so that the first message travels while the program computes */
    return err;
}

p2p_err ring_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request)
{
    ring_call ring = {.comm = comm,
                      .operation = "ring_iall_reduce",
                      .buf = buf,
                      .count = count,
                      .dtype = dtype,
                      .combines = true,
                      .op = op};
    if (!request) ring.wrong = "request is NULL: nothing could wait for this";
    p2p_err err = ring__begin(&ring);
    if (err) return err;
    return p2p_layer_end(comm, start(&ring, request));
}
