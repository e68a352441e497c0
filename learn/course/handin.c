/* SPDX-License-Identifier: MIT */
/*
 * learn handin: what has been begun, in one archive to hand in, with a manifest:
 *
 *      ada/manifest.txt
 *      ada/08_broadcast/broadcast.c
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "learn/inside.h"
#include "p2p/shared/cli.h"

enum { MOST_BYTES = 1 << 20 };

static const struct argp_option options[] = {
    {"name", 'n', "NAME", 0, "whose work it is (default: the name you are logged in with)", 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const char **name = state->input;
    switch (key) {
    case 'n': *name = arg; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Whose work it is, in letters that any file system takes. Free it. */
static char *whose(const char *given)
{
    const struct passwd *user = getpwuid(getuid());
    char *name = learn_copy(given && *given ? given : user && *user->pw_name ? user->pw_name : "somebody");
    for (char *at = name; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                     *at == '_' || (at > name && (*at == '.' || *at == '-'));
        if (!plain) *at = '_';
    }
    return name;
}

/* The .c and .h files of an exercise that are small enough to have been written by hand. */
static bool counts(const struct stat *s, const char *name)
{
    const char *dot = strrchr(name, '.');
    return S_ISREG(s->st_mode) && s->st_size <= MOST_BYTES && *name != '.' && dot &&
           (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

static bool pack_file(const char *from, const char *folder, const char *name, learn_text *manifest)
{
    size_t bytes;
    char *to = learn_format("%s/%s", folder, name), *text = learn_read_file(from, &bytes);
    bool good = text && learn_make_folder(folder) && learn_write_file(to, text, bytes);
    if (good) learn_add(manifest, "    %-24s %zu bytes\n", name, bytes);
    if (!good) fprintf(stderr, "learn handin: %s: %s\n", text ? to : from, strerror(errno));
    free(text);
    free(to);
    return good;
}

static bool pack_exercise(const learn_exercise *e, const char *stage, learn_text *manifest)
{
    static const char *const words[] = {"not started", "in progress", "passes here"};
    char *folder = learn_format("%s/%s", stage, e->name), *own = learn_format("exercises/%s", e->name);
    learn_add(manifest, "\n%s: %s\n", e->name, words[learn_progress(e)]);
    DIR *files = opendir(own);
    bool good = files != NULL;
    for (struct dirent *d; good && (d = readdir(files));) {
        struct stat s;
        char *from = learn_format("%s/%s", own, d->d_name);
        if (lstat(from, &s) == 0 && counts(&s, d->d_name)) good = pack_file(from, folder, d->d_name, manifest);
        free(from);
    }
    if (files) closedir(files);
    free(own);
    free(folder);
    return good;
}

static bool pack(const char *stage, const char *name, size_t *packed)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    learn_text manifest = {0};
    char when[32], *path = learn_format("%s/manifest.txt", stage);
    time_t now = time(NULL);
    struct tm day;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &day));
    learn_add(&manifest, "Pairwise exercises\nfrom %s\non %s\n", name, when);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (learn_progress(&all[i]) == LEARN_TO_DO) continue;
        good = pack_exercise(&all[i], stage, &manifest);
        (*packed)++;
    }
    if (good && *packed) good = learn_make_folder(stage) && learn_write_file(path, manifest.text, manifest.used);
    learn_text_free(&manifest);
    free(path);
    return good;
}

/* With the same owner and order for all users, by Debian's tar. */
static bool archive(const char *above, const char *name, const char *archive_name)
{
    char *fresh = learn_format("%s.new", archive_name);
    const char *const words[] = {"tar", "-C",  above, "--sort=name", "--owner=0", "--group=0", "--format=ustar",
                                 "-cf", fresh, name,  NULL};
    learn_command_line line = {.argv = words, .seconds = 60};
    learn_spawned done;
    learn_spawn(&line, &done);
    bool good = done.status == 0 && rename(fresh, archive_name) == 0;
    if (!good) fprintf(stderr, "learn handin: tar: %s\n", done.err.used ? done.err.text : strerror(errno));
    if (!good) unlink(fresh);
    learn_spawned_free(&done);
    free(fresh);
    return good;
}

static void clear(const char *folder)
{
    const char *const words[] = {"rm", "-rf", folder, NULL};
    learn_command_line line = {.argv = words, .seconds = 60};
    learn_spawned done;
    learn_spawn(&line, &done);
    learn_spawned_free(&done);
}

int learn_command_handin(int argc, char **argv)
{
    static const struct argp parser = {options, parse, NULL, "Pack what you have begun into one archive to hand in.",
                                       NULL,    NULL,  NULL};
    const char *given = NULL;
    size_t packed = 0;
    p2p__cli_parse(&parser, argc, argv, 0, &given);
    char *name = whose(given), *above = learn_format("%s/course/handin", learn_build());
    char *stage = learn_format("%s/%s", above, name), *result = learn_format("%s/%s.tar", learn_build(), name);
    clear(stage);
    bool good = pack(stage, name, &packed) && (!packed || archive(above, name, result));
    if (good && packed)
        printf("%zu exercise%s packed; hand in this file: %s\n", packed, packed == 1 ? "" : "s", result);
    else if (good)
        fputs("learn handin: no exercise has been begun, so there is nothing to hand in\n", stderr);
    clear(stage);
    free(result);
    free(stage);
    free(above);
    free(name);
    return good && packed ? 0 : 1;
}
