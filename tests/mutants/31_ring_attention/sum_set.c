/* SPDX-License-Identifier: MIT */
// what: the sum is set for each key
// expect: Only the weight of the last key
// expect: out is right
/* Exercise 31: queries stay, keys and values go round. The page is README.md in this folder. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
            s->sum[i] = weight;
            for (size_t w = 0; w < s->width; w++) out[w] += weight * values[j * s->width + w];
        }
    }
}

/* here: room for a block, keys first, then values; next: as much; scores: room for those of a block. */
static p2p_err go_round(p2p_comm *comm, const my_sequence *sequence, const seen *s, double *here, double *next,
                        double *scores)
{
    int size = p2p_size(comm), rank = p2p_rank(comm), right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t width = sequence->width, mine = s->queries,
           token = 2 * width * sizeof *here; /* bytes of a key and a value */
    p2p_err err = P2P_OK;

    memcpy(here, sequence->keys, mine * width * sizeof *here);
    memcpy(here + mine * width, sequence->values, mine * width * sizeof *here);
    for (int step = 0; step < size && !err; step++) {
        p2p_request under_way[2] = {P2P_REQUEST_NULL, P2P_REQUEST_NULL};
        size_t first, count, coming;
        ring_chunk(sequence->tokens, size, (rank - step + size) % size, &first, &count);
        ring_chunk(sequence->tokens, size, (left - step + size) % size, &first, &coming);
        if (step < size - 1) err = p2p_irecv(comm, next, coming * token, left, BLOCK, &under_way[0]);
        if (step < size - 1 && !err) err = p2p_isend(comm, here, count * token, right, BLOCK, &under_way[1]);
        sequence->score(sequence, count, here, scores);
        take(s, count, scores, here + count * width);
        p2p_err waited = p2p_wait_all(2, under_way, P2P_STATUSES_IGNORE);
        if (!err) err = waited;
        double *used = here;
        here = next;
        next = used;
    }
    return err;
}

p2p_err my_ring_attention(p2p_comm *comm, const my_sequence *sequence, double *out)
{
    size_t width = sequence->width, first, mine, longest;
    ring_chunk(sequence->tokens, p2p_size(comm), p2p_rank(comm), &first, &mine);
    ring_chunk(sequence->tokens, p2p_size(comm), 0, &first, &longest);
    double *blocks = calloc(4 * longest * width + 1, sizeof *blocks),
           *scores = calloc(mine * longest + 1, sizeof *scores), *numbers = calloc(2 * mine + 1, sizeof *numbers);
    seen s = {mine, width, numbers, numbers + mine, out};
    p2p_err err = blocks && scores && numbers ? P2P_OK : P2P_ERR_NOMEM;

    for (size_t i = 0; i < mine && !err; i++) s.largest[i] = -INFINITY;
    for (size_t i = 0; i < mine * width; i++) out[i] = 0;
    if (!err) err = go_round(comm, sequence, &s, blocks, blocks + 2 * longest * width, scores);
    for (size_t i = 0; i < mine * width && !err; i++) out[i] /= s.sum[i / width];

    free(numbers);
    free(scores);
    free(blocks);
    return err;
}
