/* SPDX-License-Identifier: MIT */
/* The files that a learner hands in: from a folder, or from an archive that is read without being unpacked. */
#include "learn/grade/submission.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_DEPTH = 6, MOST_LOOKS = 4096, MOST_ARCHIVES = 4, MOST_SAID = 3 };

/* ---- What a file is for ---- */

/* The exercise whose folder it is in; of a file that is in none, the only one that has a file of that name. NULL: it is not
 * one of ours. */
static const learn_exercise *meant_for(const char *path)
{
    const char *base = basename(path), *end = base > path ? base - 1 : path, *folder = end;
    if (strlen(base) > 60 || !learn_is_source(base)) return NULL;
    while (folder > path && folder[-1] != '/') folder--;
    const learn_exercise *e = learn_named(folder, (size_t)(end - folder));
    for (const learn_exercise *any = learn_course(NULL); any->check && !e; any++)
        if (learn_is_file_of(any, base)) e = any;
    return e;
}

/* The first few are named. A name must not steer a terminal. */
static void leave_out(learn_submission *s, const char *path, const char *why)
{
    if (++s->left_out > MOST_SAID + 1) return;
    OWNED char *shown = learn_format("%.200s", path);
    for (char *at = shown; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
    if (s->left_out <= MOST_SAID)
        learn_add(&s->trouble, "%s is left out: %s. ", shown, why);
    else
        learn_add(&s->trouble, "More files are left out. ");
}

static void add_file(void *submission, const char *path, const char *bytes, size_t count)
{
    learn_submission *s = submission;
    const learn_exercise *e = meant_for(path);
    if (!e) return;
    if (count > LEARN_HANDED_BYTES || s->count == MOST_FILES || s->bytes + count > LEARN_ALL_BYTES) {
        leave_out(s, path, count > LEARN_HANDED_BYTES ? "it is too large" : "there are too many files");
        return;
    }
    s->bytes += count;
    s->files = learn_grow(s->files, s->count, sizeof *s->files);
    learn_handed_file *file = &s->files[s->count++];
    *file = (learn_handed_file){.e = e, .text = learn_memory(count + 1), .bytes = count};
    snprintf(file->name, sizeof file->name, "%s", basename(path));
    if (count) memcpy(file->text, bytes, count);
}

/* ---- An archive, a folder ---- */

/* The ending of an archive's name; NULL: it is none. */
static const char *archive_ending(const char *path)
{
    static const char *const endings[] = {".tar", ".tar.gz", ".tgz", ".zip", NULL};
    for (const char *const *ending = endings; *ending; ending++)
        if (learn_has_ending(path, *ending)) return *ending;
    return NULL;
}

/* Of a plain file at most one byte more than is allowed, to know that it is too large. */
static void read_file(learn_submission *s, int folder, const char *name, const char *path)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    bool plain = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (plain && archive_ending(name)) {
        if (s->archives++ < MOST_ARCHIVES) learn_archive_read(fd, &s->trouble, add_file, s);
    } else if (plain) {
        OWNED char *bytes = learn_memory(LEARN_HANDED_BYTES + 1);
        size_t count = 0;
        for (ssize_t got;
             count <= LEARN_HANDED_BYTES && (got = read(fd, bytes + count, LEARN_HANDED_BYTES + 1 - count)) > 0;)
            count += (size_t)got;
        add_file(s, path, bytes, count);
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
    for (struct dirent *d; (d = readdir(folder)) && s->looked_at < MOST_LOOKS;) {
        if (*d->d_name == '.') continue;
        if (++s->looked_at == MOST_LOOKS) learn_add(&s->trouble, "It has more files than are looked at. ");
        OWNED char *inner = learn_format("%s/%s", path, d->d_name);
        int sub = depth < MOST_DEPTH ? openat(dirfd(folder), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                     : -1;
        if (sub >= 0)
            read_folder(s, sub, inner, depth + 1);
        else if (meant_for(inner) || (depth == 0 && archive_ending(d->d_name)))
            read_file(s, dirfd(folder), d->d_name, inner);
    }
    closedir(folder);
}

/* ---- Either ---- */

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* A file of an exercise here, or below a folder that is called exercises or like an exercise. */
static bool has_files(const char *path, int depth)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (struct dirent *d; folder && !found && (d = readdir(folder));) {
        const char *name = d->d_name;
        OWNED char *inner = learn_format("%s/%s", path, name);
        bool special = strcmp(name, "exercises") == 0 || learn_named(name, strlen(name));
        if (*name != '.')
            found = is_folder(inner) ? depth < 2 && special && has_files(inner, depth + 1)
                                     : meant_for(name) != NULL || (depth && meant_for(inner));
    }
    if (folder) closedir(folder);
    return found;
}

bool learn_is_submission(const char *path)
{
    struct stat s;
    if (is_folder(path)) return has_files(path, 0);
    return archive_ending(path) && stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, R_OK) == 0;
}

