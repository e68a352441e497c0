/* SPDX-License-Identifier: MIT */
// what: gathers all keys, and then goes from block to block
// expect: bytes of memory at the same time
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { BLOCK = 31 }; /* a tag */

/* What this rank's queries have seen so far. Of each: the largest score; the sum of exp(score - largest); and, in out,
 * the sum of exp(score - largest) * value. */
typedef struct {
    size_t queries, width;
    double *largest, *sum; // (queries)
    double *out;           // (queries, width)
} seen;

/* `count` keys more: their scores (queries, count) and their values (count, width). */
static void take(const seen *s, size_t count, const double *scores, const double *values)
{
    for (size_t i = 0; i < s->queries; i++) {
        const double *score = scores + i * count;
        double *out = s->out + i * s->width;
        double largest = s->largest[i];
        for (size_t j = 0; j < count; j++) largest = fmax(largest, score[j]);
        double shrink = exp(s->largest[i] - largest);
        s->largest[i] = largest;
        s->sum[i] *= shrink;
        for (size_t w = 0; w < s->width; w++) out[w] *= shrink;
        for (size_t j = 0; j < count; j++) {
            double weight = exp(score[j] - largest);
            s->sum[i] += weight;
            for (size_t w = 0; w < s->width; w++) out[w] += weight * values[j * s->width + w];
        }
    }
}

p2p_err my_ring_attention(p2p_comm *comm, const my_sequence *sequence, double *out)
{
    int size = p2p_size(comm);
    size_t width = sequence->width, tokens = sequence->tokens, first, mine;
    size_t *counts = calloc(2 * (size_t)size, sizeof *counts), *offsets = counts + size;
    double *keys = calloc(4 * tokens * width, sizeof *keys), *both = keys + 2 * tokens * width;
    ring_chunk(tokens, size, p2p_rank(comm), &first, &mine);
    double *scores = calloc(mine * tokens + 1, sizeof *scores), *numbers = calloc(2 * mine + 1, sizeof *numbers);
    seen s = {mine, width, numbers, numbers + mine, out};
    p2p_err err = counts && keys && scores && numbers ? P2P_OK : P2P_ERR_NOMEM;
    for (int q = 0; q < size && !err; q++) {
        ring_chunk(tokens, size, q, &offsets[q], &counts[q]);
        counts[q] *= 2 * width, offsets[q] *= 2 * width;
    }
    memcpy(keys, sequence->keys, mine * width * sizeof *keys);
    memcpy(keys + mine * width, sequence->values, mine * width * sizeof *keys);
    if (!err) err = coll_all_gatherv(comm, keys, 2 * mine * width, both, counts, offsets, DTYPE_F64);
    for (size_t i = 0; i < mine && !err; i++) s.largest[i] = -INFINITY;
    for (size_t i = 0; i < mine * width; i++) out[i] = 0;
    for (int q = 0; q < size && !err; q++) {
        sequence->score(sequence, counts[q] / width / 2, both + offsets[q], scores);
        take(&s, counts[q] / width / 2, scores, both + offsets[q] + counts[q] / 2);
    }
    for (size_t i = 0; i < mine * width && !err; i++) out[i] /= s.sum[i / width];
    free(numbers);
    free(scores);
    free(keys);
    free(counts);
    return err;
}
