/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 26: what forward and backward were given, in which order, the gradients' chunks, how much memory
 * there was at most at the same time, and what was sent.
 */
#include "exercises/exercises.h"
#include "tests/exercises/made_of.h"
#include "tests/exercises/ring_by_hand.h"
#include "tests/exercises/ways.h"

#pragma weak my_sharded_pass

/* Calls are noted by a number: forward of layer l is l, backward BACKWARD + l. SLACK: bytes for small arrays. */
enum { MOST_LAYERS = 7, STRIDE = 1000, BACKWARD = 100, MOST_CALLS = 3 * MOST_LAYERS, SLACK = 256, ROOM = 24 };
enum { SEVEN, SHORT, ONE, VARIANTS };

/* What gradients[l] holds before: little enough not to hide what is there. */
static const double left_there = 1.0 / 8192;

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
    size_t count, same; /* same: backward had one buffer for both */
    size_t gathers;     /* before backward was called for the first time */
    size_t peak;        /* of memory, up to the last forward */
} network_self;

static size_t gathers_made;

static void count_gather(const check_collective *call)
{
    gathers_made += strcmp(call->name, "ring_all_gather") == 0;
}

/* What is gathered before the next call, if calls come in their order. */
static void watch_next(const my_sharded_network *network, size_t made)
{
    size_t layers = network->layers, layer = made < layers ? made : made < 2 * layers ? 2 * layers - 1 - made : 0;
    ring_by_hand_whole((int)layer, network->counts[layer]);
}

static void note(const my_sharded_network *network, size_t call, size_t layer, const double *whole)
{
    network_self *self = network->self;
    char name[ROOM];
    if (self->count < MOST_CALLS) self->calls[self->count++] = (double)call;
    watch_next(network, self->count);
    snprintf(name, sizeof name, "%s %zu", call < BACKWARD ? "forward" : "backward", layer);
    check_report(self->c, name, whole, network->counts[layer], DTYPE_F64);
}

static void forward(const my_sharded_network *network, size_t layer, const double *whole)
{
    network_self *self = network->self;
    size_t now;
    self->peak = check_peak(&now);
    note(network, layer, layer, whole);
}

static void backward(const my_sharded_network *network, size_t layer, const double *whole, double *gradient)
{
    network_self *self = network->self;
    self->same += whole == gradient;
    if (!self->gathers) self->gathers = gathers_made;
    note(network, BACKWARD + layer, layer, whole);
    for (size_t i = 0; i < network->counts[layer]; i++) gradient[i] = 0;
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
        for (size_t i = 0; i < length; i++) gradients[l][i] = left_there;
    }
    my_sharded_network network = {layers, counts_in[c->variant], weights, gradients, forward, backward, &self};
    gathers_made = 0;
    watch_next(&network, 0);
    ring_by_hand_begin(c);
    check_on_collective = count_gather;
    check_returned(c, my_sharded_pass(comm, &network));
    check_on_collective = NULL;
    ring_by_hand_end();
    check_number(c, "gathers", (double)self.gathers);
    check_report(c, "calls", self.calls, self.count, DTYPE_F64);
    for (size_t l = 0; l < layers; l++)
        for (size_t i = 0; i < length_of(c, rank, l); i++) joined[all++] = gradients[l][i];
    check_report(c, "gradients", joined, all, DTYPE_F64);
    check_number(c, "same", (double)self.same);
    check_number(c, "forward peak", (double)self.peak);
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

/* All that is to be sent: two all-gathers and a reduce-scatter of each layer. */
static bool sent_all(const check_case *c)
{
    unsigned long long all = 3 * layers_in[c->variant] * ((unsigned long long)c->ranks - 1);
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_sent(c, rank).messages_sent < all) return false;
    return all > 0;
}