static const char moodle[] = "_assignsubmission_file_";

/* What a learner is called in "Ada Lovelace_4711_assignsubmission_file_" and, without a number, in everything else. */
char *learn_learners_name(const char *name)
{
    const char *mark = strstr(name, moodle), *end = mark;
    while (end && end > name && isdigit((unsigned char)end[-1])) end--;
    bool numbered = end && end < mark && end > name + 1 && end[-1] == '_';
    return numbered ? learn_format("%.*s", (int)(end - name - 1), name) : learn_copy(name);
}

const char *learn_moodle_file(const char *name)
{
    const char *mark = strstr(name, moodle);
    const char *file = mark ? mark + strlen(moodle) : NULL;
    return file && learn_is_source(file) ? file : NULL;
}

static char *name_of(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    OWNED char *trimmed = learn_format("%.*s", (int)end, path), *name = learn_copy(basename(trimmed));
    const char *ending = is_folder(path) ? NULL : archive_ending(name);
    if (ending) name[strlen(name) - strlen(ending)] = '\0';
    return learn_learners_name(name);
}

void learn_submission_add(learn_submission *s, int folder, const char *name)
{
    const char *file = learn_moodle_file(name);
    if (file && meant_for(file)) read_file(s, folder, name, file);
}

void learn_submission_read(learn_submission *s, const char *path, bool linked)
{
    struct stat status;
    *s = (learn_submission){.name = name_of(path)};
    bool link = !linked && lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    int follow = linked ? 0 : O_NOFOLLOW;
    if (link) learn_add(&s->trouble, "It is a link, which is not followed. ");
    int fd = link ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | follow);
    bool opened = fd >= 0 && fstat(fd, &status) == 0;
    if (opened && S_ISDIR(status.st_mode)) {
        read_folder(s, fd, path, 0);
        fd = -1;
    } else if (opened && archive_ending(path)) {
        learn_archive_read(fd, &s->trouble, add_file, s);
    } else if (!link) {
        learn_add(&s->trouble, "It cannot be opened: %s. ", strerror(errno));
    }
    if (fd >= 0) close(fd);
    if (!s->count) learn_add(&s->trouble, "There is no file of an exercise in it. ");
}

void learn_submission_free(learn_submission *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->files[i].text);
    free(s->files);
    free(s->name);
    learn_text_free(&s->trouble);
}

bool learn_handed_in(const learn_submission *s, const learn_exercise *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->files[i].e == e && learn_is_file_of(e, s->files[i].name)) return true;
    return false;
}

bool learn_submission_write(const learn_submission *s, const learn_exercise *e, const char *folder)
{
    if (!learn_make_folder(folder)) return false;
    for (size_t i = 0; i < s->count; i++) {
        if (s->files[i].e != e) continue;
        OWNED char *path = learn_format("%s/%s", folder, s->files[i].name);
        if (!learn_write_file(path, s->files[i].text, s->files[i].bytes)) return false;
    }
    return true;
}
