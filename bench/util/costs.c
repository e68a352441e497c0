/* SPDX-License-Identifier: MIT */
#include "bench/util/costs.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench/util/loop.h"
#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"

enum { EXCHANGES = 200, BEGINS = 50, MOST_PAIRS = 8, TAG = 1 };

/* From 64K on messages wait for their receive (rendezvous); from some megabytes on caches are too small. */
const size_t costs_sizes[COSTS_SIZES] = {8, 4096, 65536, 262144, 2097152, 16777216};

/* Time for one size in one round. */
static const double share_us = 15000;

/* Half round trips of each pair, and what its first rank combined. */
typedef struct {
    size_t bytes;
    bool is_virtual;
    size_t count;
    double us[MOST_PAIRS][EXCHANGES];
    double combine_us[MOST_PAIRS];
    double begin_us[P2P_MAX_RANKS][BEGINS];
} exchange;

/* ---- Ranks 0 and 1, 2 and 3, ... exchange messages; on a virtual network 1 and 2 of 3, because profiles make rank 0
 * special ---- */

static double clock_us(p2p_comm *world, const exchange *x)
{
    return x->is_virtual ? p2p_time(world) * 1e6 : loop_now_us();
}

static void bounce(p2p_comm *world, void *buf, size_t bytes, bool serve, int peer)
{
    if (serve) p2p_send(world, buf, bytes, peer, TAG);
    p2p_recv(world, buf, bytes, peer, TAG, P2P_STATUS_IGNORE);
    if (!serve) p2p_send(world, buf, bytes, peer, TAG);
}

static void time_message(p2p_comm *world, const exchange *x, void *buf, bool serve, int peer, double *us)
{
    size_t warmup = x->count / 10 + 1;

    for (size_t i = 0; i < warmup + x->count; i++) {
        double start = clock_us(world, x);
        bounce(world, buf, x->bytes, serve, peer);
        if (serve && i >= warmup) us[i - warmup] = (clock_us(world, x) - start) / 2;
    }
}

static double time_combine(const exchange *x, void *buf, void *other)
{
    double start = loop_now_us();

    dtype_combine(buf, buf, other, x->bytes / sizeof(float), DTYPE_F32, OP_SUM);
    return loop_now_us() - start;
}

/* All ranks, for it is a collective: what the network says that combining takes. */
static double ask_combine(p2p_comm *world, const exchange *x)
{
    p2p_fingerprint what = {.operation = "costs", .count = x->bytes, .root = -1};

    if (p2p_layer_begin(world, &what)) return 0;
    double start = p2p_time(world);
    p2p_layer_compute(world, x->bytes);
    double took = p2p_time(world) - start;
    p2p_layer_end(world, P2P_OK);
    return took * 1e6;
}

static int rank_main(p2p_comm *world, void *arg)
{
    exchange *x = arg;
    int place = p2p_rank(world) - x->is_virtual, peer = (place ^ 1) + x->is_virtual, pair = place / 2;
    bool plays = place >= 0, serves = plays && place % 2 == 0;
    unsigned char *buf = calloc(2, x->bytes);

    if (!buf) return 1;
    coll_barrier(world);
    if (plays) time_message(world, x, buf, serves, peer, x->us[pair]);
    coll_barrier(world);
    double combine_us = x->is_virtual ? ask_combine(world, x) : serves ? time_combine(x, buf, buf + x->bytes) : 0;
    if (serves) x->combine_us[pair] = combine_us;
    coll_barrier(world); /* a rank that has nothing to combine sleeps here */
    free(buf);
    return 0;
}

/* ---- An empty collective ---- */

static int begin_main(p2p_comm *world, void *arg)
{
    exchange *x = arg;
    p2p_fingerprint what = {.operation = "costs", .root = -1};

    for (int i = 0; i < BEGINS; i++) {
        coll_barrier(world);
        double start = loop_now_us();
        if (p2p_layer_begin(world, &what) || p2p_layer_end(world, P2P_OK)) return 1;
        x->begin_us[p2p_rank(world)][i] = loop_now_us() - start;
    }
    return 0;
}

