/* SPDX-License-Identifier: MIT */
/*
 * Top-k: of each bucket every rank sends the k numbers of largest magnitude, with their places, to all others; the rest
 * stays in its error. Two ranks, k = 2:
 *
 *      rank 0    0.1  -3   0.2   2   0      sends (1, -3) (3, 2)          both then have
 *      rank 1    4     1   0     0   0.5    sends (0, 4) (1, 1)           4  -2  0  2  0
 *
 * A place and a number are 8 bytes. They are gathered round the ring: each rank sends n - 1 blocks of 8 k bytes. An
 * all-reduce of f32 sends 2(n-1)/n of 4 bytes a number, so with n ranks and a share of k = s count this sends s n times
 * as much: with many ranks the ring wins again, since places differ from rank to rank and nothing can be combined on
 * the way. Sums are made in the order of the ranks: the same bits on all.
 *
 * Aji and Heafield, "Sparse communication for distributed gradient descent", 2017; Stich, Cordonnier and Jaggi,
 * "Sparsified SGD with memory", 2018.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/compress.h"

enum { BINS = 1 << 16 };

typedef struct {
    uint32_t place;
    float number;
} choice;

_Static_assert(sizeof(choice) == sizeof(int64_t), "a choice travels as DTYPE_I64");

size_t train__topk_chosen(size_t count, float share)
{
    double wanted = (double)count * (double)share;
    size_t chosen = wanted > 1 ? (size_t)(wanted + 0.5) : 1;
    return chosen < count ? chosen : count;
}

bool train__topk_open(train__compressor *c)
{
    size_t most = train__topk_chosen(c->model->parameters, c->options->compress.share);
    c->bins = malloc(BINS * sizeof *c->bins);
    c->chosen = malloc((size_t)(p2p_size(c->comm) + 1) * most * sizeof(choice));
    c->reduce = train__topk_reduce;
    return c->bins && c->chosen;
}

/* ---- Which k: their magnitudes, as bits, are in the order of numbers; NaN is above all ---- */

static uint32_t magnitude(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffff;
}

/* Count by 16 bits, from the shift, those whose bits above are `above`; then the bin in which the k-th largest is. k
 * becomes its number within that bin. */
static uint32_t find_bin(uint32_t bins[BINS], const float *numbers, size_t count, int shift, uint32_t above, size_t *k)
{
    uint32_t bin = BINS;
    memset(bins, 0, BINS * sizeof *bins);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = magnitude(numbers[i]);
        if (shift || bits >> 16 == above) bins[bits >> shift & 0xffff]++;
    }
    while (bins[--bin] < *k) *k -= bins[bin];
    return bin;
}

/* All that are above the k-th largest, and of those that are equal to it the first ones. */
static void choose(train__compressor *c, float *numbers, size_t count, size_t k, choice *chosen)
{
    size_t equal = k, used = 0;
    uint32_t high = find_bin(c->bins, numbers, count, 16, 0, &equal);
    uint32_t least = high << 16 | find_bin(c->bins, numbers, count, 0, high, &equal);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = magnitude(numbers[i]);
        if (bits < least || (bits == least && !equal)) continue;
        if (bits == least) equal--;
        chosen[used++] = (choice){(uint32_t)i, numbers[i]};
        numbers[i] = 0;
    }
}

p2p_err train__topk_reduce(train__compressor *c, float *gradients, size_t first, size_t count)
{
    size_t k = train__topk_chosen(count, c->options->compress.share), ranks = (size_t)p2p_size(c->comm);
    choice *mine = c->chosen, *all = mine + k;
    float *to_send = c->error + first, *sum = gradients + first;
    for (size_t i = 0; i < count; i++) to_send[i] += sum[i];
    choose(c, to_send, count, k, mine);
    p2p_err err = coll_all_gather(c->comm, mine, all, k, DTYPE_I64);
    memset(sum, 0, count * sizeof *sum);
    for (size_t i = 0; i < ranks * k && !err; i++) sum[all[i].place] += all[i].number;
    return err;
}
