/* SPDX-License-Identifier: MIT */
/*
 * Where an exercise counts how much memory there is at the same time: what check_peak does not see. It sees what malloc gives,
 * and arrays whose length is known only as the program runs; not static variables, and no other arrays on the stack.
 */
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

/* Bytes of all of them together: room for flags and for pointers, not for numbers of other ranks. */
enum { MOST_STATIC = 1024 };

/* Of one function, what the sanitizer puts between variables among it. */
enum { MOST_FRAME = 4096 };

/* The compiler numbers those inside of functions: "all.0". */
static void note_largest(const char *line, size_t bytes, size_t *largest, char **name)
{
    const char *found = strrchr(line, ' ') + 1;
    if (bytes <= *largest) return;
    *largest = bytes;
    free(*name);
    *name = learn_format("%.*s", (int)strcspn(found, "."), found);
}

/* nm says "0000000000000000 0000000000008000 b all": address, bytes, kind, name. */
static size_t statics_of(const char *object, const learn_options *o, size_t *largest, char **name)
{
    learn_tool t = {.count = 0};
    OWNED_SPAWNED done;
    size_t all = 0;
    learn_tool_add_words(&t, "nm -S --defined-only");
    learn_tool_add(&t, "%s", object);
    learn_tool_run(&t, LEARN_LINK, o, &done);
    for (const char *at = learn_string(&done.out); *at; at = learn_next_line(at)) {
        OWNED char *line = learn_format("%.*s", (int)strcspn(at, "\n"), at);
        unsigned long long bytes;
        char kind;
        if (sscanf(line, "%*x %llx %c ", &bytes, &kind) != 2 || !strchr("bBdDC", kind)) continue;
        if (strstr(line, " __asan") || strstr(line, " .L")) continue; /* the sanitizer's own */
        all += bytes;
        note_largest(line, bytes, largest, name);
    }
    return all;
}

static bool small_statics(const learn_options *o, const learn_tool *objects, learn_result *result)
{
    OWNED char *name = NULL;
    size_t all = 0, largest = 0;
    for (size_t i = 0; i < objects->count; i++) all += statics_of(objects->words[i], o, &largest, &name);
    if (all <= MOST_STATIC) return true;
    learn_fail(
        result, "kept.static", "",
        "The static variables have %zu bytes together, and the largest, %s, %zu. What a static variable holds is "
        "there all the time, while here it is counted how much memory there is at the same time: what is needed "
        "for a while is allocated, as long as it has to be, and given back.",
        all, name, largest);
    return false;
}

/* The compiler says "own.c:12:5:gather<tab>8304<tab>static" or, clang, "own.c:12:gather<tab>...", in own.su beside own.o. */
static bool small_frames(const char *object, learn_result *result)
{
    OWNED char *path = learn_format("%.*ssu", (int)(strlen(object) - 1), object);
    OWNED char *said = learn_read_plain_file(path, LEARN_MADE_BYTES, NULL);
    for (const char *at = said; at && *at; at = learn_next_line(at)) {
        OWNED char *place = learn_format("%.*s", (int)strcspn(at, "\t\n"), at);
        size_t bytes = strtoull(at + strlen(place), NULL, 10);
        const char *name = strrchr(place, ':');
        if (bytes <= MOST_FRAME || !name) continue;
        learn_fail(
            result, "kept.stack", "",
            "The variables of %s need %zu bytes on the stack. How long arrays have to be, only the call says, and "
            "what lies on the stack is not counted, while here it is counted how much memory there is at the same "
            "time: what is needed for a while is allocated, as long as it has to be, and given back.",
            name + 1, bytes);
        return false;
    }
    return true;
}

bool learn_counts_all(const learn_exercise *e, const learn_options *o, const learn_tool *objects, learn_result *result)
{
    if (!e->check->counts_memory) return true;
    bool good = small_statics(o, objects, result);
    for (size_t i = 0; i < objects->count && good; i++) good = small_frames(objects->words[i], result);
    return good;
}
