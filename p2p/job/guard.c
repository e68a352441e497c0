/* SPDX-License-Identifier: MIT */
/*
 * The guard: a process beside the launcher. If the launcher is killed (SIGKILL), the system ends its ranks, each of which has
 * asked for that, but not what ranks have forked. Those are of the ranks' process groups, which the guard ends:
 *
 *      launcher ----- groups[]: one of each rank ------ guard
 *          |  forks                                       waits until the launcher has ended, by SIGUSR1
 *        ranks, each the first of a group
 *
 * Where it cannot be started, nothing is guarded.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/job/launch.h"

static _Noreturn void be_guard(pid_t launcher, pid_t *const groups, int count)
{
    sigset_t all, end;
    int signal;
    setpgid(0, 0); /* what a terminal sends to the launcher is not for it */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGUSR1);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    syscall(SYS_close_range, 0U, ~0U, 0U); /* it must keep nothing open */
    while (getppid() == launcher) sigwait(&end, &signal);
    for (int i = 0; i < count; i++)
        if (groups[i] > 1) kill(-groups[i], SIGKILL);
    _exit(0);
}

void p2p__guard_begin(p2p_job *job)
{
    size_t bytes = (size_t)job->count * sizeof *job->groups;
    if (job->plan->orders) return; /* thousands of short jobs, which only try orders */
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    job->groups = shared;
    for (int i = 0; i < job->count; i++) p2p__guard_rank(job, job->first + i);
    job->guard = fork();
    if (job->guard == 0) be_guard(job->self, job->groups, job->count);
}

void p2p__guard_rank(p2p_job *job, int rank)
{
    if (job->groups) job->groups[rank - job->first] = job->watch.ended[rank] ? 0 : job->ranks[rank].pid;
}

void p2p__guard_end(p2p_job *job)
{
    if (job->guard > 0) {
        kill(job->guard, SIGKILL);
        while (waitpid(job->guard, NULL, 0) < 0 && errno == EINTR) continue;
    }
    if (job->groups) munmap(job->groups, (size_t)job->count * sizeof *job->groups);
    job->groups = NULL;
}