static bool sends_less(const check_case *c)
{
    unsigned long long all = 3 * layers_in[c->variant] * ((unsigned long long)c->ranks - 1);
    return check_sent(c, 0).messages_sent < all;
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

/* Which numbers of this rank's chunk were put where, before the chunks of all ranks went round. */
enum {
    GATHERED,
    NOT_GATHERED,
    TO_0,
    AN_EIGHTH,
    HALF,
    OF_LAYERS,
    BY_LAYER,
    COUNT_OF_0,
    BY_LENGTH,
    ROUNDED_DOWN,
    LENGTH_ONLY,
    NOTHING,
    GATHERS
};

static const struct {
    const char *key, *words;
} gathers[GATHERS] = {
    [NOT_GATHERED] = {"gather", "each rank has its own chunk of the layer's weights only: those of the others have not "
                                "come."},
    [TO_0] = {"place", "only chunk 0 is right. Rank r's chunk begins at element `first` of the whole layer: was it put "
                       "to the beginning, on every rank?"},
    [AN_EIGHTH] = {"bytes", "only an eighth of each chunk has come. memcpy counts bytes, not numbers, and a double has "
                            "8 of them."},
    [HALF] = {"bytes",
              "only half of each chunk has come, as if a number had 4 bytes. memcpy counts bytes, not numbers, "
              "and a double has 8 of them."},
    [OF_LAYERS] = {"chunk", "each chunk has only as many numbers, and lies there, as if it were a chunk of the "
                            "network's layers. It is one of the layer's counts[layer] weights."},
    [BY_LAYER] = {"chunk", "each rank has put its weights where chunk `layer` would lie, if there were as many chunks "
                           "as layers. There are as many as ranks, and a rank's is that of its number."},
    [COUNT_OF_0] = {"chunk", "each rank's chunk lies, and is as long, as in layer 0: ring_chunk was asked with another "
                             "layer's count."},
    [BY_LENGTH] = {"place", "each rank's chunk was put to rank * length. The first chunks may be longer by one, so it "
                            "begins at `first`, as ring_chunk says."},
    [ROUNDED_DOWN] = {"place",
                      "chunks were taken to be count / n long, rounded down: the first count mod n of them are "
                      "longer by one."},
    [LENGTH_ONLY] = {"gather.length", "the all-gather brought together only so many numbers as a chunk has: it is told "
                                      "the number of the whole layer, and knows itself which chunk is whose."},
    [NOTHING] = {"gather.own", "nothing of the layer's weights has come: a rank's own chunk was not put in before it "
                               "was gathered, or to another place."}};

/* Where rank q has put how many of its numbers. */
static void placed(const check_case *c, int way, size_t layer, int q, size_t *first, size_t *length)
{
    size_t count = counts_in[c->variant][layer], layers = layers_in[c->variant];
    *first = ring_begin(count, c->ranks, q), *length = ring_length(count, c->ranks, q);
    switch (way) {
    case TO_0: *first = 0; break;
    case AN_EIGHTH: *length /= 8; break;
    case HALF: *length /= 2; break;
    case OF_LAYERS: *first = ring_begin(layers, c->ranks, q), *length = ring_length(layers, c->ranks, q); break;
    case BY_LAYER:
        *first = ring_begin(count, (int)layers, (int)layer);
        *length = ring_length(count, (int)layers, (int)layer);
        break;
    case COUNT_OF_0:
        *first = ring_begin(counts_in[c->variant][0], c->ranks, q);
        *length = ring_length(counts_in[c->variant][0], c->ranks, q);
        break;
    case BY_LENGTH: *first = (size_t)q * *length; break;
    case ROUNDED_DOWN: *length = count / (size_t)c->ranks, *first = (size_t)q * *length; break;
    case NOTHING: *length = 0; break;
    default: break;
    }
}

/* What rank q has at a place before the gather; NAN: what was there before. */
static double put(const check_case *c, int way, size_t layer, int q, size_t i)
{
    size_t first, length, own = length_of(c, q, layer), begin = ring_begin(counts_in[c->variant][layer], c->ranks, q);
    placed(c, way, layer, q, &first, &length);
    if (i < first || i - first >= (length < own ? length : own)) return NAN;
    return weight_of(c, layer, begin + i - first);
}

static double gathered(const check_case *c, int way, size_t layer, int rank, size_t i)
{
    size_t count = counts_in[c->variant][layer], length = length_of(c, 0, layer);
    if (way == LENGTH_ONLY) return put(c, way, layer, i < length ? ring_owner(length, c->ranks, i) : rank, i);
    return put(c, way, layer, way == NOT_GATHERED ? rank : ring_owner(count, c->ranks, i), i);
}

/* Is that what every rank has? What was not filled is as malloc or calloc has left it; or not right, at least. */
static bool gathered_so(const check_case *c, const char *name, size_t layer, int way, bool unused)
{
    bool differs = false;
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < counts_in[c->variant][layer]; i++) {
            double has = check_element(c, rank, name, i), is = gathered(c, way, layer, rank, i);
            bool right = has == weight_of(c, layer, i);
            differs |= !right;
            if (isnan(is) ? unused ? has != 0 && has != made_of_fresh(DTYPE_F64) : right : has != is) return false;
        }
    return differs;
}

