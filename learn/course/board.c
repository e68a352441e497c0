/* SPDX-License-Identifier: MIT */
/* learn list, the board: all exercises in their order, what is done, what is begun, and what comes next. Nothing is run for it. */
#include <string.h>

#include "learn/course/commands.h"

enum { NAME = 20, IDEA = 2 + 2 + 2 + NAME + 2 + 11 + 2 }; /* columns: of a name; before the idea */

/* What a kind of failure is called here; the words of a test (its own keys) say little without it. */
static const char *failure_in_words(const char *key)
{
    static const char *const words[][2] = {
        {"compile", "does not compile"},
        {"link", "cannot be linked"},
        {"todo", "not all of it is written"},
        {"deadlock", "deadlock"},
        {"crash", "a rank crashed"},
        {"overrun", "touches memory it may not"},
        {"timeout", "takes too long"},
        {"error", "a call failed"},
        {"leak", "something was left over"},
        {"waiting", "a request was not waited for"},
        {"returned", "returned an error"},
        {"checker", "could not be run"},
        {"race", "a race"},
        {"barrier", "not all come to a barrier"},
        {"bounds", "goes over the end"},
        {"reuse", "reads too often"},
    };
    size_t length = strcspn(key, "."); /* of "error.length" the part that says what kind of failure */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == length && strncmp(key, words[i][0], length) == 0) return words[i][1];
    return "not right yet";
}

static void print_line(const learn_exercise *e, enum learn_progress progress)
{
    static const char *const words[] = {"not started", "in progress", "done"};
    static const enum learn_colour colours[] = {LEARN_DIM, LEARN_YELLOW, LEARN_GREEN};
    char key[LEARN_KEY];
    const char *name = strchr(e->name, '_');
    bool failed = progress == LEARN_IN_PROGRESS && *learn_last_failure(e, key);
    OWNED_TEXT idea = {0};
    learn_add_wrapped(&idea, failed ? failure_in_words(key) : e->check->idea, IDEA, learn_columns());
    printf("  %s  %-*s  %s%-11s%s  %s\n", e->code, NAME, name ? name + 1 : e->name,
           learn_colour(stdout, colours[progress]), words[progress], learn_colour(stdout, LEARN_PLAIN),
           learn_string(&idea));
}

void learn_board(bool whole)
{
    size_t count, of[LEARN_DONE + 1] = {0};
    const learn_exercise *all = learn_course(&count), *first[LEARN_DONE + 1] = {NULL};
    OWNED enum learn_progress *progress = learn_memory(count * sizeof *progress);
    for (size_t i = 0; i < count; i++) {
        progress[i] = learn_progress(&all[i]);
        if (!of[progress[i]]++) first[progress[i]] = &all[i];
    }
    if (whole) {
        printf("\n%sexercises: %zu of %zu done", learn_colour(stdout, LEARN_BOLD), of[LEARN_DONE], count);
        if (of[LEARN_IN_PROGRESS]) printf(", %zu in progress", of[LEARN_IN_PROGRESS]);
        printf("%s\n\n", learn_colour(stdout, LEARN_PLAIN));
        for (size_t i = 0; i < count; i++) print_line(&all[i], progress[i]);
        putchar('\n');
    }
    /* Next is what was begun first; if nothing was, the first that is not done. */
    const learn_exercise *begun = first[LEARN_IN_PROGRESS], *e = begun ? begun : first[LEARN_TO_DO];
    if (!e)
        puts("next  you have done them all");
    else
        printf("next  exercises/%s/%s  ->  make test EX=%s\n      stuck? make hint EX=%s\n", e->name,
               begun ? e->check->files[0] : "README.md", e->code, e->code);
}

int learn_command_list(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Show the board: which exercises are done, begun, not started, and what comes next. Nothing is run; an "
                "exercise is done if its files are as they were when it last passed.",
        .takes_none = true};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    learn_board(true);
    return 0;
}
