/* SPDX-License-Identifier: MIT */
/*
 * A time limit (--timeout) that holds for an idle machine (--patience N): it is put off, up to N times, for as long as ranks
 * compute, in no call and not asleep, and none of them has had its part of the processors, because other programs run. The
 * course's checker asks for it: a right solution is not to fail because the machine is busy.
 */
#include <sched.h>
#include <time.h>

#include "p2p/job/launch.h"
#include "p2p/shared/process.h"

static const double enough = 0.7; /* of what a rank has on an idle machine, where supervisor and system run as well */

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Seconds for which it has had a processor; 0: it has ended. */
static double computed(pid_t pid)
{
    clockid_t clock;
    struct timespec had;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &had) != 0) return 0;
    return (double)had.tv_sec + (double)had.tv_nsec * 1e-9;
}

bool p2p__had_its_time(p2p_job *job, double limit)
{
    double most = 0, passed = (double)(p2p__now() - job->started) * 1e-9;
    int computing = 0, all = cores();
    if (passed < limit) return false;
    if (passed >= limit * job->plan->patience) return true;
    p2p__see(&job->watch);
    for (int i = 0; i < job->size; i++) {
        pid_t pid = job->ranks[i].pid;
        int state = job->watch.seen[i].state;
        if (job->watch.ended[i] || pid <= 0 || (state != SCOREBOARD_ABSENT && state != SCOREBOARD_RUNNING)) continue;
        if (p2p__process_letter(pid) == 'S') continue;
        double had = computed(pid);
        if (had > most) most = had;
        computing++;
    }
    return !computing || most >= enough * limit * (computing > all ? (double)all / computing : 1);
}