static int gather_of(const check_case *c, const char *name, size_t layer)
{
    for (int way = GATHERED + 1; way < GATHERS; way++)
        if (gathered_so(c, name, layer, way, true)) return way;
    for (int way = NOT_GATHERED; way <= TO_0; way++)
        if (gathered_so(c, name, layer, way, false)) return way;
    return GATHERED;
}

static bool all_left_there(const check_case *c, const char *name)
{
    for (size_t i = 0; i < counts_in[c->variant][layer_judged]; i++)
        if (check_element(c, 0, name, i) != left_there) return false;
    return true;
}

static bool weights(const check_case *c, double call)
{
    char name[ROOM];
    size_t layer = layer_judged = (size_t)call % BACKWARD;
    name_of(name, call);
    if (check_values(c, "weights", name, NULL, count_weights, want_weights)) return true;
    int way = gather_of(c, name, layer);
    if (all_left_there(c, name))
        return check_fail(
            c, "gather.gradients",
            "In %s the weights are what network->gradients[layer] held: gradients[layer] is for what comes "
            "out, and this rank's chunk of the weights is weights[layer].",
            name);
    if (way == NOTHING && call >= BACKWARD && sent_all(c) &&
        check_number_of(c, 0, "gathers") == (double)layers_in[c->variant])
        return check_fail(c, "gather.late",
                          "In %s there is nothing in what backward was given for the weights: it was called before the "
                          "layer was gathered for it.",
                          name);
    if (way == NOTHING && call >= BACKWARD && sent_all(c))
        return check_fail(c, "swapped",
                          "In %s there is nothing in what backward was given for the weights, though the layer was "
                          "gathered a second time: to another buffer. Are whole and gradient exchanged?",
                          name);
    if (way == NOTHING && sends_less(c))
        return check_fail(
            c, "gather.again",
            "In %s there is nothing of the layer's weights, and fewer messages were sent than two gathers "
            "and a reduce-scatter need: was the layer gathered for %s?",
            name, call < BACKWARD ? "forward" : "backward");
    if (way) return check_fail(c, gathers[way].key, "In %s %s", name, gathers[way].words);
    check_also(c, "These are the weights that %s was called with.", name);
    return false;
}

/* ---- Gradients ---- */

enum {
    RIGHT,
    SUM,
    OWN,
    OWN_FROM_0,
    MEAN_FROM_0,
    DIVIDED_TWICE,
    WEIGHTS,
    WEIGHTS_FROM_0,
    GRADIENT_EIGHTH,
    GRADIENT_HALF,
    NO_GRADIENT,
    ADDED,
    WAYS
};

static const struct {
    const char *key, *words;
} gradient_ways[WAYS] = {
    [SUM] = {"sum", "The gradients of all ranks were added up, and not divided by the number of ranks."},
    [OWN] = {"own", "Each chunk has its owner's gradient only: those of the other ranks are not in it."},
    [OWN_FROM_0] = {"from_0", "Only rank 0's chunks are right: the others were taken from the beginning of the layer's "
                              "gradient, where the reduce-scatter has left this rank's own numbers."},
    [MEAN_FROM_0] =
        {"from_0", "Only rank 0's chunks are right: the others were taken from the beginning of the layer's gradient."},
    [DIVIDED_TWICE] = {"divided_twice", "The mean gradient was divided by the number of ranks once more."},
    [WEIGHTS] = {"swapped", "gradients[layer] has this rank's chunk of the weights: whole was copied, and not the "
                            "gradient."},
    [WEIGHTS_FROM_0] = {"swapped", "gradients[layer] has the first weights of the layer: whole was copied, and not the "
                                   "gradient."},
    [GRADIENT_EIGHTH] = {"bytes", "Only an eighth of each chunk of the gradient has come to gradients[layer]. memcpy "
                                  "counts bytes, not numbers, and a double has 8 of them."},
    [GRADIENT_HALF] = {"bytes", "Only half of each chunk of the gradient has come to gradients[layer], as if a number "
                                "had 4 bytes. memcpy counts bytes, not numbers, and a double has 8 of them."},
    [NO_GRADIENT] = {"values", "gradients[layer] is as it was before, of every layer: nothing was copied to it."},
    [ADDED] = {"added", "The mean gradient was added to what gradients[layer] held before. It is to be set."}};

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

