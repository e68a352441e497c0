/* SPDX-License-Identifier: MIT */
/*
 * The walk of a collective's steps (predict.h), on the network of p2p/shared/network.h.
 *
 *      a send begins       when its rank comes to it and its port is free; a message to another host: when the port of
 *                          its host is free, which the rank gets that asks earliest, of equal ones the lowest
 *      a receive ends      a message's time after the send has begun and the port is free
 *      a step ends         when what it sends and receives has ended, and what it combines is combined
 *
 * Every rank goes on until it has to wait for a message or a host's port. When none can, the ports are given out.
 */
#include <stdlib.h>
#include <string.h>

#include "ring/predict.h"

enum state { NEXT, ASKS, SENT, DONE };

typedef struct {
    enum state state;
    bool is_ready; /* it is in walk.ready */
    double now, out_free, in_free, ends;
    int part, step;
    predict__step doing;
    int first, last; /* messages that have come; -1: none */
} rank_state;

typedef struct {
    int from, next;
    bool crosses;
    double began, takes;
} message;

typedef struct {
    p2p_comm *comm;
    const predict__plan *plan;
    rank_state *ranks; /* [n] */
    int *ready, ready_count;
    const double *in;           /* [n]: when the ports of ranks were free */
    double *out_free, *in_free; /* [hosts] */
    message *messages;
    int room, used, unused; /* unused: the first of a list of them; -1: none */
    bool failed;
} walk;

/* ---- What it costs ---- */

static double message_takes(const walk *w, int from, int to, double bytes)
{
    double seconds;
    if (p2p_layer_network_message(w->comm, from, to, (size_t)bytes, &seconds)) return seconds;
    const p2p_costs *c = &w->plan->costs;
    bool inside = w->plan->host[from] == w->plan->host[to];
    return inside ? c->inside.latency_s + bytes / c->inside.bandwidth
                  : c->outside.latency_s + bytes / c->outside.bandwidth;
}

static double combining_takes(const walk *w, int rank, double bytes)
{
    double seconds;
    if (p2p_layer_network_compute(w->comm, rank, (size_t)bytes, &seconds)) return seconds;
    return bytes / w->plan->costs.combine;
}

/* ---- Messages ---- */

static void make_ready(walk *w, int rank)
{
    if (w->ranks[rank].is_ready) return;
    w->ranks[rank].is_ready = true;
    w->ready[w->ready_count++] = rank;
}

static void deliver(walk *w, int to, message m)
{
    int at = w->unused;
    if (at >= 0) {
        w->unused = w->messages[at].next;
    } else if (w->used == w->room) {
        int room = w->room ? 2 * w->room : 64;
        message *more = realloc(w->messages, (size_t)room * sizeof *more);
        w->failed = !more;
        if (!more) return;
        w->messages = more;
        w->room = room;
    }
    if (at < 0) at = w->used++;
    rank_state *r = &w->ranks[to];
    m.next = -1;
    w->messages[at] = m;
    if (r->first < 0)
        r->first = at;
    else
        w->messages[r->last].next = at;
    r->last = at;
    make_ready(w, to);
}

/* The first message from that rank: taken out of the list. False: it has not come. */
static bool take(walk *w, rank_state *r, int from, message *m)
{
    int before = -1, at = w->messages ? r->first : -1;
    while (at >= 0 && w->messages[at].from != from) before = at, at = w->messages[at].next;
    if (at < 0) return false;
    *m = w->messages[at];
    if (before < 0)
        r->first = m->next;
    else
        w->messages[before].next = m->next;
    if (r->last == at) r->last = before;
    w->messages[at].next = w->unused;
    w->unused = at;
    return true;
}

/* ---- Steps ---- */

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void begin_step(walk *w, int rank)
{
    rank_state *r = &w->ranks[rank];
    const predict__plan *p = w->plan;
    while (r->part < PREDICT_PARTS && p->row->parts[r->part] && !p->row->parts[r->part](p, rank, r->step, &r->doing))
        r->part++, r->step = 0;
    if (r->part == PREDICT_PARTS || !p->row->parts[r->part]) {
        r->state = DONE;
        return;
    }
    r->step++;
    r->state = SENT;
    int to = r->doing.to;
    if (to < 0) return;
    if (p->host[to] != p->host[rank]) {
        r->state = ASKS;
        return;
    }
    message m = {
        .from = rank, .began = later(r->now, r->out_free), .takes = message_takes(w, rank, to, r->doing.bytes)};
    r->ends = r->out_free = m.began + m.takes;
    deliver(w, to, m);
}

