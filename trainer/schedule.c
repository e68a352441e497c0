/* SPDX-License-Identifier: MIT */
/*
 * The learning rate of each step, as PyTorch's schedulers have it (torch.optim.lr_scheduler). With t steps taken before
 * of T in all, and the rate of --lr as `base`:
 *
 *      constant                base
 *      cosine                  base / 2 * (1 + cos(pi t / T))              CosineAnnealingLR(T_max=T)
 *      step:E,E,...            base / 10^(milestones E <= epochs gone through)     MultiStepLR(milestones, gamma=0.1)
 *      onecycle                from base / 25 to base in 0.3 T steps, then to base / 250,000, each half a cosine, while
 *                              momentum (beta1 of adam) goes from 0.95 to 0.85 and back      OneCycleLR(max_lr=base);
 *                              a momentum of 0 stays 0                             with cycle_momentum=False
 *
 * --warmup W goes before: base / 3 to base in W equal steps, LinearLR(total_iters=W). The cosine then begins after it,
 * as in SequentialLR(milestones=[W]), and has T - W steps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/run.h"

/* ---- Names ---- */

static const char *const names[] = {
    [TRAIN_CONSTANT] = "constant", [TRAIN_COSINE] = "cosine", [TRAIN_ONECYCLE] = "onecycle", [TRAIN_STEPS] = "step"};

/* "82,123" */
static bool milestones_named(const char *text, train_schedule *s)
{
    for (s->count = 0; s->count < TRAIN_MILESTONES; text++) {
        char *end;
        uint64_t after = s->count ? s->milestones[s->count - 1] : 0, epoch = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || epoch <= after || epoch > 1000000) return false;
        s->milestones[s->count++] = epoch;
        text = end;
        if (!*text) return true;
        if (*text != ',') return false;
    }
    return false;
}

bool train__schedule_named(const char *text, train_schedule *schedule)
{
    train_schedule named = {.kind = TRAIN_STEPS, .warmup = schedule->warmup};
    if (strncmp(text, "step:", 5) == 0) {
        if (!milestones_named(text + 5, &named)) return false;
        *schedule = named;
        return true;
    }
    for (int kind = TRAIN_CONSTANT; kind < TRAIN_STEPS; kind++) {
        if (strcmp(names[kind], text) != 0) continue;
        named.kind = (enum train_schedule_kind)kind;
        *schedule = named;
        return true;
    }
    return false;
}

static bool needs_total(const train_schedule *s)
{
    return s->kind == TRAIN_COSINE || s->kind == TRAIN_ONECYCLE;
}

const char *train__schedule_text(const train_settings *settings, char text[TRAIN_SCHEDULE_TEXT])
{
    const train_schedule *s = &settings->schedule;
    int used = snprintf(text, TRAIN_SCHEDULE_TEXT, "%s", names[s->kind]);
    for (size_t i = 0; i < s->count; i++)
        used += snprintf(text + used, TRAIN_SCHEDULE_TEXT - (size_t)used, "%c%llu", i ? ',' : ':',
                         (unsigned long long)s->milestones[i]);
    bool by_steps = settings->steps && !settings->epochs;
    unsigned long long length = by_steps ? settings->steps : settings->epochs ? settings->epochs : 1;
    if (needs_total(s))
        used += snprintf(text + used, TRAIN_SCHEDULE_TEXT - (size_t)used, " over %llu %s%s", length,
                         by_steps ? "step" : "epoch", length == 1 ? "" : "s");
    if (s->warmup)
        snprintf(text + used, TRAIN_SCHEDULE_TEXT - (size_t)used, " with --warmup %llu", (unsigned long long)s->warmup);
    return text;
}

const char *train__schedule_problem(const train_schedule *s)
{
    if ((unsigned)s->kind > TRAIN_STEPS || s->count > TRAIN_MILESTONES) return "--schedule: there is no such schedule";
    if (s->kind == TRAIN_ONECYCLE && s->warmup) return "--schedule onecycle warms up by itself: leave --warmup out";
    if (s->kind == TRAIN_STEPS && !s->count) return "--schedule step:E,E,... needs an epoch";
    return NULL;
}

