/* SPDX-License-Identifier: MIT */
/* What a check looks like to a person: at most a screen, the rest with V=1. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/learn.h"

enum { LABEL = 15, WIDTH = 100, SHOWN = 10 };

const char *learn_colour(FILE *out, enum learn_colour colour)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m", "\033[2m"};
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no && *no) ? codes[colour] : "";
}

/* ---- Hints ---- */

/* The section's end: the next line that begins with '['. */
static const char *section_end(const char *text)
{
    while (*text && *text != '[') {
        const char *line = strchr(text, '\n');
        text = line ? line + 1 : text + strlen(text);
    }
    return text;
}

static char *trimmed(const char *from, const char *to)
{
    while (from < to && *from == '\n') from++;
    while (to > from && (to[-1] == '\n' || to[-1] == ' ')) to--;
    return learn_format("%.*s", (int)(to - from), from);
}

char *learn_hint(const learn_exercise *e, const char *section)
{
    char *path = learn_format("tests/exercises/%s.hints", e->name), *heading = learn_format("[%s]", section),
         *found = NULL;
    char *text = learn_read_file(path, NULL);
    for (const char *at = text; at && *at;) {
        const char *end = strchr(at, '\n');
        if (!end) break;
        if ((size_t)(end - at) == strlen(heading) && strncmp(at, heading, strlen(heading)) == 0) {
            found = trimmed(end + 1, section_end(end + 1));
            break;
        }
        at = end + 1;
    }
    free(path);
    free(heading);
    free(text);
    return found;
}

/* ---- Sections ---- */

static void add_label(learn_text *t, const char *label)
{
    learn_add(t, "  %-*s", LABEL - 2, label);
}

static void add_section(learn_text *t, const char *label, const char *words)
{
    if (!*words) return;
    add_label(t, label);
    learn_add_wrapped(t, words, LABEL, WIDTH);
    learn_add(t, "\n");
}

static void add_lines(learn_text *t, const char *lines, size_t most)
{
    for (size_t shown = 0; *lines; shown++) {
        size_t length = strcspn(lines, "\n");
        if (shown == most) {
            learn_add(t, "  ...\n");
            return;
        }
        learn_add(t, "  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

char *learn_hint_for(const learn_exercise *e, const char *key)
{
    char *section = learn_format("when %s", key), *words = learn_hint(e, section), *dot = strchr(section, '.');
    if (!words && dot && strncmp(key, "error.", 6) != 0) {
        *dot = '\0';
        words = learn_hint(e, section);
    }
    free(section);
    return words;
}

/* The hints' own words for this failure, or advice that fits any exercise. */
static char *what_to_try(const learn_exercise *e, const learn_result *result)
{
    char *words = learn_hint_for(e, result->key);
    return words ? words : learn_copy(result->advice);
}

static void add_failure(learn_text *t, const learn_exercise *e, const learn_result *result, bool more)
{
    char *try = what_to_try(e, result);
    add_section(t, "what ran", result->ran);
    add_lines(t, result->shown, more ? SIZE_MAX : SHOWN);
    add_section(t, "what broke", result->broke);
    add_section(t, "try", try);
    free(try);
}

static void add_next(learn_text *t, const learn_exercise *e, const learn_result *result, bool more)
{
    add_label(t, "next");
    learn_add(t, "make hint EX=%02d", e->number);
    if (*result->ran) learn_add(t, "   ·   make see EX=%02d", e->number);
    if (!more && *result->more) learn_add(t, "   ·   make test EX=%02d V=1", e->number);
    learn_add(t, "\n");
}

static void print_headline(FILE *out, const learn_exercise *e, const learn_result *result)
{
    static const char *const words[] = {"not started", "passed", "not yet"};
    static const enum learn_colour colours[] = {LEARN_DIM, LEARN_GREEN, LEARN_RED};
    fprintf(out, "%s%s: %s%s%s", learn_colour(out, LEARN_BOLD), e->name, learn_colour(out, colours[result->state]),
            words[result->state], learn_colour(out, LEARN_PLAIN));
    if (result->state == LEARN_PASSED)
        fprintf(out, "   %d cases in %d worlds, %.1f s", result->cases, result->worlds, result->seconds);
    fputs("\n", out);
}

static void add_not_started(learn_text *t, const learn_exercise *e)
{
    char *page = learn_format("read exercises/%s/README.md; then fill in what is marked TODO in exercises/%s/%s",
                              e->name, e->name, e->check->files[0]);
    learn_add(t, "\n");
    add_section(t, "the idea", e->check->idea);
    add_section(t, "next", page);
    free(page);
}

void learn_explain(FILE *out, const learn_exercise *e, const learn_result *result, bool more)
{
    learn_text t = {0};
    print_headline(out, e, result);
    if (*result->warnings) {
        learn_add(&t, "\n");
        add_label(&t, "the compiler");
        learn_add(&t, "warns:\n");
        add_lines(&t, result->warnings, more ? SIZE_MAX : SHOWN);
    }
    if (result->state == LEARN_NOT_STARTED) add_not_started(&t, e);
    if (result->state == LEARN_FAILED) {
        learn_add(&t, "\n");
        add_failure(&t, e, result, more);
        add_next(&t, e, result, more);
    }
    if (more && *result->more) learn_add(&t, "\n%s", result->more);
    fputs(learn_string(&t), out);
    learn_text_free(&t);
}

char *learn_explanation(const learn_exercise *e, const learn_result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return learn_copy("");
    learn_explain(out, e, result, false);
    fclose(out);
    return text;
}
