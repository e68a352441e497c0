/* SPDX-License-Identifier: MIT */
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
        (void)score, (void)out, (void)values;
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
    (void)right, (void)left, (void)token, (void)next;
    sequence->score(sequence, mine, here, scores);
    take(s, mine, scores, here + mine * width);
    return err ? err : P2P_ERR_TODO;
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
    if (!err) err = go_round(comm, sequence, &s, blocks, blocks + 2 * longest * width, scores);
    // END TODO

    free(numbers);
    free(scores);
    free(blocks);
    return err;
}
