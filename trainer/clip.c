/* SPDX-License-Identifier: MIT */
/* The norm of all gradients, and gradients that are no longer than so much: torch.nn.utils.clip_grad_norm_. */
#include <math.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/run.h"

enum { LANES = 16 };

/* Sixteen sums beside one another, for the compiler to make vectors of; in double, and the same on every rank. */
static double sum_of_squares(const float *at, size_t count)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) sums[k] += (double)at[i + k] * (double)at[i + k];
    for (; i < count; i++) sum += (double)at[i] * (double)at[i];
    for (size_t k = 0; k < LANES; k++) sum += sums[k];
    return sum;
}

static bool is_longer(double norm, float most)
{
    return most > 0 && (double)most / (norm + 1e-6) < 1;
}

static void shorten(float *at, size_t count, double norm, float most)
{
    float share = (float)((double)most / (norm + 1e-6));
    for (size_t i = 0; i < count; i++) at[i] *= share;
}

p2p_err train_clip(train_network *net, float most, double *norm, train_error *error)
{
    size_t count = train_length(net, TRAIN_GRADIENTS);
    float *gradients = train_map(net, TRAIN_GRADIENTS, error);
    if (!gradients) return P2P_ERR_SYS;
    *norm = sqrt(sum_of_squares(gradients, count));
    if (!is_longer(*norm, most)) return P2P_OK;
    shorten(gradients, count, *norm, most);
    return train_flush(net, TRAIN_GRADIENTS, error);
}

/* ---- In a run: with --shard the same bits as without ---- */

/* Of every rank's chunk of every piece a sum, [piece][rank], in memory that the caller frees. A rank that has all
 * gradients makes all of them; with --shard it makes its own, and gets the others'. */
static p2p_err sums_of_chunks(train_runner *r, const float *gradients, double **sums, size_t *count)
{
    const train_sync *sync = r->replica ? train__replica_sync(r->replica) : r->sync;
    size_t pieces = 0, first, length, at, own;
    while (train__sync_piece(sync, pieces, &first, &length)) pieces++;
    *count = pieces * (size_t)r->size;
    *sums = calloc(*count + 1, sizeof **sums);
    if (!*sums) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for %zu sums", *count);
    for (size_t i = 0; i < *count; i++) {
        int rank = (int)(i % (size_t)r->size);
        if (r->shard && rank != r->rank) continue;
        train__sync_piece(sync, i / (size_t)r->size, &first, &length);
        ring_chunk(length, r->size, rank, &at, &own);
        (*sums)[i] = sum_of_squares(gradients + first + at, own);
    }
    if (!r->shard) return P2P_OK;
    return train__comm(r->comm, r->error, coll_all_reduce(r->comm, *sums, *count, DTYPE_F64, OP_SUM));
}

static p2p_err find_norm(train_runner *r, const float *gradients)
{
    double *sums = NULL, sum = 0;
    size_t count = 0;
    p2p_err err = sums_of_chunks(r, gradients, &sums, &count);
    for (size_t i = 0; i < count && !err; i++) sum += sums[i];
    free(sums);
    r->norm = sqrt(sum);
    return err;
}

/* With --shard all ranks are needed; else a rank that nobody asks for the norm has nothing to do. */
p2p_err train__clip(train_runner *r)
{
    float most = r->settings->clip;
    if (most <= 0 && !r->metrics && !(r->shard && r->settings->out)) return P2P_OK;
    float *gradients = train_map(r->network, TRAIN_GRADIENTS, r->error);
    if (!gradients) return P2P_ERR_SYS;
    p2p_err err = find_norm(r, gradients);
    if (err || !is_longer(r->norm, most)) return err;
    for (size_t i = 0; r->shard && i < r->shard->count; i++)
        shorten(gradients + r->shard->parts[i].own, r->shard->parts[i].own_count, r->norm, most);
    if (r->shard) return P2P_OK;
    shorten(gradients, train_length(r->network, TRAIN_GRADIENTS), r->norm, most);
    return train_flush(r->network, TRAIN_GRADIENTS, r->error);
}
