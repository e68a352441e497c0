/* SPDX-License-Identifier: MIT */
/*
 * exercises: every function you will write, in the order of the course. Each exercise has a page,
 * exercises/NN_name/README.md, which says more; 00_hello is a whole program and has nothing here.
 *
 * All of them are called by every rank of the communicator, with the same arguments unless said. They return P2P_OK, or
 * the first error a Pairwise call gave them; then, too, they have given back their memory. Requests that have begun are
 * waited for when another call fails (03, 06, 22, 29 to 31); only where a request cannot even begin is returning its
 * error at once as good. What is not written yet returns P2P_ERR_TODO. Counts are elements of the type, bytes are bytes.
 * Any number of ranks, one included, and any count, zero included, unless said.
 */
#ifndef PAIRWISE_EXERCISES_H
#define PAIRWISE_EXERCISES_H

#include "dtype/dtype.h"
#include "p2p/p2p.h"

/* ---- 01_send_recv ---- */

/* Rank `from`'s count elements arrive in rank `to`'s buf. All other ranks do nothing, and no rank does anything if from
 * and to are the same rank. */
p2p_err my_send_recv(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int from, int to);

/* ---- 02_ping_pong ---- */

/* `rounds` times: rank 0 sends its buf to rank 1, and rank 1, which receives it in its own buf, sends it back. On rank 0
 * *seconds is what one message took, half a round, on average; elsewhere it is left alone. Ranks from 2 on do nothing.
 * At least two ranks and one round. */
p2p_err my_ping_pong(p2p_comm *comm, void *buf, size_t bytes, int rounds, double *seconds);

/* The straight line seconds = latency + bytes / bandwidth that has the least sum of squared errors over `count`
 * measurements: *latency in seconds, *bandwidth in bytes a second. At least two different sizes. Sends nothing. */
p2p_err my_fit(const size_t bytes[], const double seconds[], size_t count, double *latency, double *bandwidth);

/* ---- 03_deadlock ---- */

/* This rank and `peer`, whose peer is this rank, give each other `bytes` bytes: mine to it, its to theirs. Three ways:
 * in an order that both keep (two messages one after the other); with p2p_sendrecv; with p2p_isend. */
p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer);
p2p_err my_exchange_sendrecv(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer);
p2p_err my_exchange_isend(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer);

/* ---- 04_tags_and_probe: called by the receiving rank alone ---- */

/* Rank `source` sends `count` messages of one int each, in an order of its own; their tags are those in tags[], all
 * different. Receive them in the order of tags[]: values[i] is the one with tag tags[i]. */
p2p_err my_pick(p2p_comm *comm, int source, const int tags[], size_t count, int values[]);

/* Receive one message of any length from source (or P2P_ANY_SOURCE) with tag (or P2P_ANY_TAG). *data is memory from
 * malloc, which the caller frees; *status says from whom it came, its tag and its length. On an error both are left alone. */
p2p_err my_recv_unknown(p2p_comm *comm, int source, int tag, void **data, p2p_status *status);

/* ---- 05_token_ring ---- */

/* Rank 0's *token goes `laps` times round the ring, 0 to 1 to 2 ... to n-1 and back to 0; each rank adds rank + 1 to it
 * before it passes it on. *token becomes, on rank 0, what came back last; on others, what they passed on last. With one
 * rank there is no other to pass it to. */
p2p_err my_token_ring(p2p_comm *comm, int64_t *token, int laps);

/* ---- 06_isend_irecv ---- */

/* On a ring: to_left goes to the left-hand neighbour, to_right to the right-hand one; what they send here arrives in
 * from_left and from_right. Each is `bytes` long. With two ranks both neighbours are the same one, with one rank one's own self. */
p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes);

/* ---- 07_barrier ---- */

/* Returns on no rank before every rank has called it: dissemination, ceil(log2 n) rounds. */
p2p_err my_barrier(p2p_comm *comm);

