/* SPDX-License-Identifier: MIT */
/*
 * learn handin: what has been begun, in one archive to hand in, with a manifest:
 *
 *      ada/manifest.txt
 *      ada/08_broadcast/broadcast.c
 */
#include <archive.h>
#include <archive_entry.h>
#include <argp.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "p2p/shared/cli.h"

enum { MOST_BYTES = 1 << 20 };

static const struct argp_option options[] = {
    {"name", 'n', "NAME", 0, "whose work it is (default: the name you are logged in with)", 0}, {0}};

static int option(void *own, int key, char *arg, struct argp_state *state)
{
    (void)state;
    if (key != 'n') return ARGP_ERR_UNKNOWN;
    *(const char **)own = arg;
    return 0;
}

/* Whose work it is, in letters that any file system takes. Free it. */
static char *whose(const char *given)
{
    const struct passwd *user = getpwuid(getuid());
    char *name = learn_copy(given && *given ? given : user && *user->pw_name ? user->pw_name : "somebody");
    for (char *at = name; *at; at++) {
        bool plain = ((unsigned char)*at < 0x80 && isalnum(*at)) || (at > name && (*at == '.' || *at == '-'));
        if (!plain) *at = '_';
    }
    return name;
}

/* With the same owner for all users. */
static bool add_file(struct archive *a, const char *path, const char *text, size_t bytes, time_t changed)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, changed, 0);
    archive_entry_set_size(entry, (la_int64_t)bytes);
    bool good = archive_write_header(a, entry) == ARCHIVE_OK && archive_write_data(a, text, bytes) == (la_ssize_t)bytes;
    if (!good) fprintf(stderr, "learn handin: %s: %s\n", path, archive_error_string(a));
    archive_entry_free(entry);
    return good;
}

/* What is small enough to have been written by hand. */
static bool add_exercise(struct archive *a, const learn_exercise *e, const char *name, learn_text *manifest)
{
    static const char *const words[] = {"not started", "in progress", "passes here"};
    OWNED char *own = learn_format("exercises/%s", e->name);
    struct dirent **files;
    int count = scandir(own, &files, NULL, alphasort);
    bool good = count >= 0;
    if (!good) fprintf(stderr, "learn handin: %s: %s\n", own, strerror(errno));
    learn_add(manifest, "\n%s: %s\n", e->name, words[learn_progress(e)]);
    for (int i = 0; i < count; i++) {
        struct stat s;
        size_t bytes;
        const char *file = files[i]->d_name;
        OWNED char *from = learn_format("%s/%s", own, file), *path = learn_format("%s/%s/%s", name, e->name, file);
        if (good && learn_is_source(file) && lstat(from, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES) {
            OWNED char *text = learn_read_file(from, &bytes);
            if (!text) fprintf(stderr, "learn handin: %s: %s\n", from, strerror(errno));
            good = text && add_file(a, path, text, bytes, s.st_mtime);
            if (good) learn_add(manifest, "    %-24s %zu bytes\n", file, bytes);
        }
        free(files[i]);
    }
    if (count >= 0) free(files);
    return good;
}

/* Everything that has been begun, in order; the manifest last. */
static bool pack(struct archive *a, const char *name, size_t *packed)
{
    OWNED_TEXT manifest = {0};
    OWNED char *path = learn_format("%s/manifest.txt", name);
    char when[32];
    time_t now = time(NULL);
    struct tm day;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &day));
    learn_add(&manifest, "Pairwise exercises\nfrom %s\non %s\n", name, when);
    bool good = true;
    for (const learn_exercise *e = learn_course(NULL); e->check && good; e++) {
        if (learn_progress(e) == LEARN_TO_DO) continue;
        good = add_exercise(a, e, name, &manifest);
        (*packed)++;
    }
    return good && add_file(a, path, manifest.text, manifest.used, now);
}

int learn_command_handin(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Pack what you have begun into one archive to hand in.",
                                      .takes_none = true,
                                      .options = options,
                                      .option = option};
    const char *given = NULL;
    size_t packed = 0;
    if (!learn_called(argc, argv, &usage, &(learn_call){.own = &given})) return 2;
    OWNED char *name = whose(given), *result = learn_format("%s/%s.tar", learn_build(), name);
    OWNED char *fresh = learn_format("%s.new", result);
    struct archive *a = archive_write_new();
    bool open = archive_write_set_format_ustar(a) == ARCHIVE_OK && archive_write_open_filename(a, fresh) == ARCHIVE_OK;
    bool good = open && pack(a, name, &packed);
    bool whole = archive_write_close(a) == ARCHIVE_OK && open;
    if (!whole) fprintf(stderr, "learn handin: %s: %s\n", fresh, archive_error_string(a));
    good = good && whole;
    archive_write_free(a);
    if (good && packed && rename(fresh, result) != 0) {
        fprintf(stderr, "learn handin: %s: %s\n", result, strerror(errno));
        good = false;
    } else if (good && packed) {
        printf("%zu exercise%s packed; hand in this file: %s\n", packed, packed == 1 ? "" : "s", result);
    } else if (good) {
        fputs("learn handin: no exercise has been begun, so there is nothing to hand in\n", stderr);
    }
    unlink(fresh);
    return good && packed ? 0 : 1;
}
