/* SPDX-License-Identifier: MIT */
/*
 * Stamps: a thing that was well, and a number for all that it depends on. As long as the number stays the same there is no
 * need to try again. Contents count, not times: a fresh clone has no stamps, and touching a file changes nothing.
 *
 *      learn stamp sum FILE...           prints a number for what the files hold
 *      learn stamp fresh NAME SUM        ends with 0, and prints the note, if it was stamped with the same number
 *      learn stamp keep NAME SUM NOTE    stamps it
 *
 * With ALL=1 in the environment nothing is fresh.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "learn/course/commands.h"
#include "p2p/shared/cli.h"

static char *stamp_path(const char *name)
{
    char *path = learn_format("%s/course/stamps/%s", learn_build(), name);
    for (char *at = path + strlen(path) - strlen(name); *at; at++)
        if (*at == '/') *at = '-';
    return path;
}

bool learn_stamp_fresh(const char *name, uint64_t inputs, learn_text *note)
{
    const char *all = getenv("ALL");
    if (!inputs || (all && *all && strcmp(all, "0") != 0)) return false;
    OWNED char *path = stamp_path(name), *text = learn_read_file(path, NULL);
    char *rest;
    if (!text || strtoull(text, &rest, 16) != inputs || *rest != '\n') return false;
    learn_add(note, "%.*s", (int)strcspn(rest + 1, "\n"), rest + 1);
    return true;
}

void learn_stamp_keep(const char *name, uint64_t inputs, const char *note)
{
    OWNED char *path = stamp_path(name), *text = learn_format("%016" PRIx64 "\n%s\n", inputs, note);
    if (!learn_put_file(path, text, strlen(text)))
        fprintf(stderr, "learn: %s cannot be written: %s\n", path, strerror(errno));
}

uint64_t learn_tools_hash(void)
{
    static const char *const tools[] = {"launch",
                                        "course/obj/guard",
                                        "course/p2p.a",
                                        "course/dtype.a",
                                        "course/collectives.a",
                                        "course/ring.a",
                                        "course/obj/exercises/check/check_opencl.o",
                                        "course/obj/exercises/check/check_accesses.o"};
    static uint64_t hash;
    if (hash) return hash;
    hash = learn_hash_file(0, "/proc/self/exe");
    for (size_t i = 0; hash && i < sizeof tools / sizeof *tools; i++) {
        OWNED char *path = learn_format("%s/%s", learn_build(), tools[i]);
        hash = learn_hash_file(hash, path);
    }
    return hash;
}

/* ---- The command ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_ARGS) return ARGP_ERR_UNKNOWN;
    *(char ***)state->input = state->argv + state->next;
    return 0;
}

int learn_command_stamp(int argc, char **argv)
{
    static const struct argp parser = {.parser = parse,
                                       .args_doc = "sum FILE...\nfresh NAME SUM\nkeep NAME SUM NOTE",
                                       .doc = "What has not changed since it was well need not be tried again."};
    char **words = argv + argc; /* NULL at the end, as argv */
    int count = 0;
    p2p__cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &words);
    while (words[count]) count++;
    const char *verb = count ? words[0] : "";
    if (strcmp(verb, "sum") == 0 && count > 1) {
        uint64_t hash = 0;
        for (int i = 1; i < count; i++) {
            OWNED char *path = learn_from_where(words[i]);
            if ((hash = learn_hash_file(hash, path))) continue;
            fprintf(stderr, "learn stamp: %s cannot be read: %s\n", words[i], strerror(errno));
            return 2;
        }
        printf("%016" PRIx64 "\n", hash);
        return 0;
    }
    if (strcmp(verb, "fresh") == 0 && count == 3) {
        OWNED_TEXT note = {0};
        if (!learn_stamp_fresh(words[1], strtoull(words[2], NULL, 16), &note)) return 1;
        puts(learn_string(&note));
        return 0;
    }
    if (strcmp(verb, "keep") == 0 && count == 4) {
        learn_stamp_keep(words[1], strtoull(words[2], NULL, 16), words[3]);
        return 0;
    }
    fputs("learn stamp: say sum FILE..., fresh NAME SUM, or keep NAME SUM NOTE\n", stderr);
    return 2;
}
