/* SPDX-License-Identifier: MIT */
/*
 * What each rank does in each collective, as the files of the algorithms have it with their pictures; docs/collectives.md has
 * the sums. S: the whole buffer; blocks: plan->block.
 */
#include <string.h>

#include "ring/predict.h"
#include "ring/ring.h"

/* ---- Steps ---- */

static bool sends(predict__step *step, int to, double bytes)
{
    *step = (predict__step){.to = to, .from = PREDICT_NO_RANK, .bytes = bytes};
    return true;
}

static bool receives(predict__step *step, int from, double combined)
{
    *step = (predict__step){.to = PREDICT_NO_RANK, .from = from, .combined = combined};
    return true;
}

static bool exchanges(predict__step *step, int to, double bytes, int from, double combined)
{
    *step = (predict__step){.to = to, .from = from, .bytes = bytes, .combined = combined};
    return true;
}

/* ---- To one rank, from one rank ---- */

static int other_than(int rank, int s)
{
    return s < rank ? s : s + 1;
}

/* Parts are combined in rank order, this rank's own in its turn: how many combinations when that of rank q has come. */
static int combinations(int own, int q)
{
    return (q > 0) + (q + 1 == own);
}

static bool reduce_naive(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r != p->root) return s == 0 && sends(step, p->root, p->bytes);
    int q = other_than(r, s);
    return s < p->n - 1 && receives(step, q, p->bytes * combinations(r, q));
}

static bool broadcast_naive(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r != p->root) return s == 0 && receives(step, p->root, 0);
    return s < p->n - 1 && sends(step, other_than(r, s), p->bytes);
}

static bool gather(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r != p->root) return s == 0 && sends(step, p->root, p->block[r]);
    return s < p->n - 1 && receives(step, other_than(r, s), 0);
}

static bool scatter(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r != p->root) return s == 0 && receives(step, p->root, 0);
    return s < p->n - 1 && sends(step, other_than(r, s), p->block[other_than(r, s)]);
}

/* The same as requests, the nearest first. */
static bool igather(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r != p->root) return gather(p, r, s, step);
    return s < p->n - 1 && receives(step, (r - s - 1 + p->n) % p->n, 0);
}

static bool iscatter(const predict__plan *p, int r, int s, predict__step *step)
{
    int to = (r + s + 1) % p->n;
    if (r != p->root) return scatter(p, r, s, step);
    return s < p->n - 1 && sends(step, to, p->block[to]);
}

/* ---- Trees ---- */

/* Of a place among n, the root's being 0: to and from places. */
static bool climbs(int n, int place, int s, double bytes, predict__step *step)
{
    for (int bit = 1; bit < n; bit *= 2) {
        if (place & bit) return s == 0 && sends(step, place - bit, bytes);
        if (place + bit < n && s-- == 0) return receives(step, place + bit, bytes);
    }
    return false;
}

static bool comes_down(int n, int place, int s, double bytes, predict__step *step)
{
    int bit = 1;
    while (bit < n && !(place & bit)) bit *= 2;
    if (place > 0 && s-- == 0) return receives(step, place - bit, 0);
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < n && s-- == 0) return sends(step, place + bit, bytes);
    return false;
}

/* The places of all ranks begin at the root. */
static bool counted_from_root(const predict__plan *p, bool more, predict__step *step)
{
    if (more && step->to != PREDICT_NO_RANK) step->to = (step->to + p->root) % p->n;
    if (more && step->from != PREDICT_NO_RANK) step->from = (step->from + p->root) % p->n;
    return more;
}

static bool reduce_tree(const predict__plan *p, int r, int s, predict__step *step)
{
    return counted_from_root(p, climbs(p->n, (r - p->root + p->n) % p->n, s, p->bytes, step), step);
}

static bool broadcast_tree(const predict__plan *p, int r, int s, predict__step *step)
{
    return counted_from_root(p, comes_down(p->n, (r - p->root + p->n) % p->n, s, p->bytes, step), step);
}

/* ---- All with all ---- */

