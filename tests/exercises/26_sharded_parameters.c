/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 26: what forward and backward were given, in which order, the gradients' chunks, how much memory
 * there was at most at the same time, and what was sent.
 */
#include "exercises/exercises.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_sharded_pass

/* Calls are noted by a number: forward of layer l is l, backward BACKWARD + l. SLACK: bytes for small arrays. */
enum { MOST_LAYERS = 7, STRIDE = 1000, BACKWARD = 100, MOST_CALLS = 3 * MOST_LAYERS, SLACK = 256, ROOM = 24 };
enum { SEVEN, SHORT, ONE, VARIANTS };

static const size_t layers_in[VARIANTS] = {7, 5, 1};
static const size_t counts_in[VARIANTS][MOST_LAYERS] = {{96, 120, 104, 112, 120, 64, 96}, {90, 121, 1, 7, 100}, {50}};
static const char *const words[VARIANTS] = {"7 layers", "5 layers, some with few weights", "one layer"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 3, 1, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        for (int k = 0; k < VARIANTS; k++)
            check_add(plan, (check_case){.variant = k, .dtype = DTYPE_F64, .what = words[k]});
    }
}

static size_t length_of(const check_case *c, int rank, size_t layer)
{
    return ring_length(counts_in[c->variant][layer], c->ranks, rank);
}

/* Weight i of a layer is its owner's. */
static double weight_of(const check_case *c, size_t layer, size_t i)
{
    return check_value(c, ring_owner(counts_in[c->variant][layer], c->ranks, i), layer * STRIDE + i);
}

/* What backward adds to the weight. */
static double gradient_part(const check_case *c, int rank, size_t layer, size_t i)
{
    return check_value(c, rank, (MOST_LAYERS + layer) * STRIDE + i) / 7;
}

/* ---- In a rank ---- */

typedef struct {
    p2p_comm *comm;
    const check_case *c;
    double calls[MOST_CALLS];
    size_t count;
} network_self;

static void note(const my_sharded_network *network, size_t call, size_t layer, const double *whole)
{
    network_self *self = network->self;
    char name[ROOM];
    if (self->count < MOST_CALLS) self->calls[self->count++] = (double)call;
    snprintf(name, sizeof name, "%s %zu", call < BACKWARD ? "forward" : "backward", layer);
    check_report(self->c, name, whole, network->counts[layer], DTYPE_F64);
}

static void forward(const my_sharded_network *network, size_t layer, const double *whole)
{
    note(network, layer, layer, whole);
}

static void backward(const my_sharded_network *network, size_t layer, const double *whole, double *gradient)
{
    const network_self *self = network->self;
    note(network, BACKWARD + layer, layer, whole);
    for (size_t i = 0; i < network->counts[layer]; i++)
        gradient[i] = whole[i] + gradient_part(self->c, p2p_rank(self->comm), layer, i);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t all = 0, layers = layers_in[c->variant], left;
    network_self self = {.comm = comm, .c = c};
    const double *weights[MOST_LAYERS];
    double *gradients[MOST_LAYERS], joined[MOST_LAYERS * 128];
    for (size_t l = 0; l < layers; l++) {
        size_t first = ring_begin(counts_in[c->variant][l], c->ranks, rank), length = length_of(c, rank, l);
        double *chunk = check_buffer(c, -1, length, DTYPE_F64);
        for (size_t i = 0; i < length; i++) chunk[i] = check_value(c, rank, l * STRIDE + first + i);
        weights[l] = chunk;
        gradients[l] = check_buffer(c, -1, length, DTYPE_F64);
    }
    my_sharded_network network = {layers, counts_in[c->variant], weights, gradients, forward, backward, &self};
    check_returned(c, my_sharded_pass(comm, &network));
    check_report(c, "calls", self.calls, self.count, DTYPE_F64);
    for (size_t l = 0; l < layers; l++)
        for (size_t i = 0; i < length_of(c, rank, l); i++) joined[all++] = gradients[l][i];
    check_report(c, "gradients", joined, all, DTYPE_F64);
    check_number(c, "peak", (double)check_peak(&left));
    check_number(c, "left", (double)left);
}

