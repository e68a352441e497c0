/* SPDX-License-Identifier: MIT */
#include "p2p/shared/cli.h"
#include "p2p/shared/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- Programs that are installed have other names ---- */

#define PREFIX "pairwise-"

const char *p2p__cli_prefix(void)
{
    return strncmp(program_invocation_short_name, PREFIX, sizeof PREFIX - 1) == 0 ? PREFIX : "";
}

/* What stands here of that which is called otherwise: its length; as: by what it is replaced. 0: nothing. */
static size_t renamed(const char *text, const char *at, const char **as)
{
    static const char *const names[][2] = {{"build/examples/hello", "./hello"},
                                           {"build/launch", PREFIX "launch"},
                                           {"build/replay", PREFIX "replay"},
                                           {"build/train", PREFIX "train"},
                                           {"launch -", PREFIX "launch -"}};
    bool begins = at == text || strchr(" \n(\"", at[-1]);
    for (size_t i = 0; begins && i < sizeof names / sizeof *names; i++) {
        *as = names[i][1];
        if (strncmp(at, names[i][0], strlen(names[i][0])) == 0) return strlen(names[i][0]);
    }
    return 0;
}

char *p2p__cli_installed(const char *text)
{
    char *words = NULL;
    const char *as;
    size_t bytes, length;
    FILE *out = *p2p__cli_prefix() ? open_memstream(&words, &bytes) : NULL;
    if (!out) return NULL;
    for (const char *at = text; *at; at += length) {
        length = renamed(text, at, &as);
        if (length)
            fputs(as, out);
        else
            putc(at[length++], out);
    }
    return fclose(out) == 0 ? words : NULL;
}

static char *(*own_filter)(int key, const char *text, void *input); /* the program's, NULL: it has none */

static char *filter_help(int key, const char *text, void *input)
{
    char *said = own_filter ? own_filter(key, text, input) : (char *)(uintptr_t)text;
    char *words = said ? p2p__cli_installed(said) : NULL;
    if (words && said != text) free(said);
    return words ? words : said; /* argp frees what is another text */
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
    own_filter = argp->help_filter;
    whole.help_filter = filter_help;
    argp_program_version = p2p__cli_version();
    argp_err_exit_status = 2;
    argp_parse(&whole, argc, argv, flags, NULL, input);
}
