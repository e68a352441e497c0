/* SPDX-License-Identifier: MIT */
// what: the turns end one micro-batch too early
// expect: forward was called for 7 of 8
/* Exercise 30: one forward, one backward. The page is README.md in this folder. */
#include <stdlib.h>

#include "exercises/exercises.h"

enum { FORWARD = 30, BACKWARD = 31 }; /* tags */

/* Given: what goes to a neighbour and what comes from it; NULL where there is nothing to send or to receive. Where both
 * go at once, none waits for the other. A neighbour that does not exist gets nothing. */
static p2p_err exchange(p2p_comm *comm, const my_stage *stage, int peer, const double *out, double *in)
{
    int tag_out = peer > p2p_rank(comm) ? FORWARD : BACKWARD, tag_in = peer > p2p_rank(comm) ? BACKWARD : FORWARD;
    size_t bytes = stage->width * sizeof(double);
    if (peer < 0 || peer >= p2p_size(comm)) return P2P_OK;
    if (out && in) return p2p_sendrecv(comm, out, bytes, peer, tag_out, in, bytes, peer, tag_in, P2P_STATUS_IGNORE);
    return out ? p2p_send(comm, out, bytes, peer, tag_out) : p2p_recv(comm, in, bytes, peer, tag_in, P2P_STATUS_IGNORE);
}

/* Given: forward and backward of this stage, with NULL where there is no neighbour. */
static void forward(p2p_comm *comm, const my_stage *stage, size_t b, const double *in, double *out)
{
    int rank = p2p_rank(comm);
    stage->forward(stage, b, rank > 0 ? in : NULL, rank < p2p_size(comm) - 1 ? out : NULL);
}

static void backward(p2p_comm *comm, const my_stage *stage, size_t b, const double *in, double *out)
{
    int rank = p2p_rank(comm);
    stage->backward(stage, b, rank < p2p_size(comm) - 1 ? in : NULL, rank > 0 ? out : NULL);
}

/* All of it; x is what comes from the left, y what goes to the right, dy and dx what comes and goes back. */
static p2p_err schedule(p2p_comm *comm, const my_stage *stage, double *x, double *y, double *dy, double *dx)
{
    int left = p2p_rank(comm) - 1, right = p2p_rank(comm) + 1;
    size_t behind = (size_t)(p2p_size(comm) - right), ahead = stage->count < behind ? stage->count : behind;
    size_t f = 0, b = 0;
    p2p_err err = P2P_OK;

    for (; f < ahead && !err; f++) {
        err = exchange(comm, stage, left, NULL, x);
        if (!err) forward(comm, stage, f, x, y);
        if (!err) err = exchange(comm, stage, right, y, NULL);
    }
    if (!err && f < stage->count) err = exchange(comm, stage, left, NULL, x);
    for (; f + 1 < stage->count && !err; f++, b++) {
        forward(comm, stage, f, x, y);
        err = exchange(comm, stage, right, y, dy);
        if (!err) backward(comm, stage, b, dy, dx);
        if (!err) err = exchange(comm, stage, left, dx, f + 1 < stage->count ? x : NULL);
    }
    for (; b < stage->count && !err; b++) {
        err = exchange(comm, stage, right, NULL, dy);
        if (!err) backward(comm, stage, b, dy, dx);
        if (!err) err = exchange(comm, stage, left, dx, NULL);
    }
    return err;
}

p2p_err my_one_f_one_b(p2p_comm *comm, const my_stage *stage)
{
    double *room = calloc(4 * stage->width, sizeof *room);
    if (!room) return P2P_ERR_NOMEM;
    p2p_err err = schedule(comm, stage, room, room + stage->width, room + 2 * stage->width, room + 3 * stage->width);
    free(room);
    return err;
}
