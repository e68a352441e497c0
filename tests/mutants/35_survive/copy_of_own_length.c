/* SPDX-License-Identifier: MIT */
// what: takes the copy to be as long as its own chunk
// expect: as many as its own chunk has
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { COPY = 35, FOUND = 36, NONE = -1 }; /* tags; the step of a state that is none */

/* What a rank needs to take a step. */
typedef struct {
    int64_t step;
    double *parameters; /* all of them */
    double *velocity;   /* of this rank's chunk */
    double *copy;       /* of the velocity of the rank before: the only one beside its own */
} state;

static size_t length_of(p2p_comm *comm, size_t count, int rank)
{
    size_t first, length;
    ring_chunk(count, p2p_size(comm), rank, &first, &length);
    return length;
}

static int right_of(p2p_comm *comm, int rank)
{
    return (rank + 1) % p2p_size(comm);
}

static int left_of(p2p_comm *comm, int rank)
{
    return (rank + p2p_size(comm) - 1) % p2p_size(comm);
}

/* The rank to the right gets a copy of this rank's velocity; this one gets that of the rank to the left. */
static p2p_err exchange_copies(p2p_comm *comm, size_t count, state *s)
{
    int rank = p2p_rank(comm), right = right_of(comm, rank), left = left_of(comm, rank);
    return p2p_sendrecv(comm, s->velocity, length_of(comm, count, rank) * sizeof(double), right, COPY, s->copy,
                        length_of(comm, count, rank) * sizeof(double), left, COPY, P2P_STATUS_IGNORE);
}

/* Given: exercise 25, from one state to the next. Whatever ends it early, `now` stays as it is; next is none until it is
 * complete. Before ring_reduce_scatter returns, every rank has come to this step: nobody needs the state before `now`,
 * which is overwritten only then. */
static p2p_err take_step(p2p_comm *comm, const my_training *t, const state *now, double *gradient, state *next)
{
    size_t first, length;
    t->gradient(t, (int)now->step, now->parameters, gradient);
    p2p_err err = ring_reduce_scatter(comm, gradient, t->count, DTYPE_F64, OP_SUM, &first, &length);
    if (err) return err;
    next->step = NONE;
    memcpy(next->parameters, now->parameters, t->count * sizeof(double));
    for (size_t i = 0; i < length; i++) {
        next->velocity[i] = t->momentum * now->velocity[i] + gradient[first + i];
        next->parameters[first + i] -= t->rate * next->velocity[i];
    }
    err = ring_all_gather(comm, next->parameters, t->count, DTYPE_F64);
    if (!err) err = exchange_copies(comm, t->count, next);
    if (!err) next->step = now->step + 1;
    return err;
}

/* steps[q] is the step that rank q is in, NONE if it has a new process. All go on from the lowest: *from; 0, if all are new. */
static p2p_err agree(p2p_comm *comm, int64_t mine, int64_t steps[], int64_t *from)
{
    p2p_err err = coll_all_gather(comm, &mine, steps, 1, DTYPE_I64);
    *from = NONE;
    for (int q = 0; q < p2p_size(comm) && !err; q++)
        if (steps[q] != NONE && (*from == NONE || steps[q] < *from)) *from = steps[q];
    if (*from == NONE) *from = 0;
    return err;
}

/* Rank q is new: its neighbours give it what it needs to go on from s, which they have. */
static p2p_err give_back(p2p_comm *comm, size_t count, int q, state *s)
{
    int rank = p2p_rank(comm), right = right_of(comm, q), left = left_of(comm, q);
    size_t all = count * sizeof(double), chunk = length_of(comm, count, q) * sizeof(double),
           copy = length_of(comm, count, left) * sizeof(double);
    p2p_err err = P2P_OK;
    if (rank == right) {
        err = p2p_send(comm, s->parameters, all, q, FOUND);
        if (!err) err = p2p_send(comm, s->copy, chunk, q, FOUND);
    }
    if (rank == left && !err) err = p2p_send(comm, s->velocity, copy, q, FOUND);
    if (rank == q) {
        err = p2p_recv(comm, s->parameters, all, right, FOUND, P2P_STATUS_IGNORE);
        if (!err) err = p2p_recv(comm, s->velocity, chunk, right, FOUND, P2P_STATUS_IGNORE);
        if (!err) err = p2p_recv(comm, s->copy, copy, left, FOUND, P2P_STATUS_IGNORE);
    }
    return err;
}

/* After a repair, or in a new process: every rank has the same step's state, in states[*at]. */
static p2p_err find(p2p_comm *comm, size_t count, state states[2], int *at)
{
    int size = p2p_size(comm), rank = p2p_rank(comm);
    int64_t *steps = calloc((size_t)size, sizeof *steps), from = 0;
    bool any = false;
    if (!steps) return P2P_ERR_NOMEM;
    p2p_err err = agree(comm, states[*at].step, steps, &from);

    for (int q = 0; q < size && !err; q++) any |= steps[q] != NONE;
    if (!err && states[*at].step > from) *at = 1 - *at;
    for (int q = 0; q < size && any && !err; q++) {
        if (steps[q] != NONE) continue;
        err = steps[right_of(comm, q)] == NONE ? P2P_ERR_STATE : give_back(comm, count, q, &states[*at]);
        if (q == rank && !err) states[*at].step = from;
    }
    if (!any && !err) states[*at].step = 0;
    free(steps);
    return err;
}

/* Until all steps are taken. */
static p2p_err train(p2p_comm **world, const my_training *t, state states[2], double *gradient, int *at)
{
    p2p_err err = states[*at].step == NONE ? find(*world, t->count, states, at) : P2P_OK;
    for (;;) {
        while (!err && states[*at].step < t->steps) {
            err = take_step(*world, t, &states[*at], gradient, &states[1 - *at]);
            if (!err) *at = 1 - *at;
        }
        if (!err) err = coll_barrier(*world); /* nobody leaves while he is needed */
        if (err != P2P_ERR_PEER_DEAD) return err;
        err = p2p_repair(world);
        if (!err) err = find(*world, t->count, states, at);
    }
}

p2p_err my_survive(p2p_comm **world, const my_training *training, double *parameters)
{
    size_t count = training->count, each = 3 * count;
    double *room = calloc(2 * each + count + 1, sizeof *room);
    state states[2];
    int at = 0;
    bool is_new = p2p_generation(*world) > 0;
    if (!room) return P2P_ERR_NOMEM;

    for (int i = 0; i < 2; i++) {
        double *own = room + (size_t)i * each;
        states[i] = (state){NONE, own, own + count, own + 2 * count};
    }
    memcpy(states[0].parameters, parameters, count * sizeof(double));
    p2p_set_errors(*world, P2P_ERRORS_RETURN);
    states[0].step = is_new ? NONE : 0;
    p2p_err err = train(world, training, states, room + 2 * each, &at);
    memcpy(parameters, states[at].parameters, count * sizeof(double));
    free(room);
    return err;
}
