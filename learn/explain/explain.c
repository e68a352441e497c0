/* SPDX-License-Identifier: MIT */
/* What a check looks like to a person: at most a screen, the rest with V=1. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/learn.h"

enum { LABEL = 15, SHOWN = 10 };

const char *learn_colour(FILE *out, enum learn_colour colour)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m", "\033[2m"};
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no && *no) ? codes[colour] : "";
}

/* ---- Hints ---- */

char *learn_hint(const learn_exercise *e, const char *section)
{
    OWNED char *path = learn_format("tests/exercises/%s.hints", e->name), *heading = learn_format("[%s]\n", section),
               *text = learn_read_file(path, NULL);
    for (const char *at = text; at && *at; at = learn_next_line(at)) {
        if (!learn_has_prefix(at, heading)) continue;
        const char *from = at + strlen(heading), *to = from;
        while (*to && *to != '[') to = learn_next_line(to);
        while (from < to && *from == '\n') from++;
        while (to > from && (to[-1] == '\n' || to[-1] == ' ')) to--;
        return learn_format("%.*s", (int)(to - from), from);
    }
    return NULL;
}

char *learn_hint_for(const learn_exercise *e, const char *key)
{
    OWNED char *section = learn_format("when %s", key);
    char *words = learn_hint(e, section), *dot = strchr(section, '.');
    if (words || !dot || strncmp(key, "error.", 6) == 0) return words;
    *dot = '\0';
    return learn_hint(e, section);
}

/* ---- Sections ---- */

static void add_section(learn_text *t, const char *label, const char *words)
{
    if (!*words) return;
    learn_add(t, "  %-*s", LABEL - 2, label);
    learn_add_wrapped(t, words, LABEL, learn_columns());
    learn_add(t, "\n");
}

static void add_lines(learn_text *t, const char *lines, size_t most)
{
    for (size_t shown = 0; *lines && shown < most; shown++) {
        learn_add(t, "  %.*s\n", (int)strcspn(lines, "\n"), lines);
        lines = learn_next_line(lines);
    }
    if (*lines) learn_add(t, "  ...\n");
}

/* The tables, where a kernel is what ran: there are no ranks then. Free it. */
static char *shown_of(const learn_exercise *e, const learn_result *result)
{
    static const char rank[] = "rank 0    ", kernel[] = "the kernel";
    char *shown = learn_copy(result->shown);
    for (char *at = shown; e->check->opencl && at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (learn_has_prefix(at, rank)) memcpy(at, kernel, sizeof kernel - 1);
    return shown;
}

void learn_explain(FILE *out, const learn_exercise *e, const learn_result *result, bool more)
{
    static const char *const words[] = {"not started", "passed", "not yet"};
    static const enum learn_colour colours[] = {LEARN_DIM, LEARN_GREEN, LEARN_RED};
    const size_t most = more ? SIZE_MAX : SHOWN;
    OWNED_TEXT t = {0};
    fprintf(out, "%s%s: %s%s%s", learn_colour(out, LEARN_BOLD), e->name, learn_colour(out, colours[result->state]),
            words[result->state], learn_colour(out, LEARN_PLAIN));
    if (result->state == LEARN_PASSED && e->check->opencl)
        fprintf(out, "   %d cases, %.1f s", result->cases, result->seconds);
    else if (result->state == LEARN_PASSED)
        fprintf(out, "   %d cases in %d worlds, %.1f s", result->cases, result->worlds, result->seconds);
    fputs("\n", out);
    if (result->state == LEARN_PASSED && *result->rated) add_section(&t, "speed", result->rated);
    if (*result->warnings) {
        learn_add(&t, "\n  %-*swarns:\n", LABEL - 2, "the compiler");
        add_lines(&t, result->warnings, most);
    }
    if (result->state != LEARN_PASSED) learn_add(&t, "\n");
    if (result->state == LEARN_NOT_STARTED) {
        OWNED char *page =
            learn_format("read exercises/%s/README.md; then fill in what is marked TODO in exercises/%s/%s", e->name,
                         e->name, e->check->files[0]);
        add_section(&t, "the idea", e->check->idea);
        add_section(&t, "next", page);
    }
    if (result->state == LEARN_FAILED) {
        OWNED char *shown = shown_of(e, result);
        OWNED char *try = learn_hint_for(e, result->key); /* else advice that fits any exercise */
        add_section(&t, "what ran", result->ran);
        add_section(&t, "the order", result->order);
        add_lines(&t, shown, most);
        add_section(&t, "what broke", result->broke);
        add_section(&t, "try", try ? try : result->advice);
        learn_add(&t, "  %-*smake hint EX=%s", LABEL - 2, "next", e->code);
        if (*result->ran && !e->check->opencl) learn_add(&t, "   ·   make see EX=%s", e->code);
        if (!more && *result->more) learn_add(&t, "   ·   make test EX=%s V=1", e->code);
        learn_add(&t, "\n");
    }
    if (more && *result->more) learn_add(&t, "\n%s", result->more);
    fputs(learn_string(&t), out);
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