/* ---- In learn: the calls ---- */

static const char *name_of(char name[ROOM], double call)
{
    bool back = call >= BACKWARD;
    snprintf(name, ROOM, "%s %.0f", back ? "backward" : "forward", call - (back ? BACKWARD : 0));
    return name;
}

static double call_at(const check_case *c, size_t i)
{
    size_t layers = layers_in[c->variant];
    return (double)(i < layers ? i : BACKWARD + 2 * layers - 1 - i);
}

static bool order(const check_case *c)
{
    char is[ROOM], should[ROOM];
    size_t calls = 2 * layers_in[c->variant];
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t made = check_elements(c, rank, "calls");
        for (size_t i = 0; i < calls && i < made; i++)
            if (check_element(c, rank, "calls", i) != call_at(c, i))
                return check_fail(c, "order",
                                  "Call %zu on rank %d is %s, and should be %s: forward goes through all layers from 0 "
                                  "on, then backward from the last to 0.",
                                  i + 1, rank, name_of(is, check_element(c, rank, "calls", i)),
                                  name_of(should, call_at(c, i)));
        if (made != calls)
            return check_fail(
                c, "order",
                "On rank %d forward and backward were called %zu times together; there are %zu layers, so "
                "it should be %zu times.",
                rank, made, layers_in[c->variant], calls);
    }
    return true;
}

/* ---- What they were given ---- */

static bool chunk_is_right(const check_case *c, int rank, const char *name, size_t layer, int chunk)
{
    size_t first = ring_begin(counts_in[c->variant][layer], c->ranks, chunk);
    for (size_t i = first; i < first + length_of(c, chunk, layer); i++)
        if (check_element(c, rank, name, i) != weight_of(c, layer, i)) return false;
    return true;
}

static size_t layer_judged;

static double want_weights(const check_case *c, int rank, size_t i)
{
    (void)rank;
    return weight_of(c, layer_judged, i);
}

static size_t count_weights(const check_case *c, int rank)
{
    (void)rank;
    return counts_in[c->variant][layer_judged];
}

/* Of the chunks that have weights: is that so on every rank? */
static bool right_are(const check_case *c, const char *name, size_t layer, bool own, bool chunk_0)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int chunk = 0; chunk < c->ranks; chunk++) {
            bool right = (own && chunk == rank) || (chunk_0 && chunk == 0);
            if (length_of(c, chunk, layer) && chunk_is_right(c, rank, name, layer, chunk) != right) return false;
        }
    return c->ranks > 1;
}

static bool weights(const check_case *c, double call)
{
    char name[ROOM];
    size_t layer = layer_judged = (size_t)call % BACKWARD;
    name_of(name, call);
    if (check_values(c, "weights", name, NULL, count_weights, want_weights)) return true;
    if (right_are(c, name, layer, true, false))
        check_fail(c, "gather",
                   "In %s each rank has its own chunk of the layer's weights only: those of the others have not come.",
                   name);
    else if (right_are(c, name, layer, false, true))
        check_fail(
            c, "place",
            "In %s only chunk 0 is right. Rank r's chunk begins at element `first` of the whole layer: was it put "
            "to the beginning, on every rank?",
            name);
    else
        check_also(c, "These are the weights that %s was called with.", name);
    return false;
}

/* ---- Gradients ---- */

enum { RIGHT, SUM, OWN, OWN_FROM_0, MEAN_FROM_0, DIVIDED_TWICE, WAYS };

static const struct {
    const char *key, *words;
} gradient_ways[WAYS] = {
    [SUM] = {"sum", "The gradients of all ranks were added up, and not divided by the number of ranks."},
    [OWN] = {"own", "Each chunk has its owner's gradient only: those of the other ranks are not in it."},
    [OWN_FROM_0] = {"from_0", "Only rank 0's chunks are right: the others were taken from the beginning of the layer's "
                              "gradient, where the reduce-scatter has left this rank's own numbers."},
    [MEAN_FROM_0] =
        {"from_0", "Only rank 0's chunks are right: the others were taken from the beginning of the layer's gradient."},
    [DIVIDED_TWICE] = {"divided_twice", "The mean gradient was divided by the number of ranks once more."}};

