/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 22, on a virtual network whose times can be worked out: computing and sending at the same time must
 * take as long as the longer of the two, and not as both together.
 */
#include <math.h>
#include <stdio.h>

#include "exercises/exercises.h"
#include "p2p/p2p_layer.h"
#include "tests/exercises/made_of.h"

#pragma weak my_overlapped_backward

#define LATENCY_S 10e-6
#define BANDWIDTH 1e9
#define NETWORK "latency=10us,bandwidth=1G" EXPECTED_REDUCE

enum { MOST = 64, STRIDE = 100000 }; /* layers; a layer's test data */
enum {
    BALANCED,
    SLOW_COMPUTER,
    SLOW_NETWORK,
    DEEP,
    ONE_LONG
}; /* variants: what a layer's backward takes; as many layers as may be; one that is reduced for longer than the others
      * are computed: waiting for it stops what comes behind it */

static const double computing_s[] = {120e-6, 400e-6, 30e-6, 120e-6, 120e-6};
static const char *const words[] = {"computing and sending take about as long", "computing takes longer",
                                    "sending takes longer", "64 layers", "one long layer, number 3"};

static size_t layers_of(const check_case *c)
{
    return c->variant == DEEP ? MOST : 6;
}

/* Floats a rank of a layer: no two layers have as many. */
static size_t chunk_of(const check_case *c, size_t layer)
{
    if (c->variant == ONE_LONG && layer == 3) return 35000; /* 300 us, with two ranks */
    return c->variant == DEEP ? 10 + layer : 2000 + 200 * layer;
}

/* Of a whole layer. On the network all chunks of one are equally long, for the times. */
static size_t length_of(const check_case *c, size_t layer)
{
    return chunk_of(c, layer) * (size_t)c->ranks + (c->network ? 0 : layer % 3);
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 4, 3, 5, 8, 1};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], false, i < 5 ? NETWORK : NULL);
        for (int k = 0; k < 3; k++) check_add(plan, (check_case){.variant = k, .what = words[k], .dtype = DTYPE_F32});
        if (i == 0) check_add(plan, (check_case){.variant = ONE_LONG, .what = words[ONE_LONG], .dtype = DTYPE_F32});
    }
    check_world(plan, 2, false, NULL);
    check_add(plan, (check_case){.variant = DEEP, .what = words[DEEP], .dtype = DTYPE_F32});
    check_world(plan, 4, true, NULL);
    check_add(plan, (check_case){.variant = 0, .what = "six layers", .dtype = DTYPE_F32});
}

/* ---- In a rank ---- */

typedef struct {
    p2p_comm *comm;
    const check_case *c;
    double order[2 * MOST]; /* of the calls of backward */
    double idle[2 * MOST];  /* seconds before each of them, since the one before */
    double ended;           /* the last one */
    size_t calls;
} network_self;

static void backward(const my_model *model, size_t layer)
{
    network_self *self = model->self;
    if (self->calls < 2 * MOST) {
        self->idle[self->calls] = self->calls ? p2p_time(self->comm) - self->ended : 0;
        self->order[self->calls++] = (double)layer;
    }
    for (size_t i = 0; layer < layers_of(self->c) && i < model->counts[layer]; i++)
        model->gradients[layer][i] = (float)check_value(self->c, p2p_rank(self->comm), layer * STRIDE + i);
    p2p_layer_compute(self->comm, (size_t)(computing_s[self->c->variant] * EXPECTED_REDUCE_RATE));
    self->ended = p2p_time(self->comm);
}

static void run(p2p_comm *comm, const check_case *c)
{
    float *gradients[MOST];
    size_t counts[MOST];
    network_self self = {.comm = comm, .c = c};
    char name[40];
    for (size_t l = 0; l < layers_of(c); l++) {
        counts[l] = length_of(c, l);
        gradients[l] = check_buffer(c, -1, counts[l], DTYPE_F32);
    }
    my_model model = {
        .layers = layers_of(c), .backward = backward, .gradients = gradients, .counts = counts, .self = &self};
    check_returned(c, my_overlapped_backward(comm, &model));
    check_report(c, "layers computed", self.order, self.calls, DTYPE_F64);
    check_report(c, "idle", self.idle, self.calls, DTYPE_F64);
    for (size_t l = 0; l < layers_of(c); l++) {
        snprintf(name, sizeof name, "gradient of layer %zu", l);
        check_report(c, name, gradients[l], counts[l], DTYPE_F32);
    }
}