/* ---- 08_broadcast ---- */

/* The root's count elements arrive in everyone's buf: the root sends to each other rank. */
p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);

/* ---- 09_tree_broadcast ---- */

/* As my_broadcast, in ceil(log2 n) rounds: in each round everyone who has the data passes it to one who has not. */
p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);

/* ---- 10_reduce ---- */

/* buf[i] at the root becomes the sum, mean, minimum or maximum of everyone's buf[i]. The other ranks' buffers are only
 * read. op is OP_SUM, OP_MEAN (with f32 and f64), OP_MIN or OP_MAX, here and below. */
p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);

/* ---- 11_all_reduce ---- */

/* buf[i] becomes the combination of everyone's buf[i], on every rank, the same bits: a reduce and a broadcast. */
p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- 12_scatter_gather: rank q's shard has counts[q] elements, the same array on every rank. In the whole the shards lie
 *      one behind the other, in rank order. The whole matters at the root only, and is elsewhere NULL. ---- */

/* Rank q's shard of the root's whole arrives in shard on rank q. */
p2p_err my_scatter(p2p_comm *comm, const void *whole, const size_t counts[], void *shard, enum dtype dtype, int root);

/* shard on rank q arrives in its place in the root's whole. */
p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root);

/* ---- 13_recursive_doubling ---- */

/* As my_all_reduce, in log2 n rounds if n is a power of two, else in floor(log2 n) + 2. */
p2p_err my_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- 14_ring_reduce_scatter ---- */

/* Chunk c of n (0 <= c < n): elements [*first, *first + *length) of count. The first count mod n chunks have one element more
 * than the others. */
void my_chunk(size_t count, int n, int c, size_t *first, size_t *length);

/* On rank r chunk r of buf becomes the combination of everyone's chunk r; what the rest of buf holds then does not matter.
 * Each rank sends to its right-hand neighbour only, n - 1 messages of one chunk. */
p2p_err my_ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- 15_ring_all_gather ---- */

/* From chunk r of buf on rank r to the whole buf on every rank; to the right only, n - 1 messages of one chunk. */
p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype);

/* ---- 16_ring_all_reduce ---- */

/* As my_all_reduce; to the right only, 2(n - 1) messages of one chunk. */
p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- 17_predict: arithmetic, which no rank is needed for ---- */

/* Of one all-reduce: messages and bytes that the rank which sends most sends; seconds until the last rank is done. */
typedef struct {
    double messages, bytes, seconds;
} my_cost;

/* A message of b bytes takes latency + b / bandwidth (seconds; bytes a second). A rank sends one message at a time, and
 * receives one at a time meanwhile. Combining takes no time. `bytes` is the length of the buffer. */
my_cost my_naive_cost(int ranks, double bytes, double latency, double bandwidth);
my_cost my_tree_cost(int ranks, double bytes, double latency, double bandwidth);
my_cost my_ring_cost(int ranks, double bytes, double latency, double bandwidth);

/* The length in bytes from which on the ring is quicker than the tree. 0 if it always is; at least two ranks. */
double my_break_even(int ranks, double latency, double bandwidth);

/* ---- 18_toy_model ---- */

/* One step of training on all ranks together. This rank's example is (x, y), its prediction *w * x, its loss
 * (*w * x - y)^2. The gradients of all ranks' losses, combined with op (OP_SUM or OP_MEAN), are taken from *w, times `rate`. */
p2p_err my_toy_step(p2p_comm *comm, double *w, double x, double y, double rate, enum op op);

/* ---- 19_shard_data: arithmetic again, no messages: all ranks come to the same conclusion by themselves ---- */

/* Given: a random number, and the state for the next one. The same state gives the same numbers everywhere. (splitmix64,
 * Steele, Lea, Flood 2014) */
