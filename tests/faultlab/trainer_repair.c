/* SPDX-License-Identifier: MIT */
/* A training that repairs itself: whoever dies, and whenever, the weights at the end are the same bytes. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trainer_lab.h"

enum { IMAGES = 36, TESTS = 4, RANKS = 3 }; /* three steps an epoch */

typedef enum { NOWHERE, BEFORE_SHARD, AFTER_SYNC, AFTER_ALL_SYNC, AFTER_STEP, FIRST_AFTER_STEP, AT_FRAME } moment;

/* Who dies, and when, in each generation: at this hook, when so many steps are whole; FIRST_: before the others come to it; or
 * at that frame. */
typedef struct {
    moment at;
    int rank;
    uint64_t number;
} death;

enum { MOST = 3, SYNCED = 1000 };
static death deaths[MOST];

static const death *death_of(const p2p_comm *comm)
{
    int generation = p2p_generation(comm);
    return generation < MOST && deaths[generation].rank == p2p_rank(comm) ? &deaths[generation] : NULL;
}

static p2p_err die_at(moment at, const train_hook_context *now)
{
    const death *d = death_of(now->comm);
    if (d && d->at == at && d->number == now->step) lab_die(SIGKILL);
    return P2P_OK;
}

static p2p_err before_shard(void *arg, const train_hook_context *now)
{
    (void)arg;
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

static p2p_err after_sync(void *arg, const train_hook_context *now)
{
    (void)arg;
    const death *d = death_of(now->comm);
    let_the_first_die(now);
    lab->rank[p2p_rank(now->comm)].count = SYNCED + (long)now->step;
    for (int r = 0; d && d->at == AFTER_ALL_SYNC && d->number == now->step && r < RANKS; r++)
        while (lab->rank[r].count < SYNCED + (long)now->step) sched_yield();
    die_at(AFTER_ALL_SYNC, now);
    return die_at(AFTER_SYNC, now);
}

static uint64_t last_step; /* 0: the settings say where it ends */

static p2p_err after_step(void *arg, const train_hook_context *now)
{
    (void)arg;
    die_at(AFTER_STEP, now);
    die_at(FIRST_AFTER_STEP, now);
    return last_step && now->step >= last_step ? TRAIN_STOP : P2P_OK;
}

/* The bytes of the run's last checkpoint: weights, running statistics, and where the run was. */
static size_t train(const char *what, char *bytes, size_t room)
{
    int dead = 0;
    static lab_job job;
    job = (lab_job){.size = RANKS, .body = lab_train, .options.repair = MOST};
    lab_run(&job);
    EXPECT(job.status == 0, "%s: exit status %d:\n%s", what, job.status, job.text);
    for (int r = 0; r < RANKS; r++) EXPECT(lab->rank[r].err == P2P_OK, "%s: rank %d: %s", what, r, lab->rank[r].kept);
    for (int i = 0; i < MOST; i++) dead += deaths[i].at != NOWHERE;
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

static void compare(size_t first, size_t count)
{
    enum { ROOM = 1 << 20 };
    static char plain[ROOM], repaired[ROOM];
    memset(deaths, 0, sizeof deaths);
    lab_training.settings.repair = 0;
    size_t bytes = train("undisturbed", plain, ROOM);
    lab_training.settings.repair = MOST;
    for (size_t i = first; i < first + count; i++) {
        memcpy(deaths, runs[i].deaths, sizeof deaths);
        bool same = train(runs[i].what, repaired, ROOM) == bytes && memcmp(plain, repaired, bytes) == 0;
        EXPECT(same, "%s: the weights are others", runs[i].what);
    }
}

enum { RUNS = sizeof runs / sizeof *runs };

static train_settings *prepare(void)
{
    lab_make_folder();
    lab_training_make(IMAGES, TESTS);
    train_settings *s = &lab_training.settings;
    s->steps = 5; /* ends within an epoch */
    s->out = lab_path("run");
    EXPECT(mkdir(s->out, 0700) == 0, "%s", s->out);
    lab_training.hooks =
        (train_hooks){.before_shard = before_shard, .after_sync = after_sync, .after_step = after_step};
    return s;
}

void lab_train_repair(void)
{
    train_settings *s = prepare();
    compare(0, RUNS);
    s->accumulate = 2;
    s->schedule.kind = TRAIN_ONECYCLE;
    s->clip = 1;
    compare(RUNS - 3, 2);
    last_step = 3;
    compare(RUNS - 4, 1);
    compare(RUNS - 1, 1);
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
    for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_PARAMETERS; shard++) {
        s->shard = (enum train_sharding)shard;
        compare(RUNS - 6, 2);
    }
    lab_remove_folder();
}
