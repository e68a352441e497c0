/* SPDX-License-Identifier: MIT */
/* A training that repairs itself: whoever dies, and whenever, the weights at the end are the same bytes. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p2p/shared/crc.h"
#include "ring/ring.h"
#include "trainer/network.h"
#include "trainer/run.h"
#include "trainer_lab.h"

enum { IMAGES = 36, TESTS = 4, RANKS = 3 }; /* three steps an epoch */

typedef enum {
    NOWHERE,
    BEFORE_SHARD,
    AFTER_SYNC,
    AFTER_ALL_SYNC,
    AFTER_STEP,
    AFTER_ALL_STEP,
    FIRST_AFTER_STEP,
    AT_FRAME
} moment;

/* Who dies, and when, in each generation: at this hook, when so many steps are whole; FIRST_: before the others come to it; or
 * at that frame. */
typedef struct {
    moment at;
    int rank;
    uint64_t number;
} death;

enum { MOST = 3, ALL = -1 };
static death deaths[MOST];

static const death *death_of(const p2p_comm *comm)
{
    int generation = p2p_generation(comm);
    const death *d = generation < MOST ? &deaths[generation] : NULL;
    return d && (d->rank == p2p_rank(comm) || d->rank == ALL) ? d : NULL;
}

static p2p_err die_at(moment at, const train_hook_context *now)
{
    const death *d = death_of(now->comm);
    if (d && d->at == at && d->number == now->step) lab_die(SIGKILL);
    return P2P_OK;
}

static train_hook_context context; /* as a hook was told last */

static p2p_err before_shard(void *arg, const train_hook_context *now)
{
    (void)arg;
    context = *now;
    const death *d = death_of(now->comm);
    if (d && d->at == AT_FRAME) lab_die_at_frame((long)d->number, false); /* from here on */
    return die_at(BEFORE_SHARD, now);
}

/* The others stay between sync and update until they know that the first has died, which is a whole step ahead. */
static void let_the_first_die(const train_hook_context *now)
{
    int generation = p2p_generation(now->comm);
    const death *d = generation < MOST ? &deaths[generation] : NULL;
    bool there;
    if (!d || d->at != FIRST_AFTER_STEP || d->number != now->step + 1 || d->rank == p2p_rank(now->comm)) return;
    while (p2p_iprobe(now->comm, d->rank, 0, &there, P2P_STATUS_IGNORE) == P2P_OK) sched_yield();
}

/* Die when all ranks have come here: a number that grows with each hook. */
static void die_after_all(moment at, const train_hook_context *now, long here)
{
    const death *d = death_of(now->comm);
    lab->rank[p2p_rank(now->comm)].count = here;
    if (!d || d->at != at || d->number != now->step) return;
    for (int r = 0; r < p2p_size(now->comm); r++)
        while (lab->rank[r].count < here) sched_yield();
    lab_die(SIGKILL);
}

static p2p_err after_sync(void *arg, const train_hook_context *now)
{
    (void)arg;
    let_the_first_die(now);
    die_after_all(AFTER_ALL_SYNC, now, 2 * (long)now->step + 1);
    return die_at(AFTER_SYNC, now);
}

static uint64_t last_step; /* 0: the settings say where it ends */

static p2p_err after_step(void *arg, const train_hook_context *now)
{
    (void)arg;
    context = *now;
    die_after_all(AFTER_ALL_STEP, now, 2 * (long)now->step);
    die_at(AFTER_STEP, now);
    die_at(FIRST_AFTER_STEP, now);
    return last_step && now->step >= last_step ? TRAIN_STOP : P2P_OK;
}

static int ranks = RANKS;

static double *begun; /* when the last new process began to train, which takes it a while */

static int train_late(p2p_comm *world)
{
    if (p2p_generation(world)) {
        usleep(100000);
        *begun = process_now();
    }
    return lab_train(world);
}

/* Nothing but the step under way is done again, also when all have died; and the time that is lost has that of a new process in
 * it. */