static inline uint64_t my_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* order[] becomes the numbers 0 to count - 1, mixed: the same for the same seed and epoch, another one for each epoch. */
void my_shuffle(size_t order[], size_t count, uint64_t seed, uint64_t epoch);

/* Of `count` examples in an order, rank r of n takes those at r, r + n, r + 2n, ...: how many are they, and which? */
size_t my_shard_size(size_t count, int ranks, int rank);
void my_shard(const size_t order[], size_t count, int ranks, int rank, size_t mine[]);

/* ---- 20_data_parallel_step ---- */

/* Given: examples of `features` numbers each, x[i * features] and on, with what is to be predicted for each, y[i]. */
typedef struct {
    size_t count, features;
    const double *x; // (count, features)
    const double *y; // (count)
} my_examples;

/* Given: a model of two tensors in one buffer: weight (features numbers), then bias (one). gradient becomes the gradient of
 * the mean squared error over these examples: the mean, as training libraries have it. Zero if there are no examples. */
static inline void my_model_gradient(const double *parameters, const my_examples *e, double *gradient)
{
    for (size_t f = 0; f <= e->features; f++) gradient[f] = 0;
    for (size_t i = 0; i < e->count; i++) {
        const double *x = e->x + i * e->features;
        double error = parameters[e->features] - e->y[i];
        for (size_t f = 0; f < e->features; f++) error += parameters[f] * x[f];
        for (size_t f = 0; f < e->features; f++) gradient[f] += 2 * error * x[f] / (double)e->count;
        gradient[e->features] += 2 * error / (double)e->count;
    }
}

/* Every rank begins with rank 0's parameters. */
p2p_err my_share_parameters(p2p_comm *comm, double *parameters, size_t count);

/* One step on all ranks' examples together, as one rank that had them all would do it: each example counts the same,
 * though ranks may have different numbers of them, or none. parameters -= rate * gradient. */
p2p_err my_data_parallel_step(p2p_comm *comm, double *parameters, const my_examples *mine, double rate);

/* ---- 21_buckets ---- */

/* Every tensor becomes its mean over all ranks (ring_all_reduce, OP_MEAN), in few messages: from the last tensor to the
 * first they are put into a bucket one behind the other, as long as it stays within `bucket` bytes; then the whole bucket is
 * reduced, and the next one begun. A tensor that is larger than a bucket goes by itself. bucket 0: each by itself. */
p2p_err my_sync_buckets(p2p_comm *comm, float *const tensors[], const size_t counts[], size_t tensor_count,
                        size_t bucket);

/* ---- 22_overlap ---- */

/* Given: a network of `layers` layers. backward(model, l) computes layer l's gradient, counts[l] numbers, into
 * gradients[l]; it needs that of layer l + 1 to have been computed before, and takes a while. */
typedef struct my_model {
    size_t layers;
    void (*backward)(const struct my_model *model, size_t layer);
    float *const *gradients;
    const size_t *counts;
    void *self; /* for backward's own use */
} my_model;

/* The backward pass over all layers, from the last to the first; when it returns, every gradient is its mean over all
 * ranks. Each one's all-reduce (ring_iall_reduce) goes on while the next layers are computed. At most 64 layers. */
p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model);

/* ---- 23_resnet_trainer: what the real trainer calls ---- */

/* Everyone's buf becomes the root's. The trainer gives it parameters and statistics, f32. */
p2p_err my_first_weights(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);

/* Of positions 0 to count - 1, those that this rank of `size` takes; together the ranks take each exactly once, and shares
 * differ by one at most. mine has room for count. Returns how many they are. */
size_t my_share_of_images(size_t count, int rank, int size, size_t mine[]);

/* buf[i] becomes the combination of everyone's buf[i], the same bits on every rank. The trainer asks for OP_SUM: each rank's
 * gradient is its part of the mean already. */
