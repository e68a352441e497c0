/* SPDX-License-Identifier: MIT */
/*
 * Control groups: a bound on the memory of all of a submission's processes together, and on their number. Either version:
 *
 *      version 2    one group below ours or below the top, if the controllers may be used there
 *      version 1    one group for memory, one for pids
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"
#include "p2p/shared/process.h"

#define GROUPS "/sys/fs/cgroup"
#define NAME "pairwise-grade-"

static bool put(const char *group, const char *file, uint64_t number)
{
    OWNED char *path = learn_format("%s/%s", group, file);
    FILE *out = fopen(path, "we");
    bool good = out && fprintf(out, "%llu", (unsigned long long)number) > 0;
    return out && fclose(out) == 0 && good;
}

/* Our own group for a controller ("" for version 2), from lines such as "4:memory:/path" and "0::/path". */
static char *own_group(const char *controller)
{
    OWNED char *text = learn_read_file("/proc/self/cgroup", NULL);
    char *rest = text;
    for (char *line; text && (line = strsep(&rest, "\n"));) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        if (*controller ? strstr(names + 1, controller) != NULL : !names[1])
            return learn_copy(strcmp(path, "/") == 0 ? "" : path);
    }
    return NULL;
}

/* Groups of graders that were killed. Those that still have a process cannot be removed. */
static void sweep(const char *parent)
{
    DIR *folder = opendir(parent);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        int pid, number;
        if (sscanf(d->d_name, NAME "%d-%d", &pid, &number) != 2 || kill(pid, 0) == 0) continue;
        OWNED char *path = learn_format("%s/%s", parent, d->d_name);
        rmdir(path);
    }
    if (folder) closedir(folder);
}

/* A new group below our own group, else below the top; `must` is a file that is there only if the controller is. */
static bool make(char *group, const char *base, const char *own, int number, const char *must)
{
    for (int i = own && *own ? 0 : 1; i < 2; i++) {
        OWNED char *parent = learn_format("%s%s", base, i == 0 ? own : "");
        OWNED char *path = learn_format("%s/" NAME "%d-%d", parent, (int)getpid(), number);
        OWNED char *file = learn_format("%s/%s", path, must);
        if (number == 0) sweep(parent);
        bool made = strlen(path) < LEARN_PATH && mkdir(path, 0755) == 0, good = made && access(file, W_OK) == 0;
        if (good) memcpy(group, path, strlen(path) + 1);
        if (made && !good) rmdir(path);
        if (good) return true;
    }
    group[0] = '\0';
    return false;
}

static bool make_version_2(learn_sandbox *box)
{
    OWNED char *own = own_group("");
    if (!make(box->group[0], GROUPS, own, box->number, "memory.max")) return false;
    put(box->group[0], "memory.max", box->limits.memory);
    put(box->group[0], "memory.swap.max", 0);
    put(box->group[0], "pids.max", (uint64_t)box->limits.processes);
    return true;
}

static bool make_version_1(learn_sandbox *box)
{
    OWNED char *memory = own_group("memory"), *pids = own_group("pids");
    bool good = make(box->group[0], GROUPS "/memory", memory, box->number, "memory.limit_in_bytes");
    if (make(box->group[1], GROUPS "/pids", pids, box->number, "pids.max"))
        put(box->group[1], "pids.max", (uint64_t)box->limits.processes);
    good = good && put(box->group[0], "memory.limit_in_bytes", box->limits.memory);
    if (good) put(box->group[0], "memory.memsw.limit_in_bytes", box->limits.memory);
    if (!good) learn_group_remove(box);
    return good;
}

bool learn_group_make(learn_sandbox *box)
{
    box->group[0][0] = box->group[1][0] = '\0';
    box->refused = box->killed = 0;
    return access(GROUPS "/cgroup.controllers", R_OK) == 0 ? make_version_2(box) : make_version_1(box);
}

bool learn_group_join(const learn_sandbox *box)
{
    for (int i = 0; i < 2; i++)
        if (*box->group[i] && !put(box->group[i], "cgroup.procs", 0)) return false;
    return true;
}

/* "max 12" or "oom_kill 1" in a file of a group. */
static uint64_t count_of(const char *group, const char *file, const char *event)
{
    OWNED char *path = learn_format("%s/%s", group, file);
    return *group ? p2p__number_in(path, event, 0) : 0;
}

const char *learn_limit_reached(learn_sandbox *box)
{
    const char *pids = *box->group[1] ? box->group[1] : box->group[0];
    uint64_t refused = count_of(pids, "pids.events", "max "), seen[2] = {box->refused, box->killed};
    uint64_t killed = count_of(box->group[0], "memory.oom_control", "oom_kill ") +
                      count_of(box->group[0], "memory.events", "oom_kill ") + *box->watched;
    box->refused = refused;
    box->killed = killed;
    if (refused > seen[0]) return "It made processes until no more were allowed.";
    return killed > seen[1] ? "It took all the memory that is allowed." : NULL;
}

/* The last process may still be on its way out. */
void learn_group_remove(learn_sandbox *box)
{
    for (int i = 0; i < 2; i++) {
        for (int tries = 0; *box->group[i] && rmdir(box->group[i]) != 0 && errno == EBUSY && tries < 200; tries++)
            poll(NULL, 0, 10);
        box->group[i][0] = '\0';
    }
}
