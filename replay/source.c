/* SPDX-License-Identifier: MIT */
/* The lines of code that a trace names, with some around them, where their files can be found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay/page.h"

enum { AROUND = 6, MOST_FILES = 200, MOST_LINES = 100000, LINE_TEXT = 300 };

/* A file, and which of its lines are wanted. */
typedef struct {
    const char *name;
    bool *wanted; /* [MOST_LINES] */
} source;

typedef struct {
    source files[MOST_FILES];
    size_t count;
} source_list;

static source *find(source_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->files[i].name, name) == 0) return &list->files[i];
    if (list->count == MOST_FILES) return NULL;
    bool *wanted = calloc(MOST_LINES, sizeof *wanted);
    if (!wanted) return NULL;
    list->files[list->count] = (source){name, wanted};
    return &list->files[list->count++];
}

static void want(source_list *list, const char *name, int line)
{
    source *s = *name && line > 0 && line < MOST_LINES ? find(list, name) : NULL;
    for (int i = line - AROUND; s && i <= line + AROUND; i++)
        if (i > 0 && i < MOST_LINES) s->wanted[i] = true;
}

static FILE *open_source(const char *name, const char *folder)
{
    char path[4096];
    struct stat info;
    bool elsewhere = folder && *name != '/';
    int length = snprintf(path, sizeof path, "%s%s%s", elsewhere ? folder : "", elsewhere ? "/" : "", name);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
    return fopen(path, "re");
}

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

void replay_sources(FILE *file, const replay_trace *const traces[], size_t count, const char *folder)
{
    source_list list = {.count = 0};
    bool first = true;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < traces[t]->slice_count; i++)
            want(&list, replay_text(traces[t], traces[t]->slices[i].file), traces[t]->slices[i].line);
    putc('{', file);
    for (size_t i = 0; i < list.count; i++) {
        FILE *from = open_source(list.files[i].name, folder);
        if (from) {
            fputs(first ? "\n" : ",\n", file);
            replay_put_text(file, list.files[i].name);
            fputs(":{", file);
            put_source(file, &list.files[i], from);
            putc('}', file);
            fclose(from);
            first = false;
        }
        free(list.files[i].wanted);
    }
    putc('}', file);
}
