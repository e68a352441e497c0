/* SPDX-License-Identifier: MIT */
/*
 * options: what every bench accepts: --csv, --json, --trace, --help; the rest is a bench's own, as a child of its argp.
 * A wrong argument says what is accepted and exits with 2.
 */
#ifndef PAIRWISE_BENCH_OPTIONS_H
#define PAIRWISE_BENCH_OPTIONS_H

#include <argp.h>

#include "bench/util/report.h"

/* For the `children` of a bench's argp; its input, set in ARGP_KEY_INIT, is a report_format. The second for a bench that
 * starts no job, of which there could be a trace. */
extern const struct argp options_format_argp, options_table_argp;

/* For p2p_options.trace: the file given with --trace; NULL if there was none, or if this is not the last job. */
const char *options_trace(bool last);

/* The world of a bench without --world: PAIRWISE_WORLD, or shm. */
const char *options_world(void);

/* "2,4,8", given with --ranks: at most `room` numbers from low to high. A wrong one ends the program. */
void options_ranks(char *text, long low, long high, size_t room, long *ranks, size_t *count, struct argp_state *state);

/* Parse; `own` handles the bench's own options. Sets argp's exit status. */
void options_parse(const struct argp *argp, int argc, char **argv, void *own);

#endif
