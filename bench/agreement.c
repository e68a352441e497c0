/* SPDX-License-Identifier: MIT */
/*
 * agreement: what it costs that the ranks agree on what they are doing before they do it (docs/collectives.md): every
 * collective with PAIRWISE_CHECK=1 and with PAIRWISE_CHECK=0.
 *
 *      build/bench/agreement
 *      build/bench/agreement --ranks 8 --sizes 8 --collective tree_all_reduce,barrier --rounds 30
 *
 * A round starts two jobs for each number of ranks and size, one a side, in turn which is the first; each measures all
 * collectives. The operation comes after a barrier (bench/util/loop.h), which agrees or does not as the operation does,
 * and two times are measured:
 *
 *      us        that of the slowest rank, from its own entering to its own leaving
 *      span      from the first rank's entering to the last one's leaving: when it is done everywhere
 *
 * Ranks leave a barrier one after the other. A rank that agrees waits for the last rank; a rank that only sends,
 * without agreement, waits in the next barrier instead. No call returns before all agree, so with agreement a rank that
 * only sends returns later, and on shared cores every rank must be scheduled once more. `us` shows all of that, `span`
 * less. Printed are medians over a round's operations, and of these over the rounds. A ratio is that of the two sides
 * of a round, which ran on the same machine under the same load: the median over the rounds, and for the span the
 * quartiles, which show the noise.
 *
 * A size is that of the longest buffer of a rank: where it is made of blocks, a block is the n-th part, or a byte.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/util/loop.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "collectives/collectives.h"
#include "ring/ring.h"

enum { MOST_RANKS = 8, MOST_SIZES = 8, MOST_COLLECTIVES = 20, MOST_OPERATIONS = 4000, KEPT_TIMES = MOST_OPERATIONS };

static const double cell_seconds = 0.017; /* for one collective in one job */

/* ---- What to measure ---- */

/* One rank's part: `in` and `out` have `bytes` each, all zero. */
typedef struct player player;
typedef void (*operation)(const player *p);

struct player {
    p2p_comm *world;
    unsigned char *in, *out;
    size_t bytes, block;
    operation operate;
    size_t done;                             /* operations of this collective */
    double from[KEPT_TIMES], to[KEPT_TIMES]; /* of the last ones: number k is at k mod KEPT_TIMES */
};

/* The world's errors are fatal, so results are not checked. */
#define OPERATION(name, ...)                \
    static void run_##name(const player *p) \
    {                                       \
        (void)__VA_ARGS__;                  \
    }

OPERATION(barrier, coll_barrier(p->world))
OPERATION(naive_broadcast, coll_naive_broadcast(p->world, p->out, p->bytes, DTYPE_U8, 0))
OPERATION(tree_broadcast, coll_tree_broadcast(p->world, p->out, p->bytes, DTYPE_U8, 0))
OPERATION(naive_reduce, coll_naive_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM, 0))
OPERATION(reduce, coll_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM, 0))
OPERATION(tree_reduce, coll_tree_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM, 0))
OPERATION(naive_all_reduce, coll_naive_all_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM))
OPERATION(tree_all_reduce, coll_tree_all_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM))
OPERATION(doubling_all_reduce, coll_recursive_doubling_all_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM))
OPERATION(ring_all_reduce, ring_all_reduce(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM))
OPERATION(ring_reduce_scatter,
          ring_reduce_scatter(p->world, p->out, p->bytes, DTYPE_U8, OP_SUM, &(size_t){0}, &(size_t){0}))
OPERATION(ring_all_gather, ring_all_gather(p->world, p->out, p->bytes, DTYPE_U8))
OPERATION(scatter, coll_scatter(p->world, p->in, p->out, p->block, DTYPE_U8, 0))
OPERATION(gather, coll_gather(p->world, p->in, p->out, p->block, DTYPE_U8, 0))
OPERATION(all_gather, coll_all_gather(p->world, p->in, p->out, p->block, DTYPE_U8))
OPERATION(reduce_scatter, coll_reduce_scatter(p->world, p->in, p->out, p->block, DTYPE_U8, OP_SUM))
OPERATION(all_to_all, coll_all_to_all(p->world, p->in, p->out, p->block, DTYPE_U8))

