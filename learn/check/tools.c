/* SPDX-License-Identifier: MIT */
/* Command lines of the compiler and its kin. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

const double learn_tool_seconds = 60;

void learn_tool_add(learn_tool *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (t->count + 1 == LEARN_WORDS || vasprintf(&t->words[t->count++], format, args) < 0) {
        fputs("learn: a command line is too long\n", stderr);
        exit(1);
    }
    va_end(args);
}

void learn_tool_add_words(learn_tool *t, const char *words)
{
    OWNED char *copy = learn_copy(words);
    char *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest));) learn_tool_add(t, "%s", word);
}

void learn_tool_free(learn_tool *t)
{
    for (size_t i = 0; i < t->count; i++) free(t->words[i]);
    *t = (learn_tool){.count = 0};
}

bool learn_tool_run(learn_tool *t, enum learn_step step, const learn_options *options, learn_spawned *done)
{
    learn_command_line line = {
        .argv = (const char *const *)t->words, .seconds = learn_tool_seconds, .options = options, .step = step};
    learn_spawn(&line, done);
    learn_tool_free(t);
    return done->status == 0;
}

/* CC may be several words. */
void learn_tool_add_compiler(learn_tool *t)
{
    const char *given = getenv("CC");
    learn_tool_add_words(t, given && *given ? given : "cc");
}
