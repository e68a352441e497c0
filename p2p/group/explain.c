/* SPDX-License-Identifier: MIT */
/*
 * launch --explain: what collectives took, and what they should have taken. The first rank of a communicator keeps that.
 *
 * It lasts from when the last rank has come until the last one has left. So each rank shows, on the line by which ranks agree
 * on a collective (agree.c), when it came to it and when it left the one before; no message is sent for that:
 *
 *      line of rank r, collective k      came to k, left k - 1, bytes of its block; and later: left k
 *
 * At the end of collective k the first rank reads who came when, and when all have left the one before. Where lines do not say
 * it (PAIRWISE_CHECK=0, clocks of several machines, a line that is full), it is the time of the first rank alone. A request
 * lasts from its beginning to its end on the first rank.
 *
 * What it should take, the layer above says (ring/explain.c), and why (collectives/choose.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/group/internal.h"

#define MOST 1e15 /* seconds, or bytes: more than that a rank has written over */

enum { MANY_RANKS = 64, FEW_CALLS = 3 }; /* of so many ranks only the first calls are walked through */

typedef struct {
    double came, left_before, left, block;
} times;

enum { TIMES_AT = SCOREBOARD_INLINE - sizeof(times) };

static p2p_explained *explained(p2p_engine *engine);

/* ---- What ranks show ---- */

bool p2p__explain_has_times(const p2p_engine *engine)
{
    return engine->config.check && (engine->config.network.on || engine->scoreboard->hosts.count <= 1);
}

static bool can_show(const p2p_comm *comm, const p2p_fingerprint *what)
{
    bool room = what->inline_bytes <= TIMES_AT || what->inline_bytes > SCOREBOARD_INLINE;
    return room && comm->size > 1 && p2p__explain_has_times(comm->engine);
}

static times times_of(const p2p_comm *comm, uint64_t number, int rank)
{
    const scoreboard_line *lines = p2p__scoreboard_lines(comm->engine->scoreboard, comm->context, number);
    const scoreboard_line *line = &lines[comm->world_rank[rank]];
    times shown = {-1, -1, -1, -1};
    if (atomic_load_explicit(&line->at, memory_order_acquire) >> 24 == number)
        memcpy(&shown, line->payload + TIMES_AT, sizeof shown);
    return shown;
}

void p2p__explain_show(const p2p_comm *comm, unsigned char payload[SCOREBOARD_INLINE])
{
    const times now = {comm->explained.began, comm->explained.ended, -1, comm->explained.block};
    if (comm->explained.shows) memcpy(payload + TIMES_AT, &now, sizeof now);
}

static void show_left(p2p_comm *comm)
{
    scoreboard_line *lines = p2p__scoreboard_lines(comm->engine->scoreboard, comm->context, comm->posted);
    scoreboard_line *own = &lines[comm->engine->rank];
    if (!comm->explained.shows || atomic_load(&own->at) >> 24 != comm->posted) return;
    memcpy(own->payload + TIMES_AT + offsetof(times, left), &comm->explained.ended, sizeof(double));
}

/* ---- What the first rank makes of it ---- */

/* When the last one left collective `number`; every rank has. */
static void settle(p2p_comm *comm, bool is_last)
{
    p2p_explained *e = comm->engine->explained;
    double left = comm->explained.left;
    if (!e || !comm->explained.waits) return;
    for (int q = 0; q < comm->size; q++) {
        times shown = times_of(comm, comm->explained.number + !is_last, q);
        double one = is_last ? shown.left : shown.left_before;
        if (one > left) left = one;
    }
    e->kinds[comm->explained.kind].took[comm->explained.sample] = left - comm->explained.came;
    comm->explained.waits = false;
}

/* at[q]: when rank q came, and blocks[q]: with how many bytes; returns the latest time. */
static double who_came_when(const p2p_comm *comm, uint64_t number, bool shows, double own, double at[], double blocks[])
{
    double last = own;
    for (int q = 0; q < comm->size; q++) {
        times shown = shows ? times_of(comm, number, q) : (times){own, 0, 0, -1};
        bool known = shown.came >= 0 && shown.came < MOST, knows_block = shown.block >= 0 && shown.block < MOST;
        at[q] = known && q != comm->rank ? shown.came : own;
        blocks[q] = knows_block ? shown.block : -1;
        if (at[q] > last) last = at[q];
    }
    return last;
}

static double latest(const double at[], int count)
{
    double last = at[0];
    for (int q = 1; q < count; q++)
        if (at[q] > last) last = at[q];
    return last;
}

static void add_sample(p2p_comm *comm, p2p_explained_call *call, bool shows, double left)
{
    p2p_explained_kind *k = &comm->engine->explained->kinds[call->kind];
    size_t sample = k->calls % EXPLAIN_SAMPLES, before = (k->calls + EXPLAIN_SAMPLES - 1) % EXPLAIN_SAMPLES;
    double *at = malloc(2 * (size_t)comm->size * sizeof *at);
    if (!at) return;
    double *blocks = at + comm->size, came = who_came_when(comm, call->number, shows, call->began, at, blocks);
    if (k->is_request) came = call->began;
    k->took[sample] = left - came;
    k->should[sample] = -1;
    if (k->calls >= FEW_CALLS && comm->size > MANY_RANKS) {
        k->should[sample] = k->should[before];
    } else if (call->predict) {
        if (!shows) free(comm->costs.ports), comm->costs.ports = NULL; /* nothing is known of the calls before */
        call->predict(comm, call->plan, blocks, at);
        k->should[sample] = (k->is_request || !shows ? at[comm->rank] : latest(at, comm->size)) - came;
    }
    k->calls++;
    free(at);
    if (k->is_request) return;
    comm->explained.kind = call->kind;
    comm->explained.sample = sample;
    comm->explained.number = call->number;
    comm->explained.came = came;
    comm->explained.left = left;
    comm->explained.waits = shows;
}