#define COLLECTIVE(name)  \
    {                     \
#name, run_##name \
    }

static const struct {
    const char *name;
    operation operate;
} known[] = {
    COLLECTIVE(barrier), /* the first: it has no size */
    COLLECTIVE(naive_broadcast), COLLECTIVE(tree_broadcast),
    COLLECTIVE(naive_reduce),    COLLECTIVE(tree_reduce),
    COLLECTIVE(reduce),          COLLECTIVE(naive_all_reduce),
    COLLECTIVE(tree_all_reduce), COLLECTIVE(doubling_all_reduce),
    COLLECTIVE(ring_all_reduce), COLLECTIVE(ring_reduce_scatter),
    COLLECTIVE(ring_all_gather), COLLECTIVE(scatter),
    COLLECTIVE(gather),          COLLECTIVE(all_gather),
    COLLECTIVE(reduce_scatter),  COLLECTIVE(all_to_all),
};

enum { BARRIER, KNOWN = sizeof known / sizeof *known };

_Static_assert(sizeof known <= MOST_COLLECTIVES * sizeof *known, "room for every collective");

/* ---- Settings ---- */

typedef struct {
    report_format format;
    long ranks[MOST_RANKS], rounds;
    size_t bytes[MOST_SIZES], collectives[MOST_COLLECTIVES]; /* indices of `known` */
    size_t rank_count, size_count, collective_count;
} settings;

static void set_sizes(settings *s, char *text, struct argp_state *state)
{
    const char *parts[MOST_SIZES];

    if (!list_parse(text, parts, MOST_SIZES, &s->size_count))
        argp_error(state, "--sizes: up to %d sizes, separated by commas", MOST_SIZES);
    for (size_t i = 0; i < s->size_count; i++)
        if (!size_parse(parts[i], &s->bytes[i]) || s->bytes[i] == 0)
            argp_error(state, "--sizes: '%s' is not a size: a number from 1 and perhaps K, M or G", parts[i]);
}

static size_t find_collective(const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) return i;
    char names[400];
    size_t used = 0;
    for (size_t i = 0; i < KNOWN && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, ", %s", known[i].name);
    argp_error(state, "--collective: '%s' is not one of all%s", name, names);
    return 0;
}

static void set_collectives(settings *s, char *text, struct argp_state *state)
{
    const char *parts[MOST_COLLECTIVES];
    bool all = strcmp(text, "all") == 0;

    s->collective_count = KNOWN;
    if (!all && !list_parse(text, parts, MOST_COLLECTIVES, &s->collective_count))
        argp_error(state, "--collective: up to %d names, separated by commas, or all", MOST_COLLECTIVES);
    for (size_t i = 0; i < s->collective_count; i++) s->collectives[i] = all ? i : find_collective(parts[i], state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'r': options_ranks(arg, 2, P2P_MAX_RANKS, MOST_RANKS, s->ranks, &s->rank_count, state); return 0;
    case 's': set_sizes(s, arg, state); return 0;
    case 'c': set_collectives(s, arg, state); return 0;
    case 'n':
        if (!count_parse(arg, 1, 10000, &s->rounds))
            argp_error(state, "--rounds: '%s' is not a number from 1 to 10000", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"ranks", 'r', "LIST", 0, "Numbers of ranks (default 2,4,8)", 0},
        {"sizes", 's', "LIST", 0, "Bytes of the longest buffer (default 8,4K,1M)", 0},
        {"collective", 'c', "LIST", 0, "Which ones (default all)", 0},
        {"rounds", 'n', "N", 0, "How often each side is measured (default 8)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure what it costs that the ranks of a collective agree on it."};
    settings s = {.ranks = {2, 4, 8},
                  .rank_count = 3,
                  .bytes = {8, 4096, 1 << 20},
                  .size_count = 3,
                  .collective_count = KNOWN,
                  .rounds = 8};

    for (size_t i = 0; i < KNOWN; i++) s.collectives[i] = i;
    options_parse(&argp, argc, argv, &s);
    return s;
}

/* ---- In the ranks: one size, one side, one collective after the other ---- */

/* What one rank measured of one collective. */
typedef struct {
    size_t count;
    double us[MOST_OPERATIONS], from[MOST_OPERATIONS], to[MOST_OPERATIONS];
} slot;

typedef struct {
    const settings *settings;
    int ranks, round;
    size_t size; /* which */
    slot *slots; /* shared: [collective][rank] */
} turn;

static slot *slot_of(const turn *t, size_t collective, int rank)
{
    return t->slots + collective * (size_t)t->ranks + (size_t)rank;
}

/* A barrier is the same at every size. */
static bool has_part(const turn *t, size_t collective)
{
    return t->settings->collectives[collective] != BARRIER || t->size == 0;
}

static void player_barrier(void *state)
{
    const player *p = state;
    coll_barrier(p->world);
}

static void player_operate(void *state, void *buf, size_t count)
{
    player *p = state;
    size_t at = p->done++ % KEPT_TIMES;

    (void)buf;
    (void)count;
    p->from[at] = loop_now_us();
    p->operate(p);
    p->to[at] = loop_now_us();
}

static size_t player_agree(void *state, size_t number)
{
    const player *p = state;
    return ranks_agree(p->world, number);
}

/* The last operations are those that were measured: the warm-up came before. */
static void copy_times(const player *p, slot *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        size_t at = (p->done - seen->count + i) % KEPT_TIMES;
        seen->from[i] = p->from[at];
        seen->to[i] = p->to[at];
    }
}