p2p_err my_gradient_sum(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* What an evaluation adds up over images. */
typedef struct {
    double loss; /* the sum of their losses */
    int64_t correct, total;
} my_score;

/* Each rank's score is that of its share of the test images; it becomes the score of all of them, on every rank. */
p2p_err my_whole_score(p2p_comm *comm, my_score *score);

/* ---- 24_accumulate ---- */

/* One step on examples that come in `count` small batches, one behind the other: what my_data_parallel_step does on all
 * batches of all ranks together. Each example counts the same, though batches have different numbers of them, and ranks
 * different numbers of batches, or none. All have `features` features. One all-reduce. */
p2p_err my_accumulated_step(p2p_comm *comm, double *parameters, size_t features, const my_examples batches[],
                            size_t count, double rate);

/* ---- 25_sharded_optimizer ---- */

/* One step of gradient descent with momentum, whose state is divided. Every rank has the same parameters, `count`
 * numbers, and a gradient of its own, as many, which may be overwritten. velocity has numbers for this rank's chunk of
 * them only (ring_chunk). Of the mean g of all ranks' gradients each rank does its chunk's part: velocity = momentum *
 * velocity + g; parameters -= rate * velocity. Then every rank has all parameters, with the bits that they would have
 * after a ring_all_reduce of the gradient with OP_MEAN. */
p2p_err my_sharded_step(p2p_comm *comm, double *parameters, double *gradient, double *velocity, size_t count,
                        double rate, double momentum);

/* ---- 26_sharded_parameters ---- */

/* Given: a network whose weights are divided. weights[l] is this rank's chunk (ring_chunk) of the counts[l] weights of
 * layer l, gradients[l] has room for as many. forward(network, l, whole) and backward(network, l, whole, gradient) are
 * called with all weights of layer l; backward sets the counts[l] numbers of this rank's gradient, in another buffer than
 * whole. They keep neither. */
typedef struct my_sharded_network {
    size_t layers;
    const size_t *counts;
    const double *const *weights;
    double *const *gradients;
    void (*forward)(const struct my_sharded_network *network, size_t layer, const double *whole);
    void (*backward)(const struct my_sharded_network *network, size_t layer, const double *whole, double *gradient);
    void *self; /* for their own use */
} my_sharded_network;

/* Forward through all layers, from the first to the last, and backward, from the last to the first. Afterwards
 * gradients[l] is this rank's chunk of the mean of all ranks' gradients. At no time are there whole weights of more
 * than one layer on a rank, or whole gradients of more than one. */
p2p_err my_sharded_pass(p2p_comm *comm, const my_sharded_network *network);

/* ---- 27_tensor_parallel ---- */

/* Given: products of matrices, which lie row by row. c (rows, columns) += a (rows, inner) b (inner, columns). With _at,
 * a lies there transposed, (inner, rows); with _bt, b does, (columns, inner). */
static inline void my_multiply(double *c, const double *a, const double *b, size_t rows, size_t inner, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++)
            for (size_t j = 0; j < columns; j++) c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
}

static inline void my_multiply_at(double *c, const double *a, const double *b, size_t rows, size_t inner,
                                  size_t columns)
{
    for (size_t k = 0; k < inner; k++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++) c[i * columns + j] += a[k * rows + i] * b[k * columns + j];
}

static inline void my_multiply_bt(double *c, const double *a, const double *b, size_t rows, size_t inner,
                                  size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            for (size_t k = 0; k < inner; k++) c[i * columns + j] += a[i * inner + k] * b[j * inner + k];
}

/* Given: two layers, y = relu(x a + a_bias) b + b_bias; or the gradients of their weights. */
typedef struct {
    size_t inputs, hidden, outputs;
    double *a;      // (inputs, hidden)
    double *a_bias; // (hidden)
    double *b;      // (hidden, outputs)
    double *b_bias; // (outputs)
} my_perceptron;

/* This rank's part of the whole: of the hidden numbers those from `first` on, part->hidden of them: these columns of a,
 * these elements of a_bias, these rows of b. b_bias is whole on every rank. part's memory is there already. */