static void check_place(const char *what)
{
    char line[1000], *path = lab_path("run/metrics.jsonl");
    FILE *file = fopen(path, "re");
    int found = 0;
    unsigned long long step;
    double lost;
    while (file && fgets(line, sizeof line, file)) {
        const char *form = "{\"generation\":%*d,\"after_step\":%llu,\"lost_steps\":%*u,\"lost_s\":%lf";
        if (sscanf(line, form, &step, &lost) != 2) continue;
        const death *d = &deaths[found++];
        bool last = found == MOST || deaths[found].at == NOWHERE;
        EXPECT(!last || lost >= *begun - lab->died_at, "%s: a new process came after %g s: %s", what,
               *begun - lab->died_at, line);
        EXPECT(d->rank != ALL || step + 1 == d->number || step == d->number, "%s: not from step %lu: %s", what,
               (unsigned long)d->number, line);
    }
    EXPECT(!file || (found > 0) == (deaths[0].at != NOWHERE), "%s: %d repairs in %s", what, found, path);
    if (file) fclose(file);
    remove(path);
    free(path);
}

/* The bytes of the run's last checkpoint: weights, running statistics, and where the run was. */
static size_t train(const char *what, char *bytes, size_t room)
{
    int dead = 0;
    static lab_job job;
    job = (lab_job){.size = ranks, .body = train_late, .options.repair = MOST * RANKS};
    lab_run(&job);
    EXPECT(job.status == 0, "%s: exit status %d:\n%s", what, job.status, job.text);
    for (int r = 0; r < ranks; r++) EXPECT(lab->rank[r].err == P2P_OK, "%s: rank %d: %s", what, r, lab->rank[r].kept);
    for (int i = 0; i < MOST; i++)
        if (deaths[i].at != NOWHERE) dead += deaths[i].rank == ALL ? ranks : 1;
    check_place(what);
    int replaced = lab_lines_with(job.text, "has a new process");
    EXPECT(replaced == dead, "%s: %d processes were replaced, not %d:\n%s", what, replaced, dead, job.text);
    char *path = lab_path("run/model.safetensors");
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(bytes, 1, room, file) : 0;
    EXPECT(got, "%s: nothing was saved", what);
    if (file) fclose(file);
    remove(path);
    free(path);
    return got;
}

static const struct {
    const char *what;
    death deaths[MOST];
} runs[] = {
    {"all of them, before the update", {{AFTER_ALL_SYNC, ALL, 3}}},
    {"all of them after a step, then again", {{AFTER_ALL_STEP, ALL, 2}, {AFTER_ALL_SYNC, ALL, 3}}},
    {"before the first step", {{BEFORE_SHARD, 1, 0}}},
    {"rank 0 before the update, then rank 2 after it", {{AFTER_SYNC, 0, 2}, {AFTER_STEP, 2, 4}}},
    {"between epochs, twice", {{BEFORE_SHARD, 1, 3}, {BEFORE_SHARD, 1, 3}}},
    {"after the last step", {{AFTER_STEP, 0, 5}}},
    {"when the others have taken the first step", {{AFTER_ALL_SYNC, 1, 0}}},
    {"when the others are a step ahead", {{AFTER_ALL_SYNC, 1, 3}}},
    {"after the step whose hook ends the training", {{AFTER_STEP, 1, 3}}},
    {"in the first sync", {{AT_FRAME, 2, 1}}},
    {"later, whatever is under way, and again", {{AT_FRAME, 2, 9}, {AT_FRAME, 1, 6}, {AT_FRAME, 0, 3}}},
    {"in the hook, before the others come to it",
     {{FIRST_AFTER_STEP, 1, 3}}}, /* not with --shard: there none is ahead */
};

/* A sample has one of three, beginning with the first. */
static void compare(size_t first, size_t count)
{
    enum { ROOM = 1 << 20 };
    static char plain[ROOM], repaired[ROOM];
    memset(deaths, 0, sizeof deaths);
    lab_training.settings.repair = 0;
    size_t bytes = train("undisturbed", plain, ROOM);
    lab_training.settings.repair = MOST;
    for (size_t i = first; i < first + count; i += getenv("QUICK") ? 3 : 1) {
        memcpy(deaths, runs[i].deaths, sizeof deaths);
        bool same = train(runs[i].what, repaired, ROOM) == bytes && memcmp(plain, repaired, bytes) == 0;
        EXPECT(same, "%s: the weights are others", runs[i].what);
    }
}