/* Own buffers, not the loop's; results are not checked here (the tests do). */
static void play(player *p, const turn *t, size_t collective)
{
    static const elements nothing;
    loop_calls calls = {.state = p, .barrier = player_barrier, .operate = player_operate, .agree = player_agree};
    loop_plan plan = {.elements = &nothing, .warmup = LOOP_BY_TIME, .iters = MOST_OPERATIONS, .seconds = cell_seconds};
    slot *seen = slot_of(t, collective, p2p_rank(p->world));
    loop_result result = {.us = seen->us};

    p->operate = known[t->settings->collectives[collective]].operate;
    p->done = 0;
    loop_run(&calls, &plan, &result);
    seen->count = result.count;
    copy_times(p, seen);
}

static int rank_main(p2p_comm *world, void *arg)
{
    const turn *t = arg;
    size_t n = (size_t)t->ranks, bytes = t->settings->bytes[t->size];
    static player p;

    p = (player){.world = world, .bytes = bytes, .block = bytes < n ? 1 : bytes / n};
    p.in = ranks_buffer("agreement", bytes < n ? n : bytes);
    p.out = ranks_buffer("agreement", bytes < n ? n : bytes);
    bool fine = p.in && p.out;
    for (size_t i = 0; i < t->settings->collective_count && fine; i++)
        if (has_part(t, i)) play(&p, t, i);
    free(p.in);
    free(p.out);
    return fine ? 0 : 1;
}

/* ---- In the supervisor ---- */

enum { OFF, ON, SIDES };
enum { SLOWEST, SPAN, MEASURES };

/* Of one collective: a value for each round. */
typedef struct {
    samples us[MEASURES][SIDES], ratio[MEASURES];
} cell;

typedef struct {
    cell cells[MOST_RANKS][MOST_SIZES][MOST_COLLECTIVES];
} findings;

static double slowest(const turn *t, size_t collective, size_t i)
{
    double us = 0;

    for (int rank = 0; rank < t->ranks; rank++) {
        double mine = slot_of(t, collective, rank)->us[i];
        if (mine > us) us = mine;
    }
    return us;
}

static double span(const turn *t, size_t collective, size_t i)
{
    const slot *seen = slot_of(t, collective, 0);
    double first = seen->from[i], last = seen->to[i];

    for (int rank = 1; rank < t->ranks; rank++) {
        seen = slot_of(t, collective, rank);
        if (seen->from[i] < first) first = seen->from[i];
        if (seen->to[i] > last) last = seen->to[i];
    }
    return last - first;
}

