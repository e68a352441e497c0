/* SPDX-License-Identifier: MIT */
/* Before ranks are started: is the program one that can be? If not, what was probably meant. */
#include "p2p/job/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Along PATH, as execvp does it. */
static bool find_in_path(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    if (!at) at = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(at, ":");
        int used = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (used < PATH_MAX && is_file(path) && access(path, X_OK) == 0) return true;
        if (!at[length]) return false;
        at += length + 1;
    }
}

static const char *advice_for(const char *path)
{
    static const char *const kinds[][2] = {
        {".c", "compile it first, cc -I. FILE.c build/libpairwise.a -o first, and launch -n N ./first"},
        {".py", "launch -n N python3 FILE.py"},
        {".sh", "launch -n N sh FILE.sh"},
        {"", "launch -n N PROGRAM, where PROGRAM is compiled: launch -n 4 build/examples/hello"}};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    size_t i = 0;
    while (*kinds[i][0] && strcmp(kinds[i][0], dot ? dot : "") != 0) i++;
    return kinds[i][1];
}

#define SHOWN 600

static bool refuse(const char *name, const char *cause, const char *advice, p2p_words *why)
{
    size_t length = strlen(name);
    p2p__add(why, "cannot start %s%s: %s", length > SHOWN ? "..." : "", length > SHOWN ? name + length - SHOWN : name,
             cause);
    p2p__add_advice(why, advice);
    return false;
}

static bool check_file(const char *path, p2p_words *why)
{
    const char *advice = advice_for(path);
    struct stat info;
    if (stat(path, &info) != 0)
        return refuse(path, strerror(errno), errno == ENOENT ? "is it built or installed, and spelled right?" : advice,
                      why);
    if (S_ISDIR(info.st_mode)) return refuse(path, "it is a folder", "name a program in it", why);
    if (access(path, X_OK) != 0) return refuse(path, "it is not a program: it may not be executed", advice, why);
    /* The system runs what begins with one of these; anything else a shell would read as its own language. */
    unsigned char start[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true; /* one may run what one may not read */
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    if (got < 2 || (memcmp(start, "#!", 2) != 0 && (got < 4 || memcmp(start, "\177ELF", 4) != 0)))
        return refuse(path, "it is not a program: neither compiled nor a script with #!", advice, why);
    return true;
}

bool p2p__program_check(const char *name, p2p_words *why)
{
    char path[PATH_MAX], advice[PATH_MAX];
    if (strchr(name, '/')) return check_file(name, why);
    if (find_in_path(name, path)) return check_file(path, why);
    struct stat info;
    if (stat(name, &info) == 0 && S_ISDIR(info.st_mode)) return check_file(name, why);
    if (!is_file(name))
        return refuse(name, "there is no such program", "is it built or installed, and spelled right?", why);
    snprintf(advice, sizeof advice, "launch -n N ./%.300s", name);
    if (access(name, X_OK) != 0) return check_file(name, why);
    return refuse(name, "it is in this folder, which is not searched", advice, why);
}