enum { RUNS = sizeof runs / sizeof *runs, ALL_DIE = 2 };

static train_settings *prepare(void)
{
    lab_make_folder();
    lab_training_make(IMAGES, TESTS);
    train_settings *s = &lab_training.settings;
    s->steps = 5; /* ends within an epoch */
    s->out = lab_path("run");
    EXPECT(mkdir(s->out, 0700) == 0, "%s", s->out);
    begun = mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(begun != MAP_FAILED, "no memory");
    lab_training.hooks =
        (train_hooks){.before_shard = before_shard, .after_sync = after_sync, .after_step = after_step};
    return s;
}

void lab_train_repair(void)
{
    prepare();
    compare(0, RUNS);
    lab_remove_folder();
}

static void with_a_last_step_and_fewer_ranks(train_settings *s)
{
    compare(RUNS - 4, 1);
    compare(RUNS - 1, 1);
    last_step = 0;
    s->accumulate = 1;
    s->wrapper = true;
    compare(0, ALL_DIE);
    s->wrapper = false;
    for (ranks = 1; ranks < RANKS; ranks++) compare(0, ALL_DIE);
}

void lab_train_repair_options(void)
{
    train_settings *s = prepare();
    s->accumulate = 2;
    s->schedule.kind = TRAIN_ONECYCLE;
    s->clip = 1;
    compare(RUNS - 3, 2);
    last_step = 3;
    if (!getenv("QUICK")) with_a_last_step_and_fewer_ranks(s);
    lab_remove_folder();
}

void lab_train_repair_shard(void)
{
    train_settings *s = prepare();
    s->bucket_bytes = 4096;
    s->shard = TRAIN_SHARD_PARAMETERS;
    compare(0, RUNS - 1);
    s->out = NULL; /* then nothing keeps the ranks together between sync and update: one may be a step ahead */
    s->save = lab_path("run/model.safetensors");
    for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_PARAMETERS && !getenv("QUICK"); shard++) {
        s->shard = (enum train_sharding)shard;
        compare(RUNS - 6, 2);
    }
    lab_remove_folder();
}

/* ---- A rank is asked to stop, and while that is saved one dies: the step is saved, and all end ---- */

enum { ASKED = 2, LAST = 3, CHECKPOINT = 4 }; /* broadcasts: two at first, one of the first evaluation; then this one */

static volatile sig_atomic_t asked_to_stop;
static int dies;

static p2p_err ask_one(void *arg, const train_hook_context *now)
{
    (void)arg;
    if (p2p_rank(now->comm) == 2 && now->step == ASKED) asked_to_stop = 1;
    return P2P_OK;
}

static p2p_err die_in_checkpoint(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    static int calls;
    if (++calls == CHECKPOINT && p2p_rank(comm) == dies && !p2p_generation(comm)) lab_die(SIGKILL);
    return train_parallel_default.broadcast(comm, buf, count, dtype, root);
}

static void stop_and_die(bool shrinks, int who)
{
    static lab_job job;
    train_start end;
    train_error error = {""};
    train_settings *s = &lab_training.settings;
    dies = who;
    s->shrink = shrinks;
    s->repair = shrinks ? 0 : MOST;
    job = (lab_job){.size = RANKS, .body = lab_train, .options.repair = MOST};
    lab_run(&job);
    EXPECT(job.status == 0, "%s, rank %d: exit status %d:\n%s", shrinks ? "shrink" : "repair", who, job.status,
           job.text);
    FACTS(job.text, "generation 1");
    train_run_of of = {s, lab_training.model, IMAGES};
    EXPECT(train__resume(s->out, &of, &end, &error) == P2P_OK, "%s", error.text);
    EXPECT(end.step == LAST, "%s, rank %d: saved after step %d", shrinks ? "shrink" : "repair", who, (int)end.step);
    train_start_free(&end);
}

void lab_train_repair_stop(void)
{
    train_settings *s = prepare();
    s->steps = 0;
    s->epochs = 4;
    s->overwrite = true;
    lab_training.stop = &asked_to_stop;
    lab_training.hooks = (train_hooks){.after_step = ask_one};
    lab_training.parallel.broadcast = die_in_checkpoint;
    for (int who = 0; who < RANKS; who += getenv("QUICK") ? 2 : 1) {
        stop_and_die(false, who);
        stop_and_die(true, who);
    }
    lab_remove_folder();
}