void my_cut(const my_perceptron *whole, size_t first, my_perceptron *part);

/* x (batch, inputs) is the same on all ranks, and so y (batch, outputs) becomes. h (batch, part->hidden) becomes this
 * rank's part of what is between the layers. One all-reduce. */
p2p_err my_tensor_forward(p2p_comm *comm, const my_perceptron *part, size_t batch, const double *x, double *h,
                          double *y);

/* From dy, the gradient of y, which is the same on all ranks: the gradients of this rank's part of the weights, and dx
 * (batch, inputs), the same on all ranks. One all-reduce. */
p2p_err my_tensor_backward(p2p_comm *comm, const my_perceptron *part, size_t batch, const double *x, const double *h,
                           const double *dy, my_perceptron *gradient, double *dx);

/* ---- 28_attention_heads ---- */

/* Given: y = x + heads(norm(x)), for a sequence of `tokens` tokens of `width` numbers each. norm sets out to the norm
 * of `count` tokens, each by itself; out may be x. add_head adds to out (tokens, width) what one head makes of x, all
 * tokens of the sequence; each rank has the weights of its own heads only, which are a chunk of all (ring_chunk of
 * heads). */
typedef struct my_attention {
    size_t tokens, width, heads;
    void (*norm)(const struct my_attention *attention, size_t count, const double *x, double *out);
    void (*add_head)(const struct my_attention *attention, size_t head, const double *x, double *out);
    void *self; /* for their own use */
} my_attention;

/* x (tokens, width) is the same on all ranks, and so y becomes. One all-reduce. */
p2p_err my_attention_heads(p2p_comm *comm, const my_attention *attention, const double *x, double *y);

/* x and y are this rank's tokens only, a chunk of all (ring_chunk of tokens). Each rank norms its own. One all-gather
 * and one reduce-scatter, of whole tokens. */
p2p_err my_attention_tokens(p2p_comm *comm, const my_attention *attention, const double *x, double *y);

/* ---- 29_pipeline ---- */

/* Given: this rank's stage of a network that is cut into as many stages as there are ranks, and a batch in `count`
 * micro-batches. At each cut a micro-batch is `width` numbers. forward takes what the stage before has made of
 * micro-batch b, and sets out for the next one; the first stage has the examples, in is NULL there; the last has the
 * loss, out is NULL there. backward takes the gradient of what forward has set, NULL on the last stage, and sets that
 * of what it took, NULL on the first. Both take a while, and copy what they need later. */
typedef struct my_stage {
    size_t count, width;
    void (*forward)(const struct my_stage *stage, size_t b, const double *in, double *out);
    void (*backward)(const struct my_stage *stage, size_t b, const double *gradient_out, double *gradient_in);
    void *self; /* for their own use */
} my_stage;

/* Forward of all micro-batches, from 0 on, then backward of all, from the last to 0. What is computed goes to the next
 * rank at once, and to no other: a message for each micro-batch and cut in each direction. */
p2p_err my_pipeline(p2p_comm *comm, const my_stage *stage);

/* ---- 30_one_f_one_b ---- */

/* The same gradients, in no more time; but backward of a micro-batch begins as soon as it can, so that rank r of n has
 * at most n - r micro-batches that went forward and not back. Micro-batches go in their order in both directions, 0
 * first. */
p2p_err my_one_f_one_b(p2p_comm *comm, const my_stage *stage);

/* ---- 31_ring_attention ---- */

/* Given: this rank's part of a sequence of `tokens` tokens, which is cut between the ranks (ring_chunk of tokens): a
 * key and a value of each of its tokens, a block. score sets scores (this rank's tokens, count) to how well the query
 * of each of this rank's tokens fits each of `count` keys. It takes a while. */
