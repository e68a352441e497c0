/* SPDX-License-Identifier: MIT */
/* Faults of devices: none, kernels that do not build, no memory, forks, too many ranks. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trainer_lab.h"

#define LITTLE "--device", "cpu", "--train-limit", "8", "--test-limit", "4", "--batch", "2", "--quiet"

void lab_no_opencl(void)
{
    static lab_job job;
    setenv("OCL_ICD_VENDORS", "/dev/null/none", 1);
    lab_run_train(&job, ARGS("--ranks", "2", "--steps", "1", LITTLE));
    EXPECT(job.status == 1, "exit status %d, not 1", job.status);
    FACTS(job.text, "OpenCL", "rank ");
    EXPECT(lab_lines_with(job.text, "train: rank") == 1, "it is said more than once");
}

/* PAIRWISE_KERNEL_FAIL: see kernels/device.c */
void lab_cl_build(void)
{
    static lab_job job;
    setenv("PAIRWISE_KERNEL_FAIL", "build", 1);
    lab_run_train(&job, ARGS("--ranks", "3", LITTLE));
    EXPECT(job.status == 1, "exit status %d, not 1", job.status);
    FACTS(job.text, "CL_BUILD_PROGRAM_FAILURE", "asked for by");
    EXPECT(lab_lines_with(job.text, "CL_BUILD_PROGRAM_FAILURE") == 1, "it is said more than once");
    EXPECT(lab_lines_with(job.text, "train: rank") == 1, "it is said more than once");
}

static int body_one_without_memory(p2p_comm *world)
{
    if (p2p_rank(world) == 1) setenv("PAIRWISE_KERNEL_FAIL", "alloc:5", 1);
    lab_train(world);
    if (p2p_rank(world) == 1) {
        lab->died_at = process_now();
        _exit(1); /* as a program does that has met an error and ends */
    }
    return 0;
}

void lab_cl_oom(void)
{
    static lab_job job = {.size = 3, .body = body_one_without_memory};
    lab_training_make(12, 2);
    lab_run(&job);
    EXPECT(lab->rank[1].err == P2P_ERR_NOMEM || lab->rank[1].err == P2P_ERR_SYS, "rank 1 ended with %s: %s",
           p2p_strerror(lab->rank[1].err), lab->rank[1].kept);
    FACTS(lab->rank[1].kept, "clCreateBuffer", "CL_MEM_OBJECT_ALLOCATION_FAILURE", "buffer the ", " floats");
    for (int rank = 0; rank < 3; rank += 2) lab_expect_survivor(rank, 1, "status 1");
}

/* Is this library mapped into that process? */
static bool has_mapped(pid_t pid, const char *library)
{
    char path[40], line[600];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) found = found || strstr(line, library);
    if (file) fclose(file);
    return found;
}

/* In a process that a rank forks, after the rank has opened its device. */
static int child_uses(train_network *network)
{
    train_error error = {""};
    alarm(5);
    return train_map(network, TRAIN_PARAMETERS, &error) == NULL && strstr(error.text, "process") ? 0 : 1;
}

static p2p_err fork_one(void *arg, const train_hook_context *now)
{
    int status = 0;
    (void)arg;
    pid_t child = fork();
    if (child == 0) _exit(child_uses(now->network));
    waitpid(child, &status, 0);
    atomic_fetch_add(&lab->flag[0], WIFEXITED(status) && WEXITSTATUS(status) == 0);
    atomic_fetch_add(&lab->flag[1], has_mapped(getpid(), "pocl"));
    atomic_fetch_add(&lab->flag[2], has_mapped(getppid(), "pocl"));
    return P2P_OK;
}

void lab_cl_fork(void)
{
    lab_training_make(8, 2);
    lab_training.hooks.after_step = fork_one;
    lab_training.settings.steps = 1;
    lab_train_well(2);
    EXPECT(lab->flag[0] == 2, "%d of 2 children were refused", lab->flag[0]);
    if (lab->flag[1] == 2) EXPECT(lab->flag[2] == 0, "the supervisor has loaded an OpenCL driver");
}

/* In the process that starts the ranks: open, or only ask what there is. */
static void open_and_close(void)
{
    kernel_device *device;
    EXPECT(kernel_open("cpu", 1, &device) == KERNEL_OK, "%s", kernel_error_message(NULL));
    kernel_close(device);
}

static void only_list(void)
{
    kernel_listing there;
    EXPECT(kernel_list(&there) == KERNEL_OK && there.cpus > 0, "%s", there.text);
}

void lab_cl_fork_closed(void)
{
    static lab_job opened = {.size = 2, .body = lab_train, .setup = open_and_close},
                   listed = {.size = 2, .body = lab_train, .setup = only_list};
    lab_warm_up();
    lab_training_make(8, 2);
    lab_run(&opened);
    lab_expect_all(2, P2P_ERR_SYS, ARGS("kernel_open: process ", "survive a fork", "kernel_list"));
    lab_run(&listed);
    EXPECT(listed.status == 0, "exit status %d", listed.status);
    for (int rank = 0; rank < 2; rank++) EXPECT(lab->rank[rank].err == P2P_OK, "%s", lab->rank[rank].kept);
}

static void one_core(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    size_t first = 0;
    while (!CPU_ISSET(first, &set)) first++;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    sched_setaffinity(0, sizeof set, &set);
}

void lab_cl_oversub(void)
{
    static lab_job job = {.size = 3, .body = lab_train, .setup = one_core};
    lab_training_make(12, 2);
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
    FACTS(job.text, "3 ranks share 1 core");
    EXPECT(lab_lines_with(job.text, "warning") == 1, "not one warning but %d", lab_lines_with(job.text, "warning"));
}
