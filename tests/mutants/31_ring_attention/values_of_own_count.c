/* SPDX-License-Identifier: MIT */
// what: the values of a block are looked for behind as many keys as this rank has
// expect: behind as many keys as this rank's own block has
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
        // TODO: largest[i], sum[i] and out[0 to width - 1], as if these keys had been among them from the beginning.
        // stub: (void)score, (void)out, (void)values;
        double most = s->largest[i], sum = 0;
        for (size_t k = 0; k < count; k++) most = fmax(most, score[k]);
        double factor = exp(s->largest[i] - most);
        sum = s->sum[i] * factor;
        for (size_t w = 0; w < s->width; w++) out[w] *= factor;
        for (size_t k = 0; k < count; k++) {
            double weight = exp(score[k] - most);
            sum += weight;
            for (size_t w = 0; w < s->width; w++) out[w] += weight * values[k * s->width + w];
        }
        s->sum[i] = sum;
        s->largest[i] = most;
        // END TODO
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
    // TODO: size steps: pass on what is here, while it is scored and taken; then what has come is here.
    // stub: (void)right, (void)left, (void)token, (void)next;
    // stub: sequence->score(sequence, mine, here, scores);
    // stub: take(s, mine, scores, here + mine * width);
    // stub: return err ? err : P2P_ERR_TODO;
    for (int step = 0; step < size && !err; step++) {
        int owner = (rank - step + size) % size, coming = (owner - 1 + size) % size;
        size_t first, have, come;
        p2p_request requests[2];
        int count = 0;
        ring_chunk(sequence->tokens, size, owner, &first, &have);
        ring_chunk(sequence->tokens, size, coming, &first, &come);
        if (step < size - 1) {
            err = p2p_irecv(comm, next, come * token, left, BLOCK, &requests[count]);
            if (!err) count++;
            if (!err) err = p2p_isend(comm, here, have * token, right, BLOCK, &requests[count]);
            if (!err && count) count = 2;
        }
        if (!err) {
            sequence->score(sequence, have, here, scores);
            take(s, have, scores, here + s->queries * width);
        }
        p2p_err waited = count ? p2p_wait_all((size_t)count, requests, P2P_STATUSES_IGNORE) : P2P_OK;
        if (!err) err = waited;
        double *other = here;
        here = next;
        next = other;
    }
    return err;
    // END TODO
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

    // TODO: nothing has been seen yet: what are largest, sum and out? And what is out made into when all has been seen?
    // stub: if (!err) err = go_round(comm, sequence, &s, blocks, blocks + 2 * longest * width, scores);
    for (size_t i = 0; i < mine && !err; i++) s.largest[i] = -INFINITY;
    for (size_t i = 0; i < mine * width && !err; i++) out[i] = 0;
    if (!err) err = go_round(comm, sequence, &s, blocks, blocks + 2 * longest * width, scores);
    for (size_t i = 0; i < mine * width && !err; i++) out[i] /= s.sum[i / width];
    // END TODO

    free(numbers);
    free(scores);
    free(blocks);
    return err;
}
