/* SPDX-License-Identifier: MIT */
/*
 * A control group (version 2): a bound on the memory of all of a submission's processes together, and on their number. It
 * lies below our own group or below the top, if the controllers may be used there.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
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

/* Our own group, from the line "0::/path"; NULL at the top. */
static char *own_group(void)
{
    OWNED char *text = learn_read_file("/proc/self/cgroup", NULL);
    const char *line = text ? text : "";
    while (*line && !learn_has_prefix(line, "0::")) line = learn_next_line(line);
    size_t length = strcspn(line, "\n");
    return length > strlen("0::/") ? learn_format("%.*s", (int)length - 3, line + 3) : NULL;
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

bool learn_group_make(learn_sandbox *box)
{
    OWNED char *own = own_group();
    bool there = access(GROUPS "/cgroup.controllers", R_OK) == 0;
    box->group[0] = '\0';
    box->refused = box->killed = 0;
    for (int top = own ? 0 : 1; there && top < 2; top++) {
        OWNED char *parent = learn_format(GROUPS "%s", top ? "" : own);
        OWNED char *path = learn_format("%s/" NAME "%d-%d", parent, (int)getpid(), box->number);
        if (box->number == 0) sweep(parent);
        if (strlen(path) >= LEARN_PATH || mkdir(path, 0755) != 0) continue;
        if (put(path, "memory.max", box->limits.memory)) {
            memcpy(box->group, path, strlen(path) + 1);
            put(path, "memory.swap.max", 0);
            put(path, "pids.max", (uint64_t)box->limits.processes);
            return true;
        }
        rmdir(path); /* without the controller for memory */
    }
    return false;
}

bool learn_group_join(const learn_sandbox *box)
{
    return put(box->group, "cgroup.procs", 0);
}

/* "max 12" or "oom_kill 1" in a file of a group. */
static uint64_t count_of(const char *group, const char *file, const char *event)
{
    OWNED char *path = learn_format("%s/%s", group, file);
    return *group ? p2p__number_in(path, event, 0) : 0;
}

const char *learn_limit_reached(learn_sandbox *box)
{
    uint64_t refused = count_of(box->group, "pids.events", "max "), seen[2] = {box->refused, box->killed};
    uint64_t killed = count_of(box->group, "memory.events", "oom_kill ") + *box->watched;
    box->refused = refused;
    box->killed = killed;
    if (refused > seen[0]) return "It made processes until no more were allowed.";
    return killed > seen[1] ? "It took all the memory that is allowed." : NULL;
}

/* The last process may still be on its way out. */
void learn_group_remove(learn_sandbox *box)
{
    for (int tries = 0; *box->group && rmdir(box->group) != 0 && errno == EBUSY && tries < 200; tries++)
        poll(NULL, 0, 10);
    box->group[0] = '\0';
}
