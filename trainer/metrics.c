/* SPDX-License-Identifier: MIT */
/* metrics.jsonl: a line of JSON for each step, and one for each evaluation, which has no `loss`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "trainer/durable.h"
#include "trainer/run.h"

static bool path_of(const train_runner *r, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/metrics.jsonl", r->settings->out) < PATH_MAX;
}

/* The file of a run that goes on, here or in another process. */
static FILE *open_again(const char *path)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, "a+");
}

static FILE *open_anew(const char *path)
{
    int fd = train__open_anew(path);
    return fd < 0 ? NULL : fdopen(fd, "w+");
}

static p2p_err failed(const train_runner *r, const char *path)
{
    const char *why = errno == ELOOP ? "is a link, which is not followed" : strerror(errno);
    return train__fail(r->error, P2P_ERR_SYS, "%s: %s", path, why);
}

/* A run that is resumed in its own folder continues its file, from the position of the checkpoint. */
p2p_err train__metrics_open(train_runner *r)
{
    const train_settings *s = r->settings;
    char path[PATH_MAX];
    if (r->rank != 0 || !train__writes_folder(s)) return P2P_OK;
    bool goes_on = train__same_folder(s->resume, s->out);
    if (!path_of(r, path)) return P2P_ERR_ARG;
    r->metrics = goes_on ? open_again(path) : open_anew(path);
    if (!r->metrics) return failed(r, path);
    if (goes_on && fseek(r->metrics, 0, SEEK_END) == 0 && ftell(r->metrics) > (long)r->job->start.metrics &&
        ftruncate(fileno(r->metrics), (off_t)r->job->start.metrics) < 0)
        return failed(r, path);
    return P2P_OK;
}

/* A line has been written, or the last one. What is lost is said once and counts at the end; the training goes on. */
void train__metrics_check(train_runner *r, bool end)
{
    if (!r->metrics) return;
    bool lost = fflush(r->metrics) != 0 || ferror(r->metrics);
    int cause = errno;
    if (end && fclose(r->metrics) != 0 && !lost) lost = true, cause = errno;
    if (end) r->metrics = NULL;
    if (!lost || r->metrics_failed) return;
    r->metrics_failed = true;
    train__clear_bar(r);
    fprintf(stderr, "train: %s/metrics.jsonl cannot be written: %s; lines are missing in it\n", r->settings->out,
            strerror(cause));
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
}

void train__metrics_repair(FILE *metrics, int generation, uint64_t step, uint64_t lost_steps, double lost)
{
    fprintf(metrics, "{\"generation\":%d,\"after_step\":%" PRIu64 ",\"lost_steps\":%" PRIu64, generation, step,
            lost_steps);
    put(metrics, "lost_s", lost);
    fputs("}\n", metrics);
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
    if (r->rank != 0 || !train__writes_folder(s)) return P2P_OK;
    p2p_err err = train__check_first(r);
    if (err) return err;
    if (!path_of(r, path)) return P2P_ERR_ARG;
    if (!r->metrics) r->metrics = open_again(path);
    long end = r->metrics ? read_back(r) : -1;
    if (restart) {
        end = train__same_folder(s->resume, s->out) ? (long)r->job->start.metrics : 0;
        r->metrics_step = r->metrics_epochs = 0;
    }
    if (r->metrics && end >= 0 && ftruncate(fileno(r->metrics), (off_t)end) == 0 && fseek(r->metrics, 0, SEEK_END) == 0)
        return P2P_OK;
    return failed(r, path);
}

/* Before the first step there is no loss of training yet. */
void train__metrics_epoch(FILE *metrics, const train_epoch_report *e)
{
    fprintf(metrics, "{\"epoch\":%" PRIu64 ",\"accuracy\":%.9g,\"correct\":%" PRIu64 ",\"total\":%" PRIu64, e->epoch,
            (double)e->score.correct / (double)e->score.total, e->score.correct, e->score.total);
    put(metrics, "train_loss", e->trained ? e->train_loss : (double)NAN);
    fprintf(metrics, ",\"epoch_ms\":%.9g,\"eval_ms\":%.9g}\n", e->epoch_seconds * 1e3, e->evaluate_seconds * 1e3);
}
