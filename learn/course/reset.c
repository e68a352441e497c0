/* SPDX-License-Identifier: MIT */
/* learn reset: the stubs again. What was there is put aside, never lost. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "learn/course/commands.h"

/* A folder that is not there yet: .learn/old/08_broadcast/2026-01-31-17.45.10, with -2, -3 ... behind it if need be. */
static char *folder_for_old(const learn_exercise *e)
{
    char when[32];
    time_t now = time(NULL);
    struct tm day;
    strftime(when, sizeof when, "%Y-%m-%d-%H.%M.%S", localtime_r(&now, &day));
    char *folder = learn_format("%s/old/%s/%s", LEARN_STATE, e->name, when);
    for (int number = 2; access(folder, F_OK) == 0; number++)
        learn_replace(&folder, learn_format("%s/old/%s/%s-%d", LEARN_STATE, e->name, when, number));
    return folder;
}

/* A file that is missing or the stub already is no work. */
static bool keep(const learn_exercise *e, const char *file, const char *folder)
{
    char from[LEARN_PATH];
    size_t bytes;
    OWNED char *to = learn_format("%s/%s", folder, file),
               *text = learn_read_file(learn_path(from, "exercises", e, file), &bytes);
    bool good = text || errno == ENOENT;
    OWNED char *stub = text ? learn_stub(e, file, NULL) : NULL;
    bool same = stub && strlen(stub) == bytes && memcmp(text, stub, bytes) == 0;
    if (text && !same) good = learn_put_file(to, text, bytes);
    if (!good)
        fprintf(stderr, "learn reset: %s cannot be kept as %s: %s; nothing is changed\n", from, to, strerror(errno));
    return good;
}

/* All is kept before anything is replaced. */
static bool reset(const learn_exercise *e, const char *folder)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (!keep(e, *file, folder)) return false;
    for (const char *const *file = e->check->files; *file; file++) {
        OWNED_TEXT why = {0};
        OWNED char *stub = learn_stub(e, *file, &why);
        if (stub && learn_put_stub(e, *file, stub, &why)) continue;
        fprintf(stderr, "learn reset: %s\n", learn_string(&why));
        return false;
    }
    learn_state_put(e, "failure", NULL);
    learn_state_put(e, "passed", NULL);
    learn_state_put(e, "hints", NULL);
    return true;
}

int learn_command_reset(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Put the stubs of an exercise back. Your files are kept in .learn/old/, and the hints begin anew."};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    OWNED char *folder = folder_for_old(call.e);
    bool good = reset(call.e, folder);
    if (good && access(folder, F_OK) == 0)
        printf("%s: the stub is back; your work is in %s\n", call.e->name, folder);
    else if (good)
        printf("%s: the stub is back; there was nothing of yours to keep\n", call.e->name);
    return good ? 0 : 1;
}
