/* SPDX-License-Identifier: MIT */
// what: count - 1 - rank go ahead where there are few: below 0
// expect: more are to go ahead than there are
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
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t m = stage->count, ahead = (m < (size_t)size ? m : (size_t)size) - 1 - (size_t)rank;
    p2p_err err = P2P_OK;
    for (size_t f = 0; f < ahead && !err; f++) {
        err = exchange(comm, stage, rank - 1, NULL, x);
        if (err) break;
        forward(comm, stage, f, x, y);
        err = exchange(comm, stage, rank + 1, y, NULL);
    }
    if (!err && ahead < m) err = exchange(comm, stage, rank - 1, NULL, x);
    for (size_t b = 0; b + ahead < m && !err; b++) {
        forward(comm, stage, b + ahead, x, y);
        err = exchange(comm, stage, rank + 1, y, dy);
        if (err) break;
        backward(comm, stage, b, dy, dx);
        err = exchange(comm, stage, rank - 1, dx, b + ahead + 1 < m ? x : NULL);
    }
    for (size_t b = m - ahead; b < m && !err; b++) {
        err = exchange(comm, stage, rank + 1, NULL, dy);
        if (err) break;
        backward(comm, stage, b, dy, dx);
        err = exchange(comm, stage, rank - 1, dx, NULL);
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
