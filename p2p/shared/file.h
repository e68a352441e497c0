/* SPDX-License-Identifier: MIT */
/* file: files that the supervisor writes as a whole or not at all (traces, reports). */
#ifndef PAIRWISE_P2P_FILE_H
#define PAIRWISE_P2P_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *path; /* where it will be */
    char name[PATH_MAX];
    FILE *stream;
} p2p_file;

/* Can this file be written? Otherwise says why not; `what` it is. Leaves nothing behind. */
bool p2p__file_check(const char *what, const char *path, char *why, size_t why_bytes);

/* A new file beside it; false and errno if there is none. */
bool p2p__file_begin(p2p_file *file, const char *path);

/* Put it in its place, if all is fine, and everything could be written. What stands at the path by then is replaced, a link
 * too: a rank may have put it there. False and errno if it could not. */
bool p2p__file_end(p2p_file *file, bool fine);

#endif
