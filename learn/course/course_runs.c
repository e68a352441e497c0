/* SPDX-License-Identifier: MIT */
/* Is the course sound, as far as one has to run it? */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/course/sound.h"

static void add_explanation(learn_text *t, const learn_exercise *e, const learn_result *result)
{
    OWNED char *text = learn_explanation(e, result);
    learn_add(t, "%s", text);
}

void learn_sound_files_run(const learn_exercise *e, bool solution, const char *work, learn_text *wrong)
{
    OWNED char *folder = learn_format("%s/%s", solution ? "solutions" : "exercises", e->name);
    learn_options o = {.even_if_stub = true, .work = work};
    OWNED_RESULT result;
    if (!solution && !learn_not_started(e, folder))
        learn_add(wrong, "%s is not as it is handed out: it has been started\n", folder);
    bool passed = learn_check(e, folder, &o, &result);
    if (passed != solution) learn_add(wrong, solution ? "%s does not pass:\n" : "%s: the stub passes\n", folder);
    if (!passed && (solution || strcmp(result.key, "compile") == 0 || strcmp(result.key, "link") == 0 ||
                    strcmp(result.key, "checker") == 0))
        add_explanation(wrong, e, &result);
    if (*result.warnings) learn_add(wrong, "%s compiles with warnings:\n%s", folder, result.warnings);
}

/* ---- Mutants ---- */

/* White space of any length is one blank. In place. */
static void collapse(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool blank = isspace((unsigned char)*from);
        if (blank && (to == text || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *from;
    }
    while (to > text && to[-1] == ' ') to--;
    *to = '\0';
}

/* The rest of the next line that begins with `mark`, collapsed; *at moves on. NULL if there is none. Free it. */
static char *next_mark(const char **at, const char *mark)
{
    const char *found = *at;
    while (found && strncmp(found, mark, strlen(mark)) != 0) {
        found = strchr(found, '\n');
        if (found) found++;
    }
    if (!found) return NULL;
    found += strlen(mark);
    size_t length = strcspn(found, "\n");
    *at = found + length;
    char *text = learn_format("%.*s", (int)length, found);
    collapse(text);
    return text;
}

/* Each expected text is in what was told. */
static void as_expected(const char *source, const char *told, const char *path, learn_text *wrong)
{
    const char *at = source;
    int count = 0;
    for (char *text; (text = next_mark(&at, "// expect:")); free(text)) {
        count++;
        if (!*text || !strstr(told, text)) learn_add(wrong, "%s: the explanation does not say \"%s\"\n", path, text);
    }
    if (!count) learn_add(wrong, "%s has no \"// expect:\"\n", path);
}

void learn_sound_mutant(const learn_exercise *e, const char *path, const char *work, learn_text *wrong,
                        learn_text *told)
{
    OWNED char *folder = learn_format("solutions/%s", e->name), *source = learn_read_file(path, NULL);
    learn_options o = {.instead = path, .work = work, .quiet_compiler = true};
    OWNED_RESULT result;
    if (learn_check(e, folder, &o, &result)) learn_add(wrong, "%s survives: it passes\n", path);
    OWNED char *text = learn_explanation(e, &result);
    learn_add(told, "%s", text);
    collapse(text);
    if (strcmp(result.key, "compile") == 0 || strcmp(result.key, "checker") == 0)
        learn_add(wrong, "%s fails, but because of the checker or the compiler\n", path);
    const char *at = source ? source : "";
    OWNED char *what = next_mark(&at, "// what:");
    if (!what || !*what) learn_add(wrong, "%s has no \"// what:\"\n", path);
    if (result.state == LEARN_FAILED) as_expected(source ? source : "", text, path, wrong);
}
