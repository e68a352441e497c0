/* SPDX-License-Identifier: MIT */
/* The score over all test images, each counted once: shares differ by one image, and nothing is padded. */
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/durable.h"
#include "trainer/internal.h"
#include "trainer/run.h"

/* One batch of this rank's share, positions [first, first + count) of `mine`. */
static p2p_err score_batch(train_runner *r, const size_t mine[], size_t first, size_t count, float *logits)
{
    static const train_view plain_view = {.augment = false};
    p2p_err err = train_load(r->network, &r->data.test, mine + first, count, &plain_view, r->error);
    if (!err) err = train_evaluate(r->network, first == 0, r->error);
    if (err || !logits) return err;
    float *own = malloc(count * TRAIN_CLASSES * sizeof *own);
    if (!own) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for the logits");
    err = train_logits(r->network, own, r->error);
    for (size_t i = 0; i < count && !err; i++)
        memcpy(logits + mine[first + i] * TRAIN_CLASSES, own + i * TRAIN_CLASSES, TRAIN_CLASSES * sizeof *own);
    free(own);
    return err;
}

/* A rank that is asked to stop does not finish its share. If one was, all ranks know here, and there is no score. */
static p2p_err agree_to_stop(train_runner *r)
{
    int32_t asked = train__asked_to_stop(r->job);
    if (!r->job->stop) return P2P_OK;
    p2p_err err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, &asked, 1, DTYPE_I32, OP_MAX));
    r->stopping = asked;
    return err;
}

static p2p_err score_share(train_runner *r, const size_t mine[], size_t count, train_score *score, float *logits)
{
    p2p_err err = P2P_OK;
    size_t batch = r->settings->batch, correct = 0;
    *score = (train_score){.total = count};
    for (size_t first = 0; first < count && !err && !train__asked_to_stop(r->job); first += batch)
        err = score_batch(r, mine, first, count - first < batch ? count - first : batch, logits);
    if (!err && count && !train__asked_to_stop(r->job)) err = train_loss(r->network, &score->loss, &correct, r->error);
    score->correct = correct;
    return err;
}

p2p_err train__score(train_runner *r, train_score *score, float *logits)
{
    size_t images = r->data.test.count;
    size_t *mine = calloc(images, sizeof *mine);
    train_score share;
    if (!mine) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for %zu numbers", images);
    p2p_err err = train__broadcast_statistics(r);
    size_t count = err ? 0 : r->job->parallel.shard(images, r->rank, r->size, mine);
    if (!err) err = train__check_share(mine, count, images, r->rank, r->error);
    if (!err) err = score_share(r, mine, count, &share, logits);
    if (!err) err = agree_to_stop(r);
    if (err || r->stopping) {
        free(mine);
        return err;
    }
    err = train__comm(r->comm, r->error, r->job->parallel.aggregate(r->comm, &share)); /* change 4 */
    if (!err && logits) /* each row is one rank's and zero on all others */
        err = train__comm(r->comm, r->error,
                          coll_reduce(r->comm, logits, images * TRAIN_CLASSES, DTYPE_F32, OP_SUM, 0));
    if (!err) *score = share;
    free(mine);
    return err;
}

/* A line an image, ten numbers, in the order of the test images. */
p2p_err train__dump_logits(const char *path, const float *logits, size_t images, train_error *error)
{
    train_durable file;
    char line[TRAIN_CLASSES * 24];
    p2p_err err = train__durable_begin(&file, path, error);
    for (size_t i = 0; i < images && !err; i++) {
        int used = 0;
        for (int k = 0; k < TRAIN_CLASSES; k++)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s%.9g", k ? "," : "",
                             (double)logits[i * TRAIN_CLASSES + (size_t)k]);
        line[used++] = '\n';
        err = train__durable_write(&file, line, (size_t)used, error);
    }
    return err ? err : train__durable_commit(&file, error);
}
