/* SPDX-License-Identifier: MIT */
/* learn list, the board: all exercises in their order, what is done, what is begun, and what comes next. Nothing is run for it. */
#include <stdlib.h>
#include <string.h>

#include "learn/course/commands.h"

typedef struct {
    enum learn_progress *of; /* [count] */
    size_t count, done, begun;
    const learn_exercise *all, *next;
} progress;

/* Next is what was begun first; if nothing was, the first that is not done. */
static progress look(void)
{
    progress p = {0};
    p.all = learn_course(&p.count);
    p.of = learn_memory(p.count * sizeof *p.of);
    const learn_exercise *first = NULL;
    for (size_t i = 0; i < p.count; i++) {
        p.of[i] = learn_progress(&p.all[i]);
        p.done += p.of[i] == LEARN_DONE;
        p.begun += p.of[i] == LEARN_IN_PROGRESS;
        if (p.of[i] == LEARN_IN_PROGRESS && !p.next) p.next = &p.all[i];
        if (p.of[i] == LEARN_TO_DO && !first) first = &p.all[i];
    }
    if (!p.next) p.next = first;
    return p;
}

/* What a kind of failure is called here; the words of a test (its own keys) say little without it. */
static const char *failure_in_words(const char *key)
{
    static const char *const words[][2] = {
        {"compile", "does not compile"},      {"link", "cannot be linked"},
        {"todo", "not all of it is written"}, {"deadlock", "deadlock"},
        {"crash", "a rank crashed"},          {"overrun", "touches memory it may not"},
        {"timeout", "takes too long"},        {"error", "a call failed"},
        {"leak", "something was left over"},  {"waiting", "a request was not waited for"},
        {"returned", "returned an error"},    {"checker", "could not be run"},
    };
    size_t length = strcspn(key, "."); /* of "error.length" the part that says what kind of failure */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == length && strncmp(key, words[i][0], length) == 0) return words[i][1];
    return "not right yet";
}

static void print(FILE *out, bool whole)
{
    static const char *const words[] = {"not started", "in progress", "done"};
    static const enum learn_colour colours[] = {LEARN_DIM, LEARN_YELLOW, LEARN_GREEN};
    progress p = look();
    if (whole) {
        fprintf(out, "\n%sexercises: %zu of %zu done", learn_colour(out, LEARN_BOLD), p.done, p.count);
        if (p.begun) fprintf(out, ", %zu in progress", p.begun);
        fprintf(out, "%s\n\n", learn_colour(out, LEARN_PLAIN));
    }
    for (size_t i = 0; whole && i < p.count; i++) {
        const learn_exercise *e = &p.all[i];
        char key[LEARN_KEY];
        const char *name = strchr(e->name, '_');
        bool failed = p.of[i] == LEARN_IN_PROGRESS && *learn_last_failure(e, key);
        fprintf(out, "  %02d  %-20s  %s%-11s%s  %s\n", e->number, name ? name + 1 : e->name,
                learn_colour(out, colours[p.of[i]]), words[p.of[i]], learn_colour(out, LEARN_PLAIN),
                failed ? failure_in_words(key) : e->check->idea);
    }
    const learn_exercise *e = p.next;
    fputs(whole ? "\n" : "", out);
    if (!e)
        fprintf(out, "next  you have done them all\n");
    else
        fprintf(out, "next  exercises/%s/%s  ->  make test EX=%02d   (stuck? make hint EX=%02d)\n", e->name,
                p.of[e - p.all] == LEARN_TO_DO ? "README.md" : e->check->files[0], e->number, e->number);
    free(p.of);
}

void learn_next(FILE *out)
{
    print(out, false);
}

void learn_board(FILE *out)
{
    print(out, true);
}

int learn_command_list(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Show the board: which exercises are done, begun, not started, and what comes next. Nothing is run; an "
                "exercise is done if its files are as they were when it last passed.",
        .may_lack = true};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    learn_board(stdout);
    return 0;
}
