/* SPDX-License-Identifier: MIT */
/* Jobs: many checks, as many at a time as there are cores, each in a process of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/course/commands.h"

void learn_run_jobs(size_t count, int at_once, int (*run)(void *arg, size_t i),
                    void (*ended)(void *arg, size_t i, int status), void *arg)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    OWNED pid_t *pids = learn_memory(count * sizeof *pids);
    if (at_once < 1) at_once = cores > 1 ? cores : 1;
    for (size_t next = 0; next < count || running > 0;) {
        if (next < count && running < at_once) {
            fflush(NULL);
            pids[next] = fork();
            if (pids[next] == 0) _exit(run(arg, next));
            if (pids[next] < 0) ended(arg, next, -1);
            running += pids[next++] > 0;
            continue;
        }
        int status;
        pid_t pid = wait(&status);
        for (size_t i = 0; i < next && pid > 0; i++) {
            if (pids[i] != pid) continue;
            ended(arg, i, status);
            pids[i] = 0; /* the number may be used again */
            running--;
        }
    }
}
