/* SPDX-License-Identifier: MIT */
/*
 * all_reduce: the algorithms side by side. When does the ring win, and why?
 *
 *      build/bench/all_reduce --ranks 4
 *      build/bench/all_reduce --ranks 8 --algorithm naive,ring --min 1M --network 10GbE
 *      build/bench/all_reduce --ranks 16 --algorithm naive,ring,hierarchical --network 10GbE,hosts=4 --deal
 *
 * Sizes and algorithms alternate, in another order every round, so that the other load of the machine slows all of them
 * equally. Each round of a size starts fresh processes, counts one operation's messages, warms up, and measures. How one operation is timed: bench/util/loop.h. What is printed:
 * bench/util/comparison.h, docs/benches.md.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/util/comparison.h"
#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "collectives/collectives.h"
#include "ring/ring.h"

enum { ROUNDS = 5, VIRTUAL_ROUNDS = 2, VIRTUAL_ITERS = 2, MOST_ITERS = 4000, MOST_WORLDS = 4 };

/* ---- What to compare ---- */

typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

#define ALGORITHM_NAMES "naive, tree, recursive-doubling, ring, one-shot, two-shot, leaders, hierarchical, auto"

static const struct {
    const char *name;
    all_reduce function;
    const char *synonym;
} known[] = {
    {"naive", coll_naive_all_reduce, NULL},
    {"tree", coll_tree_all_reduce, NULL},
    {"recursive-doubling", coll_recursive_doubling_all_reduce, "doubling"},
    {"ring", ring_all_reduce, NULL},
    {"one-shot", coll_one_shot_all_reduce, "flat"},
    {"two-shot", coll_two_shot_all_reduce, "direct"},
    {"leaders", coll_leaders_all_reduce, NULL},
    {"hierarchical", coll_hierarchical_all_reduce, NULL},
    {"auto", coll_all_reduce, NULL},
};

static all_reduce find_algorithm(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].function;
    return NULL;
}

/* The name in the tables, if it is given by its synonym. */
static const char *full_name(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].synonym && strcmp(known[i].synonym, name) == 0) return known[i].name;
    return name;
}

/* ---- Settings ---- */

typedef struct {
    report_format format;
    const char *worlds[MOST_WORLDS], *network, *model;
    size_t world_count;
    const char *algorithms[COMPARISON_MOST_ALGORITHMS];
    size_t algorithm_count, min, max;
    long ranks, factor, iters, warmup, seconds; /* iters, warmup: LOOP_BY_TIME if not given */
    bool deal, cold;
    enum dtype dtype;
    enum op op;
} settings;

static void set_algorithms(settings *s, char *text, struct argp_state *state)
{
    if (!list_parse(text, s->algorithms, COMPARISON_MOST_ALGORITHMS, &s->algorithm_count))
        argp_error(state, "--algorithm: up to %d names, separated by commas", COMPARISON_MOST_ALGORITHMS);
    for (size_t i = 0; i < s->algorithm_count; i++) {
        s->algorithms[i] = full_name(s->algorithms[i]);
        if (!find_algorithm(s->algorithms[i]))
            argp_error(state, "--algorithm: '%s' is not one of " ALGORITHM_NAMES, s->algorithms[i]);
    }
}

/* p2p_launch checks the names. */
static void set_worlds(settings *s, char *text, struct argp_state *state)
{
    if (!list_parse(text, s->worlds, MOST_WORLDS, &s->world_count))
        argp_error(state, "--world: up to %d names, separated by commas", MOST_WORLDS);
}

static void set_size(size_t *bytes, const char *name, const char *text, struct argp_state *state)
{
    if (!size_parse(text, bytes) || *bytes == 0)
        argp_error(state, "--%s: '%s' is not a size: a number from 1 and perhaps K, M or G", name, text);
}

static void set_count(long *count, const char *name, const char *text, long low, long high, struct argp_state *state)
{
    if (!count_parse(text, low, high, count))
        argp_error(state, "--%s: '%s' is not a number from %ld to %ld", name, text, low, high);
}

