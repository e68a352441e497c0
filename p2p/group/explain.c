/* SPDX-License-Identifier: MIT */
/*
 * launch --explain: each kind of collective that rank 0 has called, with the algorithm, why that one, what it should have taken
 * and what it took: a table on stderr when rank 0 finalizes. Kinds differ by operation, algorithm, elements and ranks. Why,
 * and what it should take, the layer above says (ring/explain.c, collectives/choose.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/group/internal.h"

enum { KINDS = 64, SAMPLES = 99 };

typedef struct {
    p2p_fingerprint what;
    int ranks, hosts;
    char why[100];
    double predicted; /* seconds; 0: not known */
    size_t calls;
    double took[SAMPLES]; /* of the first calls, in turn of the last */
} kind;

struct p2p_explained {
    size_t count, others; /* others: calls of kinds for which there was no room */
    kind *open;           /* the collective that is under way; NULL: none, or no room */
    double began;
    char why[100];    /* of the next one */
    double predicted; /* of the open one */
    kind kinds[KINDS];
};

static int ascending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void print(p2p_engine *engine)
{
    p2p_explained *e = engine->explained;
    const char *clock = engine->config.network.on ? "virtual " : "";
    if (!e->count || engine->rank != 0) return;
    fprintf(stderr,
            "pairwise: collectives of rank 0; measured: the median of up to %d calls, in %smicroseconds\n"
            "  %-30s %-18s %5s %5s %10s %-4s %7s %10s %10s  %s\n",
            SAMPLES, clock, "operation", "algorithm", "ranks", "hosts", "count", "type", "calls", "predicted",
            "measured", "why");
    for (size_t i = 0; i < e->count; i++) {
        kind *k = &e->kinds[i];
        size_t samples = k->calls < SAMPLES ? k->calls : SAMPLES;
        char predicted[24] = "-";
        qsort(k->took, samples, sizeof *k->took, ascending);
        if (k->predicted > 0) snprintf(predicted, sizeof predicted, "%.1f", k->predicted * 1e6);
        fprintf(stderr, "  %-30s %-18s %5d %5d %10zu %-4s %7zu %10s %10.1f  %s\n", k->what.operation,
                k->what.algorithm ? k->what.algorithm : "-", k->ranks, k->hosts, k->what.count,
                k->what.dtype ? k->what.dtype : "", k->calls, predicted, samples ? k->took[samples / 2] * 1e6 : 0,
                k->why[0] ? k->why : "there is one");
    }
    if (e->others) fprintf(stderr, "  and %zu calls of more kinds\n", e->others);
}

static p2p_explained *explained(p2p_engine *engine)
{
    if (!engine->explained) engine->explained = calloc(1, sizeof *engine->explained);
    if (engine->explained) engine->explain_end = print;
    return engine->explained;
}

static bool alike(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

void p2p__explain_begin(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_explained *e = explained(comm->engine);
    if (!e) return;
    e->open = NULL;
    if (!what->dtype) return; /* p2p_split and its kin move nothing */
    size_t i = 0;
    while (i < e->count &&
           !(e->kinds[i].ranks == comm->size && e->kinds[i].hosts == comm->hosts &&
             e->kinds[i].what.count == what->count && alike(e->kinds[i].what.dtype, what->dtype) &&
             alike(e->kinds[i].what.operation, what->operation) && alike(e->kinds[i].what.algorithm, what->algorithm)))
        i++;
    if (i == e->count && i < KINDS) {
        e->kinds[e->count++] = (kind){.what = *what, .ranks = comm->size, .hosts = comm->hosts};
        snprintf(e->kinds[i].why, sizeof e->kinds[i].why, "%s", e->why);
    }
    e->why[0] = 0;
    e->others += i == KINDS;
    e->open = i < KINDS ? &e->kinds[i] : NULL;
    e->predicted = 0;
    e->began = p2p_time(comm);
}

void p2p__explain_end(p2p_comm *comm, p2p_err err)
{
    p2p_explained *e = comm->engine->explained;
    if (!e || !e->open || err) return;
    e->open->took[e->open->calls++ % SAMPLES] = p2p_time(comm) - e->began;
    if (e->predicted > 0) e->open->predicted = e->predicted;
    e->open = NULL;
}

bool p2p_layer_is_explained(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->config.explain;
}

void p2p_layer_explain(p2p_comm *comm, const char *why)
{
    p2p_explained *e = p2p_layer_is_explained(comm) ? explained(comm->engine) : NULL;
    if (e && comm->engine->depth == 0) snprintf(e->why, sizeof e->why, "%s", why);
    if (e && comm->engine->depth == 1 && e->open && !e->open->why[0])
        snprintf(e->open->why, sizeof e->open->why, "%s", why);
}

void p2p_layer_predict(p2p_comm *comm, double seconds)
{
    if (p2p_layer_is_explained(comm) && comm->engine->explained && comm->engine->depth == 1)
        comm->engine->explained->predicted = seconds;
}

p2p_costs *p2p_layer_costs(p2p_comm *comm)
{
    return comm && comm->engine ? &comm->costs : NULL;
}
