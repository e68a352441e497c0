/* SPDX-License-Identifier: MIT */
/* Faults of checkpoints: killed while saving, no room, damage, another number of ranks, a rank that dies. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trainer/run.h"
#include "trainer_lab.h"

/* ---- Checkpoints without training: number k has k everywhere ---- */

static train_settings settings;
static train_run_of run;

static void prepare(void)
{
    const train_description tiny = {"tiny", 1, 1, false, 1, {0}, {2}};
    train_model *model = NULL;
    train_defaults(&settings);
    EXPECT(train_build(&tiny, &model, NULL) == P2P_OK, "no memory");
    run = (train_run_of){&settings, model, 100};
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1); /* thousands of files are written */
    lab_make_folder();
}

static float *filled(size_t count, float value)
{
    float *at = malloc((count + 1) * sizeof *at);
    EXPECT(at, "no memory");
    for (size_t i = 0; i < count; i++) at[i] = value;
    return at;
}

static p2p_err write_number(int k, train_error *error)
{
    const train_model *m = run.model;
    float value = (float)k;
    train_start now = {.parameters = filled(m->parameters, value),
                       .statistics = filled(m->statistics, value),
                       .state = {filled(m->parameters, value), filled(m->parameters, value)},
                       .batches = (uint64_t)k,
                       .step = (uint64_t)k,
                       .epoch = 1,
                       .position = (uint64_t)k % run.images};
    p2p_err err = train__write_checkpoint(lab_folder, &run, &now, error);
    train_start_free(&now);
    return err;
}

static bool all_are(const float *at, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        if (at[i] != value) return false;
    return true;
}

/* The checkpoint that is there, whole; its number. */
static int number_there(void)
{
    train_start start;
    train_error error;
    const train_model *m = run.model;
    EXPECT(train__resume(lab_folder, &run, &start, &error) == P2P_OK, "%s", error.text);
    float k = (float)start.step;
    EXPECT(all_are(start.parameters, m->parameters, k) && all_are(start.statistics, m->statistics, k) &&
               all_are(start.state[0], m->parameters, k) && all_are(start.state[1], m->parameters, k) &&
               start.batches == start.step,
           "the checkpoint of step %d has parts of another", (int)start.step);
    train_start_free(&start);
    return (int)k;
}

/* ---- Killed at the n-th stop at a system call (each call stops twice: before and after it) ---- */

static _Noreturn void be_saver(int number)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
    raise(SIGSTOP);
    _exit(write_number(number, NULL) ? 1 : 0);
}

/* True if it was killed; false if it had saved before there were so many stops. */
static bool save_killed_at(int number, int stops)
{
    int status;
    pid_t saver = fork();
    if (saver == 0) be_saver(number);
    for (int stop = 0; waitpid(saver, &status, 0) == saver && WIFSTOPPED(status); stop++) {
        if (stop == stops) {
            kill(saver, SIGKILL);
            waitpid(saver, &status, 0);
            return true;
        }
        ptrace(PTRACE_SYSCALL, saver, NULL, NULL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) lab_skip("ptrace is not allowed here");
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "saving ended with status %x", status);
    return false;
}

void lab_ckpt_crash(void)
{
    int stops = 1, old = 0, new = 0;
    prepare();
    EXPECT(write_number(1, NULL) == P2P_OK, "the first checkpoint");
    for (int number = 2; save_killed_at(number, stops); number++, stops++) {
        int there = number_there();
        EXPECT(there <= number && there >= 1, "number %d", there);
        old += there != number;
        new += there == number;
        EXPECT(write_number(number, NULL) == P2P_OK && number_there() == number, "no new one after a killed one");
    }
    EXPECT(stops > 40 && old > 20 && new > 3, "killed %d times: old %d, new %d: nothing was tried", stops, old, new);
    lab_remove_folder();
}

/* ---- No room ---- */

void lab_save_full(void)
{
    static lab_job job, unwritable;
    struct stat device;
    lab_make_folder();
    lab_run_train(&job, ARGS("--device", "cpu", "--ranks", "2", "--train-limit", "8", "--test-limit", "4", "--batch",
                             "2", "--out", lab_folder, "--save", "/dev/full"));
    EXPECT(job.status == 1, "exit status %d, not 1", job.status);
    FACTS(job.text, "/dev/full", "No space left on device", "epoch 1: training loss");
    EXPECT(stat("/dev/full", &device) == 0 && S_ISCHR(device.st_mode), "/dev/full was replaced");
    EXPECT(access(lab_path("model.safetensors"), F_OK) == 0, "the checkpoint is not there");
    lab_run_train(&unwritable, ARGS("--save", "/proc/self/weights"));
    EXPECT(unwritable.status == 1 || unwritable.status == 2, "exit status %d", unwritable.status);
    lab_remove_folder();
}

/* ---- Damage ---- */

static char *whole(const char *path, size_t *length)
{
    struct stat there;
    EXPECT(stat(path, &there) == 0, "%s", path);
    char *bytes = malloc((size_t)there.st_size);
    FILE *file = fopen(path, "re");
    *length = file && bytes ? fread(bytes, 1, (size_t)there.st_size, file) : 0;
    EXPECT(*length == (size_t)there.st_size && fclose(file) == 0, "%s cannot be read", path);
    return bytes;
}

