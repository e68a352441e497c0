/* SPDX-License-Identifier: MIT */
/*
 * What of the system every step of a check may read: the compiler, the C library, OpenCL. Where the class, the checkout or the
 * scratch folder lie below one of these folders, it is given in parts, without them:
 *
 *      a class in /opt/class     /opt/gcc /opt/rocm          instead of /opt
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"
#include "learn/grade/submission.h"

static const char *const system_paths[] = {"/usr",
                                           "/bin",
                                           "/sbin",
                                           "/lib",
                                           "/lib32",
                                           "/lib64",
                                           "/libx32",
                                           "/opt",
                                           "/nix",
                                           "/gnu",
                                           "/etc/alternatives",
                                           "/etc/ld.so.conf.d",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.conf",
                                           "/etc/OpenCL",
                                           "/sys/devices/system",
                                           "/etc/passwd",
                                           "/etc/group",
                                           "/etc/nsswitch.conf",
                                           NULL};

enum { HIDDEN = 4 };

typedef struct {
    char **paths;
    size_t count;
    char hidden[HIDDEN][PATH_MAX]; /* "" for none */
} list;

static void add_path(list *l, const char *path)
{
    l->paths = learn_grow(l->paths, l->count + 1, sizeof *l->paths);
    l->paths[l->count++] = learn_copy(path);
    l->paths[l->count] = NULL;
}

/* Is this path one of the hidden ones, or above one of them? */
static bool leads_to(const list *l, const char *path, bool *is_one)
{
    bool above = false;
    size_t length = strlen(path);
    *is_one = false;
    for (int i = 0; i < HIDDEN; i++) {
        if (strncmp(l->hidden[i], path, length) != 0) continue;
        if (l->hidden[i][length] == '\0') *is_one = true;
        if (l->hidden[i][length] == '/') above = true;
    }
    return above;
}

static void add_without(list *l, const char *path)
{
    bool is_one, above = leads_to(l, path, &is_one);
    struct stat s;
    if (is_one) return;
    if (!above || lstat(path, &s) != 0 || !S_ISDIR(s.st_mode)) {
        add_path(l, path);
        return;
    }
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        OWNED char *inner = learn_format("%s/%s", path, d->d_name);
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) add_without(l, inner);
    }
    if (folder) closedir(folder);
}

/* Of one submission alone those beside it are hidden as well, unless that is a folder of the system itself. */
static void hide_class(list *l, const char *class)
{
    char *above = l->hidden[1];
    struct stat s;
    if (!realpath(class, l->hidden[0])) l->hidden[0][0] = '\0';
    if (!*l->hidden[0] || !learn_is_submission(class)) return;
    memcpy(above, l->hidden[0], sizeof l->hidden[0]);
    *strrchr(above, '/') = '\0';
    OWNED char *programs = learn_format("%s/bin", above);
    if (stat(programs, &s) == 0) above[0] = '\0';
}

char **learn_system_without(const learn_sandbox *box, const char *class)
{
    list l = {.count = 0};
    hide_class(&l, class);
    if (!realpath(box->top, l.hidden[2])) l.hidden[2][0] = '\0';
    if (!realpath(box->scratch, l.hidden[3])) l.hidden[3][0] = '\0';
    for (const char *const *path = system_paths; *path; path++) add_without(&l, *path);
    return l.paths;
}
