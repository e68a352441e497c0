/* SPDX-License-Identifier: MIT */
#include "p2p/shared/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file beside the one to be written, so that it can be renamed: never one that is there already, nor through a link
 * that another process has put there. -1 and errno on failure. */
static int make_temporary(const char *path, char *name, size_t bytes)
{
    if ((size_t)snprintf(name, bytes, "%s.XXXXXX", path) >= bytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0) fchmod(fd, 0666 & ~mask);
    return fd;
}

bool p2p__file_check(const char *what, const char *path, char *why, size_t why_bytes)
{
    char name[PATH_MAX];
    if (!*path) {
        snprintf(why, why_bytes, "a %s needs the name of a file to be written", what);
        return false;
    }
    struct stat info;
    const char *obstacle = NULL; /* a rename would put a file in the place of a device, or of a link */
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode))
        obstacle = S_ISLNK(info.st_mode)   ? "it is a link, and links are not followed; name the file itself"
                   : S_ISDIR(info.st_mode) ? strerror(EISDIR)
                                           : "it is not a regular file";
    int fd = obstacle ? -1 : make_temporary(path, name, sizeof name);
    if (fd < 0) {
        snprintf(why, why_bytes, "the %s cannot be written to \"%.200s\": %s", what, path,
                 obstacle ? obstacle : strerror(errno));
        return false;
    }
    close(fd);
    unlink(name);
    return true;
}

bool p2p__file_begin(p2p_file *file, const char *path)
{
    int fd = make_temporary(path, file->name, sizeof file->name);
    file->path = path;
    file->stream = fd >= 0 ? fdopen(fd, "we") : NULL;
    if (fd >= 0 && !file->stream) close(fd), unlink(file->name);
    return file->stream;
}

bool p2p__file_end(p2p_file *file, bool fine)
{
    bool written = fflush(file->stream) == 0 && !ferror(file->stream) && fine;
    int saved = errno;
    bool closed = fclose(file->stream) == 0;
    if (closed) errno = saved;
    written = written && closed && rename(file->name, file->path) == 0;
    saved = errno;
    if (!written) unlink(file->name);
    errno = saved;
    return written;
}
