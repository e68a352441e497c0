/* SPDX-License-Identifier: MIT */
#include "replay/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool replay_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* A new file takes the place of a regular one only: a FIFO, a device, or a link to nothing is opened as it is. */
static bool is_replaced(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? S_ISREG(info.st_mode) : lstat(path, &info) != 0;
}

bool replay_output_begin(replay_output *out, const char *path)
{
    *out = (replay_output){.stream = NULL};
    if (strlen(path) >= sizeof out->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (is_replaced(path)) {
        if (!realpath(path, out->path)) snprintf(out->path, sizeof out->path, "%s", path);
        snprintf(out->temporary, sizeof out->temporary, "%s.%d.tmp", out->path, (int)getpid());
        out->stream = fopen(out->temporary, "wxe");
    } else {
        out->stream = fopen(path, "we");
    }
    return out->stream;
}

bool replay_output_end(replay_output *out, bool fine)
{
    int cause = errno;
    if (ferror(out->stream)) fine = false;
    bool closed = fclose(out->stream) == 0;
    if (!fine) errno = cause;
    fine = fine && closed && (!*out->temporary || rename(out->temporary, out->path) == 0);
    cause = errno;
    if (!fine && *out->temporary) unlink(out->temporary);
    errno = cause;
    return fine;
}
