/* SPDX-License-Identifier: MIT */
/* metrics.jsonl: a line of JSON for each step, and one for each evaluation, which has no `loss`. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "trainer/run.h"

/* A run that is resumed in its own folder continues its file, from the position of the checkpoint. */
p2p_err train__metrics_open(train_runner *r)
{
    const train_settings *s = r->settings;
    char path[PATH_MAX];
    if (!s->out || r->rank != 0) return P2P_OK;
    bool goes_on = train__same_folder(s->resume, s->out);
    if (snprintf(path, sizeof path, "%s/metrics.jsonl", s->out) >= (int)sizeof path) return P2P_ERR_ARG;
    r->metrics = fopen(path, goes_on ? "ae" : "we");
    if (!r->metrics) return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, strerror(errno));
    if (goes_on && fseek(r->metrics, 0, SEEK_END) == 0 && ftell(r->metrics) > (long)r->job->start.metrics &&
        ftruncate(fileno(r->metrics), (off_t)r->job->start.metrics) < 0)
        return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, strerror(errno));
    return P2P_OK;
}

void train__metrics_step(FILE *metrics, const train_step_report *s)
{
    fprintf(metrics,
            "{\"step\":%" PRIu64 ",\"epoch\":%" PRIu64 ",\"examples_seen\":%" PRIu64
            ",\"loss\":%.9g,\"fwd_ms\":%.9g,\"bwd_ms\":%.9g,\"sync_ms\":%.9g,\"opt_ms\":%.9g,\"images_per_s\":%.9g}\n",
            s->step, s->epoch, s->examples, s->loss, s->forward * 1e3, s->backward * 1e3, s->sync * 1e3,
            s->optimizer * 1e3, s->images_per_s);
    fflush(metrics);
}

/* Before the first step there is no loss of training yet. */
void train__metrics_epoch(FILE *metrics, const train_epoch_report *e)
{
    fprintf(metrics, "{\"epoch\":%" PRIu64 ",\"accuracy\":%.9g,\"correct\":%" PRIu64 ",\"total\":%" PRIu64, e->epoch,
            (double)e->score.correct / (double)e->score.total, e->score.correct, e->score.total);
    if (e->trained)
        fprintf(metrics, ",\"train_loss\":%.9g", e->train_loss);
    else
        fprintf(metrics, ",\"train_loss\":null");
    fprintf(metrics, ",\"epoch_ms\":%.9g,\"eval_ms\":%.9g}\n", e->epoch_seconds * 1e3, e->evaluate_seconds * 1e3);
    fflush(metrics);
}