static bool measure_begin(costs *c, exchange *x, int ranks, const char *world)
{
    p2p_options options = {.world = world};

    if (p2p_launch(ranks, begin_main, x, &options) != P2P_OK) return false;
    for (int i = BEGINS / 10; i < BEGINS; i++) { /* the first ones open links */
        double slowest = 0;
        for (int rank = 0; rank < ranks; rank++)
            if (x->begin_us[rank][i] > slowest) slowest = x->begin_us[rank][i];
        samples_add(&c->begin_us, &slowest, 1);
    }
    return true;
}

/* ---- Rounds ---- */

static size_t exchanges(const exchange *x)
{
    double fit = share_us / (10 + (double)x->bytes / 700);

    if (x->is_virtual) return 1;
    return fit < 2 ? 2 : fit > EXCHANGES ? EXCHANGES : (size_t)fit;
}

static bool play(exchange *x, int pairs, const char *world, const char *network)
{
    p2p_options options = {.world = world, .network = network};

    return p2p_launch(x->is_virtual ? 3 : 2 * pairs, rank_main, x, &options) == P2P_OK;
}

static bool measure(costs *c, exchange *x, int size, const char *world, const char *network)
{
    int pairs = c->cores < MOST_PAIRS ? c->cores : MOST_PAIRS;

    x->bytes = costs_sizes[size];
    x->count = exchanges(x);
    if (!play(x, 1, world, network)) return false;
    samples_add(&c->message.us[size], x->us[0], x->count);
    if (x->is_virtual) samples_add(&c->combine.us[size], &x->combine_us[0], 1);
    if (x->is_virtual) return true;
    if (!play(x, pairs, world, network)) return false;
    for (int i = 0; i < pairs; i++) samples_add(&c->work.us[size], x->us[i], x->count);
    samples_add(&c->combine.us[size], x->combine_us, (size_t)pairs);
    return true;
}

bool costs_round(costs *c, int ranks, const char *world, const char *network)
{
    exchange *x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool fine = x != MAP_FAILED;

    if (!fine) {
        perror("costs: no memory to share");
        return false;
    }
    c->cores = costs_cores();
    x->is_virtual = c->is_virtual = network != NULL;
    for (int size = 0; size < COSTS_SIZES && fine; size++) fine = measure(c, x, size, world, network);
    if (fine && !network) fine = measure_begin(c, x, ranks, world);
    munmap(x, sizeof *x);
    return fine;
}

/* ---- Asking ---- */

static void settle(costs_curve *curve)
{
    for (int i = 0; i < COSTS_SIZES; i++) {
        samples_sort(&curve->us[i]);
        curve->median[i] = samples_percentile(&curve->us[i], 50);
    }
}

void costs_settle(costs *c)
{
    settle(&c->message);
    settle(&c->work);
    settle(&c->combine);
    samples_sort(&c->begin_us);
    c->begin = samples_percentile(&c->begin_us, 50);
}

void costs_free(costs *c)
{
    for (int i = 0; i < COSTS_SIZES; i++) {
        samples_free(&c->message.us[i]);
        samples_free(&c->work.us[i]);
        samples_free(&c->combine.us[i]);
    }
    samples_free(&c->begin_us);
}

double costs_us(const costs_curve *curve, double bytes)
{
    int i = 0;

    while (i < COSTS_SIZES - 2 && bytes > (double)costs_sizes[i + 1]) i++;
    double from = (double)costs_sizes[i], to = (double)costs_sizes[i + 1];
    double slope = (curve->median[i + 1] - curve->median[i]) / (to - from);
    double us = curve->median[i] + (bytes - from) * slope;
    return us > 0 ? us : 0;
}

int costs_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}
