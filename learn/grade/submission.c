/* SPDX-License-Identifier: MIT */
/* The files that a learner hands in: from a folder, or from an archive that is read without being unpacked. */
#include "learn/grade/submission.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_BYTES = 1 << 20, MOST_DEPTH = 6, BLOCK = 512 };

/* Of an archive: so much is read, whatever it would unpack to. */
static const size_t most_archive = (size_t)64 << 20;

/* ---- What a file is for ---- */

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_file_of(const learn_exercise *e, const char *name)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

/* The exercise whose folder it is in. */
static const learn_exercise *folder_in(const char *path)
{
    size_t count;
    const learn_exercise *all = learn_course(&count), *found = NULL;
    char *above = learn_copy(path), *slash = strrchr(above, '/');
    if (slash) *slash = '\0';
    const char *last = slash ? strrchr(above, '/') : NULL;
    for (size_t i = 0; slash && i < count; i++)
        if (strcmp(last ? last + 1 : above, all[i].name) == 0) found = &all[i];
    free(above);
    return found;
}

/* A file that names no folder: the only exercise that has one of that name. */
static const learn_exercise *owner_of(const char *name)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    for (size_t i = 0; i < count; i++)
        if (is_file_of(&all[i], name)) return &all[i];
    return NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NULL: not one of ours. */
static const learn_exercise *meant_for(const char *path)
{
    const char *base = base_of(path);
    if (*base == '.' || strlen(base) > 60 || !(has_ending(base, ".c") || has_ending(base, ".h"))) return NULL;
    const learn_exercise *e = folder_in(path);
    return e ? e : owner_of(base);
}

static void add_file(learn_submission *s, const char *path, const char *bytes, size_t count)
{
    const learn_exercise *e = meant_for(path);
    if (!e) return;
    if (count > MOST_BYTES || s->count == MOST_FILES) {
        char *shown = learn_copy(path);
        for (char *at = shown; *at; at++)
            if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?'; /* a name must not steer a terminal */
        learn_add(&s->trouble, "%s is left out: %s. ", shown,
                  count > MOST_BYTES ? "it is too large" : "there are too many files");
        free(shown);
        return;
    }
    if (s->count == s->room) {
        s->room = 2 * s->room + 16;
        learn_handed_file *more = learn_memory(s->room * sizeof *more);
        if (s->count) memcpy(more, s->files, s->count * sizeof *more);
        free(s->files);
        s->files = more;
    }
    learn_handed_file *file = &s->files[s->count++];
    *file = (learn_handed_file){.e = e, .text = learn_memory(count + 1), .bytes = count};
    snprintf(file->name, sizeof file->name, "%s", base_of(path));
    if (count) memcpy(file->text, bytes, count);
}

/* ---- A folder ---- */

/* Of a plain file at most one byte more than is allowed, to know that it is too large. */
static void read_file(learn_submission *s, int folder, const char *name, const char *path)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        char *bytes = learn_memory(MOST_BYTES + 1);
        size_t count = 0;
        for (ssize_t got; count <= MOST_BYTES && (got = read(fd, bytes + count, MOST_BYTES + 1 - count)) > 0;)
            count += (size_t)got;
        add_file(s, path, bytes, count);
        free(bytes);
    }
    if (fd >= 0) close(fd);
}

static void read_folder(learn_submission *s, int fd, const char *path, int depth)
{
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return;
    }
    for (struct dirent *d; (d = readdir(folder));) {
        if (*d->d_name == '.') continue;
        char *inner = learn_format("%s/%s", path, d->d_name);
        int sub = depth < MOST_DEPTH ? openat(dirfd(folder), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                     : -1;
        if (sub >= 0)
            read_folder(s, sub, inner, depth + 1);
        else if (meant_for(inner))
            read_file(s, dirfd(folder), d->d_name, inner);
        free(inner);
    }
    closedir(folder);
}

/* ---- An archive: ustar and what GNU tar makes of short names ---- */

static size_t octal(const char *digits, size_t count)
{
    size_t value = 0;
    for (size_t i = 0; i < count && digits[i]; i++)
        if (digits[i] >= '0' && digits[i] <= '7') value = value * 8 + (size_t)(digits[i] - '0');
    return value;
}

static bool right_checksum(const char *block)
{
    size_t sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : (unsigned char)block[i];
    return sum == octal(block + 148, 8);
}

/* Headers of 512 bytes: name at 0, size at 124, checksum at 148, kind at 156, magic at 257, beginning of the name at 345. */
static void read_archive(learn_submission *s, const char *bytes, size_t count)
{
    size_t at = 0;
    for (; at + BLOCK <= count && bytes[at];) {
        const char *block = bytes + at;
        size_t size = octal(block + 124, 12);
        at += BLOCK;
        if (!right_checksum(block) || size > count - at) {
            learn_add(&s->trouble, "The archive is damaged or cut off. ");
            return;
        }
        bool prefixed = memcmp(block + 257, "ustar", 5) == 0 && block[345];
        char *path = learn_format("%.*s%s%.*s", prefixed ? 155 : 0, block + 345, prefixed ? "/" : "", 100, block);
        if (block[156] == '0' || block[156] == '\0') add_file(s, path, bytes + at, size);
        free(path);
        at += (size + BLOCK - 1) / BLOCK * BLOCK;
        if (at > count) at = count;
    }
}

