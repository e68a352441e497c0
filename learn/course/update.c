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

/* Into .learn/old/update/, with .1, .2 ... behind the name if it is taken. Free the name. NULL if that fails. */
static char *put_aside(const learn_exercise *e, const char *file, const char *text)
{
    char *path = learn_format("%s/old/%s/update/%s", LEARN_STATE, e->name, file);
    for (int number = 1; access(path, F_OK) == 0; number++)
        learn_replace(&path, learn_format("%s/old/%s/update/%s.%d", LEARN_STATE, e->name, file, number));
    if (!learn_put_file(path, text, strlen(text))) learn_replace(&path, NULL);
    return path;
}

static void bring(const learn_exercise *e, const char *file, const char *path, const char *own, const char *stub,
                  bool edited, tally *t)
{
    OWNED char *aside = edited ? put_aside(e, file, own) : NULL;
    if ((edited && !aside) || !learn_put_file(path, stub, strlen(stub))) {
        fprintf(stderr, "learn update: %s: %s\n", path, strerror(errno));
        t->failed = true;
    } else {
        printf("%s: %s%s%s\n", path, own ? "the new stub" : "the stub, which was missing",
               aside ? "; what was there is in " : "", aside ? aside : "");
        t->brought++;
    }
}

static void update_file(const learn_exercise *e, const char *file, tally *t)
{
    char path[LEARN_PATH];
    OWNED_TEXT why = {0};
    OWNED char *own = learn_read_file(learn_path(path, "exercises", e, file), NULL), *stub = learn_stub(e, file, &why);
    OWNED char *name = learn_format("stub-%s", file), *old = learn_state_get(e, name);
    if (!stub) {
        fprintf(stderr, "learn update: %s\n", learn_string(&why));
        t->failed = true;
    } else if (!own) {
        bring(e, file, path, NULL, stub, false, t);
    } else if (learn_has_prefix(own, "<<<<<<< ") || strstr(own, "\n<<<<<<< ")) {
        printf("%s: git has left both versions in it, where you and the course have changed the same lines: keep "
               "yours, and "
               "delete the lines that begin with <<<<<<<, ======= and >>>>>>>\n",
               path);
        t->kept++;
    } else if (learn_same_places(own, stub) || (old && learn_same_places(own, old))) {
        if (!same(own, stub)) bring(e, file, path, own, stub, !same(own, old), t);
    } else if (old && !same(old, stub)) {
        /* the learner's work stays; where the stub has changed below it, that can be looked at */
        OWNED char *before = learn_format("before-%s", file);
        learn_state_put(e, before, old);
        printf("%s: yours, and not touched; but its stub has changed:\n    diff -u %s/%s/before-%s %s/%s/stub-%s\n",
               path, LEARN_STATE, e->name, file, LEARN_STATE, e->name, file);
        t->kept++;
    }
    if (stub && !same(old, stub)) learn_state_put(e, name, stub);
}

/* Files that are given are equal in both trees: there is nothing to write in them. */
static void update_exercise(const learn_exercise *e, tally *t)
{
    for (const char *const *file = e->check->files; *file; file++) update_file(e, *file, t);
    OWNED char *folder = learn_format("solutions/%s", e->name);
    DIR *files = opendir(folder);
    for (struct dirent *d; files && (d = readdir(files));) {
        if (!learn_is_source(d->d_name) || learn_is_file_of(e, d->d_name)) continue;
        char from[LEARN_PATH], to[LEARN_PATH];
        OWNED char *text = learn_read_file(learn_path(from, "solutions", e, d->d_name), NULL);
        OWNED char *own = learn_read_file(learn_path(to, "exercises", e, d->d_name), NULL);
        if (text && !same(text, own)) bring(e, d->d_name, to, own, text, own != NULL, t);
    }
    if (files) closedir(files);
}

int learn_command_update(int argc, char **argv)
{
    static const learn_usage usage = {
        .what =
            "After a newer course has been pulled: bring its stubs to the exercises that you have not begun, and tell "
            "where the stub of one that you have begun has changed. Your work is never touched.",
        .may_lack = true};
    learn_call call = {0};
    tally t = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    for (const learn_exercise *e = learn_course(NULL); e->check; e++)
        if (!call.e || call.e == e) update_exercise(e, &t);
    if (!t.brought && !t.kept && !t.failed) puts("everything is up to date");
    return t.failed ? 1 : 0;
}
