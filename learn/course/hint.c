/* SPDX-License-Identifier: MIT */
/*
 * learn hint: the next hint at each call. First the one that fits the failure seen last, if there is one, then what to look
 * at, what is wrong, nearly the code. .learn/NN_name/hints holds how far it has come: a level and the kind of failure whose
 * hint was shown.
 */
#include <string.h>

#include "learn/course/commands.h"

enum { LEVELS = 3, INDENT = 2 };

typedef struct {
    int level; /* the last that was shown */
    char shown[LEARN_KEY];
} place;

static place read_place(const learn_exercise *e)
{
    place p = {0};
    OWNED char *text = learn_state_get(e, "hints");
    if (text && sscanf(text, "%d %31s", &p.level, p.shown) < 1) p.level = 0;
    if (p.level < 0 || p.level > LEVELS) p.level = 0;
    return p;
}

static void show(const learn_exercise *e, const char *heading, const char *hint)
{
    OWNED_TEXT t = {0};
    learn_add_wrapped(&t, hint, INDENT, learn_columns());
    printf("%s%s: %s%s\n\n%*s%s\n", learn_colour(stdout, LEARN_BOLD), e->name, heading,
           learn_colour(stdout, LEARN_PLAIN), INDENT, "", learn_string(&t));
}

/* The hint for the last failure, unless it was the last one shown for a failure. */
static bool show_for_failure(const learn_exercise *e, place *p)
{
    char key[LEARN_KEY];
    if (!*learn_last_failure(e, key) || strcmp(key, p->shown) == 0) return false;
    OWNED char *hint = learn_hint_for(e, key);
    bool builds = strcmp(key, "compile") != 0 && strcmp(key, "link") != 0;
    if (!hint && !builds)
        hint = learn_format(
            "It cannot be built, and the hints are about code that runs. make test EX=%s shows the first error and "
            "its line. Mend that one first: those after it often follow from it. A missing ; or } is told a "
            "line later, or at the end.",
            e->code);
    if (hint) {
        show(e, "what your last try says", hint);
        snprintf(p->shown, sizeof p->shown, "%s", key);
    }
    return hint != NULL;
}

static bool show_level(const learn_exercise *e, place *p)
{
    static const char *const about[] = {"", "what to look at", "where it goes wrong", "nearly the code"};
    int level = p->level < LEVELS ? p->level + 1 : LEVELS;
    OWNED char *number = learn_format("%d", level), *hint = learn_hint(e, number),
               *heading = learn_format("hint %d of %d, %s", level, LEVELS, about[level]);
    if (hint) show(e, heading, hint);
    p->level = level;
    return hint != NULL;
}

int learn_command_hint(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Show the next hint for an exercise: first one for the last failure, then what to look at, what is "
                "wrong, nearly the code. Without an exercise: the first one in progress.",
        .may_lack = true};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const learn_exercise *e = call.e;
    for (const learn_exercise *any = learn_course(NULL); any->check && !e; any++)
        if (learn_progress(any) == LEARN_IN_PROGRESS) e = any;
    if (!e) {
        fputs("learn hint: nothing is in progress; which exercise? make hint EX=08\n", stderr);
        return 2;
    }
    place p = read_place(e);
    if (!show_for_failure(e, &p) && !show_level(e, &p)) {
        fprintf(stderr, "learn hint: there are no hints for %s\n", e->name);
        return 1;
    }
    OWNED char *text = learn_format("%d %s\n", p.level, p.shown);
    learn_state_put(e, "hints", text);
    if (p.level < LEVELS)
        printf("\nnext  make test EX=%s   (the next hint: make hint EX=%s)\n", e->code, e->code);
    else
        printf("\nnext  make test EX=%s   (that was the last hint; the solution: make solution EX=%s FORCE=1)\n",
               e->code, e->code);
    return 0;
}
