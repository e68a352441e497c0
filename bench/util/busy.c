/* SPDX-License-Identifier: MIT */
#include "bench/util/busy.h"

#include <sched.h>
#include <stdio.h>
#include <sys/times.h>
#include <unistd.h>

#include "p2p/p2p.h"

static const double much = 0.1, least_seconds = 0.5;

/* Clock ticks so far. */
typedef struct {
    double cores, own, passed;
    int count; /* of cores that this process may use; 0: not known */
} ticks;

static ticks begun;

static ticks look(void)
{
    ticks t = {.count = 0};
    cpu_set_t mine;
    struct tms own;
    char line[512];
    FILE *file = sched_getaffinity(0, sizeof mine, &mine) == 0 ? fopen("/proc/stat", "re") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
        int core;
        if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &user, &nice, &system, &idle, &iowait,
                   &irq, &softirq, &steal) != 9)
            continue;
        if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET((size_t)core, &mine)) continue;
        t.cores += (double)(user + nice + system + irq + softirq + steal);
        t.count++;
    }
    if (file) fclose(file);
    t.passed = (double)times(&own);
    t.own = (double)(own.tms_utime + own.tms_stime + own.tms_cutime + own.tms_cstime);
    return t;
}

void busy_begin(void)
{
    begun = look();
}

bool busy_words(char *text, size_t bytes)
{
    ticks now = look();
    double passed = now.passed - begun.passed;
    if (p2p_launched() || !begun.count || now.count != begun.count) return false;
    if (passed < least_seconds * (double)sysconf(_SC_CLK_TCK)) return false;
    double others = (now.cores - begun.cores - (now.own - begun.own)) / passed;
    if (others < much * now.count) return false;
    snprintf(text, bytes,
             "other programs kept %.1f of %d cores busy meanwhile: times are longer than on an idle machine",
             others < now.count ? others : now.count, now.count);
    return true;
}
