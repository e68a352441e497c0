/* SPDX-License-Identifier: MIT */
/*
 * For launch --explain: what a collective should take, by its critical path with a core for each rank and the formulas of
 * docs/collectives.md. m: a message between hosts, or within the one host; i: one within a host; g: combining. n ranks
 * on H hosts, R on each; d = log2 n, a = log2 H, both rounded up; S bytes.
 *
 *      naive                up or down:  i(S) + (n-R) m(S), and up g(S)
 *      tree                 up or down:  (d-a) i(S) + a m(S), and up d g(S)
 *      recursive doubling   (d-a) i(S) + a R m(S) + d g(S)
 *      ring                 2 (n-1) m(S/n) + (n-1) g(S/n)
 *      hierarchical         2 i(S/R) + g(S) (R-1)/R + 2 (H-1) R m(S/RH) + (H-1) g(S/RH)
 *      one-shot             i(0) + (n-1) g(S)
 *      two-shot             2 i(0) + (n-1)/n g(S) + (n-1)/n (i(S) - i(0))
 *
 * What messages cost is measured before the first collective of a communicator: between rank 0 and the first other rank
 * of its host and of the next one, on a communicator of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/frame.h"

enum { SHORT = 8, LONG = 256 * 1024, ROUNDS = 9 };

/* ---- What messages cost ---- */

/* The least time of half a round trip between rank 0 and `peer`. */
static double half_round_trip(p2p_comm *comm, void *buf, size_t bytes, int peer)
{
    double least = 1e9;
    int rank = p2p_rank(comm);
    for (int i = 0; i < ROUNDS && (rank == 0 || rank == peer); i++) {
        double began = p2p_time(comm);
        int other = rank ? 0 : peer;
        p2p_err err = rank ? P2P_OK : p2p_send(comm, buf, bytes, other, 0);
        if (!err) err = p2p_recv(comm, buf, bytes, other, 0, P2P_STATUS_IGNORE);
        if (!err && rank) err = p2p_send(comm, buf, bytes, other, 0);
        if (err) return 0;
        double took = (p2p_time(comm) - began) / 2;
        if (took < least) least = took;
    }
    return least;
}

static void measure_link(p2p_comm *comm, void *buf, int peer, double *latency_s, double *bandwidth)
{
    double brief = half_round_trip(comm, buf, SHORT, peer), lasting = half_round_trip(comm, buf, LONG, peer);
    *latency_s = brief;
    *bandwidth = lasting > brief ? (LONG - SHORT) / (lasting - brief) : 1e12;
}

static double measure_combine(p2p_comm *comm, void *buf)
{
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double began = p2p_time(comm);
        dtype_combine(buf, buf, (char *)buf + LONG / 2, LONG / 2 / sizeof(float), DTYPE_F32, OP_SUM);
        p2p_layer_compute(comm, LONG / 2);
        double took = p2p_time(comm) - began;
        if (took < least) least = took;
    }
    return least > 0 ? LONG / 2.0 / least : 1e12;
}

/* All ranks: rank 0 needs it, and those that it measures with. The first rank that is on its host, and the first that is not. */
static void measure(p2p_comm *comm, p2p_costs *costs)
{
    int inside = 0, outside = 0;
    void *buf = calloc(1, LONG);
    p2p_comm *own;
    costs->known = true;
    for (int q = p2p_size(comm) - 1; q > 0; q--)
        if (p2p_host(comm, q) == p2p_host(comm, 0))
            inside = q;
        else
            outside = q;
    if (!buf || p2p_dup(comm, &own)) {
        free(buf);
        return;
    }
    costs->combine = measure_combine(own, buf);
    if (inside) measure_link(own, buf, inside, &costs->inside.latency_s, &costs->inside.bandwidth);
    if (outside) measure_link(own, buf, outside, &costs->outside.latency_s, &costs->outside.bandwidth);
    if (!inside) costs->inside.latency_s = costs->outside.latency_s, costs->inside.bandwidth = costs->outside.bandwidth;
    p2p_free(own);
    free(buf);
}

/* ---- The formulas ---- */

typedef struct {
    double n, hosts, each, least, S; /* each, least: ranks on a host, on average, and at least */
    const p2p_costs *costs;
} setting;