/* Of place r among n. */
static bool doubles(int n, int r, int s, double bytes, predict__step *step)
{
    int power = 1;
    while (power * 2 <= n) power *= 2;
    int extra = n - power, folds = r < 2 * extra, number = folds ? r / 2 : r - extra;
    if (folds && r % 2 == 0 && s == 0) return sends(step, r + 1, bytes);
    if (folds && r % 2 == 0) return s == 1 && receives(step, r + 1, 0);
    if (folds && s-- == 0) return receives(step, r - 1, bytes);
    for (int bit = 1; bit < power; bit *= 2) {
        int partner = number ^ bit, rank = partner < extra ? 2 * partner + 1 : partner + extra;
        if (s-- == 0) return exchanges(step, rank, bytes, rank, bytes);
    }
    return folds && s == 0 && sends(step, r - 1, bytes);
}

static bool doubling(const predict__plan *p, int r, int s, predict__step *step)
{
    return doubles(p->n, r, s, p->bytes, step);
}

static bool ring(const predict__plan *p, int r, int s, predict__step *step, int first, bool combines)
{
    int n = p->n, out = (r - s - first + 2 * n) % n, in = (out + n - 1) % n;
    return s < n - 1 && exchanges(step, (r + 1) % n, p->block[out], (r + n - 1) % n, combines ? p->block[in] : 0);
}

static bool ring_reduces(const predict__plan *p, int r, int s, predict__step *step)
{
    return ring(p, r, s, step, 1, true);
}

static bool ring_gathers(const predict__plan *p, int r, int s, predict__step *step)
{
    return ring(p, r, s, step, 0, false);
}

/* Block q goes to rank q. */
static bool pairwise(const predict__plan *p, int r, int s, predict__step *step)
{
    int n = p->n, to = (r + s + 1) % n;
    return s < n - 1 && exchanges(step, to, p->block[to], (r - s - 1 + n) % n, 0);
}

/* Each rank's block goes to all others. */
static bool pairwise_own(const predict__plan *p, int r, int s, predict__step *step)
{
    int n = p->n;
    return s < n - 1 && exchanges(step, (r + s + 1) % n, p->block[r], (r - s - 1 + n) % n, 0);
}

static bool combine_all(const predict__plan *p, int r, int s, predict__step *step)
{
    return s == 0 && receives(step, PREDICT_NO_RANK, p->block[r] * (p->n - 1));
}

static bool dissemination(const predict__plan *p, int r, int s, predict__step *step)
{
    int distance = s < 30 ? 1 << s : p->n;
    return distance < p->n && exchanges(step, (r + distance) % p->n, 0, (r - distance + p->n) % p->n, 0);
}

/* ---- A chain ---- */

static bool scan(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r > 0 && s-- == 0) return receives(step, r - 1, p->bytes);
    return s == 0 && r + 1 < p->n && sends(step, r + 1, p->bytes);
}

static bool exscan(const predict__plan *p, int r, int s, predict__step *step)
{
    if (r > 0 && s-- == 0) return receives(step, r - 1, r + 1 < p->n ? p->bytes : 0);
    return s == 0 && r + 1 < p->n && sends(step, r + 1, p->bytes);
}

/* ---- Hierarchical: plan->least slices ---- */

static int ranks_here(const predict__plan *p, int r)
{
    return p->first[p->host[r] + 1] - p->first[p->host[r]];
}

static double chunk_bytes(const predict__plan *p, size_t count, int parts, int number)
{
    size_t first, length;
    ring_chunk(count, parts, number, &first, &length);
    return (double)(length * p->element);
}

static size_t slice(const predict__plan *p, int number)
{
    size_t first, length;
    ring_chunk(p->count, p->least, number, &first, &length);
    return length;
}

/* Sends to, and receives from, ranks of this host, by number; at the end waits for what was sent. */
static bool within_host(const predict__plan *p, int r, int s, predict__step *step, int to, int from, bool combines)
{
    const int *local = p->ranks + p->first[p->host[r]];
    int own = p->number[r], others_to = to - (own < to), others_from = from - (own < from);
    if (s < others_to) {
        int q = other_than(own, s);
        sends(step, local[q], (double)(slice(p, combines ? q : own) * p->element));
        step->goes_on = true;
        return true;
    }
    s -= others_to;
    if (s < others_from) {
        int q = other_than(own, s);
        double bytes = combines ? (double)(slice(p, own) * p->element) : 0;
        return receives(step, local[q], bytes * combinations(own, q));
    }
    *step = (predict__step){.to = PREDICT_NO_RANK, .from = PREDICT_NO_RANK, .waits = true};
    return s == others_from;
}

static bool within_host_reduces(const predict__plan *p, int r, int s, predict__step *step)
{
    return within_host(p, r, s, step, p->least, p->number[r] < p->least ? ranks_here(p, r) : 0, true);
}

