/* SPDX-License-Identifier: MIT */
#include "trainer_lab.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

train_job lab_training;
char lab_folder[256];

/* ---- A small run ---- */

train_model *lab_small_model(int width)
{
    const train_description small = {"small", 3, 1, false, 2, {1, 1}, {8, width}};
    train_model *model = NULL;
    EXPECT(train_build(&small, &model, NULL) == P2P_OK, "no memory for a model");
    return model;
}

void lab_training_make(size_t images, size_t tests)
{
    lab_training = (train_job){.parallel = train_parallel_default, .start = {.epoch = 1}};
    train_defaults(&lab_training.settings);
    lab_training.settings.device = "cpu";
    lab_training.settings.batch = 4;
    lab_training.settings.quiet = true;
    lab_training.model = lab_small_model(16);
    EXPECT(train_data_synthetic(images, tests, &lab_training.data, NULL) == P2P_OK, "no memory for images");
}

int lab_train(p2p_comm *world)
{
    lab_slot *slot = &lab->rank[lab_rank];
    train_error error = {""};
    train_result result = {.saved = false};
    lab_enter(__LINE__);
    lab_leave(world, train_run(world, &lab_training, &result, &error));
    snprintf(slot->kept, sizeof slot->kept, "%s", error.text);
    slot->count = (long)result.score.total;
    return 0;
}

void lab_train_well(int ranks)
{
    static lab_job job = {.body = lab_train};
    job.size = ranks;
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
    for (int rank = 0; rank < ranks; rank++)
        EXPECT(lab->rank[rank].err == P2P_OK, "rank %d: %s: %s", rank, p2p_strerror(lab->rank[rank].err),
               lab->rank[rank].kept);
}

void lab_expect_all(int ranks, p2p_err err, const char *const facts[])
{
    for (int rank = 0; rank < ranks; rank++) {
        const lab_slot *slot = &lab->rank[rank];
        EXPECT(slot->err == err, "rank %d ended with %s, not %s: %s", rank, p2p_strerror(slot->err), p2p_strerror(err),
               slot->kept);
        lab_expect_facts(slot->kept, facts);
    }
}

void lab_warm_up(void)
{
    alarm(10 * LAB_QUICK);
    lab_training_make(4, 4);
    lab_train_well(1);
    train_job_free(&lab_training);
    alarm(LAB_QUICK);
}

/* ---- Programs and folders ---- */

void lab_run_train(lab_job *job, const char *const args[])
{
    size_t count = 0;
    job->argv[count++] = lab_build("train");
    if (access(job->argv[0], X_OK) != 0) lab_skip("%s is not built", job->argv[0]);
    for (size_t i = 0; args[i] && count < 23; i++) job->argv[count++] = strdup(args[i]);
    job->argv[count] = NULL;
    lab_run(job);
}

void lab_make_folder(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(lab_folder, sizeof lab_folder, "%s/faultlab-XXXXXX", where ? where : "/tmp");
    EXPECT(mkdtemp(lab_folder), "no folder %s", lab_folder);
}

static int remove_one(const char *path, const struct stat *is, int flag, struct FTW *place)
{
    (void)is, (void)flag, (void)place;
    return remove(path);
}

void lab_remove_folder(void)
{
    nftw(lab_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

char *lab_path(const char *name)
{
    char *path = NULL;
    EXPECT(asprintf(&path, "%s/%s", lab_folder, name) > 0, "no memory");
    return path;
}
