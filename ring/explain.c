/* SPDX-License-Identifier: MIT */
/*
 * For launch --explain: which algorithm a collective takes, why, and, by its steps (predict.h), how long it should take.
 *
 * What messages cost is known on a virtual network. Elsewhere it is measured before the first collective of a communicator, on
 * a communicator of its own: between the first two ranks of one host, and between rank 0 and the first rank of another host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/predict.h"
#include "ring/ring.h"

enum { SHORT = 8, LONG = 256 * 1024, ROUNDS = 9 };

/* ---- What messages cost ---- */

/* The least time of half a round trip between ranks a and b; 0 elsewhere. */
static double half_round_trip(p2p_comm *comm, void *buf, size_t bytes, int a, int b)
{
    double least = 1e9;
    int rank = p2p_rank(comm);
    for (int i = 0; i < ROUNDS && (rank == a || rank == b); i++) {
        double began = p2p_time(comm);
        int other = rank == a ? b : a;
        p2p_err err = rank == b ? P2P_OK : p2p_send(comm, buf, bytes, other, 0);
        if (!err) err = p2p_recv(comm, buf, bytes, other, 0, P2P_STATUS_IGNORE);
        if (!err && rank == b) err = p2p_send(comm, buf, bytes, other, 0);
        if (err) return 0;
        double took = (p2p_time(comm) - began) / 2;
        if (took < least) least = took;
    }
    return rank == a || rank == b ? least : 0;
}

/* Between ranks a and b; rank 0 learns it. */
static void measure_link(p2p_comm *comm, void *buf, int a, int b, double *latency_s, double *bandwidth)
{
    double took[2] = {half_round_trip(comm, buf, SHORT, a, b), half_round_trip(comm, buf, LONG, a, b)};
    int rank = p2p_rank(comm);
    p2p_err err = P2P_OK;
    if (a && rank == a) err = p2p_send(comm, took, sizeof took, 0, 0);
    if (a && rank == 0) err = p2p_recv(comm, took, sizeof took, a, 0, P2P_STATUS_IGNORE);
    if (err) return;
    *latency_s = took[0];
    *bandwidth = took[1] > took[0] ? (LONG - SHORT) / (took[1] - took[0]) : 1e12;
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

/* Two ranks of one host, the first ones; false: each host has one. */
static bool find_pair(p2p_comm *comm, int *a, int *b)
{
    for (*a = 0; *a < p2p_size(comm); ++*a)
        for (*b = *a + 1; *b < p2p_size(comm); ++*b)
            if (p2p_host(comm, *a) == p2p_host(comm, *b)) return true;
    return false;
}

/* All ranks: rank 0 needs it, and those that it is measured with. */
static void measure(p2p_comm *comm, p2p_costs *costs)
{
    int a, b, outside = 1;
    void *buf = calloc(1, LONG);
    p2p_comm *own;
    costs->known = true;
    while (outside < p2p_size(comm) && p2p_host(comm, outside) == p2p_host(comm, 0)) outside++;
    if (!buf || p2p_dup(comm, &own)) {
        free(buf);
        return;
    }
    costs->combine = measure_combine(own, buf);
    bool inside = find_pair(own, &a, &b);
    if (inside) measure_link(own, buf, a, b, &costs->inside.latency_s, &costs->inside.bandwidth);
    if (outside < p2p_size(comm))
        measure_link(own, buf, 0, outside, &costs->outside.latency_s, &costs->outside.bandwidth);
    if (!inside) costs->inside.latency_s = costs->outside.latency_s, costs->inside.bandwidth = costs->outside.bandwidth;
    p2p_free(own);
    free(buf);
}

void frame__measure(p2p_comm *comm)
{
    double seconds;
    p2p_costs *costs = p2p_layer_costs(comm);
    if (!costs || costs->known || p2p_size(comm) < 2) return;
    if (!p2p_layer_network_compute(comm, 0, LONG, &seconds)) {
        measure(comm, costs);
        return;
    }
    costs->combine = LONG / seconds;
    costs->known = true;
}

/* ---- What is called ---- */

/* As far as this rank knows them. */
static void set_blocks(const frame__call *call, predict__plan *p)
{
    const frame__blocks chunks = {.layout = FRAME_CHUNKS, .count = call->count};
    const frame__blocks *blocks = p->row->chunks ? &chunks : call->blocks[0];
    size_t longest = 0;
    for (int i = 0; i < 2 && call->blocks[i] && p->row->longest; i++) {
        size_t one = frame__longest_block(call, call->blocks[i]);
        if (one > longest) longest = one;
    }
    for (int q = 0; q < call->size; q++) {
        size_t bytes = blocks ? frame__block_bytes(call, blocks, q) : call->bytes;
        p->block[q] = (double)(p->row->longest ? longest : bytes);
    }
}

static void predict(const frame__call *call, const predict__row *row)
{
    const p2p_costs *costs = p2p_layer_costs(call->comm);
    size_t bytes = sizeof(predict__plan) + (size_t)call->size * sizeof(double);
    if (call->size < 2 || call->rank != 0 || !costs || costs->combine <= 0) return;
    predict__plan *p = calloc(1, bytes);
    if (!p) return;
    *p = (predict__plan){.row = row,
                         .n = call->size,
                         .root = call->has_root ? call->root : 0,
                         .own_ports = call->returns_request,
                         .knows_blocks = call->count != FRAME_ANY || call->blocks[0],
                         .count = call->count,
                         .element = call->element,
                         .bytes = (double)call->bytes,
                         .costs = *costs,
                         .hosts = p2p_hosts(call->comm)};
    set_blocks(call, p);
    p2p_layer_predict(call->comm, predict__walk, p, bytes);
    free(p);
}

void frame__explain(const frame__call *call)
{
    const predict__row *row = predict__find(call->operation, call->algorithm, call->barriers);
    if (!row) return;
    bool guess = call->count == FRAME_ANY && (row->longest || !call->blocks[0]);
    char why[160];
    snprintf(why, sizeof why, "%s%s", row->why,
             guess ? "; predicted as if all blocks were the longest known here" : "");
    p2p_layer_explain(call->comm, row->algorithm, why);
    predict(call, row);
}
