/* SPDX-License-Identifier: MIT */
#include "p2p/shared/cli.h"
#include "p2p/shared/config.h"

#include <stdio.h>
#include <string.h>

#include "build_id.h"
#include "p2p/p2p.h"

enum { MOST_CHILDREN = 6 };

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key == ARGP_KEY_INIT) return 0;
    if (key != 'h') return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

static const struct argp_option common_options[] = {
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp common = {.options = common_options, .parser = parse_common};

const char *p2p__cli_version(void)
{
    return "Pairwise " PAIRWISE_VERSION ", build " P2P_BUILD_ID;
}

char *p2p__cli_next_number(struct argp_state *state, char *arg)
{
    char *next = arg || state->next >= state->argc ? NULL : state->argv[state->next];
    uint64_t ns;
    if (!next || !p2p__parse_duration(next, &ns)) return arg;
    state->next++;
    return next;
}

void p2p__cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    struct argp_child children[MOST_CHILDREN + 2] = {{.argp = NULL}};
    int count = 0; /* a parser gives its children their inputs by number: ours comes last */
    while (argp->children && argp->children[count].argp && count < MOST_CHILDREN) {
        children[count] = argp->children[count];
        count++;
    }
    children[count].argp = &common;
    struct argp whole = *argp;
    whole.children = children;
    argp_program_version = p2p__cli_version();
    argp_err_exit_status = 2;
    argp_parse(&whole, argc, argv, flags, NULL, input);
}
