/* SPDX-License-Identifier: MIT */
// what: gathers tokens that were not normed
// expect: Rank 0 has not called norm for any token
#include <stdlib.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

/* Adds to out what this rank's heads make of x, all tokens. */
static void add_own_heads(p2p_comm *comm, const my_attention *attention, const double *x, double *out)
{
    size_t first, length;
    ring_chunk(attention->heads, p2p_size(comm), p2p_rank(comm), &first, &length);
    for (size_t head = first; head < first + length; head++) attention->add_head(attention, head, x, out);
}

p2p_err my_attention_heads(p2p_comm *comm, const my_attention *attention, const double *x, double *y)
{
    size_t numbers = attention->tokens * attention->width;
    double *normed = calloc(numbers + 1, sizeof *normed);
    p2p_err err = normed ? P2P_OK : P2P_ERR_NOMEM;

    for (size_t i = 0; i < numbers; i++) y[i] = 0;
    if (!err) attention->norm(attention, attention->tokens, x, normed);
    if (!err) add_own_heads(comm, attention, normed, y);
    if (!err) err = coll_all_reduce(comm, y, numbers, DTYPE_F64, OP_SUM);
    for (size_t i = 0; i < numbers && !err; i++) y[i] += x[i];

    free(normed);
    return err;
}

p2p_err my_attention_tokens(p2p_comm *comm, const my_attention *attention, const double *x, double *y)
{
    size_t numbers = attention->tokens * attention->width, size = (size_t)p2p_size(comm), rank = (size_t)p2p_rank(comm);
    size_t *counts = calloc(2 * size, sizeof *counts), *offsets = counts + size; /* each rank's, in numbers */
    double *normed = calloc(numbers + 1, sizeof *normed), *out = calloc(numbers + 1, sizeof *out);
    p2p_err err = counts && normed && out ? P2P_OK : P2P_ERR_NOMEM;

    for (size_t q = 0; q < size && !err; q++) {
        ring_chunk(attention->tokens, (int)size, (int)q, &offsets[q], &counts[q]);
        counts[q] *= attention->width;
        offsets[q] *= attention->width;
    }
    if (!err) err = coll_all_gatherv(comm, x, counts[rank], normed, counts, offsets, DTYPE_F64);
    if (!err) add_own_heads(comm, attention, normed, out);
    if (!err) err = coll_reduce_scatterv(comm, out, counts, offsets, y, counts[rank], DTYPE_F64, OP_SUM);
    for (size_t i = 0; !err && i < counts[rank]; i++) y[i] += x[i];

    free(out);
    free(normed);
    free(counts);
    return err;
}