/* ---- Begin and end ---- */

static void print(p2p_engine *engine)
{
    for (p2p_comm *comm = engine->comms; comm; comm = comm->next) settle(comm, true);
    p2p__explain_print(engine, engine->explained);
}

static void request_done(p2p_request request)
{
    p2p_comm *comm = request->comm;
    p2p_explained_call *call = request->explained;
    double ends = comm->engine->config.network.on ? (double)request->clock.now * 1e-12 : p2p_time(comm);
    add_sample(comm, call, can_show(comm, &(p2p_fingerprint){.inline_bytes = 0}), ends);
}

static p2p_explained *explained(p2p_engine *engine)
{
    if (!engine->explained) engine->explained = calloc(1, sizeof *engine->explained);
    if (engine->explained) engine->explain_end = print;
    engine->explain_done = request_done;
    return engine->explained;
}

void p2p__explain_begin(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_engine *engine = comm->engine;
    comm->explained.began = p2p_time(comm);
    comm->explained.shows = can_show(comm, what);
    p2p_explained *e = explained(engine);
    bool shown = comm->rank == 0 && (comm->size > 1 || engine->size == 1);
    if (!e) return;
    free(e->open);
    e->open = NULL;
    if (!shown || !what->dtype) return; /* p2p_split and its kin move nothing */
    size_t kind = p2p__explain_kind(e, comm, what);
    e->why[0] = 0;
    if (kind < EXPLAIN_KINDS) e->open = calloc(1, sizeof *e->open);
    if (!e->open) return;
    e->open->kind = kind;
    e->open->began = comm->explained.began;
}

void p2p__explain_request(p2p_comm *comm, p2p_request request)
{
    p2p_explained *e = comm->engine->explained;
    if (!e || !e->open) return;
    e->kinds[e->open->kind].is_request = true;
    e->open->number = comm->posted;
    request->explained = e->open;
    e->open = NULL;
}

void p2p__explain_end(p2p_comm *comm, p2p_err err)
{
    p2p_explained *e = comm->engine->explained;
    p2p_explained_call *open = e ? e->open : NULL;
    comm->explained.ended = p2p_time(comm);
    comm->explained.block = -1;
    show_left(comm);
    if (!e) return;
    e->open = NULL;
    if (!err && comm->explained.shows && comm->explained.waits && comm->explained.number + 1 == comm->posted && open)
        settle(comm, false);
    if (!err && open) {
        open->number = comm->posted;
        comm->explained.waits = false;
        add_sample(comm, open, comm->explained.shows, comm->explained.ended);
    }
    free(open);
}

/* ---- For the layer above ---- */

bool p2p_layer_is_explained(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->config.explain;
}

void p2p_layer_explain(p2p_comm *comm, const char *algorithm, const char *why)
{
    p2p_explained *e = p2p_layer_is_explained(comm) ? explained(comm->engine) : NULL;
    if (e && comm->engine->depth == 0) snprintf(e->why, sizeof e->why, "%s", why);
    if (!e || !e->open || comm->engine->depth != 1) return;
    p2p_explained_kind *k = &e->kinds[e->open->kind];
    if (!k->why[0]) snprintf(k->why, sizeof k->why, "%s", why);
    if (!k->algorithm) k->algorithm = algorithm;
}

void p2p_layer_block(p2p_comm *comm, size_t bytes)
{
    if (comm && comm->engine && comm->engine->depth == 0) comm->explained.block = (double)bytes;
}

void p2p_layer_predict(p2p_comm *comm, p2p_layer_predicts *predict, const void *plan, size_t bytes)
{
    p2p_explained *e = p2p_layer_is_explained(comm) ? comm->engine->explained : NULL;
    if (!e || !e->open || comm->engine->depth != 1) return;
    p2p_explained_call *more = realloc(e->open, sizeof *more + bytes);
    if (!more) return;
    e->open = more;
    more->predict = predict;
    memcpy(more->plan, plan, bytes);
}

bool p2p_layer_network_message(const p2p_comm *comm, int from, int to, size_t bytes, double *seconds)
{
    const p2p_network *network = &comm->engine->config.network;
    if (network->on)
        *seconds = (double)p2p__network_message(network, comm->world_rank[from], comm->world_rank[to], bytes) * 1e-12;
    return network->on;
}

bool p2p_layer_network_compute(const p2p_comm *comm, int rank, size_t bytes, double *seconds)
{
    const p2p_network *network = &comm->engine->config.network;
    if (network->on) *seconds = (double)p2p__network_compute(network, comm->world_rank[rank], bytes) * 1e-12;
    return network->on;
}

p2p_costs *p2p_layer_costs(p2p_comm *comm)
{
    return comm && comm->engine ? &comm->costs : NULL;
}
