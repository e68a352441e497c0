/* SPDX-License-Identifier: MIT */
/* Jobs: many checks, as many at a time as there are cores, each in a process of its own. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/course/commands.h"

typedef struct {
    pid_t pid;
    FILE *said;
} running;

static void end(running *job, size_t i, int status, learn_job_ended *ended, void *arg)
{
    OWNED char *path = job->said ? learn_format("/proc/self/fd/%d", fileno(job->said)) : NULL;
    OWNED char *said = path ? learn_read_file(path, NULL) : NULL;
    ended(arg, i, status, said ? said : "");
    if (job->said) fclose(job->said);
    *job = (running){0, NULL}; /* the number may be used again */
}

void learn_run_jobs(size_t count, int at_once, learn_job *run, learn_job_ended *ended, void *arg)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN), under_way = 0, status;
    OWNED running *jobs = learn_memory(count * sizeof *jobs);
    if (at_once < 1) at_once = cores > 1 ? cores : 1;
    for (size_t next = 0; next < count || under_way > 0;) {
        if (next < count && under_way < at_once) {
            running *job = &jobs[next];
            fflush(NULL);
            int memory = memfd_create("said", MFD_CLOEXEC);
            job->said = memory < 0 ? NULL : fdopen(memory, "w+");
            job->pid = job->said ? fork() : -1;
            if (job->pid == 0) {
                status = run(arg, next, job->said);
                _exit(fflush(job->said) == 0 ? status : 2);
            }
            under_way += job->pid > 0;
            if (job->pid < 0) end(job, next, -1, ended, arg);
            next++;
            continue;
        }
        pid_t pid = wait(&status);
        for (size_t i = 0; i < next && pid > 0; i++) {
            if (jobs[i].pid != pid) continue;
            end(&jobs[i], i, status, ended, arg);
            under_way--;
        }
    }
}