/* False: what the rank waits for has not come. */
static bool end_step(walk *w, int rank)
{
    rank_state *r = &w->ranks[rank];
    const predict__step *step = &r->doing;
    message m;
    if (step->from >= 0) {
        if (!take(w, r, step->from, &m)) return false;
        double ends = (m.crosses ? m.began : later(m.began, r->in_free)) + m.takes;
        if (!m.crosses) r->in_free = ends;
        r->now = later(r->now, ends);
    }
    if (step->to >= 0 && !step->goes_on) r->now = later(r->now, r->ends);
    if (step->waits) r->now = later(r->now, r->out_free);
    if (step->combined > 0) r->now += combining_takes(w, rank, step->combined);
    r->state = NEXT;
    return true;
}

static void go_on(walk *w)
{
    while (w->ready_count && !w->failed) {
        int rank = w->ready[--w->ready_count];
        rank_state *r = &w->ranks[rank];
        r->is_ready = false;
        do
            if (r->state == NEXT) begin_step(w, rank);
        while (r->state == SENT && end_step(w, rank));
    }
}

static void give_port(walk *w, int rank)
{
    rank_state *r = &w->ranks[rank];
    int to = r->doing.to;
    double *out = &w->out_free[w->plan->host[rank]], *in = &w->in_free[w->plan->host[to]];
    message m = {.from = rank, .crosses = true, .takes = message_takes(w, rank, to, r->doing.bytes)};
    double begins = later(r->now, *out);
    m.began = later(begins, *in);
    *in = m.began + m.takes;
    r->ends = *out = begins + m.takes;
    r->state = SENT;
    deliver(w, to, m);
    make_ready(w, rank);
}

/* False: no rank asks for one. */
static bool give_ports(walk *w)
{
    const double same = 1e-13; /* what adding up can differ by */
    double first = 0;
    bool asked = false, given = false;
    for (int q = 0; q < w->plan->n; q++) {
        if (w->ranks[q].state != ASKS || (asked && w->ranks[q].now >= first)) continue;
        first = w->ranks[q].now;
        asked = true;
    }
    for (int q = 0; q < w->plan->n && asked; q++)
        if (w->ranks[q].state == ASKS && w->ranks[q].now <= first + same) {
            give_port(w, q);
            given = true;
        }
    return given; /* not so, where a rank has written what is no time */
}

/* ---- Who lives where ---- */

/* room: [3 n + hosts + 1]. */
static void place(predict__plan *p, p2p_comm *comm, int *room)
{
    int *host = room, *number = host + p->n, *ranks = number + p->n, *first = ranks + p->n, at = 0;
    p->least = p->n;
    for (int h = 0; h < p->hosts; h++) {
        first[h] = at;
        for (int q = 0; q < p->n; q++) {
            if (p2p_host(comm, q) != h) continue;
            host[q] = h;
            number[q] = at - first[h];
            ranks[at++] = q;
        }
        if (at - first[h] < p->least) p->least = at - first[h];
    }
    first[p->hosts] = at;
    p->host = host;
    p->number = number;
    p->ranks = ranks;
    p->first = first;
}

static void all_together(const predict__plan *p, double at[])
{
    double last = at[0], takes = p->row->shared(p);
    for (int q = 1; q < p->n; q++) last = later(last, at[q]);
    for (int q = 0; q < p->n; q++) at[q] = last + takes;
}

/* When each port was free: of ranks, of hosts out, of hosts in. */
static double *ports_of(p2p_comm *comm, const predict__plan *p)
{
    p2p_costs *costs = p2p_layer_costs(comm);
    size_t count = (size_t)(p->n + 2 * p->hosts);
    if (!costs->ports) costs->ports = calloc(count, sizeof(double));
    return costs->ports;
}

static void set_off(walk *w, const double at[])
{
    for (int q = w->plan->n; q-- > 0;) {
        w->ranks[q] = (rank_state){.now = at[q], .in_free = w->plan->own_ports ? 0 : w->in[q], .first = -1, .last = -1};
        make_ready(w, q);
    }
}

void predict__walk(p2p_comm *comm, void *of, const double own[], double at[])
{
    predict__plan *p = of;
    size_t n = (size_t)p->n, hosts = (size_t)p->hosts;
    if (p->row->shared) {
        all_together(p, at);
        return;
    }
    for (int q = 0; q < p->n && !p->knows_blocks; q++)
        if (own[q] >= 0) p->block[q] = own[q];
    double *ports = ports_of(comm, p);
    int *room = malloc((4 * n + hosts + 1) * sizeof *room);
    walk w = {.comm = comm, .plan = p, .ranks = calloc(n, sizeof *w.ranks), .in = ports, .unused = -1};
    if (ports && room && w.ranks) {
        place(p, comm, room);
        w.ready = room + 3 * n + hosts + 1;
        w.out_free = ports + n;
        w.in_free = w.out_free + hosts;
        set_off(&w, at);
        do go_on(&w);
        while (!w.failed && give_ports(&w));
        for (int q = 0; q < p->n && !w.failed; q++) {
            at[q] = w.ranks[q].now;
            if (!p->own_ports) ports[q] = w.ranks[q].in_free;
        }
    }
    free(room);
    free(w.ranks);
    free(w.messages);
}