/* The median of one round's operations. */
static double typical(const turn *t, size_t collective, int measure)
{
    samples all = {NULL, 0, 0};
    size_t count = slot_of(t, collective, 0)->count;

    for (size_t i = 0; i < count; i++) {
        double us = measure == SPAN ? span(t, collective, i) : slowest(t, collective, i);
        samples_add(&all, &us, 1);
    }
    samples_sort(&all);
    double median = samples_percentile(&all, 50);
    samples_free(&all);
    return median;
}

/* What a round found: microseconds by collective. */
typedef struct {
    double us[MOST_COLLECTIVES][MEASURES];
} side_times;

static p2p_err run_side(turn *t, int side, bool last, side_times *times)
{
    p2p_options launch = {.world = options_world(), .trace = options_trace(last)};

    setenv("PAIRWISE_CHECK", side == ON ? "1" : "0", 1);
    p2p_err err = p2p_launch(t->ranks, rank_main, t, &launch);
    for (size_t i = 0; i < t->settings->collective_count && !err; i++)
        for (int m = 0; m < MEASURES && has_part(t, i); m++) times->us[i][m] = typical(t, i, m);
    if (err && err != P2P_ERR_ARG) fprintf(stderr, "agreement: a round of %d ranks failed\n", t->ranks);
    return err;
}

static void add_round(cell *c, const side_times times[SIDES], size_t i)
{
    for (int m = 0; m < MEASURES; m++) {
        double ratio = times[ON].us[i][m] / times[OFF].us[i][m];
        for (int side = 0; side < SIDES; side++) samples_add(&c->us[m][side], &times[side].us[i][m], 1);
        samples_add(&c->ratio[m], &ratio, 1);
    }
}

static p2p_err take_turn(turn *t, cell cells[])
{
    side_times times[SIDES];
    int first = t->round % 2 ? ON : OFF;
    const settings *s = t->settings;
    bool last = t->round == s->rounds - 1 && t->ranks == s->ranks[s->rank_count - 1] && t->size == s->size_count - 1;
    p2p_err err = run_side(t, first, false, &times[first]);

    if (!err) err = run_side(t, !first, last, &times[!first]);
    for (size_t i = 0; i < t->settings->collective_count && !err; i++)
        if (has_part(t, i)) add_round(&cells[i], times, i);
    return err;
}

static p2p_err take_round(turn *t, findings *f, size_t *done)
{
    const settings *s = t->settings;
    size_t total = (size_t)s->rounds * s->rank_count * s->size_count;
    p2p_err err = P2P_OK;

    for (size_t r = 0; r < s->rank_count && !err; r++) {
        t->ranks = (int)s->ranks[r];
        for (t->size = 0; t->size < s->size_count && !err; t->size++) {
            err = take_turn(t, f->cells[r][t->size]);
            report_progress(++*done, total);
        }
    }
    return err;
}

static size_t slots_bytes(const settings *s)
{
    long most = 0;

    for (size_t i = 0; i < s->rank_count; i++)
        if (s->ranks[i] > most) most = s->ranks[i];
    return s->collective_count * (size_t)most * sizeof(slot);
}

static p2p_err measure(const settings *s, findings *f)
{
    turn t = {.settings = s};
    size_t done = 0, bytes = slots_bytes(s);
    p2p_err err = P2P_OK;

    t.slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (t.slots == MAP_FAILED) {
        fprintf(stderr, "agreement: no memory for %zu bytes of samples: %s\n", bytes, strerror(errno));
        return P2P_ERR_NOMEM;
    }
    for (t.round = 0; t.round < s->rounds && !err; t.round++) err = take_round(&t, f, &done);
    munmap(t.slots, bytes);
    return err;
}

/* ---- What is printed ---- */

static const report_column columns[] = {
    {"collective", "", 20, REPORT_TEXT, false},
    {"ranks", "", 5, 0, false},
    {"bytes", "", 8, 0, false},
    {"us_on", "(us)", 9, 2, false},
    {"us_off", "(us)", 9, 2, false},
    {"ratio", "", 6, 3, false},
    {"span_on", "(us)", 9, 2, false},
    {"span_off", "(us)", 9, 2, false},
    {"span_ratio", "", 10, 3, false},
    {"span_q1", "", 7, 3, false},
    {"span_q3", "", 7, 3, false},
};

