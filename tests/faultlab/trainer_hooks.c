/* SPDX-License-Identifier: MIT */
/* A hook that ends the training: nothing is on its way any more, and what was saved goes on to the bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "trainer/run.h"
#include "trainer_lab.h"

enum { IMAGES = 24, STEPS = 6 }; /* three steps an epoch on two ranks */
static const p2p_err ends_with = P2P_ERR_TODO;

typedef enum { BEFORE_SHARD, AFTER_SYNC, AFTER_STEP } hook;

/* Where it ends: at this hook, when so many steps are whole. */
static struct {
    hook at;
    uint64_t step;
} ending;

static p2p_err end_at(hook which, const train_hook_context *now)
{
    return which == ending.at && now->step == ending.step ? ends_with : P2P_OK;
}

static p2p_err before_shard(void *arg, const train_hook_context *now)
{
    (void)arg;
    return end_at(BEFORE_SHARD, now);
}

static p2p_err after_sync(void *arg, const train_hook_context *now)
{
    (void)arg;
    return end_at(AFTER_SYNC, now);
}

static p2p_err after_step(void *arg, const train_hook_context *now)
{
    (void)arg;
    return end_at(AFTER_STEP, now);
}

/* Afterwards ranks go on talking to each other: what was still on its way would arrive now, in memory that is gone. */
static int body_ended(p2p_comm *world)
{
    char stack[4096];
    train_error error = {""};
    p2p_err err = train_run(world, &lab_training, NULL, &error);
    CHECK(err == ends_with, "train_run: %s: %s", p2p_strerror(err), error.text);
    CHECK(strstr(error.text, "a hook ended the training"), "%s", error.text);
    memset(stack, 7, sizeof stack);
    for (int i = 0; i < 3; i++) CHECK(coll_barrier(world) == P2P_OK, "after the training");
    for (size_t i = 0; i < sizeof stack; i++) CHECK(stack[i] == 7, "byte %zu was written to", i);
    return 0;
}

static void make_run(bool overlap, const char *out)
{
    lab_training_make(IMAGES, 2);
    lab_training.settings.epochs = 2;
    lab_training.settings.overlap = overlap;
    lab_training.settings.bucket_bytes = 4096;
    lab_training.settings.out = out;
    lab_training.settings.save = out ? lab_path("weights") : NULL;
}

static void read_end(const char *folder, train_start *end)
{
    train_error error;
    train_run_of of = {&lab_training.settings, lab_training.model, IMAGES};
    EXPECT(train__resume(folder, &of, end, &error) == P2P_OK, "%s", error.text);
}

static bool same(const float *one, const float *other, size_t count)
{
    return memcmp(one, other, count * sizeof *one) == 0;
}

static void expect_same(const train_start *one, const train_start *other, const char *when)
{
    const train_model *m = lab_training.model;
    EXPECT(one->step == other->step && one->epoch == other->epoch && one->batches == other->batches &&
               one->examples == other->examples,
           "%s: ended at step %d of epoch %d after %d batches", when, (int)one->step, (int)one->epoch,
           (int)one->batches);
    EXPECT(same(one->parameters, other->parameters, m->parameters), "%s: other weights", when);
    EXPECT(same(one->statistics, other->statistics, m->statistics), "%s: other running statistics", when);
    EXPECT(same(one->state[0], other->state[0], m->parameters), "%s: another first state", when);
}

/* The checkpoint is in `out` and becomes the start of lab_training. */
static void end_there(const char *when, const char *out, bool overlap)
{
    static lab_job job = {.size = 2, .body = body_ended};
    train_start weights;
    EXPECT(mkdir(out, 0700) == 0, "%s", out);
    make_run(overlap, out);
    lab_training.hooks =
        (train_hooks){.before_shard = before_shard, .after_sync = after_sync, .after_step = after_step};
    lab_run(&job);
    EXPECT(job.status == 0, "%s: exit status %d: %s", when, job.status, job.text);
    make_run(overlap, out);
    read_end(out, &lab_training.start);
    EXPECT(lab_training.start.step == ending.step, "%s: saved after step %d", when, (int)lab_training.start.step);
    EXPECT(train_start_from(lab_path("weights"), lab_training.model, &weights, NULL) == P2P_OK, "%s: no weights", when);
    EXPECT(same(weights.parameters, lab_training.start.parameters, lab_training.model->parameters), "%s: --save", when);
}

static void go_on(const char *when, const char *out, const train_start *whole)
{
    train_start end;
    lab_train_well(2);
    read_end(out, &end);
    expect_same(&end, whole, when);
}

static const struct {
    hook at;
    uint64_t step;
} all[] = {{BEFORE_SHARD, 3}, {AFTER_SYNC, 4}, {AFTER_STEP, 3}, {AFTER_STEP, 5}};

/* With --shard there is no checkpoint, and the weights where a rank has all of them: the same bytes. */
static void end_divided(void)
{
    static lab_job job = {.size = 2, .body = body_ended};
    char *out = lab_path("divided"), *save = lab_path("weights");
    train_start plain, divided;
    ending.at = AFTER_STEP;
    ending.step = 4;
    EXPECT(mkdir(out, 0700) == 0, "%s", out);
    for (int shard = TRAIN_SHARD_NONE; shard <= TRAIN_SHARD_PARAMETERS; shard++) {
        make_run(true, out);
        lab_training.hooks = (train_hooks){.after_step = after_step};
        lab_training.settings.shard = (enum train_sharding)shard;
        remove(save);
        lab_run(&job);
        EXPECT(job.status == 0, "--shard %d: exit status %d: %s", shard, job.status, job.text);
        bool saved = access(save, F_OK) == 0, whole = shard != TRAIN_SHARD_PARAMETERS;
        EXPECT(saved == whole, "--shard %d: weights: %d", shard, saved);
        EXPECT(!shard || lab_has(job.text, whole ? "no checkpoint was written" : "nothing was saved"), "%s", job.text);
        if (saved)
            EXPECT(train_start_from(save, lab_training.model, shard ? &divided : &plain, NULL) == P2P_OK, "no weights");
        if (saved && shard)
            EXPECT(same(plain.parameters, divided.parameters, lab_training.model->parameters), "--shard %d", shard);
    }
}

void lab_hook_ends(void)
{
    train_start whole;
    char when[100];
    lab_warm_up();
    lab_make_folder();
    make_run(true, lab_folder);
    lab_train_well(2);
    read_end(lab_folder, &whole);
    EXPECT(whole.step == STEPS, "%d steps", (int)whole.step);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int overlap = getenv("QUICK") ? 1 : 0; overlap < 2; overlap++) {
            ending.at = all[i].at;
            ending.step = all[i].step;
            snprintf(when, sizeof when, "hook %d after step %d, overlap %d", ending.at, (int)ending.step, overlap);
            end_there(when, lab_path(when), overlap);
            if (overlap) go_on(when, lab_path(when), &whole);
        }
    end_divided();
    lab_remove_folder();
}
