/* SPDX-License-Identifier: MIT */
/*
 * learn update: after a newer course has been pulled, bring its stubs to the exercises that have not been begun, and leave
 * alone what the learner has written. make test remembers the stubs a learner began with (.learn/NN_name/stub-FILE); with
 * them it is known what has changed:
 *
 *      the learner's file          the stub has changed          what is done
 *      missing                                                   the stub is put there
 *      not begun                   yes                           the new stub replaces it; the old file is kept if it was edited
 *      begun                       yes                           nothing; both stubs are kept, to compare
 *      begun                       no                            nothing
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/course/commands.h"

typedef struct {
    size_t brought, kept;
    bool failed;
} tally;

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void complain(tally *t, const char *path)
{
    fprintf(stderr, "learn update: %s: %s\n", path, strerror(errno));
    t->failed = true;
}

/* Into .learn/old/update/, with .1, .2 ... behind the name if it is taken. Free the name. NULL if that fails. */
static char *put_aside(const learn_exercise *e, const char *file, const char *text)
{
    char *folder = learn_format("%s/old/%s/update", LEARN_STATE, e->name), *path = learn_format("%s/%s", folder, file);
    for (int number = 1; access(path, F_OK) == 0; number++) {
        free(path);
        path = learn_format("%s/%s.%d", folder, file, number);
    }
    if (!learn_make_folder(folder) || !learn_write_file(path, text, strlen(text))) {
        free(path);
        path = NULL;
    }
    free(folder);
    return path;
}

static void bring(const learn_exercise *e, const char *file, const char *path, const char *own, const char *stub,
                  bool edited, tally *t)
{
    char *aside = edited ? put_aside(e, file, own) : NULL;
    char *folder = learn_format("exercises/%s", e->name);
    if ((edited && !aside) || !learn_make_folder(folder) || !learn_write_file(path, stub, strlen(stub))) {
        complain(t, path);
    } else {
        printf("%s: %s%s%s\n", path, own ? "the new stub" : "the stub, which was missing",
               aside ? "; what was there is in " : "", aside ? aside : "");
        t->brought++;
    }
    free(folder);
    free(aside);
}

static bool has_conflict(const char *text)
{
    return strncmp(text, "<<<<<<< ", 8) == 0 || strstr(text, "\n<<<<<<< ");
}

/* The learner's work stays. Where the stub has changed below it, that can be looked at. */
static void keep(const learn_exercise *e, const char *file, const char *path, const char *old, tally *t)
{
    char *before = learn_format("before-%s", file);
    learn_state_put(e, before, old);
    printf("%s: yours, and not touched; but its stub has changed:\n    diff -u %s/%s/before-%s %s/%s/stub-%s\n", path,
           LEARN_STATE, e->name, file, LEARN_STATE, e->name, file);
    t->kept++;
    free(before);
}

static void update_file(const learn_exercise *e, const char *file, tally *t)
{
    char path[LEARN_PATH];
    learn_text why = {0};
    char *own = learn_read_file(learn_path(path, "exercises", e, file), NULL), *stub = learn_stub(e, file, &why);
    char *name = learn_format("stub-%s", file), *old = learn_state_get(e, name);
    if (!stub) {
        fprintf(stderr, "learn update: %s\n", learn_string(&why));
        t->failed = true;
    } else if (!own) {
        bring(e, file, path, NULL, stub, false, t);
    } else if (has_conflict(own)) {
        printf("%s: git has left both versions in it, where you and the course have changed the same lines: keep "
               "yours, and "
               "delete the lines that begin with <<<<<<<, ======= and >>>>>>>\n",
               path);
        t->kept++;
    } else if (learn_same_places(own, stub) || (old && learn_same_places(own, old))) {
        if (!same(own, stub)) bring(e, file, path, own, stub, !same(own, old), t);
    } else if (old && !same(old, stub)) {
        keep(e, file, path, old, t);
    }
    if (stub && !same(old, stub)) learn_state_put(e, name, stub);
    free(old);
    free(name);
    free(stub);
    free(own);
    learn_text_free(&why);
}

/* ---- Files that are given: equal in both trees, nothing to write in them ---- */

static bool is_written(const learn_exercise *e, const char *name)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

static void update_given(const learn_exercise *e, const char *name, tally *t)
{
    char from[LEARN_PATH], to[LEARN_PATH];
    char *text = learn_read_file(learn_path(from, "solutions", e, name), NULL);
    char *own = learn_read_file(learn_path(to, "exercises", e, name), NULL);
    if (text && !same(text, own)) bring(e, name, to, own, text, own != NULL, t);
    free(own);
    free(text);
}

static void update_exercise(const learn_exercise *e, tally *t)
{
    for (const char *const *file = e->check->files; *file; file++) update_file(e, *file, t);
    char *folder = learn_format("solutions/%s", e->name);
    DIR *files = opendir(folder);
    for (struct dirent *d; files && (d = readdir(files));) {
        const char *dot = strrchr(d->d_name, '.');
        bool source = dot && *d->d_name != '.' && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
        if (source && !is_written(e, d->d_name)) update_given(e, d->d_name, t);
    }
    if (files) closedir(files);
    free(folder);
}

int learn_command_update(int argc, char **argv)
{
    static const learn_usage usage = {
        .what =
            "After a newer course has been pulled: bring its stubs to the exercises that you have not begun, and tell "
            "where the stub of one that you have begun has changed. Your work is never touched.",
        .may_lack = true};
    learn_call call;
    tally t = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count;
    const learn_exercise *all = learn_course(&count);
    for (size_t i = 0; i < count; i++)
        if (!call.e || call.e == &all[i]) update_exercise(&all[i], &t);
    if (!t.brought && !t.kept && !t.failed) puts("everything is up to date");
    return t.failed ? 1 : 0;
}
