/* SPDX-License-Identifier: MIT */
/* How many cores this process may use: the smaller of the scheduler's affinity and the control group's quota. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/internal.h"

static int allowed_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static bool read_line(const char *folder, const char *name, char *line, int room)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    bool fine = file && fgets(line, room, file);
    if (file) fclose(file);
    return fine;
}

/* Cores that this folder's quota is worth, rounded up; 0: no quota. Version 2 has "quota period" in one file ("max" is
 * none), version 1 has two files (-1 is none). */
static int quota_of(const char *folder)
{
    char line[100], second[100];
    long quota = 0, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof line))
        sscanf(line, "%ld %ld", &quota, &period);
    else if (read_line(folder, "cpu.cfs_quota_us", line, sizeof line) &&
             read_line(folder, "cpu.cfs_period_us", second, sizeof second)) {
        quota = strtol(line, NULL, 10);
        period = strtol(second, NULL, 10);
    }
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static int smaller_quota(int a, int b)
{
    return !a || (b && b < a) ? b : a;
}

/* The tightest quota from our own group up to the root; in a container only the root is visible. */
static int tightest(const char *root, const char *path)
{
    char folder[500];
    int quota = quota_of(root);
    snprintf(folder, sizeof folder, "%s%s", root, path);
    for (size_t base = strlen(root); strlen(folder) > base;) {
        quota = smaller_quota(quota, quota_of(folder));
        char *slash = strrchr(folder + base, '/');
        if (!slash) break;
        *slash = '\0';
    }
    return quota;
}

static int paid_cores(void)
{
    char line[400];
    int quota = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) { /* "0::/path" or "4:cpu,cpuacct:/path" */
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        line[strcspn(line, "\n")] = '\0';
        *path++ = '\0';
        if (!names[1]) /* the second version names no controllers */
            quota = smaller_quota(quota, tightest("/sys/fs/cgroup", path));
        else if (strstr(names, "cpu"))
            quota = smaller_quota(quota, tightest("/sys/fs/cgroup/cpu", path));
    }
    fclose(file);
    return quota;
}

int train__cores(void)
{
    int allowed = allowed_cores(), paid = paid_cores();
    return paid && paid < allowed ? paid : allowed;
}
