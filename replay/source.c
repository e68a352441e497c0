/* SPDX-License-Identifier: MIT */
/*
 * The lines of code that a trace names, with some around them. The trace is not trusted: a page is given to others, so
 * it contains only sources below one folder, and no other file of the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/page.h"

enum { AROUND = 6, MOST_FILES = 200, MOST_LINES = 100000, LINE_TEXT = 300, MOST_BYTES = 4 << 20 };

/* A file, and which of its lines are wanted. */
typedef struct {
    const char *name;
    bool *wanted; /* [MOST_LINES] */
} source;

typedef struct {
    source files[MOST_FILES];
    size_t count;
    const char *last; /* the name that was looked for last, and what was found */
    source *found;
} source_list;

static source *look_for(source_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->files[i].name, name) == 0) return &list->files[i];
    if (list->count == MOST_FILES) return NULL;
    bool *wanted = calloc(MOST_LINES, sizeof *wanted);
    if (!wanted) return NULL;
    list->files[list->count] = (source){name, wanted};
    return &list->files[list->count++];
}

static source *find(source_list *list, const char *name)
{
    if (list->last != name) list->found = look_for(list, name);
    list->last = name;
    return list->found;
}

static void want(source_list *list, const char *name, int line)
{
    source *s = *name && line > 0 && line < MOST_LINES ? find(list, name) : NULL;
    for (int i = line - AROUND; s && i <= line + AROUND; i++)
        if (i > 0 && i < MOST_LINES) s->wanted[i] = true;
}

/* ---- Which files may be shown ---- */

static bool is_source(const char *path)
{
    static const char *const endings[] = {"c",   "h",   "cl", "cc", "cpp", "cxx", "hh",
                                          "hpp", "inc", "cu", "py", "rs",  "f90", NULL};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && endings[i]; i++)
        if (strcmp(dot + 1, endings[i]) == 0) return true;
    return false;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length == 1) return true; /* the root */
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool has_dots(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at++)
        if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/')) return true;
    return false;
}

/* NULL with errno: ENOENT if it is not here, EACCES if it must not be shown. `folder` has no links in it. */
static FILE *open_source(const char *name, const char *folder)
{
    char path[2 * PATH_MAX], real[PATH_MAX];
    struct stat info;
    bool absolute = *name == '/';
    snprintf(path, sizeof path, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", name);
    if (!realpath(path, real)) return NULL;
    errno = EACCES;
    if (has_dots(name) || !is_below(real, folder) || !is_source(real)) return NULL;
    int fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NULL;
    FILE *file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES ? fdopen(fd, "r") : NULL;
    if (!file) close(fd);
    if (!file) errno = EACCES;
    return file;
}

/* ---- What is shown of them ---- */

/* Without its line break, tabs as spaces, bytes that are no ASCII as they are. */
static void put_line(FILE *file, int number, const char *text, bool first)
{
    char shown[4 * LINE_TEXT + 1];
    size_t used = 0;
    for (const char *at = text; *at && *at != '\n' && *at != '\r' && used + 5 < sizeof shown; at++)
        if (*at == '\t') do
                shown[used++] = ' ';
            while (used % 4);
        else
            shown[used++] = *at;
    shown[used] = 0;
    fprintf(file, "%s\"%d\":", first ? "" : ",", number);
    replay_put_text(file, shown);
}

static void put_source(FILE *file, const source *s, FILE *from)
{
    char text[LINE_TEXT];
    int number = 1;
    bool first = true, begins = true;
    while (number < MOST_LINES && fgets(text, sizeof text, from)) {
        if (begins && s->wanted[number]) {
            put_line(file, number, text, first);
            first = false;
        }
        begins = strchr(text, '\n') != NULL; /* else the rest of a long line comes next */
        number += begins;
    }
}

static bool put_file(FILE *file, const source *s, const char *folder, bool first)
{
    FILE *from = open_source(s->name, folder);
    if (!from) return false;
    fputs(first ? "\n" : ",\n", file);
    replay_put_text(file, s->name);
    fputs(":{", file);
    put_source(file, s, from);
    putc('}', file);
    fclose(from);
    return true;
}

size_t replay_sources(FILE *file, const replay_trace *const traces[], size_t count, const char *folder)
{
    source_list list = {.count = 0};
    char real[PATH_MAX];
    bool first = true, is_folder = realpath(folder ? folder : ".", real);
    size_t refused = 0;
    for (size_t t = 0; t < count && is_folder; t++)
        for (size_t i = 0; i < traces[t]->slice_count; i++)
            want(&list, replay_text(traces[t], traces[t]->slices[i].file), traces[t]->slices[i].line);
    putc('{', file);
    for (size_t i = 0; i < list.count; i++) {
        if (put_file(file, &list.files[i], real, first))
            first = false;
        else
            refused += errno == EACCES;
        free(list.files[i].wanted);
    }
    putc('}', file);
    return refused;
}
