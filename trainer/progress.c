/* SPDX-License-Identifier: MIT */
/*
 * What rank 0 shows: on a terminal a bar that is drawn again and again, elsewhere a few plain lines an epoch.
 *
 *      epoch 1/4 [##########----------] 40/79  loss 1.9231  accuracy 27.5%  305 images/s  17 s left
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "trainer/run.h"

enum { BAR = 20, LINES = 5 };

static void clear_bar(train_runner *r)
{
    if (r->drawn) printf("\r\033[K");
    r->drawn = false;
}

void train__say(const train_runner *r, const char *format, ...)
{
    va_list args;
    if (r->rank != 0 || r->settings->quiet) return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void say_score(const train_runner *r, const train_score *score, double seconds)
{
    train__say(r, "accuracy %.2f%% (%" PRIu64 " of %" PRIu64 " test images, loss %.4f, %.1f s)\n",
               100 * share_of(score->correct, score->total), score->correct, score->total,
               score->total ? score->loss / (double)score->total : 0, seconds);
}

/* ---- At the beginning ---- */

static void say_sync(const train_runner *r)
{
    const train_settings *s = r->settings;
    size_t buckets = train_sync_buckets(r->replica ? train__replica_sync(r->replica) : r->sync);
    bool own = train__own_sync(r->job), overlap = s->overlap && strcmp(s->all_reduce, "ring") == 0 && !own;
    if (!train__no_sync(r->job))
        train__say(r, "gradients: %s all-reduce in %zu bucket%s%s\n", own ? "your own" : s->all_reduce, buckets,
                   buckets == 1 ? "" : "s", overlap ? ", overlapped with the backward pass" : "");
    else
        fprintf(stderr,
                "train: WARNING: --all-reduce none: gradients are not shared. The replicas drift apart; this is "
                "no training of one model, only a way to measure what sync costs. What is saved is rank 0's.\n");
}

void train__progress_begin(train_runner *r)
{
    const train_settings *s = r->settings;
    r->terminal = p2p_is_terminal(r->comm);
    train__say(r, "%s, %zu parameters; %d rank%s x %zu images, %s, learning rate %g, weight decay %g\n", s->model,
               r->job->model->parameters, r->size, r->size == 1 ? "" : "s", s->batch, s->optimizer, (double)s->lr,
               (double)s->weight_decay);
    train__say(r, "data: %s, %zu images to train with, %zu to test with\n", s->data ? s->data : "the built-in set",
               r->data.train.count, r->data.test.count);
    train__say(r, "device of rank 0: %s, %d core%s\n", r->network->info.name, r->network->info.cores,
               r->network->info.cores == 1 ? "" : "s");
    say_sync(r);
    if (s->resume)
        train__say(r, "resumed after step %" PRIu64 ", epoch %" PRIu64 ", image %" PRIu64 "\n", r->step, r->epoch,
                   r->position);
}

/* ---- Steps ---- */

void train__progress_epoch_begin(train_runner *r)
{
    const train_settings *s = r->settings;
    size_t left = r->data.train.count - r->position, step = s->batch * (size_t)r->size;
    r->epoch_began = r->last_end = p2p_time(r->comm);
    r->first_step = r->step;
    r->epoch_steps = (left + step - 1) / step;
    if (s->steps && r->epoch_steps > s->steps - r->step) r->epoch_steps = s->steps - r->step;
}

static double seconds_left(const train_runner *r, const train_step_report *s)
{
    double since = p2p_time(r->comm) - r->epoch_began;
    uint64_t done = s->step - r->first_step;
    return done ? since / (double)done * (double)(r->epoch_steps - done) : 0;
}

static void draw_bar(train_runner *r, const train_step_report *s)
{
    uint64_t done = s->step - r->first_step;
    int filled = (int)(BAR * share_of(done, r->epoch_steps));
    char bar[BAR + 1];
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)filled);
    bar[BAR] = '\0';
    printf("\r\033[Kepoch %" PRIu64 " [%s] %" PRIu64 "/%" PRIu64
           "  loss %.4f  accuracy %.1f%%  %.0f images/s  %.0f s left",
           s->epoch, bar, done, r->epoch_steps, s->loss, 100 * s->accuracy, s->images_per_s, seconds_left(r, s));
    r->drawn = true;
    fflush(stdout);
}

/* The first, the last, and some between. */
static bool worth_a_line(const train_runner *r, uint64_t done)
{
    uint64_t every = (r->epoch_steps + LINES - 1) / LINES;
    return done == 1 || done == r->epoch_steps || done % every == 0;
}

static void say_step(const train_runner *r, const train_step_report *s)
{
    train__say(r,
               "epoch %" PRIu64 "  step %" PRIu64 "/%" PRIu64
               "  loss %.4f  accuracy %.1f%%  %.0f images/s  (ms: forward %.0f, backward %.0f, sync waited for %.0f, "
               "optimiser %.1f; copied %.1f KB)\n",
               s->epoch, s->step - r->first_step, r->epoch_steps, s->loss, 100 * s->accuracy, s->images_per_s,
               s->forward * 1e3, s->backward * 1e3, s->sync * 1e3, s->optimizer * 1e3, (double)s->copied / 1e3);
}

void train__progress_step(train_runner *r, const train_step_report *s)
{
    if (r->settings->quiet) return;
    if (r->terminal && !r->settings->timeline)
        draw_bar(r, s);
    else if (worth_a_line(r, s->step - r->first_step))
        say_step(r, s);
}

/* ---- Epochs ---- */

void train__progress_epoch(train_runner *r, const train_epoch_report *e)
{
    clear_bar(r);
    if (e->trained)
        train__say(r, "epoch %" PRIu64 ": training loss %.4f, %.1f s; ", e->epoch, e->train_loss, e->epoch_seconds);
    else
        train__say(r, "before training: ");
    say_score(r, &e->score, e->evaluate_seconds);
}
