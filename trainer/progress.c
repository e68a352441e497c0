/* SPDX-License-Identifier: MIT */
/*
 * What rank 0 shows: on a terminal a bar (bar.c), elsewhere a few plain lines an epoch.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "trainer/compress.h"
#include "trainer/run.h"

enum { LINES = 5 };

void train__say(const train_runner *r, const char *format, ...)
{
    va_list args;
    if (r->rank != 0 || r->settings->quiet) return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

static void say_score(const train_runner *r, const train_score *score, double seconds)
{
    train__say(r, "accuracy %.2f%% (%" PRIu64 " of %" PRIu64 " test images, loss %.4f, %.1f s)\n",
               100 * train__share_of(score->correct, score->total), score->correct, score->total,
               score->total ? score->loss / (double)score->total : 0, seconds);
}

/* ---- At the beginning ---- */

static void say_sync(const train_runner *r)
{
    const train_settings *s = r->settings;
    size_t buckets = train_sync_buckets(r->replica ? train__replica_sync(r->replica) : r->sync);
    bool own = train__own_sync(r->job), background = train__overlaps(r->job) && !s->compress.method;
    char text[40];
    const char *as = train__compress_text(&s->compress, text);
    if (r->shard)
        train__say(r, "gradients: ring reduce-scatter%s%s%s; each rank updates its part of the parameters%s\n",
                   *as ? ", as " : "", as, r->shard->late ? "" : ", overlapped with the backward pass",
                   r->sharding == TRAIN_SHARD_PARAMETERS ? "" : "; ring all-gather");
    else if (!train__no_sync(r->job))
        train__say(r, "gradients: %s all-reduce in %zu bucket%s%s%s%s\n",
                   own ? "your own" : train__algorithm_name(s->all_reduce), buckets, buckets == 1 ? "" : "s",
                   *as ? ", as " : "", as, background ? ", overlapped with the backward pass" : "");
    else
        fprintf(stderr,
                "train: WARNING: --all-reduce none: gradients are not shared. The replicas drift apart; this is "
                "no training of one model, only a way to measure what sync costs. What is saved is rank 0's.\n");
}

/* What is not as usual. */
static void say_recipe(const train_runner *r)
{
    const train_settings *s = r->settings;
    char schedule[TRAIN_SCHEDULE_TEXT];
    if (s->accumulate > 1)
        train__say(r, "each step: %zu batches a rank, gradients are added up after the last\n", s->accumulate);
    if (s->schedule.kind != TRAIN_CONSTANT || s->schedule.warmup)
        train__say(r, "learning rate: %s\n", train__schedule_text(s, schedule));
}

static void say_part(const train_runner *r, const char *what, size_t whole, size_t here, size_t more)
{
    train__say(r, "  %-21s %9.2f %10.2f", what, (double)whole * 1e-6, (double)here * 1e-6);
    if (more) train__say(r, " and %.2f for a while", (double)more * 1e-6);
    train__say(r, "\n");
}

/* What each rank will hold. Rank 0 has the longest parts. */
static void say_memory(const train_runner *r)
{
    int states = kernel_optimizer_states(&r->optimizer);
    train__holding h = train__shard_holding(r->shard, states);
    size_t whole = r->job->model->parameters * sizeof(float);
    size_t all = (2 + (size_t)states) * whole + h.sums + h.feedback + h.images + h.activations;
    train__say(r, "memory of a rank, MB        whole       here\n");
    say_part(r, "parameters", whole, h.parameters, h.gathered);
    say_part(r, "gradients", whole, h.gradients, h.unreduced);
    say_part(r, "optimiser's state", (size_t)states * whole, h.state, 0);
    if (h.kept) say_part(r, "for --repair", 0, h.kept, 0);
    if (h.sums) say_part(r, "for --accumulate", h.sums, h.sums, 0);
    if (h.feedback) say_part(r, "for --wire", h.feedback, h.feedback, 0);
    say_part(r, "two batches of images", h.images, h.images, 0);
    say_part(r, "activations", h.activations, h.activations, 0);
    say_part(r, "together, at most", all, h.together, 0);
}

/* Batch norm of one value gives its bias, whatever the value is. */
static void warn_of_points(const train_runner *r)
{
    const train_settings *s = r->settings;
    const train_model *m = r->job->model;
    bool points = false;
    for (size_t i = 0; i < m->operation_count; i++) {
        const train_value *out = &m->values[m->operations[i].out];
        points = points || (m->operations[i].kind == TRAIN_CONV_NORM && out->height * out->width == 1);
    }
    if (points && s->batch == 1 && !s->frozen && !s->eval_only)
        fprintf(
            stderr,
            "train: WARNING: --batch 1: layers of %s have one value a channel, which has no variance: their weights "
            "do not learn\n  try: --batch 2 or more\n",
            m->description.name);
}