static bool within_host_gathers(const predict__plan *p, int r, int s, predict__step *step)
{
    return within_host(p, r, s, step, p->number[r] < p->least ? ranks_here(p, r) : 0, p->least, false);
}

static bool across_hosts(const predict__plan *p, int r, int s, predict__step *step)
{
    int H = p->hosts, host = p->host[r], number = p->number[r];
    if (number >= p->least || s >= 2 * (H - 1)) return false;
    bool combines = s < H - 1;
    int out = (host - (combines ? s + 1 : s - (H - 1)) + 2 * H) % H, in = (out + H - 1) % H;
    size_t count = slice(p, number);
    int right = p->ranks[p->first[(host + 1) % H] + number], left = p->ranks[p->first[(host + H - 1) % H] + number];
    return exchanges(step, right, chunk_bytes(p, count, H, out), left, combines ? chunk_bytes(p, count, H, in) : 0);
}

/* ---- Leaders: the trees within each host, by number; and between hosts ---- */

/* The places are these ranks. */
static bool listed(const int *ranks, bool more, predict__step *step)
{
    if (more && step->to != PREDICT_NO_RANK) step->to = ranks[step->to];
    if (more && step->from != PREDICT_NO_RANK) step->from = ranks[step->from];
    return more;
}

static bool to_leader(const predict__plan *p, int r, int s, predict__step *step)
{
    return listed(p->ranks + p->first[p->host[r]], climbs(ranks_here(p, r), p->number[r], s, p->bytes, step), step);
}

static bool between_leaders(const predict__plan *p, int r, int s, predict__step *step)
{
    bool more = p->number[r] == 0 && doubles(p->hosts, p->host[r], s, p->bytes, step);
    return listed(p->ranks, listed(p->first, more, step), step);
}

static bool from_leader(const predict__plan *p, int r, int s, predict__step *step)
{
    return listed(p->ranks + p->first[p->host[r]], comes_down(ranks_here(p, r), p->number[r], s, p->bytes, step), step);
}

/* ---- In shared memory: a barrier is taken to be an empty message ---- */

static double barrier_shared(const predict__plan *p)
{
    return p->costs.inside.latency_s;
}

static double one_shot(const predict__plan *p)
{
    return p->costs.inside.latency_s + (p->n - 1) * p->bytes / p->costs.combine;
}

static double two_shot(const predict__plan *p)
{
    double others = (double)(p->n - 1) / p->n * p->bytes;
    return 2 * p->costs.inside.latency_s + others / p->costs.combine + others / p->costs.inside.bandwidth;
}

/* ---- Which is which ---- */

#define NAMED "the program calls it by name"
#define ONLY "the only one here: "
#define CHAIN ONLY "what the ranks below have combined comes from rank - 1"
#define BARRIER ONLY "in round k each rank tells rank + 2^k, and hears from rank - 2^k"
#define GATHERED ONLY "the blocks go round the ring"
#define REDUCED ONLY "the sums of blocks go round the ring"
#define SCATTERED ONLY "the root sends each rank its block"
#define TO_ROOT ONLY "each rank sends its block to the root"
#define EXCHANGED ONLY "in step k each rank sends to rank + k, and receives from rank - k"