typedef struct my_sequence {
    size_t tokens, width;
    const double *keys, *values; // (this rank's tokens, width)
    void (*score)(const struct my_sequence *sequence, size_t count, const double *keys, double *scores);
    void *self; /* for score's own use */
} my_sequence;

/* out (this rank's tokens, width) becomes, for each of this rank's tokens, the mean of the values of all tokens, in
 * which each counts exp(score of its key). Each block goes round the ring once, to rank + 1 and no other, keys and
 * values in one message; while a block is used, the next one comes. No rank ever holds all of them. */
p2p_err my_ring_attention(p2p_comm *comm, const my_sequence *sequence, double *out);

/* ---- 32_experts ---- */

/* Given: every rank has one expert. apply sets y (count, width) to what this rank's expert makes of x (count, width),
 * each token by itself; x and y may be the same. It takes a while for each call, and for each token. */
typedef struct my_experts {
    size_t width, capacity;
    void (*apply)(const struct my_experts *experts, size_t count, const double *x, double *y);
    void *self; /* for apply's own use */
} my_experts;

/* Of this rank's `count` tokens x (count, width) token i is for the expert of rank to[i]. y (count, width) becomes what
 * the experts make of them, each token's at its own place. Of a rank's tokens for one expert only the first `capacity`
 * go there; the others stay as they are, y is x. One message to each other rank with the number of tokens, one with the
 * tokens, and one back, and no token that is not there; the expert is called once for all that have come. */
p2p_err my_apply_experts(p2p_comm *comm, const my_experts *experts, size_t count, const int to[], const double *x,
                         double *y);

/* ---- 33_hierarchical ---- */

/* buf becomes the mean of all ranks' buf, the same bits on every rank. Ranks live on hosts: rank q on host hosts[q],
 * which is below the number of ranks; hosts have different numbers of ranks, which need not follow one another, and a
 * number may belong to no host. Of each host only its first rank, its leader, sends to other hosts: the leaders add up
 * round a ring, 2(h-1) messages of a chunk for h hosts. All others send one message, to their leader, and get one. */
p2p_err my_hierarchical_mean(p2p_comm *comm, const int hosts[], double *buf, size_t count);

/* ---- 34_half_on_the_wire ---- */

/* bf16 is the upper half of a float: sign, exponent, and the first 7 bits of the fraction. To the nearest one; of two
 * that are equally near, to the one whose last bit is 0; NAN stays NAN. And back, which loses nothing. */
uint16_t my_to_bf16(float x);
float my_from_bf16(uint16_t half);

/* gradient becomes the sum of all ranks', the same bits on every rank, in 2 bytes a number wherever it is sent: chunk q
 * (ring_chunk of count) of each rank, its own too, rounded to bf16, to rank q; the sum of them, rounded again, to all.
 * What rounding takes away is kept, and added before the next call rounds: error (count) that of this rank's gradient,
 * sum_error (this rank's chunk) that of the sum. Both begin with zeros. Two messages to each other rank. */
p2p_err my_half_sum(p2p_comm *comm, float *gradient, size_t count, float *error, float *sum_error);

/* ---- 35_survive ---- */

/* Given: training whose momentum is divided, as in 25. gradient sets the gradient that this rank has in a step, from the
 * parameters that it begins with; it is the same each time it is called with the same. */
typedef struct my_training {
    size_t count; /* parameters */
    int steps;
    double rate, momentum;
    void (*gradient)(const struct my_training *training, int step, const double *parameters, double *gradient);
    void *self; /* for gradient's own use */
} my_training;

/* Steps 0 to steps - 1. All ranks begin with the same parameters, and end with those that the sum of all ranks' gradients
 * leads to: velocity = momentum * velocity + sum; parameters -= rate * velocity. Of the velocity, which begins with zeros,
 * each rank has its chunk only (ring_chunk). In a job that repairs itself (p2p_repair) a rank may die at any moment, after
 * that another one: the parameters have the same bits at the end, no rank takes more than two steps again for each
 * death, and *world is the world then. In a rank's new process the function is called from the beginning, and
 * parameters are those of the beginning. If two neighbours die at once, what they had is lost: P2P_ERR_STATE. */
