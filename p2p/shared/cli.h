/* SPDX-License-Identifier: MIT */
/* cli: what the command line of every program of the project has in common. */
#ifndef PAIRWISE_P2P_CLI_H
#define PAIRWISE_P2P_CLI_H

#include <argp.h>

/* argp_parse, with -h as well as --help, --version, and exit status 2 for a program that is called wrongly. */
void p2p__cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* What --version says. */
const char *p2p__cli_version(void);

#endif