typedef struct {
    const char *name;
    int ranks;
    size_t bytes;
    double ratio;
    size_t over, cells; /* the bar, of how many */
} worst_case;

static const double bar = 1.15;

static void note_worst(worst_case *worst, const char *name, int ranks, size_t bytes, double ratio)
{
    worst->cells++;
    worst->over += ratio > bar;
    if (ratio <= worst->ratio) return;
    worst->name = name;
    worst->ranks = ranks;
    worst->bytes = bytes;
    worst->ratio = ratio;
}

static void sort_cell(cell *c)
{
    for (int m = 0; m < MEASURES; m++) {
        for (int side = 0; side < SIDES; side++) samples_sort(&c->us[m][side]);
        samples_sort(&c->ratio[m]);
    }
}

static void free_cell(cell *c)
{
    for (int m = 0; m < MEASURES; m++) {
        for (int side = 0; side < SIDES; side++) samples_free(&c->us[m][side]);
        samples_free(&c->ratio[m]);
    }
}

static report_cell percentile(const samples *sorted, double percent)
{
    return (report_cell){NULL, samples_percentile(sorted, percent)};
}

static void print_cell(report *out, const cell *c, const char *name, int ranks, size_t bytes)
{
    report_cell cells[] = {{name, 0},
                           {NULL, ranks},
                           {NULL, (double)bytes},
                           percentile(&c->us[SLOWEST][ON], 50),
                           percentile(&c->us[SLOWEST][OFF], 50),
                           percentile(&c->ratio[SLOWEST], 50),
                           percentile(&c->us[SPAN][ON], 50),
                           percentile(&c->us[SPAN][OFF], 50),
                           percentile(&c->ratio[SPAN], 50),
                           percentile(&c->ratio[SPAN], 25),
                           percentile(&c->ratio[SPAN], 75)};

    report_row(out, cells);
}

/* Sorts, prints, and frees. */
static void settle(report *out, cell *c, const char *name, int ranks, size_t bytes, worst_case worst[MEASURES])
{
    if (c->ratio[SPAN].count == 0) return;
    sort_cell(c);
    print_cell(out, c, name, ranks, bytes);
    for (int m = 0; m < MEASURES; m++) note_worst(&worst[m], name, ranks, bytes, samples_percentile(&c->ratio[m], 50));
    free_cell(c);
}

static void say_worst(const report *out, const char *measure, const worst_case *worst)
{
    report_note(out, "%s: %zu of %zu over %.2f; the worst: %.3f, %s of %zu bytes with %d ranks", measure, worst->over,
                worst->cells, bar, worst->ratio, worst->name, worst->bytes, worst->ranks);
}

static void print_collective(report *out, const settings *s, findings *f, size_t i, worst_case worst[MEASURES])
{
    size_t which = s->collectives[i];

    for (size_t r = 0; r < s->rank_count; r++)
        for (size_t size = 0; size < s->size_count; size++)
            settle(out, &f->cells[r][size][i], known[which].name, (int)s->ranks[r],
                   which == BARRIER ? 0 : s->bytes[size], worst);
}

static void print_table(const settings *s, findings *f)
{
    worst_case worst[MEASURES] = {{.name = "-"}, {.name = "-"}};
    report out;

    report_begin(&out, s->format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < s->collective_count; i++) print_collective(&out, s, f, i, worst);
    say_worst(&out, "slowest rank", &worst[SLOWEST]);
    say_worst(&out, "span", &worst[SPAN]);
    report_end(&out);
}

int main(int argc, char **argv)
{
    static findings f;
    settings s = read_settings(argc, argv);

    ranks_need_own_jobs("agreement");
    p2p_err err = measure(&s, &f);
    if (!err) print_table(&s, &f);
    return err == P2P_ERR_ARG ? 2 : err ? 1 : 0;
}
