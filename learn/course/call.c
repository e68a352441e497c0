/* SPDX-License-Identifier: MIT */
/* The arguments of a command: an exercise, by number, name or part of it, and perhaps a switch. */
#include <argp.h>
#include <stdlib.h>

#include "learn/course/commands.h"
#include "p2p/shared/cli.h"

enum { KEY_FLAG = 256 };

typedef struct {
    const char *exercise;
    bool flag;
} parsed;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    parsed *p = state->input;
    switch (key) {
    case KEY_FLAG: p->flag = true; break;
    case ARGP_KEY_ARG:
        if (p->exercise) argp_error(state, "one exercise at a time: \"%s\" or \"%s\"?", p->exercise, arg);
        p->exercise = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

bool learn_called(int argc, char **argv, const learn_usage *usage, learn_call *call)
{
    const struct argp_option options[] = {{usage->flag, KEY_FLAG, NULL, 0, usage->flag_what, 0}, {0}};
    const struct argp parser = {usage->flag ? options : NULL,
                                parse,
                                usage->may_lack ? "[EXERCISE]" : "EXERCISE",
                                usage->what,
                                NULL,
                                NULL,
                                NULL};
    parsed p = {.flag = false};
    p2p__cli_parse(&parser, argc, argv, 0, &p);
    *call = (learn_call){.flag = p.flag};
    bool named = p.exercise && *p.exercise; /* make passes EX on as it is: nothing, if it was not set */
    if (!named && usage->may_lack) return true;
    learn_text why = {0};
    if (named)
        call->e = learn_find(p.exercise, &why);
    else
        learn_add(&why, "which exercise? Say its number or its name, EX=08 for make, 08 for this program");
    if (!call->e) fprintf(stderr, "%s: %s\n", argv[0], learn_string(&why));
    learn_text_free(&why);
    return call->e != NULL;
}

char *learn_from_where(const char *path)
{
    return *path == '/' ? learn_copy(path) : learn_format("%s/%s", learn_where(), path);
}
