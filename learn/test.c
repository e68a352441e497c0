/* SPDX-License-Identifier: MIT */
/* learn test EX: check one exercise and explain; with --runs, many times, for the sweep that looks for races. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "learn/commands.h"

enum { KEY_SOLUTION = 256, KEY_RUNS, KEY_DELAYS, KEY_SEED, KEY_IN, KEY_INSTEAD, KEY_LIMIT };

static const struct argp_option options[] = {
    {"solution", KEY_SOLUTION, NULL, 0, "check the solution, not the learner's files", 0},
    {"in", KEY_IN, "FOLDER", 0, "check the files in FOLDER", 0},
    {"instead", KEY_INSTEAD, "FILE", 0, "FILE stands in for the exercise's first file (a mutant)", 0},
    {"runs", KEY_RUNS, "N", 0, "check N times, and stop at the first failure", 0},
    {"delays", KEY_DELAYS, NULL, 0, "ranks are late at random", 0},
    {"seed", KEY_SEED, "N", 0, "other data", 0},
    {"limit", KEY_LIMIT, "S", 0, "seconds that one world may take (10)", 0},
    {"verbose", 'v', NULL, 0, "everything there is to say", 0},
    {0},
};

typedef struct {
    const char *name, *folder, *instead;
    bool solution, verbose;
    int runs;
    learn_options check;
} arguments;

static unsigned long number(struct argp_state *state, const char *arg)
{
    char *end;
    unsigned long value = strtoul(arg, &end, 10);
    if (end == arg || *end || *arg == '-') argp_error(state, "\"%s\" is not a whole number", arg);
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case KEY_SOLUTION: a->solution = true; break;
    case KEY_IN: a->folder = arg; break;
    case KEY_INSTEAD: a->instead = arg; break;
    case KEY_RUNS: a->runs = (int)number(state, arg); break;
    case KEY_DELAYS: a->check.delays = true; break;
    case KEY_SEED: a->check.seed = number(state, arg); break;
    case KEY_LIMIT: a->check.world_seconds = (double)number(state, arg); break;
    case 'v': a->verbose = true; break;
    case ARGP_KEY_ARG:
        if (a->name) argp_error(state, "one exercise at a time");
        a->name = arg;
        break;
    case ARGP_KEY_END:
        if (!a->name) argp_error(state, "which exercise? its number, name or a part of it");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* A path as it was meant, where we were called from. */
static char *from_there(const char *path)
{
    return *path == '/' ? learn_copy(path) : learn_format("%s/%s", learn_where(), path);
}

static int check(const learn_exercise *e, const arguments *a, const char *folder)
{
    learn_options o = a->check;
    learn_result result;
    bool passed = true;
    double seconds = 0;
    for (int i = 0; i < a->runs && passed; i++) {
        o.keep_program = i > 0;
        o.delay_seed = (uint64_t)i + 1;
        passed = learn_check(e, folder, &o, &result);
        seconds += result.seconds;
        if (!a->folder && !a->solution && !a->instead) learn_state_note(e, &result);
        if (!passed || i + 1 == a->runs) learn_explain(stdout, e, &result, a->verbose);
        if (!passed && a->runs > 1) printf("  in run %d of %d\n", i + 1, a->runs);
        if (result.state == LEARN_NOT_STARTED) passed = true, i = a->runs;
        learn_result_free(&result);
    }
    if (passed && a->runs > 1) printf("  %d runs, %.1f s\n", a->runs, seconds);
    return passed ? 0 : 1;
}

int learn_command_test(int argc, char **argv)
{
    static const struct argp parser = {options, parse, "EX", "Check one exercise: its number, name or a part of it.",
                                       NULL,    NULL,  NULL};
    arguments a = {.runs = 1};
    char path[LEARN_PATH];
    learn_text why = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    const learn_exercise *e = learn_find(a.name, &why);
    if (!e) {
        fprintf(stderr, "learn test: %s\n", learn_string(&why));
        learn_text_free(&why);
        return 2;
    }
    snprintf(path, sizeof path, "%s/%s", a.solution || a.instead ? "solutions" : "exercises", e->name);
    char *folder = a.folder ? from_there(a.folder) : learn_copy(path),
         *instead = a.instead ? from_there(a.instead) : NULL;
    a.check.instead = instead;
    a.check.even_if_stub = a.solution || e->check->broken_stub;
    int status = check(e, &a, folder);
    free(folder);
    free(instead);
    return status;
}
