/* SPDX-License-Identifier: MIT */
/* traced: run a job with a trace, and have what is in the file. */
#ifndef PAIRWISE_TESTS_TRACED_H
#define PAIRWISE_TESTS_TRACED_H

#include "tests/util/job.h"

/* As job_run, with options->trace set to a new file. The file's text, to be freed, its length in *bytes, and the file
 * is gone; NULL if there was none. */
char *traced_run(int size, const p2p_options *options, job_main rank_main, void *arg, job_result *result,
                 size_t *bytes);

/* The text of a file, to be freed; NULL if it cannot be read. */
char *traced_read(const char *path, size_t *bytes);

/* A name for a new file that is not there yet, in a folder for passing things. */
void traced_name(char *path, size_t bytes);

#endif