void train__progress_begin(train_runner *r)
{
    const train_settings *s = r->settings;
    r->terminal = train__can_draw(r);
    warn_of_points(r);
    train__say(r, "%s, %zu parameters; %d rank%s x %zu images, %s, learning rate %g, weight decay %g\n", s->model,
               r->job->model->parameters, r->size, r->size == 1 ? "" : "s", s->batch, train__rule_name(s->optimizer),
               (double)s->lr, (double)s->weight_decay);
    say_recipe(r);
    train__say(r, "data: %s, %zu images to train with, %zu to test with\n", s->data ? s->data : "the built-in set",
               r->data.train.count, r->data.test.count);
    train__say(r, "device of rank 0: %s, %d core%s\n", r->network->info.name, r->network->info.cores,
               r->network->info.cores == 1 ? "" : "s");
}

void train__progress_sync(const train_runner *r)
{
    const train_settings *s = r->settings;
    say_sync(r);
    if (s->shard != TRAIN_SHARD_AUTO && r->shard) say_memory(r);
    if (s->resume)
        train__say(r, "resumed after step %" PRIu64 ", epoch %" PRIu64 ", image %" PRIu64 "\n", r->step, r->epoch,
                   r->position);
}

/* ---- Steps ---- */

void train__progress_epoch_begin(train_runner *r)
{
    r->epoch_began = r->last_end = p2p_time(r->comm);
    r->first_step = r->step;
}

/* Steps that an epoch has from its beginning to its end. */
static uint64_t steps_of_epoch(const train_runner *r)
{
    size_t step = train__step_images(r->settings) * (size_t)r->size;
    return (r->data.train.count + step - 1) / step;
}

/* Seconds until the end of the run, if steps take as long as those so far, and evaluations as long as the last. */
static double seconds_left(const train_runner *r, const train_step_report *s)
{
    const train_settings *settings = r->settings;
    uint64_t done = s->step - r->first_step, all = r->trained_steps + done, left = r->epoch_steps - done;
    uint64_t epochs = settings->epochs > s->epoch ? settings->epochs - s->epoch : 0;
    double since = r->trained_seconds + p2p_time(r->comm) - r->epoch_began;
    left += epochs * steps_of_epoch(r);
    if (settings->steps && (!settings->epochs || left > settings->steps - s->step)) left = settings->steps - s->step;
    if (settings->steps && !settings->epochs) epochs = left / steps_of_epoch(r);
    return all ? since / (double)all * (double)left + r->evaluate_seconds * (double)(epochs + 1) : 0;
}

const char *train__time_text(double seconds, char text[24])
{
    double minutes = seconds / 60, hours = minutes / 60;
    if (seconds < 100)
        snprintf(text, 24, "%.0f s", seconds);
    else if (minutes < 100)
        snprintf(text, 24, "%.0f min", minutes);
    else
        snprintf(text, 24, "%.1f h", hours < 1e6 ? hours : 1e6);
    return text;
}

/* ---- Lines ---- */

/* The first, the last, and some between. */
static bool worth_a_line(const train_runner *r, uint64_t done)
{
    uint64_t every = (r->epoch_steps + LINES - 1) / LINES;
    return done == 1 || done == r->epoch_steps || done % every == 0;
}

static void say_step(const train_runner *r, const train_step_report *s)
{
    char left[24];
    train__say(r,
               "epoch %" PRIu64 "  step %" PRIu64 "/%" PRIu64 "  loss %.4f  accuracy %.1f%%  %.0f images/s  %s left\n"
               "    ms: forward %.0f, backward %.0f, sync waited for %.0f, optimiser %.1f; copied %.1f KB\n",
               s->epoch, r->epoch_before + s->step - r->first_step, r->epoch_before + r->epoch_steps, s->loss,
               100 * s->accuracy, s->images_per_s, train__time_text(seconds_left(r, s), left), s->forward * 1e3,
               s->backward * 1e3, s->sync * 1e3, s->optimizer * 1e3, (double)s->copied / 1e3);
}

void train__progress_step(train_runner *r, const train_step_report *s)
{
    if (r->settings->quiet) return;
    if (r->terminal && !r->settings->timeline) {
        if (!train__asked_to_stop(r->job)) train__draw_bar(r, s, seconds_left(r, s));
    } else if (worth_a_line(r, s->step - r->first_step))
        say_step(r, s);
}

/* ---- Epochs ---- */

void train__progress_epoch(train_runner *r, const train_epoch_report *e)
{
    train__clear_bar(r);
    if (e->trained)
        train__say(r, "epoch %" PRIu64 ": training loss %.4f, %.1f s; ", e->epoch, e->train_loss, e->epoch_seconds);
    else
        train__say(r, "before training: ");
    say_score(r, &e->score, e->evaluate_seconds);
}