/* -1 for what is no plain file: a pipe might never end. */
static int open_plain(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* What gzip makes of it, or as it is. */
static FILE *open_archive(const char *path, pid_t *unpacker)
{
    int ends[2] = {-1, -1}, in = open_plain(path);
    *unpacker = 0;
    if (in < 0) return NULL;
    if (has_ending(path, ".tar")) return fdopen(in, "rb");
    if (pipe2(ends, O_CLOEXEC) == 0) *unpacker = fork();
    if (*unpacker == 0 && ends[0] >= 0) {
        if (dup2(in, STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(127);
        execlp("gzip", "gzip", "-dcq", (char *)NULL);
        _exit(127);
    }
    close(in);
    close(ends[1]);
    return ends[0] < 0 ? NULL : fdopen(ends[0], "rb");
}

static void read_archive_file(learn_submission *s, const char *path)
{
    pid_t unpacker;
    learn_text all = {0};
    char part[65536];
    size_t got;
    FILE *in = open_archive(path, &unpacker);
    while (in && all.used < most_archive && (got = fread(part, 1, sizeof part, in)) > 0)
        learn_add_bytes(&all, part, got);
    if (in) fclose(in);
    if (unpacker > 0) kill(unpacker, SIGKILL);
    if (unpacker > 0) waitpid(unpacker, NULL, 0);
    if (all.used >= most_archive) learn_add(&s->trouble, "The archive is too large: only its beginning was read. ");
    if (all.used < BLOCK)
        learn_add(&s->trouble, "The archive is empty or cannot be read. ");
    else
        read_archive(s, all.text, all.used);
    learn_text_free(&all);
}

/* ---- Either ---- */

static bool is_archive(const char *path)
{
    return has_ending(path, ".tar") || has_ending(path, ".tar.gz") || has_ending(path, ".tgz");
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_files(const char *path, int depth);

/* A file of an exercise here, or below a folder that is called exercises or like an exercise. */
static bool entry_counts(const char *path, const char *name, int depth)
{
    char *inner = learn_format("%s/%s", path, name), *as_folder = learn_format("%s/x.c", name);
    bool special = strcmp(name, "exercises") == 0 || folder_in(as_folder);
    bool counts = is_folder(inner) ? depth < 2 && special && has_files(inner, depth + 1)
                                   : meant_for(name) != NULL || (depth && meant_for(inner));
    free(as_folder);
    free(inner);
    return counts;
}

static bool has_files(const char *path, int depth)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (struct dirent *d; folder && !found && (d = readdir(folder));)
        if (*d->d_name != '.') found = entry_counts(path, d->d_name, depth);
    if (folder) closedir(folder);
    return found;
}

bool learn_is_submission(const char *path)
{
    struct stat s;
    if (is_folder(path)) return has_files(path, 0);
    return is_archive(path) && stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, R_OK) == 0;
}

static char *name_of(const char *path)
{
    char *trimmed = learn_copy(path);
    for (size_t end = strlen(trimmed); end > 1 && trimmed[end - 1] == '/'; end--) trimmed[end - 1] = '\0';
    char *name = learn_copy(base_of(trimmed));
    static const char *const endings[] = {".tar", ".tar.gz", ".tgz"};
    for (size_t i = 0; i < 3 && !is_folder(path); i++)
        if (has_ending(name, endings[i])) name[strlen(name) - strlen(endings[i])] = '\0';
    free(trimmed);
    return name;
}

void learn_submission_read(learn_submission *s, const char *path)
{
    *s = (learn_submission){.name = name_of(path), .path = learn_copy(path)};
    int fd = is_folder(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        read_folder(s, fd, path, 0);
    else if (is_archive(path))
        read_archive_file(s, path);
    if (!s->count) learn_add(&s->trouble, "There is no file of an exercise in it. ");
}

void learn_submission_free(learn_submission *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->files[i].text);
    free(s->files);
    free(s->name);
    free(s->path);
    learn_text_free(&s->trouble);
}

bool learn_handed_in(const learn_submission *s, const learn_exercise *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->files[i].e == e && is_file_of(e, s->files[i].name)) return true;
    return false;
}

bool learn_submission_write(const learn_submission *s, const learn_exercise *e, const char *folder)
{
    if (!learn_make_folder(folder)) return false;
    for (size_t i = 0; i < s->count; i++) {
        if (s->files[i].e != e) continue;
        char *path = learn_format("%s/%s", folder, s->files[i].name);
        bool good = learn_write_file(path, s->files[i].text, s->files[i].bytes);
        free(path);
        if (!good) return false;
    }
    return true;
}
