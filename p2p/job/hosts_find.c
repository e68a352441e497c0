/* SPDX-License-Identifier: MIT */
/* Is this launcher one of several, which mpirun or srun has started? */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/job/hosts.h"

typedef struct {
    const char *variable; /* that says how many were started, or, if it is no number of them, that one was */
    bool counts;
    const char *carriers[2]; /* in this order */
} starter;

static const starter starters[] = {
    {"OMPI_COMM_WORLD_SIZE", true, {"openmpi", NULL}},
    {"PMI_SIZE", true, {"mpich", "openmpi"}},
    {"SLURM_STEP_NUM_TASKS", true, {"openmpi", "mpich"}},
    {"PMIX_RANK", false, {"openmpi", "mpich"}}, /* srun sets it as well, for one task too */
};

static const starter *find_starter(void)
{
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        const char *value = getenv(starters[i].variable);
        if (value && starters[i].counts && atoi(value) <= 1) return NULL;
        if (value) return &starters[i];
    }
    return NULL;
}

int p2p__hosts_expected(void)
{
    const char *value = NULL;
    for (size_t i = 0; i < sizeof starters / sizeof *starters && !value; i++)
        if (starters[i].counts) value = getenv(starters[i].variable);
    return value ? atoi(value) : 0;
}

int p2p__hosts_find(char **argv)
{
    const starter *by = p2p__carrier ? NULL : find_starter();
    char own[PATH_MAX - 16], path[PATH_MAX];
    if (!by) return -1;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    for (int i = 0; i < 2 && by->carriers[i]; i++) {
        snprintf(path, sizeof path, "%s-%s", own, by->carriers[i]);
        execv(path, argv);
        if (errno == ENOENT) continue;
        fprintf(stderr, "pairwise: %s cannot be started: %s\n", path, strerror(errno));
        return 127;
    }
    fprintf(stderr,
            "pairwise: this is one of several launchers (%s is set), and there is no %s-%s, which reaches the others\n"
            "  try: make hosts, where mpicc is installed; to start a job of its own: unset %s\n",
            by->variable, own, by->carriers[0], by->variable);
    return 2;
}
