/* SPDX-License-Identifier: MIT */
#include "trainer/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const advice = "  try: another path, or make room; what was there before is untouched";

static p2p_err failed(train_durable *file, const char *call, train_error *error)
{
    int cause = errno;
    const char *path = file->direct ? file->path : file->temporary;
    train__durable_abandon(file);
    return train__fail(error, P2P_ERR_SYS, "%s: %s: %s\n%s", path, call, strerror(cause), advice);
}

/* FOLDER/NAME -> FOLDER/.NAME.new */
static bool name_temporary(train_durable *file, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    int used = snprintf(file->path, sizeof file->path, "%s", path);
    int more = snprintf(file->temporary, sizeof file->temporary, "%.*s.%s.new", folder, path, path + folder);
    return used < (int)sizeof file->path && more < (int)sizeof file->temporary;
}

/* .NAME.new, which may be there: after a crash, or while another process writes it. A link, planted or left, is replaced, not
 * followed. */
static int open_temporary(const train_durable *file)
{
    struct stat there;
    if (lstat(file->temporary, &there) == 0 && (!S_ISREG(there.st_mode) || there.st_nlink > 1)) unlink(file->temporary);
    return open(file->temporary, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
}

/* Does another process write it, or has one renamed it since it was opened? A file system without locks cannot say. */
static bool is_taken(const train_durable *file)
{
    struct stat opened, named;
    if (flock(file->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) return true;
    if (fstat(file->fd, &opened) < 0 || lstat(file->temporary, &named) < 0) return true;
    return opened.st_dev != named.st_dev || opened.st_ino != named.st_ino;
}

p2p_err train__durable_begin(train_durable *file, const char *path, train_error *error)
{
    struct stat there;
    *file = (train_durable){.fd = -1};
    if (!name_temporary(file, path)) return train__fail(error, P2P_ERR_ARG, "%.100s...: the path is too long", path);
    file->direct = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    file->fd = file->direct ? open(path, O_WRONLY | O_CLOEXEC) : open_temporary(file);
    if (file->fd < 0) return failed(file, "open", error);
    if (file->direct) return P2P_OK;
    if (is_taken(file)) {
        close(file->fd);
        file->fd = -1;
        return train__fail(error, P2P_ERR_STATE, "%s: another process is writing it", path);
    }
    return ftruncate(file->fd, 0) < 0 ? failed(file, "ftruncate", error) : P2P_OK;
}

int train__open_anew(const char *path)
{
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) return open(path, O_RDWR | O_CLOEXEC);
    if (unlink(path) < 0 && errno != ENOENT) return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

p2p_err train__durable_write(train_durable *file, const void *data, size_t bytes, train_error *error)
{
    const char *at = data;
    while (bytes) {
        ssize_t wrote = write(file->fd, at, bytes);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return failed(file, "write", error);
        at += wrote;
        bytes -= (size_t)wrote;
    }
    return P2P_OK;
}

/* The folder's entry must be on the disk too; else after a power cut NAME may be the old file again. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = fsync(fd);
    if (result < 0 && errno == EINVAL) result = 0; /* this file system cannot sync a folder */
    close(fd);
    return result;
}

p2p_err train__durable_commit(train_durable *file, train_error *error)
{
    if (!file->direct) {
        if (fsync(file->fd) < 0) return failed(file, "fsync", error);
        if (rename(file->temporary, file->path) < 0) return failed(file, "rename", error);
    }
    int closed = close(file->fd);
    file->fd = -1;
    if (file->direct && closed < 0) return failed(file, "close", error);
    if (!file->direct && sync_folder(file->path) < 0)
        return train__fail(error, P2P_ERR_SYS, "%s: written, but its folder could not be synced: %s", file->path,
                           strerror(errno));
    return P2P_OK;
}

void train__durable_abandon(train_durable *file)
{
    if (file->fd < 0) return;
    if (!file->direct) unlink(file->temporary);
    close(file->fd);
    file->fd = -1;
}