/* ---- --shrink: the others go on, and every image of an epoch is used once ---- */

enum { FOUR = 4, EPOCHS = 2, STEPS = 40, GENERATIONS = MOST + 1 };

/* What a rank has computed in a step, the last time; ranks are called as at first. */
typedef struct {
    int generation; /* 1 is the first; 0: nothing */
    uint64_t epoch;
    size_t count;
    size_t images[FOUR];
    double loss; /* sum */
} work;

static struct {
    work of[STEPS][FOUR];
    bool there[GENERATIONS + 1][FOUR]; /* a rank, in a generation */
    uint64_t last[FOUR];               /* step */
    uint32_t weights[FOUR];            /* after it */
} * seen;

static size_t image_of(const float *pixels)
{
    static float image[3 * 32 * 32];
    const train_view plain = {.augment = false};
    for (size_t i = 0; i < IMAGES; i++) {
        train_preprocess(&lab_training.data.train, i, &plain, image);
        if (memcmp(image, pixels, sizeof image) == 0) return i;
    }
    return IMAGES;
}

/* An all-reduce: before anything of this rank's gradients is sent. */
static p2p_err note_and_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    const train_slot *batch = context.network->running;
    work *w = &seen->of[context.step + 1][lab_rank];
    size_t correct;
    *w = (work){.generation = p2p_generation(comm) + 1, .epoch = context.epoch, .count = batch->count};
    for (size_t i = 0; i < batch->count; i++) w->images[i] = image_of((float *)batch->images.host + i * (3 * 32 * 32));
    if (train_loss(context.network, &w->loss, &correct, NULL)) return P2P_ERR_SYS;
    seen->there[w->generation][lab_rank] = true;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err note_weights(void *arg, const train_hook_context *now)
{
    p2p_err err = after_step(arg, now);
    const float *weights = train_map(now->network, TRAIN_PARAMETERS, NULL);
    if (!weights) return P2P_ERR_SYS;
    seen->last[lab_rank] = now->step;
    seen->weights[lab_rank] = p2p__crc32c(0, weights, lab_training.model->parameters * sizeof *weights);
    return err;
}

/* Of a step: how many images, and the mean of the losses of those of all ranks, and of those who outlived the generation. */
typedef struct {
    int generation;
    size_t images;
    double all, left;
} total;

static total add_up(uint64_t step, int used[EPOCHS][IMAGES])
{
    total t = {0};
    size_t left = 0;
    for (int r = 0; r < FOUR; r++)
        if (seen->of[step][r].generation > t.generation) t.generation = seen->of[step][r].generation;
    for (int r = 0; r < FOUR; r++) {
        const work *w = &seen->of[step][r];
        if (w->generation != t.generation) continue;
        for (size_t i = 0; i < w->count; i++) {
            EXPECT(w->images[i] < IMAGES, "step %lu: rank %d has an image that there is not", step, r);
            used[w->epoch - 1][w->images[i]]++;
        }
        t.images += w->count;
        t.all += w->loss;
        if (t.generation < GENERATIONS && !seen->there[t.generation + 1][r]) continue;
        left += w->count;
        t.left += w->loss;
    }
    t.all /= (double)t.images;
    t.left /= (double)left;
    return t;
}

static bool near(double a, double b, double share)
{
    return a > b * (1 - share) && a < b * (1 + share);
}

static double same_rate(void *arg, const train_hook_context *now, double rate)
{
    (void)arg, (void)now;
    return rate;
}

/* Of a step whose process has died neither times nor the norm are known, nor what a hook said. */
static void check_unknown(const char *what, const char *line)
{
    static const char *const keys[] = {"fwd_ms", "bwd_ms", "sync_ms", "opt_ms", "images_per_s", "lr", "grad_norm"};
    int unknown = 0, count = sizeof keys / sizeof *keys;
    for (int i = 0; i < count; i++) unknown += lab_has(line, "\"%s\":null", keys[i]);
    EXPECT(unknown == 0 || unknown == count, "%s: %d of %d are null: %s", what, unknown, count, line);
    EXPECT(unknown || !lab_has(line, "\"images_per_s\":0,"), "%s: what is not known is no 0: %s", what, line);
}