static void put(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "we");
    EXPECT(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, "%s cannot be written", path);
}

static void expect_refusal(const char *what, size_t at)
{
    train_start start = {.step = 77};
    train_error error = {""};
    p2p_err err = train__resume(lab_folder, &run, &start, &error);
    EXPECT(err, "%s at byte %zu: it was loaded", what, at);
    EXPECT(start.step == 77 && !start.parameters, "%s at byte %zu: something was loaded", what, at);
    EXPECT(strstr(error.text, "at byte "), "%s at byte %zu: no offset: %s", what, at, error.text);
}

static void damage(const char *name)
{
    size_t length;
    char *path = lab_path(name), *bytes = whole(path, &length);
    EXPECT(length < 6000, "%zu bytes are too many to try", length);
    for (size_t at = 0; at < length; at++) {
        put(path, bytes, at);
        expect_refusal("cut off", at);
        bytes[at] ^= (char)(1 << at % 8);
        put(path, bytes, length);
        expect_refusal("changed", at);
        bytes[at] ^= (char)(1 << at % 8);
    }
    put(path, bytes, length);
    EXPECT(number_there() == 9, "it does not load when it is whole again");
}

void lab_ckpt_corrupt(void)
{
    prepare();
    EXPECT(write_number(9, NULL) == P2P_OK, "a checkpoint");
    damage("model.safetensors");
    damage("optimizer-9.safetensors");
    lab_remove_folder();
}

/* ---- Another number of ranks ---- */

/* Batch norm frozen, so that the number of ranks makes no difference but rounding. */
static void small_run(size_t batch, uint64_t steps, const char *out)
{
    lab_training_make(40, 2);
    lab_training.settings.frozen = true;
    lab_training.settings.optimizer = KERNEL_SGD;
    lab_training.settings.lr = 0.01f;
    lab_training.settings.batch = batch;
    lab_training.settings.steps = steps;
    lab_training.settings.out = out;
}

static void resume_on(int ranks, size_t batch, const char *out, const train_start *whole_run)
{
    train_error error;
    train_start end;
    small_run(batch, 5, out);
    train_run_of of = {&lab_training.settings, lab_training.model, 40};
    EXPECT(train__resume(lab_folder, &of, &lab_training.start, &error) == P2P_OK, "%s", error.text);
    lab_train_well(ranks);
    EXPECT(train__resume(out, &of, &end, &error) == P2P_OK, "%s", error.text);
    EXPECT(end.step == 5 && end.epoch == whole_run->epoch && end.position == whole_run->position &&
               end.examples == whole_run->examples,
           "%d ranks: step %d, image %d of epoch %d", ranks, (int)end.step, (int)end.position, (int)end.epoch);
    for (size_t i = 0; i < of.model->parameters; i++)
        EXPECT(fabsf(end.parameters[i] - whole_run->parameters[i]) < 1e-5f, "%d ranks: parameter %zu is %g, not %g",
               ranks, i, (double)end.parameters[i], (double)whole_run->parameters[i]);
}

/* 12 images a step, 40 in an epoch: steps 2 to 5 on another number of ranks, across the end of an epoch. */
void lab_ckpt_resize(void)
{
    train_start whole_run;
    train_error error;
    lab_warm_up();
    lab_make_folder();
    char *uninterrupted = lab_path("whole");
    EXPECT(mkdir(uninterrupted, 0700) == 0 && mkdir(lab_path("one"), 0700) == 0 && mkdir(lab_path("four"), 0700) == 0,
           "folders");
    small_run(6, 5, uninterrupted);
    train_run_of of = {&lab_training.settings, lab_training.model, 40};
    lab_train_well(2);
    EXPECT(train__resume(uninterrupted, &of, &whole_run, &error) == P2P_OK, "%s", error.text);
    small_run(6, 2, lab_folder);
    lab_train_well(2);
    resume_on(1, 12, lab_path("one"), &whole_run);
    resume_on(4, 3, lab_path("four"), &whole_run);
    lab_remove_folder();
}

/* ---- A rank dies while a checkpoint is made ---- */

enum { LAST_CHECKPOINT = 7 }; /* broadcasts: 2 at first, 1 an evaluation, 1 a checkpoint */

static p2p_err dies_in_the_last(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    static int calls;
    if (++calls == LAST_CHECKPOINT && lab_rank == 1) lab_die(SIGKILL);
    return train_parallel_default.broadcast(comm, buf, count, dtype, root);
}

void lab_ckpt_dead(void)
{
    static lab_job job = {.size = 3, .body = lab_train};
    train_start start;
    train_error error;
    lab_warm_up();
    lab_make_folder();
    lab_training_make(12, 3);
    lab_training.settings.epochs = 2;
    lab_training.settings.out = lab_folder;
    lab_training.parallel.broadcast = dies_in_the_last;
    lab_run(&job);
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
    lab_expect_survivor(2, 1, "signal 9");
    train_run_of of = {&lab_training.settings, lab_training.model, 12};
    EXPECT(train__resume(lab_folder, &of, &start, &error) == P2P_OK, "%s", error.text);
    EXPECT(start.epoch == 2 && start.position == 0, "the checkpoint is of epoch %d", (int)start.epoch);
    lab_remove_folder();
}
