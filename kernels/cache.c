/* SPDX-License-Identifier: MIT */
/*
 * cache: compiled programs on disk, a file each:
 *
 *      pairwise program 1\n
 *      KEY\n                       driver, device, options, hash of the source: must be the key that is looked up
 *      BYTES CHECKSUM\n            of what follows
 *      ...                         the driver's binary
 *
 * A file is written under another name and then renamed, so that it is complete or absent. A file whose length or
 * checksum is wrong is ignored and written again. A cache that cannot be used is no error: programs are then compiled.
 * None of this is used with a driver that has a cache itself (program.c).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/device.h"

static const char *const magic = "pairwise program 1";

enum { LONGEST_KEY = 2048, OLD_SECONDS = 600 };

static uint64_t checksum(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

/* ---- Which folder ---- */

/* Make the folder, and of those above it what is named from byte `from` of the path on: a home that is not there is not made.
 * True if it is a folder of this user, and this process may write into it. */
static bool make_folder(char *path, size_t from)
{
    struct stat there;

    for (char *at = path + from; *at; at++)
        if (*at == '/' && at > path) {
            *at = 0;
            mkdir(path, 0700);
            *at = '/';
        }
    mkdir(path, 0700);
    return lstat(path, &there) == 0 && S_ISDIR(there.st_mode) && there.st_uid == geteuid() && access(path, W_OK) == 0;
}

/* own: the last folder of `parent` is made as well. */
static bool try_folder(char path[KERNEL__PATH], const char *parent, const char *name, bool own)
{
    const char *last = parent ? strrchr(parent, '/') : NULL;
    int length;

    if (!parent || !*parent) return false;
    length = snprintf(path, KERNEL__PATH, "%s%s", parent, name);
    if (length < 0 || length >= KERNEL__PATH - 64) return false;
    return make_folder(path, own && last ? (size_t)(last - parent) + 1 : strlen(parent) + 1);
}

static void choose_folder(char path[KERNEL__PATH])
{
    const char *temporary = getenv("TMPDIR");
    char name[64];

    snprintf(name, sizeof name, "/pairwise-%ld", (long)geteuid());
    if (try_folder(path, getenv("XDG_CACHE_HOME"), "/pairwise", true) || /* usually ~/.cache */
        try_folder(path, getenv("HOME"), "/.cache/pairwise", false) ||
        try_folder(path, temporary && *temporary ? temporary : "/tmp", name, false))
        return;
    *path = 0;
}

/* What PAIRWISE_CACHE names is made as it is. */
static bool asked_folder(char path[KERNEL__PATH], const char *asked)
{
    int length = snprintf(path, KERNEL__PATH, "%s", asked);

    return length > 0 && length < KERNEL__PATH - 64 && make_folder(path, 1);
}

/* PoCL 3.1 leaves an empty file behind for every process: remove those that are older than OLD_SECONDS. */
static void tidy(const char *pocl)
{
    DIR *list = opendir(pocl);
    struct stat there;

    for (struct dirent *entry; list && (entry = readdir(list));)
        if (strncmp(entry->d_name, "tempfile_", 9) == 0 && fstatat(dirfd(list), entry->d_name, &there, 0) == 0 &&
            there.st_size == 0 && time(NULL) - there.st_mtime > OLD_SECONDS)
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list) closedir(list);
}

kernel_err kernel__cache_choose(char path[KERNEL__PATH])
{
    const char *asked = getenv("PAIRWISE_CACHE");
    char pocl[KERNEL__PATH];

    if (!asked)
        choose_folder(path);
    else if (!asked_folder(path, asked))
        return kernel__fail(NULL, KERNEL_ERR_ARG, "PAIRWISE_CACHE: \"%s\" is not a folder of this user's to write into",
                            asked);
    if (*path && try_folder(pocl, path, "/pocl", false)) {
        setenv("POCL_CACHE_DIR", pocl, 0);
        tidy(pocl);
    }
    return KERNEL_OK;
}

/* FOLDER/HASH-OF-KEY.ending, in `path`. */
static bool file_of(char path[KERNEL__PATH], const char *folder, const char *key, const char *ending)
{
    return *folder && snprintf(path, KERNEL__PATH, "%s/%016" PRIx64 "%s", folder, checksum(key, strlen(key)), ending) <
                          KERNEL__PATH;
}

/* ---- Reading ---- */

static bool read_line(FILE *file, char line[LONGEST_KEY])
{
    size_t length;

    if (!fgets(line, LONGEST_KEY, file)) return false;
    length = strlen(line);
    if (!length || line[length - 1] != '\n') return false;
    line[length - 1] = 0;
    return true;
}

static unsigned char *read_whole(FILE *file, const char *key, size_t *bytes)
{
    char line[LONGEST_KEY];
    unsigned char *binary;
    uint64_t sum;
    size_t length;
    struct stat there;

    if (!read_line(file, line) || strcmp(line, magic) != 0 || !read_line(file, line) || strcmp(line, key) != 0 ||
        !read_line(file, line) || sscanf(line, "%zu %" SCNx64, &length, &sum) != 2)
        return NULL;
    if (fstat(fileno(file), &there) || !length || (uint64_t)length > (uint64_t)there.st_size) return NULL;
    binary = malloc(length);
    if (binary && fread(binary, 1, length, file) == length && fgetc(file) == EOF && checksum(binary, length) == sum) {
        *bytes = length;
        return binary;
    }
    free(binary);
    return NULL;
}

unsigned char *kernel__cache_load(const char *folder, const char *key, size_t *bytes)
{
    char path[KERNEL__PATH];
    unsigned char *binary;
    FILE *file;

    if (!file_of(path, folder, key, ".program")) return NULL;
    file = fopen(path, "re");
    if (!file) return NULL;
    binary = read_whole(file, key, bytes);
    fclose(file);
    return binary;
}

/* ---- Writing ---- */

void kernel__cache_store(const char *folder, const char *key, const unsigned char *binary, size_t bytes)
{
    char path[KERNEL__PATH], temporary[KERNEL__PATH + 32];
    FILE *file;
    bool whole;

    if (!file_of(path, folder, key, ".program")) return;
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    file = fopen(temporary, "we");
    if (!file) return;
    fprintf(file, "%s\n%s\n%zu %016" PRIx64 "\n", magic, key, bytes, checksum(binary, bytes));
    whole = fwrite(binary, 1, bytes, file) == bytes;
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(temporary, path)) unlink(temporary);
}

int kernel__cache_lock(const char *folder, const char *key, bool wait)
{
    char path[KERNEL__PATH];
    int lock;

    if (!file_of(path, folder, key, ".lock")) return -1;
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return -1;
    while (flock(lock, wait ? LOCK_EX : LOCK_EX | LOCK_NB)) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) break;
        close(lock);
        return KERNEL__BUSY;
    }
    return lock;
}

void kernel__cache_unlock(int lock)
{
    if (lock >= 0) close(lock);
}