/* ---- How long the run is ---- */

/* Images of a step, on all ranks; steps of an epoch. */
static uint64_t images_each(const train_settings *s, int ranks)
{
    return (uint64_t)ranks * train__step_images(s);
}

static uint64_t steps_for(uint64_t images, uint64_t each)
{
    return (images + each - 1) / each;
}

/* --steps ends a run before its epochs are over, and changes nothing before. */
uint64_t train__total_steps(const train_job *job, int ranks)
{
    const train_settings *s = &job->settings;
    if (s->steps && !s->epochs) return s->steps;
    return (s->epochs ? s->epochs : 1) * steps_for(job->data.train.count, images_each(s, ranks));
}

/* A run of so many epochs is as far as its images say: after --resume or a --shrink, on another number of ranks, it is not the
 * steps that count. On the same ranks both are the same number. Warming up takes steps as they are. */
uint64_t train__schedule_step(const train_job *job, int ranks, uint64_t step, uint64_t epoch, uint64_t position)
{
    const train_settings *s = &job->settings;
    uint64_t each = images_each(s, ranks), warmup = s->schedule.warmup;
    if ((s->steps && !s->epochs) || step <= warmup) return step;
    uint64_t by_images = (epoch - 1) * steps_for(job->data.train.count, each) + steps_for(position, each) + 1;
    return by_images > warmup ? by_images : warmup + 1;
}

p2p_err train__check_length(const train_job *job, train_error *error)
{
    const train_schedule *s = &job->settings.schedule;
    uint64_t total = train__total_steps(job, job->settings.ranks);
    if (job->settings.eval_only || !needs_total(s) || s->warmup < total) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG, "--warmup %llu: the run has %llu step%s in all, and the cosine needs some",
                       (unsigned long long)s->warmup, (unsigned long long)total, total == 1 ? "" : "s");
}

/* ---- One step ---- */

static double half_cosine(double from, double to, double share)
{
    const double pi = 3.14159265358979323846;
    return to + (from - to) / 2 * (1 + cos(pi * share));
}

static void one_cycle(double taken, double total, kernel_optimizer *o)
{
    const double low = 0.85, high = 0.95, first = o->lr / 25, turn = 0.3 * total - 1, last = total - 1;
    bool adam = o->rule == KERNEL_ADAM || o->rule == KERNEL_ADAMW, rising = taken <= turn;
    double share = rising ? taken / turn : (taken - turn) / (last - turn);
    double momentum = rising ? half_cosine(high, low, share) : half_cosine(low, high, share);
    o->lr = rising ? half_cosine(first, o->lr, share) : half_cosine(o->lr, first / 1e4, share);
    if (adam) o->beta1 = momentum;
    if (!adam && o->momentum > 0) o->momentum = momentum;
}

static double decayed(const train_schedule *s, uint64_t epoch, double base)
{
    for (size_t i = 0; i < s->count && s->milestones[i] < epoch; i++) base *= 0.1;
    return base;
}

void train_schedule_at(const train_schedule *s, uint64_t step, uint64_t epoch, uint64_t total, kernel_optimizer *o)
{
    double base = o->lr;
    uint64_t taken = step - 1;
    if (total && taken >= total) taken = total - 1; /* ranks whose shares differ take a step more */
    if (s->kind == TRAIN_ONECYCLE) one_cycle((double)taken, (double)total, o);
    if (s->kind == TRAIN_STEPS) o->lr = decayed(s, epoch, base);
    if (s->kind == TRAIN_COSINE && taken >= s->warmup && total > s->warmup)
        o->lr = half_cosine(base, 0, (double)(taken - s->warmup) / (double)(total - s->warmup));
    if (step - 1 < s->warmup) o->lr *= 1.0 / 3 + (1 - 1.0 / 3) * (double)(step - 1) / (double)s->warmup;
}