static const predict__row rows[] = {
    {"coll_naive_broadcast", "coll_broadcast", "naive", NAMED, .parts = {broadcast_naive}},
    {"coll_tree_broadcast", "coll_broadcast", "tree", NAMED, .parts = {broadcast_tree}},
    {"coll_naive_reduce", "coll_reduce", "naive", NAMED, .parts = {reduce_naive}},
    {"coll_tree_reduce", "coll_reduce", "tree", NAMED, .parts = {reduce_tree}},
    {"coll_naive_all_reduce", "coll_all_reduce", "naive", NAMED, .parts = {reduce_naive, broadcast_naive}},
    {"coll_tree_all_reduce", "coll_all_reduce", "tree", NAMED, .parts = {reduce_tree, broadcast_tree}},
    {"coll_recursive_doubling_all_reduce", "coll_all_reduce", "recursive-doubling", NAMED, .parts = {doubling}},
    {"ring_all_reduce", "coll_all_reduce", "ring", NAMED, .chunks = true, .parts = {ring_reduces, ring_gathers}},
    {"coll_leaders_all_reduce", "coll_all_reduce", "leaders", NAMED,
     .parts = {to_leader, between_leaders, from_leader}},
    {"coll_hierarchical_all_reduce", "coll_all_reduce", "hierarchical", NAMED,
     .parts = {within_host_reduces, across_hosts, within_host_gathers}},
    {"coll_one_shot_reduce", "coll_reduce", "one-shot", NAMED, .shared = one_shot},
    {"coll_one_shot_all_reduce", "coll_all_reduce", "one-shot", NAMED, .shared = one_shot},
    {"coll_two_shot_all_reduce", "coll_all_reduce", "two-shot", NAMED, .shared = two_shot},
    {"ring_reduce_scatter", NULL, "ring", NAMED, .chunks = true, .parts = {ring_reduces}},
    {"ring_all_gather", NULL, "ring", NAMED, .chunks = true, .parts = {ring_gathers}},
    {"coll_barrier", NULL, "dissemination", BARRIER, .parts = {dissemination}},
    {"coll_barrier", NULL, "agreement", ONLY "ranks share memory, and agreeing on the call is a barrier",
     .shared = barrier_shared},
    {"coll_all_gather", NULL, "ring", GATHERED, .parts = {ring_gathers}},
    {"coll_all_gatherv", NULL, "ring", GATHERED, .parts = {ring_gathers}},
    {"coll_reduce_scatter", NULL, "ring", REDUCED, .parts = {ring_reduces}},
    {"coll_reduce_scatterv", NULL, "ring", REDUCED, .parts = {ring_reduces}},
    {"coll_scatter", NULL, "linear", SCATTERED, .parts = {scatter}},
    {"coll_scatterv", NULL, "linear", SCATTERED, .parts = {scatter}},
    {"coll_gather", NULL, "linear", TO_ROOT, .parts = {gather}},
    {"coll_gatherv", NULL, "linear", TO_ROOT, .parts = {gather}},
    {"coll_all_to_all", NULL, "pairwise-exchange", EXCHANGED, .parts = {pairwise}},
    {"coll_all_to_allv", NULL, "pairwise-exchange", EXCHANGED, .longest = true, .parts = {pairwise}},
    {"coll_scan", NULL, "chain", CHAIN, .parts = {scan}},
    {"coll_exscan", NULL, "chain", CHAIN, .parts = {exscan}},
    {"coll_ibarrier", NULL, "dissemination", BARRIER, .parts = {dissemination}},
    {"coll_ibroadcast", NULL, "tree", ONLY "down a binomial tree", .parts = {broadcast_tree}},
    {"ring_iall_reduce", "coll_iall_reduce", "ring", ONLY "the ring, for operators that commute", .chunks = true,
     .parts = {ring_reduces, ring_gathers}},
    {"coll_naive_iall_reduce", NULL, "naive", NAMED, .parts = {reduce_naive, broadcast_naive}},
    {"coll_ireduce", NULL, "naive", ONLY "the root combines in the order of the ranks", .parts = {reduce_naive}},
    {"coll_iall_gather", NULL, "ring", GATHERED, .parts = {ring_gathers}},
    {"coll_ireduce_scatter", NULL, "ring", REDUCED, .parts = {ring_reduces}},
    {"coll_iall_gatherv", NULL, "pairwise-exchange", EXCHANGED, .parts = {pairwise_own}},
    {"coll_ireduce_scatterv", NULL, "pairwise-exchange", EXCHANGED, .parts = {pairwise, combine_all}},
    {"coll_iall_to_allv", NULL, "pairwise-exchange", EXCHANGED, .longest = true, .parts = {pairwise}},
    {"coll_igatherv", NULL, "linear", TO_ROOT, .parts = {igather}},
    {"coll_iscatterv", NULL, "linear", SCATTERED, .parts = {iscatter}},
    {"coll_iscan", NULL, "chain", CHAIN, .parts = {scan}},
    {"coll_iexscan", NULL, "chain", CHAIN, .parts = {scan}},
};

const predict__row *predict__find(const char *operation, const char *algorithm, bool shared)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const predict__row *row = &rows[i];
        if (strcmp(operation, "coll_barrier") == 0 && shared != (row->shared != NULL)) continue;
        bool chosen = algorithm && row->plain && strcmp(row->algorithm, algorithm) == 0;
        if (strcmp(operation, row->operation) == 0 || (chosen && strcmp(operation, row->plain) == 0)) return row;
    }
    return NULL;
}