/* Each step has a line, in order. */
static uint64_t check_metrics(const char *what, int used[EPOCHS][IMAGES])
{
    char line[1000], *path = lab_path("run/metrics.jsonl");
    FILE *file = fopen(path, "re");
    unsigned long long step, epoch, seen_so_far;
    uint64_t steps = 0, images = 0;
    double loss, losses = 0;
    EXPECT(file, "%s: no %s", what, path);
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "{\"step\":%llu,\"epoch\":%llu,\"examples_seen\":%llu,\"loss\":%lf", &step, &epoch,
                   &seen_so_far, &loss) == 4) {
            check_unknown(what, line);
            total t = add_up(++steps, used);
            images += t.images;
            losses += t.all * (double)t.images;
            EXPECT(step == steps && seen_so_far == images, "%s: %lu images were seen: %s", what, images, line);
            EXPECT(near(loss, t.all, 1e-6) || near(loss, t.left, 1e-6), "%s: loss of all %g, of those left %g: %s",
                   what, t.all, t.left, line);
        }
        const char *at = strstr(line, "\"train_loss\":");
        if (!at || sscanf(at, "\"train_loss\":%lf", &loss) != 1) continue;
        EXPECT(near(loss, losses / IMAGES, 0.1), "%s: the loss of all images is %g: %s", what, losses / IMAGES, line);
        losses = 0;
    }
    if (file) fclose(file);
    free(path);
    return steps;
}

static void shrink(const char *what, int left)
{
    static lab_job job;
    int used[EPOCHS][IMAGES] = {0}, ended = 0;
    uint32_t weights = 0;
    memset(seen, 0, sizeof *seen);
    job = (lab_job){.size = FOUR, .body = lab_train, .options.repair = MOST};
    lab_run(&job);
    EXPECT(job.status == 0, "%s: exit status %d:\n%s", what, job.status, job.text);
    uint64_t steps = check_metrics(what, used);
    for (int e = 0; e < EPOCHS; e++)
        for (int i = 0; i < IMAGES; i++)
            EXPECT(used[e][i] == 1, "%s: image %d was used %d times in epoch %d", what, i, used[e][i], e + 1);
    for (int r = 0; r < FOUR; r++) {
        if (seen->last[r] != steps) continue;
        EXPECT(!ended++ || seen->weights[r] == weights, "%s: rank %d has other weights", what, r);
        weights = seen->weights[r];
    }
    EXPECT(ended == left, "%s: %d ranks came to step %lu", what, ended, steps);
}

void lab_train_shrink(void)
{
    static const struct {
        const char *what;
        death deaths[MOST];
        int left;
    } shrinks[] = {
        {"nobody dies", {{NOWHERE, 0, 0}}, 4},
        {"rank 1 before the update", {{AFTER_SYNC, 1, 1}}, 3},
        {"rank 0 after a step, then one of the others", {{AFTER_STEP, 0, 2}, {AFTER_SYNC, 1, 4}}, 2},
        {"when the others have taken the step", {{AFTER_ALL_SYNC, 2, 1}}, 3},
        {"rank 0 when the others have taken the step, then rank 2",
         {{AFTER_ALL_SYNC, 0, 0}, {AFTER_ALL_SYNC, 2, 2}},
         2},
        {"whatever is under way, three times", {{AT_FRAME, 0, 9}, {AT_FRAME, 1, 6}, {AT_FRAME, 0, 3}}, 1},
    };
    train_settings *s = prepare();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(seen != MAP_FAILED, "no memory");
    s->steps = 0;
    s->epochs = EPOCHS;
    s->shrink = s->overwrite = true;
    s->augment = false;
    lab_training.hooks.after_step = note_weights;
    lab_training.hooks.learning_rate = same_rate;
    lab_training.parallel.all_reduce = note_and_reduce;
    for (size_t i = 0; i < sizeof shrinks / sizeof *shrinks; i += getenv("QUICK") ? 2 : 1) {
        memcpy(deaths, shrinks[i].deaths, sizeof deaths);
        shrink(shrinks[i].what, shrinks[i].left);
    }
    munmap(seen, sizeof *seen);
    lab_remove_folder();
}
