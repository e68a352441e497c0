/* SPDX-License-Identifier: MIT */
/* The arguments of a command: an exercise, by number, name or part of it, and perhaps a switch or options. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "learn/course/commands.h"
#include "p2p/shared/cli.h"

typedef struct {
    const learn_usage *usage;
    const char *exercise;
    learn_call *call;
} parsed;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    parsed *p = state->input;
    if (key == ARGP_KEY_ARG && !p->usage->takes_none) {
        if (p->exercise) argp_error(state, "one exercise at a time: \"%s\" or \"%s\"?", p->exercise, arg);
        p->exercise = arg;
    } else if (p->usage->option) {
        return p->usage->option(p->call->own, key, arg, state);
    } else if (p->usage->flag && key == p->usage->flag_key) {
        p->call->flag = true;
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const learn_exercise *learn_find_or_say(const char *command, const char *text)
{
    OWNED_TEXT why = {0};
    const learn_exercise *e = learn_find(text, &why);
    if (!e) fprintf(stderr, "%s: %s\n", command, learn_string(&why));
    return e;
}

bool learn_called(int argc, char **argv, const learn_usage *usage, learn_call *call)
{
    const struct argp_option flag[] = {{usage->flag, usage->flag_key, NULL, 0, usage->flag_what, 0}, {0}};
    const struct argp parser = {.options = usage->flag ? flag : usage->options,
                                .parser = parse,
                                .args_doc = usage->takes_none ? NULL
                                            : usage->may_lack ? "[EXERCISE]"
                                                              : "EXERCISE",
                                .doc = usage->what};
    parsed p = {.usage = usage, .call = call};
    p2p__cli_parse(&parser, argc, argv, 0, &p);
    bool named = p.exercise && *p.exercise; /* make passes EX on as it is: nothing, if it was not set */
    if (named ? usage->takes_all && strcmp(p.exercise, "all") == 0 : usage->may_lack || usage->takes_none) return true;
    if (named)
        call->e = learn_find_or_say(argv[0], p.exercise);
    else
        fprintf(stderr, "%s: which exercise? Say its number or its name, EX=08 for make, 08 for this program\n",
                argv[0]);
    return call->e != NULL;
}

uint64_t learn_whole(const struct argp_state *state, const char *option, const char *arg)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(arg, &end, 10);
    if (!isdigit((unsigned char)*arg) || *end || errno)
        argp_error(state, "--%s is a whole number, not \"%s\"", option, arg);
    return value;
}

char *learn_from_where(const char *path)
{
    return *path == '/' ? learn_copy(path) : learn_format("%s/%s", learn_where(), path);
}
