/* SPDX-License-Identifier: MIT */
/*
 * Folders that a submission may write to, or that a grader which was killed has left: no link in them is followed. The grader
 * may be root, and what lies there was perhaps put there to lead it elsewhere.
 *
 *      SCRATCH            the grader's; a lock on it says that its grader lives
 *        N                one check: the grader's, its user may enter
 *          own            the grader's: files that were handed in, read by the submission
 *          work/NN_name   the submission's: what compiler and linker make; nothing else writes there
 *          tmp            the submission's, for its tools
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"

/* ---- Removing ---- */

enum { DEEPEST = 64, MOST_ROUNDS = 10000 };

/* A folder that lies deeper than descriptors reach is moved to the top first; the next round removes it. */
static void remove_below(int top, int at, const char *name, int depth, unsigned *moved)
{
    if (unlinkat(at, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
    if (depth == DEEPEST) {
        OWNED char *other = learn_format("moved.%u", (*moved)++);
        if (renameat(at, name, top, other) != 0 && errno != ENOENT) unlinkat(at, name, AT_REMOVEDIR);
        return;
    }
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !folder) close(fd);
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            remove_below(top < 0 ? dirfd(folder) : top, dirfd(folder), d->d_name, depth + 1, moved);
    if (folder) closedir(folder);
    unlinkat(at, name, AT_REMOVEDIR);
}

void learn_remove_tree(const char *path)
{
    struct stat s;
    unsigned moved = 0;
    for (int round = 0; round < MOST_ROUNDS && lstat(path, &s) == 0; round++) {
        unsigned before = moved;
        remove_below(-1, AT_FDCWD, path, 0, &moved);
        if (moved == before) return; /* it is gone, or will not go */
    }
}

/* ---- Making ---- */

bool learn_make_for(const learn_sandbox *box, const char *path, enum learn_owner owner)
{
    bool own = owner == LEARN_SUBMISSION;
    uid_t user = own && box->means.own_user ? box->uid : (uid_t)-1;
    gid_t group = box->means.own_user ? box->uid : (gid_t)-1;
    int fd = mkdir(path, 0700) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    bool good = fd >= 0 && fchown(fd, user, group) == 0 && fchmod(fd, own ? 0700 : 0750) == 0;
    if (fd >= 0) close(fd);
    return good;
}

/* ---- What graders that were killed have left ---- */

#define SCRATCH "pairwise-grade-"

/* Their submissions' users own folders in there. */
static void kill_users_of(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    if (copy >= 0 && !folder) close(copy);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        OWNED char *tmp = learn_format("%s/tmp", d->d_name);
        struct stat s;
        if (*d->d_name != '.' && fstatat(fd, tmp, &s, AT_SYMLINK_NOFOLLOW) == 0) learn_kill_user(s.st_uid);
    }
    if (folder) closedir(folder);
}

static void sweep_one(int at, const char *parent, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    OWNED char *path = learn_format("%s/%s", parent, name);
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (geteuid() == 0) kill_users_of(fd);
        learn_remove_tree(path);
    }
    if (fd >= 0) close(fd);
}

static void sweep(const char *parent)
{
    DIR *folder = opendir(parent);
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (learn_has_prefix(d->d_name, SCRATCH)) sweep_one(dirfd(folder), parent, d->d_name);
    if (folder) closedir(folder);
}

/* Between making it and locking it another grader may have taken it for one that was left: then it is made once more. */
bool learn_make_scratch(learn_sandbox *box, const char *parent)
{
    sweep(parent);
    for (int tries = 0; tries < 10; tries++) {
        struct stat made, there;
        snprintf(box->scratch, sizeof box->scratch, "%.*s/" SCRATCH "XXXXXX", LEARN_PATH / 2, parent);
        if (!mkdtemp(box->scratch)) return false;
        box->lock = open(box->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (box->lock < 0) continue;
        flock(box->lock, LOCK_EX); /* without locks nothing is swept either */
        OWNED char *root = learn_format("%s/root", box->scratch);
        if (fstat(box->lock, &made) == 0 && stat(box->scratch, &there) == 0 && made.st_ino == there.st_ino &&
            fchmod(box->lock, 0711) == 0 && mkdir(root, 0755) == 0)
            return true;
        close(box->lock);
    }
    return false;
}
