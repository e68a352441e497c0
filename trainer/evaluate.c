/* SPDX-License-Identifier: MIT */
/* The score over all test images, each counted once: shares differ by one image, and nothing is padded. */
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/durable.h"
#include "trainer/internal.h"
#include "trainer/run.h"

/* One batch of this rank's share, positions [first, first + count) of `mine`. */
static p2p_err score_batch(train_runner *r, const size_t mine[], size_t first, bool begins, size_t count, float *logits)
{
    static const train_view plain_view = {.augment = false};
    p2p_err err = train_load(r->network, &r->data.test, mine + first, count, &plain_view, r->error);
    if (!err) err = train_evaluate(r->network, begins, r->error);
    if (err || !logits || !count) return err;
    size_t classes = (size_t)r->job->model->classes;
    float *own = malloc(count * classes * sizeof *own);
    if (!own) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for the logits");
    err = train_logits(r->network, own, r->error);
    for (size_t i = 0; i < count && !err; i++)
        memcpy(logits + mine[first + i] * classes, own + i * classes, classes * sizeof *own);
    free(own);
    return err;
}

/* A rank that is asked to stop does not finish its share. If one was, all ranks know here, and there is no score. */
static p2p_err agree_to_stop(train_runner *r)
{
    int32_t asked = r->stopping || train__asked_to_stop(r->job);
    if (!r->job->stop) return P2P_OK;
    p2p_err err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, &asked, 1, DTYPE_I32, OP_MAX));
    r->stopping = asked;
    return err;
}

/* With --shard parameters the ranks gather them together: all take as many batches as the one with the most, without
 * images at last, and none ends before. */
static p2p_err batches_of_all(train_runner *r, size_t count, size_t *batches)
{
    int64_t most = (int64_t)((count + r->settings->batch - 1) / r->settings->batch);
    p2p_err err = P2P_OK;
    if (r->sharding == TRAIN_SHARD_PARAMETERS)
        err = train__comm(r->comm, r->error, coll_all_reduce(r->comm, &most, 1, DTYPE_I64, OP_MAX));
    *batches = (size_t)most;
    return err;
}

static p2p_err score_share(train_runner *r, const size_t mine[], size_t count, train_score *score, float *logits)
{
    size_t batch = r->settings->batch, correct = 0, batches;
    bool together = r->sharding == TRAIN_SHARD_PARAMETERS;
    p2p_err err = batches_of_all(r, count, &batches);
    *score = (train_score){.total = count};
    for (size_t b = 0; b < batches && !err && (together || !train__asked_to_stop(r->job)); b++) {
        size_t first = b * batch < count ? b * batch : count;
        err = score_batch(r, mine, first, b == 0, count - first < batch ? count - first : batch, logits);
    }
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
                          coll_reduce(r->comm, logits, images * (size_t)r->job->model->classes, DTYPE_F32, OP_SUM, 0));
    if (!err) *score = share;
    free(mine);
    return err;
}

/* A line an image, a number a class, in the order of the test images. */
p2p_err train__dump_logits(const train_model *model, const char *path, const float *logits, size_t images,
                           train_error *error)
{
    enum { NUMBER = 24 };
    train_durable file;
    size_t classes = (size_t)model->classes;
    char *line = malloc(classes * NUMBER);
    if (!line) return train__fail(error, P2P_ERR_NOMEM, "no memory for the logits");
    p2p_err err = train__durable_begin(&file, path, error);
    for (size_t i = 0; i < images && !err; i++) {
        size_t used = 0;
        for (size_t k = 0; k < classes; k++)
            used += (size_t)snprintf(line + used, NUMBER, "%s%.9g", k ? "," : "", (double)logits[i * classes + k]);
        line[used++] = '\n';
        err = train__durable_write(&file, line, used, error);
    }
    free(line);
    return err ? err : train__durable_commit(&file, error);
}
