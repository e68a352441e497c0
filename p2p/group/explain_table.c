/* SPDX-License-Identifier: MIT */
/*
 * launch --explain: the tables. Each rank that is the first of a communicator writes one for it when it finalizes. Rows are kinds
 * of collectives: they differ by ranks, operation, algorithm, elements and type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/group/internal.h"

/* "0-3, 6": the ranks of the world. Of many runs of ranks the first ones. */
static void name_members(const p2p_comm *comm, char *text, size_t bytes)
{
    size_t at = 0;
    for (int i = 0, last; i < comm->size; i = last + 1) {
        for (last = i; last + 1 < comm->size && comm->world_rank[last + 1] == comm->world_rank[last] + 1;) last++;
        if (at + 20 > bytes) {
            snprintf(text + at, bytes - at, ", ...");
            return;
        }
        at += (size_t)snprintf(text + at, bytes - at, i ? ", %d" : "%d", comm->world_rank[i]);
        if (last > i) at += (size_t)snprintf(text + at, bytes - at, "-%d", comm->world_rank[last]);
    }
}

static bool alike(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

size_t p2p__explain_kind(p2p_explained *e, const p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_explained_kind new = {.what = *what, .algorithm = what->algorithm, .ranks = comm->size, .hosts = comm->hosts};
    size_t i = 0;
    name_members(comm, new.members, sizeof new.members);
    while (i < e->count &&
           !(e->kinds[i].ranks == comm->size && alike(e->kinds[i].members, new.members) &&
             e->kinds[i].what.count == what->count && alike(e->kinds[i].what.dtype, what->dtype) &&
             alike(e->kinds[i].what.operation, what->operation) && alike(e->kinds[i].what.algorithm, what->algorithm)))
        i++;
    if (i == EXPLAIN_KINDS) e->others++;
    if (i < e->count || i == EXPLAIN_KINDS) return i;
    memcpy(new.why, e->why, sizeof new.why);
    e->kinds[e->count++] = new;
    return i;
}

static int ascending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double median_us(double seconds[], size_t calls)
{
    size_t samples = calls < EXPLAIN_SAMPLES ? calls : EXPLAIN_SAMPLES;
    qsort(seconds, samples, sizeof *seconds, ascending);
    return samples ? seconds[samples / 2] * 1e6 : 0;
}

static int longer(int width, const char *text)
{
    int length = text ? (int)strlen(text) : 0;
    return length > width ? length : width;
}

static void print_row(FILE *out, p2p_explained_kind *k, int operation, int algorithm)
{
    char count[24] = "-", predicted[24] = "-";
    double should = median_us(k->should, k->calls);
    if (k->what.count != SIZE_MAX) snprintf(count, sizeof count, "%zu", k->what.count);
    if (should >= 0) snprintf(predicted, sizeof predicted, "%.1f", should);
    fprintf(out, "  %-*s  %-*s %5d %5d %10s %-4s %7zu %10s %10.1f  %s%s\n", operation, k->what.operation, algorithm,
            k->algorithm ? k->algorithm : "-", k->ranks, k->hosts, count, k->what.dtype ? k->what.dtype : "", k->calls,
            predicted, median_us(k->took, k->calls), k->is_request ? "(until the request ends here) " : "",
            k->why[0] ? k->why : "not known");
}

/* Of the communicator that kind `first` was called on. */
static void print_table(FILE *out, const p2p_engine *engine, p2p_explained *e, size_t first)
{
    const char *members = e->kinds[first].members;
    int operation = longer(0, "operation"), algorithm = longer(0, "algorithm");
    for (size_t i = first; i < e->count; i++) {
        if (!alike(e->kinds[i].members, members)) continue;
        operation = longer(operation, e->kinds[i].what.operation);
        algorithm = longer(algorithm, e->kinds[i].algorithm);
    }
    fprintf(out, "pairwise: collectives of rank%s %s, in %smicroseconds: medians of up to %d calls, from when %s\n",
            e->kinds[first].ranks > 1 ? "s" : "", members, engine->config.network.on ? "virtual " : "", EXPLAIN_SAMPLES,
            p2p__explain_has_times(engine) ? "the last rank has come until the last has left"
                                           : "the first rank has come until it has left");
    fprintf(out, "  %-*s  %-*s %5s %5s %10s %-4s %7s %10s %10s  %s\n", operation, "operation", algorithm, "algorithm",
            "ranks", "hosts", "count", "type", "calls", "predicted", "measured", "why");
    for (size_t i = first; i < e->count; i++)
        if (alike(e->kinds[i].members, members)) print_row(out, &e->kinds[i], operation, algorithm);
}

/* In one piece: several ranks may write at the same time. */
void p2p__explain_print(p2p_engine *engine, p2p_explained *e)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = e->count ? open_memstream(&text, &bytes) : NULL;
    if (!out) return;
    for (size_t i = 0; i < e->count; i++) {
        size_t before = 0;
        while (before < i && !alike(e->kinds[before].members, e->kinds[i].members)) before++;
        if (before == i) print_table(out, engine, e, i);
    }
    if (e->others) fprintf(out, "  and %zu calls of more kinds\n", e->others);
    fclose(out);
    if (text) fwrite(text, 1, bytes, stderr);
    free(text);
}