/* ---- In learn ---- */

static bool order(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t calls = check_elements(c, rank, "layers computed");
        for (size_t i = 0; i < layers_of(c); i++)
            if (i >= calls || check_element(c, rank, "layers computed", i) != (double)(layers_of(c) - 1 - i))
                return check_fail(
                    c, "order",
                    "Rank %d computed %zu layers, and not in the order %zu, %zu, ..., 0: backward begins at "
                    "the last layer, and each layer needs the one behind it.",
                    rank, calls, layers_of(c) - 1, layers_of(c) - 2);
        if (calls > layers_of(c))
            return check_fail(c, "order", "Rank %d called backward %zu times; there are %zu layers.", rank, calls,
                              layers_of(c));
    }
    return true;
}

static double mean(const check_case *c, size_t layer, size_t i)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += check_value(c, q, layer * STRIDE + i);
    return sum / c->ranks;
}

static size_t layer_judged; /* for part */

static double part(const check_case *c, int rank, size_t index)
{
    return check_value(c, rank, layer_judged * STRIDE + index);
}

static const char *name_of(char name[40], size_t layer)
{
    snprintf(name, 40, "gradient of layer %zu", layer);
    return name;
}

/* The first element of a layer that is wrong on a rank; its length if none is. */
static size_t first_wrong(const check_case *c, int rank, size_t layer)
{
    char name[40];
    size_t i = 0, count = length_of(c, layer);
    name_of(name, layer);
    while (i < count && fabs(check_element(c, rank, name, i) - mean(c, layer, i)) <= 1e-4) i++;
    return i;
}

static bool is_own(const check_case *c, int rank, size_t layer)
{
    char name[40];
    name_of(name, layer);
    for (size_t i = 0; i < length_of(c, layer); i++)
        if (check_element(c, rank, name, i) != check_value(c, rank, layer * STRIDE + i)) return false;
    return c->ranks > 1;
}

/* Is it the sum of some ranks' numbers only, over n? */
static bool is_of_some(const check_case *c, double got, size_t layer, size_t i)
{
    for (unsigned set = 0; set + 1 < 1u << c->ranks; set++) {
        double sum = 0;
        for (int q = 0; q < c->ranks; q++)
            if (set & 1u << q) sum += check_value(c, q, layer * STRIDE + i);
        if (fabs(got - sum / c->ranks) <= 1e-4) return true;
    }
    return false;
}

/* A part of it was computed too late: what was there before was sent in its place, zeros here. */
static bool is_too_early(const check_case *c, int rank, size_t layer)
{
    char name[40];
    name_of(name, layer);
    for (size_t i = 0; i < 10; i++) {
        double got = check_element(c, rank, name, i), own = check_value(c, rank, layer * STRIDE + i);
        if (got != own && fabs(got - mean(c, layer, i)) > 1e-4 && !is_of_some(c, got, layer, i)) return false;
    }
    return c->ranks > 1;
}

/* Right as far as another layer goes, and as it was before from there on? */
static bool has_count_of_another(const check_case *c, int rank, size_t layer, size_t *other)
{
    char name[40];
    size_t right = first_wrong(c, rank, layer);
    name_of(name, layer);
    for (size_t i = right; i < length_of(c, layer); i++)
        if (check_element(c, rank, name, i) != check_value(c, rank, layer * STRIDE + i)) return false;
    for (*other = 0; *other < layers_of(c); ++*other)
        if (length_of(c, *other) == right) return true;
    return false;
}

