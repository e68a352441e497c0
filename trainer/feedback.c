/* SPDX-License-Identifier: MIT */
/*
 * What compression has not sent yet is a state of the run, each rank's own. A checkpoint has that of all ranks; a run
 * that goes on with another number of them shares it out, so that their sum stays what it was:
 *
 *      4 ranks     e0  e1  e2  e3
 *      2 ranks     e0 + e2    e1 + e3
 *      6 ranks     e0  e1  e2  e3  0  0
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/compress.h"
#include "trainer/run.h"

static train__compressor *compressor_of(const train_runner *r)
{
    return train__sync_compressor(r->replica ? train__replica_sync(r->replica) : r->sync);
}

p2p_err train__feedback_gather(train_runner *r, float **error)
{
    const train__compressor *c = compressor_of(r);
    size_t parameters = r->job->model->parameters;
    float *all = NULL;
    if (!c || !r->settings->out) return P2P_OK;
    if (r->rank == 0) all = malloc((size_t)r->size * parameters * sizeof *all);
    if (r->rank == 0 && !all) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for a checkpoint");
    p2p_err err = train__comm(r->comm, r->error, coll_gather(r->comm, c->error, all, parameters, DTYPE_F32, 0));
    if (err)
        free(all);
    else
        *error = all;
    return err;
}

/* Rank 0: the file's ranks round and round this run's. */
static float *share_out(const train_runner *r)
{
    const train_start *start = &r->job->start;
    size_t parameters = r->job->model->parameters, ranks = (size_t)r->size;
    float *all = calloc(ranks * parameters, sizeof *all);
    for (size_t q = 0; q < start->error_ranks && all; q++) {
        float *to = all + q % ranks * parameters;
        for (size_t i = 0; i < parameters; i++) to[i] += start->error[q * parameters + i];
    }
    return all;
}

static p2p_err scatter(train_runner *r, train__compressor *c)
{
    float *all = r->rank == 0 ? share_out(r) : NULL;
    if (r->rank == 0 && !all) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for what was not sent yet");
    p2p_err err = coll_scatter(r->comm, all, c->error, c->model->parameters, DTYPE_F32, 0);
    free(all);
    return train__comm(r->comm, r->error, err);
}

static void warn(const train_runner *r, const char *what)
{
    if (r->rank == 0) fprintf(stderr, "train: WARNING: %s\n", what);
}

/* Only rank 0 has read a file. */
p2p_err train__feedback_take(train_runner *r)
{
    const train_start *start = &r->job->start;
    train__compressor *c = compressor_of(r);
    int64_t has[] = {(int64_t)start->error_ranks, (int64_t)start->factor_count};
    if (!c && start->error)
        warn(r, "what the checkpoint had not sent yet of its gradients is dropped: there is no --wire or --compress");
    if (!c) return P2P_OK;
    p2p_err err = train__comm(r->comm, r->error, coll_broadcast(r->comm, has, 2, DTYPE_I64, 0));
    if (err) return err;
    if (!has[0] && r->step) warn(r, "the checkpoint has no error feedback, which begins anew");
    if (has[0]) err = scatter(r, c);
    if (err || !c->factors || (size_t)has[1] != c->factor_count) return err;
    if (r->rank == 0) memcpy(c->factors, start->factors, c->factor_count * sizeof *c->factors);
    return train__comm(r->comm, r->error, coll_broadcast(r->comm, c->factors, c->factor_count, DTYPE_F32, 0));
}