/* Checks that need all options. */
static void check(const settings *s, struct argp_state *state)
{
    if (s->op == OP_MEAN && dtype_problem(s->dtype, OP_MEAN))
        argp_error(state,
                   "--op mean: a mean of %s is not a whole number; take --dtype f32, f64, f16 or bf16, or --op sum",
                   dtype_name(s->dtype));
    if (s->min < dtype_size(s->dtype))
        argp_error(state, "--min %zu is less than one element of %s", s->min, dtype_name(s->dtype));
    if (s->min > s->max) argp_error(state, "--min %zu is more than --max %zu", s->min, s->max);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'r': set_count(&s->ranks, "ranks", arg, 1, P2P_MAX_RANKS, state); return 0;
    case 'w': set_worlds(s, arg, state); return 0;
    case 'N': s->network = arg; return 0;
    case 'a': set_algorithms(s, arg, state); return 0;
    case 'b': set_size(&s->min, "min", arg, state); return 0;
    case 'e': set_size(&s->max, "max", arg, state); return 0;
    case 'f': set_count(&s->factor, "factor", arg, 2, 1 << 20, state); return 0;
    case 'd':
        if (!dtype_parse(arg, &s->dtype))
            argp_error(state, "--dtype: '%s' is not one of f32, f64, i32, i64, u8, f16, bf16", arg);
        return 0;
    case 'o':
        if (!op_parse(arg, &s->op)) argp_error(state, "--op: '%s' is not one of sum, mean, min, max, prod", arg);
        return 0;
    case 'n': set_count(&s->iters, "iters", arg, 1, 1000000, state); return 0;
    case 'u': set_count(&s->warmup, "warmup", arg, 0, 1000000, state); return 0;
    case 's': set_count(&s->seconds, "seconds", arg, 1, 1000000, state); return 0;
    case 'm': s->model = arg; return 0;
    case 'D': s->deal = true; return 0;
    case 'c': s->cold = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    case ARGP_KEY_END: check(s, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"ranks", 'r', "N", 0, "Ranks (default 4)", 0},
    {"world", 'w', "NAMES", 0, "How bytes move, separated by commas: socket, shm (default: PAIRWISE_WORLD, or shm)", 0},
    {"network", 'N', "NAME", 0,
     "Virtual time on a network: 10GbE; 10GbE,hosts=4; latency=2us,bandwidth=12G, ... (default: none)", 0},
    {"deal", 'D', NULL, 0, "Number ranks round the hosts, one on each in turn (default: host by host)", 0},
    {"cold", 'c', NULL, 0, "Fill the buffer before each operation, and check every element after it", 0},
    {"algorithm", 'a', "NAMES", 0,
     "Separated by commas: " ALGORITHM_NAMES " (default: naive,tree,recursive-doubling,ring,auto)", 0},
    {"min", 'b', "SIZE", 0, "Smallest buffer, in bytes; K, M, G are powers of 1024 (default 8)", 0},
    {"max", 'e', "SIZE", 0, "Largest buffer (default 64M)", 0},
    {"factor", 'f', "N", 0, "Each size is N times the one before (default 8)", 0},
    {"dtype", 'd', "NAME", 0, "Elements: f32, f64, i32, i64, u8, f16, bf16 (default f32)", 0},
    {"op", 'o', "NAME", 0, "Operator: sum, mean, min, max, prod (default sum)", 0},
    {"iters", 'n', "N", 0, "Measured operations of each size and algorithm (default: by time)", 0},
    {"warmup", 'u', "N", 0, "Operations before each round that do not count (default: by time)", 0},
    {"seconds", 's', "N", 0, "About how long to measure, where --iters does not say (default 10)", 0},
    {"model", 'm', "FILE", 0, "Also write what the model predicts, as CSV", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static char default_algorithms[] = "naive,tree,recursive-doubling,ring,auto";

static settings read_settings(int argc, char **argv)
{
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure all-reduce, algorithm by algorithm, and check every element."};
    settings s = {.worlds = {options_world()},
                  .world_count = 1,
                  .network = getenv("PAIRWISE_NETWORK"),
                  .min = 8,
                  .max = (size_t)64 << 20,
                  .ranks = p2p_launched() ? p2p_launched() : 4,
                  .factor = 8,
                  .iters = LOOP_BY_TIME,
                  .warmup = LOOP_BY_TIME,
                  .seconds = 10};

    list_parse(default_algorithms, s.algorithms, COMPARISON_MOST_ALGORITHMS, &s.algorithm_count);
    options_parse(&argp, argc, argv, &s);
    return s;
}

/* ---- In the ranks: one size, one round, one algorithm after the other ---- */

/* What one rank measured of one algorithm. Two lists of room for `most` follow: microseconds, and virtual ones. */
typedef struct {
    size_t count;
    uint64_t wrong, messages, bytes, left; /* left: bytes to other hosts */
    int host;
    double time[];
} slot;

typedef struct {
    const settings *settings;
    size_t bytes, most, stride, room;
    loop_plan plan; /* but for elements and buf */
    int round;
    int *hosts;           /* shared: that ranks live on */
    unsigned char *slots; /* the same: [algorithm][rank] */
} turn;

static slot *slot_of(const turn *t, size_t algorithm, int rank)
{
    size_t index = algorithm * (size_t)t->settings->ranks + (size_t)rank;

    return (slot *)(void *)(t->slots + index * t->stride);
}

typedef struct {
    p2p_comm *world;
    const settings *settings;
    all_reduce function;
    p2p_traffic *traffic;
    uint64_t left, left_before; /* bytes to other hosts: between the last two times that it was asked, and before */
} player;

/* The world's errors are fatal, so results are not checked. */
static void player_barrier(void *state)
{
    const player *p = state;
    coll_barrier(p->world);
}

static void player_operate(void *state, void *buf, size_t count)
{
    const player *p = state;
    p->function(p->world, buf, count, p->settings->dtype, p->settings->op);
}

static size_t player_agree(void *state, size_t number)
{
    const player *p = state;
    return ranks_agree(p->world, number);
}

static void player_sent(void *state, uint64_t *messages, uint64_t *bytes)
{
    player *p = state;
    uint64_t left = 0;

    *messages = *bytes = 0;
    p2p_stats(p->world, p->traffic);
    for (int peer = 0; peer < p2p_size(p->world); peer++) {
        *messages += p->traffic[peer].messages_sent;
        *bytes += p->traffic[peer].bytes_sent;
        if (p2p_host(p->world, peer) != p2p_host(p->world, p2p_rank(p->world))) left += p->traffic[peer].bytes_sent;
    }
    p->left = left - p->left_before;
    p->left_before = left;
}

static double player_time(void *state)
{
    const player *p = state;
    return p2p_time(p->world);
}

static void play(player *p, const turn *t, size_t algorithm, const loop_plan *plan)
{
    loop_calls calls = {.state = p,
                        .barrier = player_barrier,
                        .operate = player_operate,
                        .agree = player_agree,
                        .sent = player_sent,
                        .virtual_time = p->settings->network ? player_time : NULL};
    slot *seen = slot_of(t, algorithm, p2p_rank(p->world));
    loop_result result = {.us = seen->time, .virtual_us = seen->time + t->most};

    p->function = find_algorithm(p->settings->algorithms[algorithm]);
    loop_run(&calls, plan, &result);
    seen->wrong = result.wrong;
    seen->messages = result.messages;
    seen->bytes = result.bytes;
    seen->count = result.count;
    seen->left = p->left;
    seen->host = p2p_host(p->world, p2p_rank(p->world));
    if (p2p_rank(p->world) == 0) *t->hosts = p2p_hosts(p->world);
}

/* Ranks that a launcher has started share no memory: the first gets what the others have measured. */
static void collect(p2p_comm *world, const turn *t)
{
    for (size_t a = 0; a < t->settings->algorithm_count; a++)
        for (int rank = 1; rank < p2p_size(world); rank++)
            if (p2p_rank(world) == rank)
                p2p_send(world, slot_of(t, a, rank), t->stride, 0, (int)a);
            else if (p2p_rank(world) == 0)
                p2p_recv(world, slot_of(t, a, rank), t->stride, rank, (int)a, P2P_STATUS_IGNORE);
}

/* The same ranks, numbered round the hosts: one of each in turn. */
static p2p_comm *deal(p2p_comm *world)
{
    int rank = p2p_rank(world), before = 0;
    p2p_comm *dealt = NULL;

    for (int q = 0; q < rank; q++) before += p2p_host(world, q) == p2p_host(world, rank);
    p2p_split(world, 0, before * p2p_hosts(world) + p2p_host(world, rank), &dealt);
    return dealt;
}

static int rank_main(p2p_comm *start, void *arg)
{
    static elements what;
    const turn *t = arg;
    const settings *s = t->settings;
    loop_plan plan = t->plan;
    p2p_comm *world = s->deal ? deal(start) : start;
    player p = {.world = world, .settings = s, .traffic = calloc((size_t)s->ranks, sizeof *p.traffic)};

    elements_init(&what, s->dtype, s->op, p2p_rank(world), p2p_size(world));
    plan.elements = &what;
    plan.buf = ranks_buffer("all_reduce", t->bytes);
    bool fine = plan.buf && p.traffic;
    for (size_t i = 0; i < s->algorithm_count && fine; i++)
        play(&p, t, (i + (size_t)t->round) % s->algorithm_count, &plan);
    if (fine && p2p_launched()) collect(world, t);
    if (world != start) p2p_free(world);
    free(plan.buf);
    free(p.traffic);
    return fine ? 0 : 1;
}

/* ---- In the supervisor ---- */

static int round_count(const settings *s)
{
    long most = s->network ? VIRTUAL_ROUNDS : ROUNDS;

    return (int)(s->iters > 0 && s->iters < most ? s->iters : most);
}

/* How many operations a round measures, and how many go before. Virtual time is always the same: two are enough. */
static loop_plan make_plan(const settings *s, size_t count, size_t sizes, int round)
{
    int rounds = round_count(s);
    loop_plan plan = {.count = count, .warmup = s->warmup, .iters = MOST_ITERS, .cold = s->cold};

    plan.seconds = (double)s->seconds / (double)((size_t)rounds * s->world_count * s->algorithm_count * sizes);
    if (s->network) plan.iters = VIRTUAL_ITERS;
    if (s->network && s->warmup == LOOP_BY_TIME) plan.warmup = 0;
    if (s->iters == LOOP_BY_TIME) return plan;
    plan.iters = (size_t)(s->iters / rounds + (round < s->iters % rounds));
    plan.seconds = 0;
    if (plan.warmup == LOOP_BY_TIME) plan.warmup = (long)(plan.iters / 10 + 1);
    return plan;
}

static void add_samples(comparison_cell *cell, const turn *t, size_t algorithm, size_t i)
{
    double us = 0, virtual_us = 0;

    for (int rank = 0; rank < t->settings->ranks; rank++) {
        const slot *seen = slot_of(t, algorithm, rank);
        if (seen->time[i] > us) us = seen->time[i];
        if (seen->time[t->most + i] > virtual_us) virtual_us = seen->time[t->most + i];
    }
    samples_add(&cell->us, &us, 1);
    if (t->settings->network) samples_add(&cell->virtual_us, &virtual_us, 1);
}

static void merge(comparison_cell *cell, const turn *t, size_t algorithm)
{
    for (int rank = 0; rank < t->settings->ranks; rank++) {
        const slot *seen = slot_of(t, algorithm, rank);
        cell->wrong += seen->wrong;
        if (seen->messages > cell->messages) cell->messages = seen->messages;
        if (seen->bytes > cell->bytes) cell->bytes = seen->bytes;
    }
    uint64_t left[P2P_MAX_RANKS] = {0};
    for (int rank = 0; rank < t->settings->ranks; rank++) {
        const slot *seen = slot_of(t, algorithm, rank);
        left[seen->host] += seen->left;
        if (left[seen->host] > cell->left) cell->left = left[seen->host];
    }
    size_t count = slot_of(t, algorithm, 0)->count;
    for (size_t i = 0; i < count; i++) add_samples(cell, t, algorithm, i);
}

static p2p_err take_turn(comparison *c, turn *t, size_t size)
{
    const settings *s = t->settings;
    bool last = t->round == round_count(s) - 1 && size == c->size_count - 1 &&
                c->world == s->worlds[s->world_count - 1];
    p2p_options launch = {.world = c->world,
                          .network = t->settings->network,
                          .trace = options_trace(last),
                          .memory_each = 2 * c->bytes[size]}; /* the buffer, and what it is filled from */

    t->bytes = c->bytes[size];
    t->plan = make_plan(s, t->bytes / dtype_size(c->dtype), c->size_count, t->round);
    if (!s->network && !limits_round(&c->limits[size], c->bytes[size])) return P2P_ERR_NOMEM;
    p2p_err err = p2p_launch(c->ranks, rank_main, t, &launch);
    c->hosts = *t->hosts;
    for (size_t a = 0; a < c->algorithm_count && !err; a++) merge(&c->cells[size][a], t, a);
    if (err && err != P2P_ERR_ARG) fprintf(stderr, "all_reduce: a round of %zu bytes failed\n", t->bytes);
    return err;
}

static bool map_slots(turn *t)
{
    const settings *s = t->settings;
    int rounds = round_count(s);

    t->most = s->iters == LOOP_BY_TIME ? MOST_ITERS : (size_t)((s->iters + rounds - 1) / rounds);
    t->stride = sizeof(slot) + 2 * t->most * sizeof(double);
    t->room = s->algorithm_count * (size_t)s->ranks * t->stride + sizeof *t->hosts;
    void *slots = mmap(NULL, t->room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED) {
        fprintf(stderr, "all_reduce: no memory for %zu samples a rank: %s\n", t->most, strerror(errno));
        return false;
    }
    t->slots = slots;
    t->hosts = (int *)(void *)(t->slots + t->room - sizeof *t->hosts);
    return true;
}

/* One size in every world, in turn. */
static p2p_err take_turns(comparison c[], turn *t, size_t size)
{
    p2p_err err = P2P_OK;

    for (size_t w = 0; w < t->settings->world_count && !err; w++) err = take_turn(&c[w], t, size);
    return err;
}

static p2p_err measure_costs(comparison c[], const settings *s)
{
    for (size_t w = 0; w < s->world_count; w++)
        if (c[w].has_costs && !costs_round(&c[w].costs, c->ranks, c[w].world, s->network)) return P2P_ERR_RANK_FAILED;
    return P2P_OK;
}

static p2p_err measure(comparison c[], const settings *s)
{
    turn t = {.settings = s};
    size_t rounds = (size_t)round_count(s), done = 0;
    p2p_err err = map_slots(&t) ? P2P_OK : P2P_ERR_NOMEM;

    if (err) return err;
    for (t.round = 0; t.round < (int)rounds && !err; t.round++) {
        for (size_t size = 0; size < c->size_count && !err; size++) {
            err = take_turns(c, &t, size);
            report_progress(++done, rounds * c->size_count);
        }
        if (!err) err = measure_costs(c, s);
    }
    munmap(t.slots, t.room);
    return err;
}

/* ---- The whole ---- */

static void prepare(comparison *c, const settings *s, const char *world)
{
    size_t element = dtype_size(s->dtype);

    c->world = world;
    c->network = s->network;
    c->ranks = (int)s->ranks;
    c->dealt = s->deal;
    c->cold = s->cold;
    c->dtype = s->dtype;
    c->op = s->op;
    c->algorithm_count = s->algorithm_count;
    memcpy(c->algorithms, s->algorithms, sizeof s->algorithms);
    bool on_hosts = s->network && strstr(s->network, "hosts="); /* costs are of one kind of link */
    c->has_costs = s->ranks > 1 && !p2p_launched() && !on_hosts && (s->format == REPORT_TABLE || s->model);
    for (size_t bytes = s->min;; bytes *= (size_t)s->factor) {
        c->bytes[c->size_count++] = bytes / element * element;
        if (bytes > s->max / (size_t)s->factor) break;
    }
}

int main(int argc, char **argv)
{
    static comparison c[MOST_WORLDS];
    settings s = read_settings(argc, argv);
    uint64_t wrong = 0;

    for (size_t w = 0; w < s.world_count; w++) prepare(&c[w], &s, s.worlds[w]);
    p2p_err err = measure(c, &s);
    if (!ranks_is_first()) return err == P2P_ERR_ARG ? 2 : err ? 1 : 0;
    for (size_t w = 0; w < s.world_count; w++) {
        wrong += comparison_wrong(&c[w]);
        comparison_settle(&c[w]);
    }
    bool fine = !err && wrong == 0;
    if (!err) comparison_print(c, s.world_count, s.format);
    if (!err && s.model && !comparison_write_model(c, s.world_count, s.model)) fine = false;
    if (wrong) fprintf(stderr, "all_reduce: %llu elements are wrong\n", (unsigned long long)wrong);
    for (size_t w = 0; w < s.world_count; w++) comparison_free(&c[w]);
    return err == P2P_ERR_ARG ? 2 : fine ? 0 : 1;
}