static void explain(const check_case *c, int rank, size_t layer)
{
    char name[40], of[40];
    size_t other, wrong = first_wrong(c, rank, layer);
    made_of m = {c, rank, of, name, 0, length_of(c, layer), DTYPE_F32, OP_MEAN, part};
    snprintf(of, sizeof of, "In layer %zu, ", layer);
    name_of(name, layer);
    layer_judged = layer;
    if (is_own(c, rank, layer))
        check_fail(c, "unreduced",
                   "On rank %d the %s is the rank's own when the function returns: its all-reduce was not begun, or "
                   "not waited "
                   "for.",
                   rank, name);
    else if (has_count_of_another(c, rank, layer, &other))
        check_fail(c, "count",
                   "On rank %d only the first %zu of %zu elements of the %s were reduced. So many has layer %zu: this "
                   "one's number is model->counts[%zu].",
                   rank, wrong, length_of(c, layer), name, other, layer);
    else if (is_too_early(c, rank, layer))
        check_fail(
            c, "early",
            "On rank %d the %s lacks what some ranks have computed: its all-reduce was begun before backward had "
            "computed it.",
            rank, name);
    else if (!made_of_explain(&m))
        check_fail(
            c, "values",
            "On rank %d the %s has %.7g at element %zu when the function returns; the mean over all ranks is %.7g.",
            rank, name, check_element(c, rank, name, wrong), wrong, mean(c, layer, wrong));
}

/* The first gradient that is wrong; one that was left out tells more than one that is wrong for it. */
static bool values(const check_case *c)
{
    int wrong_rank = -1;
    size_t wrong_layer = 0;
    for (size_t l = 0; l < layers_of(c); l++)
        for (int rank = 0; rank < c->ranks; rank++) {
            if (first_wrong(c, rank, l) == length_of(c, l)) continue;
            bool own = is_own(c, rank, l);
            if (wrong_rank < 0 || own) wrong_rank = rank, wrong_layer = l;
            if (own) l = layers_of(c) - 1, rank = c->ranks;
        }
    if (wrong_rank >= 0) explain(c, wrong_rank, wrong_layer);
    return wrong_rank < 0;
}

static double ring_s(const check_case *c, size_t layer)
{
    return 2.0 * (c->ranks - 1) * (LATENCY_S + (double)(chunk_of(c, layer) * sizeof(float)) / BANDWIDTH);
}

static double all_rings_s(const check_case *c)
{
    double all = 0;
    for (size_t l = 0; l < layers_of(c); l++) all += ring_s(c, l);
    return all;
}

/* All-reduces follow one another: each begins when its gradient is there and the one before has ended. */
static double overlapped_s(const check_case *c)
{
    double computed = 0, reduced = 0;
    for (size_t l = layers_of(c); l-- > 0;) {
        computed += computing_s[c->variant];
        reduced = fmax(reduced, computed) + ring_s(c, l);
    }
    return reduced;
}

static void time_of(const check_case *c)
{
    double took = expected_seconds(c), right = overlapped_s(c);
    double plain = (double)layers_of(c) * computing_s[c->variant] + all_rings_s(c);
    if (took <= 1.02 * right) return;
    char text[200] = "Somewhere it waits though there is something left to compute.";
    const char *means = text;
    for (size_t i = 1; i < layers_of(c); i++) {
        double idle = check_element(c, 0, "idle", i);
        if (!(idle > 1e-6)) continue;
        snprintf(text, sizeof text,
                 "Somewhere it waits though there is something left to compute: rank 0 first between layer %zu and "
                 "layer %zu, "
                 "%.0f us.",
                 layers_of(c) - i, layers_of(c) - i - 1, 1e6 * idle);
        break;
    }
    if (means == text && !strchr(text, ':'))
        snprintf(text, sizeof text,
                 "Somewhere it waits though there is something left to compute; between the layers it does not, so "
                 "nothing was "
                 "under way while they were computed.");
    if (took >= 0.98 * plain)
        means =
            "That is as long as one after the other: it waits for each all-reduce before the next layer is computed.";
    check_fail(
        c, "no_overlap",
        "It took %.0f us. Computing %zu layers takes %zu x %.0f us, and reducing them %.0f us together; one after "
        "the other that is %.0f us, at the same time %.0f us. %s",
        1e6 * took, layers_of(c), layers_of(c), 1e6 * computing_s[c->variant], 1e6 * all_rings_s(c), 1e6 * plain,
        1e6 * right, means);
}

static void judge(const check_case *c)
{
    if (!order(c) || !values(c)) return;
    if (c->network) time_of(c);
}

static const char *const files[] = {"overlap.c", NULL};

const check_exercise check_22_overlap = {.name = "22_overlap",
                                         .idea = "gradients travel while others are still being computed",
                                         .call = "my_overlapped_backward",
                                         .files = files,
                                         .hands_on_errors = true,
                                         .waits_on_errors = true,
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge = judge};
