/* SPDX-License-Identifier: MIT */
/* output: the file that -o names, written as a whole or not at all; a FIFO or a device is written into. */
#ifndef PAIRWISE_REPLAY_OUTPUT_H
#define PAIRWISE_REPLAY_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    FILE *stream;
    char path[PATH_MAX];           /* the file itself, where -o named a link to it */
    char temporary[PATH_MAX + 32]; /* beside it; "" where the page goes straight into a FIFO or a device */
} replay_output;

/* Do both names stand for one file? False if one of them is not there. */
bool replay_same_file(const char *a, const char *b);

/* Open it; false and errno if it cannot be written. */
bool replay_output_begin(replay_output *out, const char *path);

/* Put it in its place if `fine`; otherwise what was there before stays. False and errno if it could not. */
bool replay_output_end(replay_output *out, bool fine);

#endif