static double own_gradient(const check_case *c, int rank, size_t layer, size_t i)
{
    return weight_of(c, layer, i) + gradient_part(c, rank, layer, i);
}

static double mean_gradient(const check_case *c, size_t layer, size_t i)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += own_gradient(c, q, layer, i);
    return sum / c->ranks;
}

static void compute(const check_case *c, int way, int rank, double *numbers)
{
    for (size_t l = 0; l < layers_in[c->variant]; l++) {
        size_t first = ring_begin(counts_in[c->variant][l], c->ranks, rank), length = length_of(c, rank, l);
        for (size_t i = 0; i < length; i++) {
            double mean = mean_gradient(c, l, way == MEAN_FROM_0 ? i : first + i);
            if (way == OWN || (way == OWN_FROM_0 && rank)) mean = own_gradient(c, rank, l, way == OWN ? first + i : i);
            *numbers++ = way == SUM ? mean * c->ranks : way == DIVIDED_TWICE ? mean / c->ranks : mean;
        }
    }
}

static size_t count_gradients(const check_case *c, int rank)
{
    size_t all = 0;
    for (size_t l = 0; l < layers_in[c->variant]; l++) all += length_of(c, rank, l);
    return all;
}

static const ways_result gradients = {"gradients", count_gradients, WAYS, compute};

/* ---- Memory and messages ---- */

/* A layer, its gradient, and a chunk. */
static bool memory(const check_case *c)
{
    size_t longest = 0, all = 0;
    for (size_t l = 0; l < layers_in[c->variant]; l++) {
        size_t count = counts_in[c->variant][l];
        longest = count > longest ? count : longest;
        all += count;
    }
    size_t most = (2 * longest + ring_length(longest, c->ranks, 0)) * sizeof(double) + SLACK;
    for (int rank = 0; rank < c->ranks; rank++) {
        double peak = check_number_of(c, rank, "peak");
        if (!(peak > (double)most) || check_number_of(c, rank, "left") > 0) continue; /* a leak says so itself */
        return check_fail(c, "kept",
                          "Rank %d had %.0f bytes of memory at the same time. The largest layer has %zu weights, %zu "
                          "bytes; it, its gradient and a chunk of it are enough. All layers together have %zu bytes%s",
                          rank, peak, longest, longest * sizeof(double), all * sizeof(double),
                          peak >= (double)(all * sizeof(double)) ? ": were they all whole at once?" : ".");
    }
    return true;
}

static bool contract(const check_case *c)
{
    unsigned long long layers = layers_in[c->variant], lap = (unsigned long long)c->ranks - 1, most = 3 * layers * lap;
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long sent = check_sent(c, rank).messages_sent;
        if (sent > most)
            return check_fail(c, "messages",
                              "Rank %d sent %llu messages for %llu layers. A layer is gathered twice and its gradient "
                              "scattered once, n-1 = %llu messages each: %llu together.%s",
                              rank, sent, layers, lap, most,
                              sent == 4 * layers * lap ? " An all-reduce has twice as many as a reduce-scatter." : "");
    }
    return true;
}

static void judge(const check_case *c)
{
    if (!order(c)) return;
    for (size_t i = 0; i < 2 * layers_in[c->variant]; i++)
        if (!weights(c, call_at(c, i))) return;
    if (!ways_right(&gradients, c, NULL)) {
        int way = ways_find(&gradients, c);
        if (way >= 0) check_fail(c, gradient_ways[way].key, "%s", gradient_ways[way].words);
        return;
    }
    if (memory(c)) contract(c);
}

static const char *const files[] = {"sharded_parameters.c", NULL};

const check_exercise check_26_sharded_parameters = {.name = "26_sharded_parameters",
                                                    .idea = "a layer is whole only while it is used",
                                                    .call = "my_sharded_pass",
                                                    .files = files,
                                                    .hands_on_errors = true,
                                                    .library = CHECK_LIBRARY_ALL,
                                                    .cases = cases,
                                                    .run = run,
                                                    .judge = judge};
