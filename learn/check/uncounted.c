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

typedef struct {
    size_t all, largest; /* bytes */
    char *name;          /* of the largest */
} statics;

static void count_static(void *arg, const learn_symbol *symbol)
{
    statics *s = arg;
    bool sanitizers = learn_has_prefix(symbol->name, "__asan") || learn_has_prefix(symbol->name, ".L");
    if (!symbol->defined || !symbol->writable || sanitizers) return;
    s->all += symbol->bytes;
    bool first = s->name && strcmp(symbol->name, s->name) < 0; /* of several that are as large */
    if (symbol->bytes < s->largest || (symbol->bytes == s->largest && !first)) return;
    s->largest = symbol->bytes;
    learn_replace(&s->name, learn_format("%.*s", (int)strcspn(symbol->name, "."),
                                         symbol->name)); /* inside of a function: "all.0" */
}

static bool small_statics(const learn_tool *objects, learn_result *result)
{
    statics s = {0};
    for (size_t i = 0; i < objects->count; i++) learn_each_symbol(objects->words[i], count_static, &s);
    OWNED char *name = s.name;
    if (s.all <= MOST_STATIC) return true;
    learn_fail(
        result, "kept.static", "",
        "The static variables have %zu bytes together, and the largest, %s, %zu. What a static variable holds is "
        "there all the time, while here it is counted how much memory there is at the same time: what is needed "
        "for a while is allocated, as long as it has to be, and given back.",
        s.all, name, s.largest);
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

bool learn_counts_all(const learn_exercise *e, const learn_tool *objects, learn_result *result)
{
    if (!e->check->counts_memory) return true;
    bool good = small_statics(objects, result);
    for (size_t i = 0; i < objects->count && good; i++) good = small_frames(objects->words[i], result);
    return good;
}
