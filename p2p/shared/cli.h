/* SPDX-License-Identifier: MIT */
/* cli: what the command line of every program of the project has in common. */
#ifndef PAIRWISE_P2P_CLI_H
#define PAIRWISE_P2P_CLI_H

#include <argp.h>

/* argp_parse, with -h as well as --help, --version, and exit status 2 for a program that is called wrongly. */
void p2p__cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* Of an option whose argument may be left out, and is a number or a time: the next word if there is none and that is one
 * (--repair 5, --explore 30s, which argp takes with = only). NULL: there is none. */
char *p2p__cli_next_number(struct argp_state *state, char *arg);

/* "pairwise-" where this program is installed under such a name, as all of ours are then; else "". */
const char *p2p__cli_prefix(void);

/* A text that names programs as in a checkout ("build/replay", "launch -n 2") with the names they are installed by, where
 * this one is: allocated; else NULL. */
char *p2p__cli_installed(const char *text);

/* What --version says. */
const char *p2p__cli_version(void);

#endif
