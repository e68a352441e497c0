/* SPDX-License-Identifier: MIT */
/*
 * cgroup: what the control groups of this process leave it of memory. A process is in a group, which lies in another one, up to
 * the root, and each may have a limit; in a container the root may be all that can be seen. Version 2 has all controllers in one
 * tree, version 1 has a tree for memory.
 */
#include <stdio.h>
#include <string.h>

#include "p2p/shared/memory.h"
#include "p2p/shared/process.h"

enum { LONGEST = 500 };

typedef struct {
    const char *root, *limit, *used, *active, *inactive;
} tree;

static const tree version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_active_file ", "total_inactive_file "},
                  version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "active_file ", "inactive_file "};

static uint64_t number_in(const char *folder, const char *file, const char *name, uint64_t otherwise)
{
    char path[LONGEST + 40];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return p2p__number_in(path, name, otherwise);
}

/* Pages of files that are kept in memory count as used, and are given up for others. */
static uint64_t left_in(const tree *t, const char *folder)
{
    uint64_t limit = number_in(folder, t->limit, "", UINT64_MAX), used = number_in(folder, t->used, "", 0);
    if (limit == UINT64_MAX) return limit; /* "max", or there is no such file */
    uint64_t files = number_in(folder, "memory.stat", t->active, 0) + number_in(folder, "memory.stat", t->inactive, 0);
    used -= files < used ? files : used;
    return limit > used ? limit - used : 0;
}

/* The least of the group's own and of all above it. */
static uint64_t least_in(const tree *t, const char *group)
{
    char folder[LONGEST];
    size_t base = strlen(t->root);
    uint64_t least = left_in(t, t->root);
    snprintf(folder, sizeof folder, "%s%s", t->root, group);
    for (char *slash; strlen(folder) > base + 1 && (slash = strrchr(folder + base, '/')); *slash = 0) {
        uint64_t left = left_in(t, folder);
        if (left < least) least = left;
    }
    return least;
}

uint64_t p2p__group_memory_left(void)
{
    char line[LONGEST];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return least;
    while (fgets(line, sizeof line, file)) { /* "0::/path", or "4:memory:/path" */
        line[strcspn(line, "\n")] = 0;
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        bool second = !names[1];
        if (!second && !strstr(names, "memory")) continue;
        uint64_t left = least_in(second ? &version_2 : &version_1, path);
        if (left < least) least = left;
    }
    fclose(file);
    return least;
}
