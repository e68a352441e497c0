/* SPDX-License-Identifier: MIT */
/* The program: everything that can be wrong is found before a rank is started; then the ranks train. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "trainer/options.h"
#include "trainer/run.h"

typedef struct {
    train_job job;
    atomic_int *told; /* shared by the ranks: one of them says what went wrong, for it may be wrong on all */
} program;

/* An error that a rank finds ends the job; one that the communicator has found has been told already. */
static int rank_main(p2p_comm *world, void *arg)
{
    program *p = arg;
    train_error error = {""};
    train_result result;
    p2p_err err = train_run(world, &p->job, &result, &error);
    if (!err) return result.saved ? 0 : 1;
    if (atomic_exchange(p->told, 1) == 0) fprintf(stderr, "train: rank %d: %s\n", p2p_rank(world), error.text);
    p2p_abort(world, 1);
    return 1;
}

static int launch(program *p)
{
    p2p_options options = {.world = p->job.settings.world, .trace = p->job.settings.trace};
    options.memory_each = 2 * sizeof(float) * p->job.model->parameters; /* weights and gradients, at least */
    p2p_err err = p2p_launch(p->job.settings.ranks, rank_main, p, &options);
    return err == P2P_ERR_ARG || err == P2P_ERR_STATE ? 2 : options.exit_status;
}

int train_program(int argc, char *argv[], const train_parallel *parallel)
{
    program p;
    train_error error = {""};
    train_settings settings = train__options(argc, argv);
    if (train_prepare(&settings, &p.job, &error)) {
        fprintf(stderr, "train: %s\n", error.text);
        return 2;
    }
    if (parallel) p.job.parallel = *parallel;
    p.told = mmap(NULL, sizeof *p.told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.told == MAP_FAILED) {
        perror("train: mmap");
        return 1;
    }
    int status = launch(&p);
    munmap(p.told, sizeof *p.told);
    train_job_free(&p.job);
    return status;
}