p2p_err my_survive(p2p_comm **world, const my_training *training, double *parameters);

/* ---- 36_seven_mistakes ---- */

/* What can be wrong with a program in some orders of its messages only. */
enum my_mistake {
    MY_NOT_NAMED,
    MY_ARRIVAL,        /* that a message came first, second, ... is taken for who sent it */
    MY_NEXT_ROUND,     /* a message of the next round is taken for one of this round */
    MY_PROBED_ANOTHER, /* one message is probed, another one received */
    MY_ALREADY_TAKEN,  /* a receive from one rank waits for what a receive from any source has taken */
    MY_NOT_YET,        /* what has not come yet is taken for what never comes */
    MY_ROUNDED,        /* what is added up in another order is rounded to another sum */
    MY_ANOTHER_KIND    /* a message of another kind is taken, since any tag will do */
};

/* The mistake in each of the functions below, as it was handed in, in their order. */
extern const enum my_mistake my_names[7];

/* In each of them rank 0 receives, and the other ranks send. On rank 0 the results are set, on others nothing is. */

/* all[q] becomes rank q's number, rank 0's own included. */
p2p_err my_collect(p2p_comm *comm, double mine, double all[]);

/* sums[r] becomes the sum of all ranks' mine[r]: two rounds. */
p2p_err my_two_rounds(p2p_comm *comm, const double mine[2], double sums[2]);

/* sums[q] becomes the sum of rank q's numbers, of which each rank has its own `count`, at most MY_LETTER. */
enum { MY_LETTER = 16 };
p2p_err my_add_letters(p2p_comm *comm, const double *mine, size_t count, double sums[]);

/* *first becomes rank 1's number, *others the sum of those of ranks 2 and up; of two ranks or more. */
p2p_err my_first_and_others(p2p_comm *comm, double mine, double *first, double *others);

/* *sum becomes the sum of all ranks' numbers; rank 0 looks for a message before it receives one. */
p2p_err my_look_and_add(p2p_comm *comm, double mine, double *sum);

/* The same; numbers are added up in the order of ranks, so that the sum is the same to the bit each time. */
p2p_err my_exact_sum(p2p_comm *comm, double mine, double *sum);

/* The same; each rank behind its number says goodbye, by an empty message, and all goodbyes are received. */
p2p_err my_sum_and_goodbye(p2p_comm *comm, double mine, double *sum);

/* ---- 37_whole_trainer ---- */

/* What is to be trained; all else is as build/train does it by default (trainer/trainer.h). */
typedef struct {
    const char *model;    /* for train_describe */
    size_t images, tests; /* of the built-in set, train_data_synthetic */
    size_t batch;         /* images of a rank in each step; fewer where it has no more, none in the last one perhaps */
    uint64_t epochs, seed;
    int cores;        /* that each rank may use */
    const char *save; /* a file for the weights */
} my_run;

/* Train, on all ranks of comm: each begins with rank 0's weights and statistics, which train_initialise gives it. In every
 * epoch (from 1) the images come in the order of train_epoch_order, shuffled, of which train_shard gives each rank its
 * positions; they are augmented. A step, numbered from 1 through all epochs, is one of AdamW, lr 1e-3f, weight decay 1e-2f,
 * with the gradient of the mean over all ranks' images of that step: added up by ring_all_reduce, overlapped, in buckets of
 * 25 MiB. At the end all ranks get the statistics of rank 0, every test image is evaluated on one of them, and *score becomes
 * the score of all. Rank 0 saves the weights, once, and tells train_save_weights how many of its own batches had images:
 * one without is not counted. */
p2p_err my_whole_trainer(p2p_comm *comm, const my_run *run, my_score *score);

#endif