/* Number i of the chunk of layer l, whose first number is `first` in the whole layer. */
static double gradient_by(const check_case *c, int way, int rank, size_t l, size_t first, size_t i)
{
    size_t length = length_of(c, rank, l);
    double mean = mean_gradient(c, l, way == MEAN_FROM_0 ? i : first + i);
    switch (way) {
    case OWN: return own_gradient(c, rank, l, first + i);
    case OWN_FROM_0: return rank ? own_gradient(c, rank, l, i) : mean;
    case SUM: return mean * c->ranks;
    case DIVIDED_TWICE: return mean / c->ranks;
    case WEIGHTS: return weight_of(c, l, first + i);
    case WEIGHTS_FROM_0: return weight_of(c, l, i);
    case GRADIENT_EIGHTH: return i < length / 8 ? mean : left_there;
    case GRADIENT_HALF: return i < length / 2 ? mean : left_there;
    case NO_GRADIENT: return left_there;
    case ADDED: return mean + left_there;
    default: return mean;
    }
}

static void compute(const check_case *c, int way, int rank, double *numbers)
{
    for (size_t l = 0; l < layers_in[c->variant]; l++) {
        size_t first = ring_begin(counts_in[c->variant][l], c->ranks, rank);
        for (size_t i = 0; i < length_of(c, rank, l); i++) *numbers++ = gradient_by(c, way, rank, l, first, i);
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

static size_t longest_of(const check_case *c, size_t *all)
{
    size_t longest = *all = 0;
    for (size_t l = 0; l < layers_in[c->variant]; l++) {
        size_t count = counts_in[c->variant][l];
        longest = count > longest ? count : longest;
        *all += count;
    }
    return longest;
}

/* Up to the last forward so many layers at the same time, and a chunk; at the end so many, and a chunk. */
static bool memory_of(const check_case *c, const char *name, size_t layers, const char *enough)
{
    size_t all, longest = longest_of(c, &all);
    size_t most = (layers * longest + ring_length(longest, c->ranks, 0)) * sizeof(double) + SLACK;
    for (int rank = 0; rank < c->ranks; rank++) {
        double peak = check_number_of(c, rank, name);
        if (!(peak > (double)most) || check_number_of(c, rank, "left") > 0) continue; /* a leak says so itself */
        return check_fail(c, "kept",
                          "%s rank %d had %.0f bytes of memory at the same time. The largest layer has %zu weights, "
                          "%zu bytes; %s. All layers together have %zu bytes%s",
                          layers == 1 ? "In forward" : "In all,", rank, peak, longest, longest * sizeof(double), enough,
                          all * sizeof(double),
                          peak >= (double)(all * sizeof(double)) ? ": were they all whole at once?"
                          : layers == 1 ? ": is a layer given back before the next one is gathered?"
                                        : ".");
    }
    return true;
}

static bool memory(const check_case *c)
{
    return memory_of(c, "forward peak", 1, "it, and a chunk of it, are enough there") &&
           memory_of(c, "peak", 2, "it, its gradient and a chunk of it are enough");
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
        if (!weights(c, call_at(c, i))) {
            ring_by_hand_explain(c);
            return;
        }
    if (!ways_right(&gradients, c, NULL)) {
        int way = ways_find(&gradients, c);
        if (check_number_of(c, 0, "same") > 0) {
            check_fail(c, "swapped",
                       "Backward was given one buffer for the weights and for the gradient: it sets the "
                       "second from the first.");
            return;
        }
        if (way >= 0) check_fail(c, gradient_ways[way].key, "%s", gradient_ways[way].words);
        if (way == OWN && sent_all(c))
            check_also(c, "As many messages were sent as with a reduce-scatter: was it that of another buffer, "
                          "or before backward had set the gradient? Or is the chunk copied before it?");
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
                                                    .counts_memory = true,
                                                    .library = CHECK_LIBRARY_ALL,
                                                    .cases = cases,
                                                    .run = run,
                                                    .judge = judge,
                                                    .judge_ended = ring_by_hand_explain};