static double within(const setting *s, double bytes)
{
    return s->costs->inside.latency_s + bytes / s->costs->inside.bandwidth;
}

static double between(const setting *s, double bytes)
{
    if (s->hosts < 2) return within(s, bytes);
    return s->costs->outside.latency_s + bytes / s->costs->outside.bandwidth;
}

static double log2_up(double n)
{
    int log = 0;
    while ((double)(1 << log) < n) log++;
    return log;
}

static double naive(const setting *s, bool up, bool down)
{
    double way = (s->each - 1) * within(s, s->S) + (s->n - s->each) * between(s, s->S);
    return (up + down) * way + up * s->S / s->costs->combine;
}

static double tree(const setting *s, bool up, bool down)
{
    double d = log2_up(s->n), a = log2_up(s->hosts);
    return (up + down) * ((d - a) * within(s, s->S) + a * between(s, s->S)) + up * d * s->S / s->costs->combine;
}

static double all_reduce(const setting *s, const char *name)
{
    double n = s->n, S = s->S, g = 1 / s->costs->combine, R = s->least, H = s->hosts;
    double d = log2_up(n), a = log2_up(H);
    if (strcmp(name, "ring") == 0) return 2 * (n - 1) * between(s, S / n) + (n - 1) * g * S / n;
    if (strcmp(name, "recursive-doubling") == 0)
        return (d - a) * within(s, S) + a * (H > 1 ? s->each : 1) * between(s, S) + d * g * S;
    if (strcmp(name, "hierarchical") == 0)
        return 2 * (R - 1) * within(s, S / R) + g * S * (R - 1) / R + 2 * (H - 1) * R * between(s, S / (R * H)) +
               (H - 1) * g * S / (R * H);
    if (strcmp(name, "one-shot") == 0) return within(s, 0) + (n - 1) * g * S;
    if (strcmp(name, "two-shot") == 0) return 2 * within(s, 0) + (n - 1) / n * (g * S + S / s->costs->inside.bandwidth);
    return 0;
}

/* The algorithm is in the name, if the caller has chosen it. */
static const char *algorithm_of(const frame__call *call)
{
    static const char *const names[] = {"naive", "tree", "recursive_doubling", "hierarchical", "one_shot", "two_shot"};
    static const char *const shown[] = {"naive", "tree", "recursive-doubling", "hierarchical", "one-shot", "two-shot"};
    if (call->algorithm) return call->algorithm;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(call->operation, names[i])) return shown[i];
    return strncmp(call->operation, "ring_", 5) == 0 ? "ring" : "";
}

void frame__explain(const frame__call *call)
{
    p2p_costs *costs = p2p_layer_costs(call->comm);
    const char *name = algorithm_of(call);
    if (call->request)
        p2p_layer_explain(call->comm, "in the background: measured is how long it took to begin");
    else if (!call->algorithm && name[0])
        p2p_layer_explain(call->comm, "the program calls it by name");
    if (call->size < 2 || call->request || call->count == FRAME_ANY) return;
    if (!costs->known || call->rank != 0 || costs->combine <= 0) return;
    setting s = {.n = call->size, .hosts = p2p_hosts(call->comm), .S = (double)call->bytes, .costs = costs};
    s.each = s.n / s.hosts;
    int fewest = call->size / p2p_hosts(call->comm);
    s.least = fewest;
    bool up = strstr(call->operation, "reduce"), down = strstr(call->operation, "all_reduce") || !up;
    bool whole = strstr(call->operation, "all_reduce") != NULL;
    double seconds = 0;
    if (!whole && !call->has_root) return;
    if (strcmp(name, "naive") == 0)
        seconds = naive(&s, up, down);
    else if (strcmp(name, "tree") == 0)
        seconds = tree(&s, up, down);
    else if (whole)
        seconds = all_reduce(&s, name);
    p2p_layer_predict(call->comm, seconds);
}

void frame__measure(p2p_comm *comm)
{
    p2p_costs *costs = p2p_layer_costs(comm);
    if (costs && !costs->known && p2p_size(comm) > 1) measure(comm, costs);
}
