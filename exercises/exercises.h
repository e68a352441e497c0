/* SPDX-License-Identifier: MIT */
/*
 * exercises: every function you will write, in the order of the course. Each exercise has a page,
 * exercises/NN_name/README.md, which says more; 00_hello is a whole program and has nothing here.
 *
 * All of them are called by every rank of the communicator, with the same arguments unless said. They return P2P_OK, or
 * the first error a Pairwise call gave them; then, too, they have given back their memory. Requests that have begun are waited
 * for when another call fails (03, 06, 22); only where a request cannot even begin is returning its error at once as good.
 * What is not written yet returns P2P_ERR_TODO. Counts are elements of the type, bytes are bytes. Any number of ranks, one
 * included, and any count, zero included, unless said.
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

#endif
