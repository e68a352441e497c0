/* SPDX-License-Identifier: MIT */
/* metrics.jsonl: a line of JSON for each step, and one for each evaluation, which has no `loss`. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
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
    if (goes_on && s->eval_only) return P2P_OK; /* the run's own file stays as it is */
    p2p_err err = train__check_first(s, r->error);
    if (err) return err;
    if (snprintf(path, sizeof path, "%s/metrics.jsonl", s->out) >= (int)sizeof path) return P2P_ERR_ARG;
    r->metrics = fopen(path, goes_on ? "a+e" : "w+e");
    if (!r->metrics) return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, strerror(errno));
    if (goes_on && fseek(r->metrics, 0, SEEK_END) == 0 && ftell(r->metrics) > (long)r->job->start.metrics &&
        ftruncate(fileno(r->metrics), (off_t)r->job->start.metrics) < 0)
        return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, strerror(errno));
    return P2P_OK;
}

/* null: it is not known. */
static void put(FILE *metrics, const char *key, double number)
{
    if (isfinite(number))
        fprintf(metrics, ",\"%s\":%.9g", key, number);
    else
        fprintf(metrics, ",\"%s\":null", key);
}

void train__metrics_step(FILE *metrics, const train_step_report *s)
{
    fprintf(metrics, "{\"step\":%" PRIu64 ",\"epoch\":%" PRIu64 ",\"examples_seen\":%" PRIu64, s->step, s->epoch,
            s->examples);
    put(metrics, "loss", s->loss);
    put(metrics, "fwd_ms", s->forward * 1e3);
    put(metrics, "bwd_ms", s->backward * 1e3);
    put(metrics, "sync_ms", s->sync * 1e3);
    put(metrics, "opt_ms", s->optimizer * 1e3);
    put(metrics, "images_per_s", s->images_per_s);
    put(metrics, "lr", s->lr);
    put(metrics, "grad_norm", s->norm);
    if (s->held) fprintf(metrics, ",\"memory_bytes\":%zu", s->held);
    fputs("}\n", metrics);
    fflush(metrics);
}

void train__metrics_repair(FILE *metrics, int generation, uint64_t step, uint64_t lost_steps, double lost)
{
    fprintf(metrics, "{\"generation\":%d,\"after_step\":%" PRIu64 ",\"lost_steps\":%" PRIu64, generation, step,
            lost_steps);
    put(metrics, "lost_s", lost);
    fputs("}\n", metrics);
    fflush(metrics);
}

/* What another process has written. Returns where its last whole line ends. */
static long read_back(train_runner *r)
{
    char line[1000];
    unsigned long long number;
    long end = 0;
    rewind(r->metrics);
    while (fgets(line, sizeof line, r->metrics) && line[strlen(line) - 1] == '\n') {
        if (sscanf(line, "{\"step\":%llu", &number) == 1) r->metrics_step = number;
        if (sscanf(line, "{\"epoch\":%llu", &number) == 1)
            r->metrics_epochs = strstr(line, "\"train_loss\":null") ? number : number + 1;
        end = ftell(r->metrics);
    }
    return end;
}

p2p_err train__metrics_go_on(train_runner *r, bool restart)
{
    const train_settings *s = r->settings;
    char path[PATH_MAX];
    if (restart) r->metrics_step = r->metrics_epochs = 0;
    if (!s->out || r->rank != 0) return P2P_OK;
    if (snprintf(path, sizeof path, "%s/metrics.jsonl", s->out) >= (int)sizeof path) return P2P_ERR_ARG;
    if (!r->metrics) r->metrics = fopen(path, "a+e");
    long end = r->metrics ? read_back(r) : -1;
    if (restart) {
        end = train__same_folder(s->resume, s->out) ? (long)r->job->start.metrics : 0;
        r->metrics_step = r->metrics_epochs = 0;
    }
    if (end >= 0 && ftruncate(fileno(r->metrics), (off_t)end) == 0 && fseek(r->metrics, 0, SEEK_END) == 0)
        return P2P_OK;
    return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, strerror(errno));
}

/* Before the first step there is no loss of training yet. */
void train__metrics_epoch(FILE *metrics, const train_epoch_report *e)
{
    fprintf(metrics, "{\"epoch\":%" PRIu64 ",\"accuracy\":%.9g,\"correct\":%" PRIu64 ",\"total\":%" PRIu64, e->epoch,
            (double)e->score.correct / (double)e->score.total, e->score.correct, e->score.total);
    put(metrics, "train_loss", e->trained ? e->train_loss : (double)NAN);
    fprintf(metrics, ",\"epoch_ms\":%.9g,\"eval_ms\":%.9g}\n", e->epoch_seconds * 1e3, e->evaluate_seconds * 1e3);
    fflush(metrics);
}
