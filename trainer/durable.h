/* SPDX-License-Identifier: MIT */
/*
 * durable: write a file so that at any time, even after a crash, the complete old file or the complete new one exists.
 *
 *      begin     .NAME.new is made beside NAME, and locked, so that two jobs cannot write it at once (where the file
 *                system has locks)
 *      write     as often as needed
 *      commit    fsync, rename over NAME, fsync of the folder: only now does NAME mean the new contents
 *      abandon   remove .NAME.new; NAME is as it was
 *
 * If NAME exists and is no regular file (/dev/full, a pipe), it is written to directly: it must not be replaced.
 */
#ifndef PAIRWISE_TRAINER_DURABLE_H
#define PAIRWISE_TRAINER_DURABLE_H

#include <limits.h>

#include "trainer/internal.h"

typedef struct {
    int fd;
    bool direct;
    char path[PATH_MAX], temporary[PATH_MAX];
} train_durable;

/* On failure nothing is open and nothing is left behind; errors name the path, the call and errno. */
p2p_err train__durable_begin(train_durable *file, const char *path, train_error *error);

/* On failure of these the file has been abandoned. */
p2p_err train__durable_write(train_durable *file, const void *data, size_t bytes, train_error *error);
p2p_err train__durable_commit(train_durable *file, train_error *error);

void train__durable_abandon(train_durable *file);

/* For a file that is written line by line: open it anew. A regular file, or a link to one, is replaced, not written through;
 * what is neither (/dev/full, a pipe) is written to. -1 and errno if that fails. */
int train__open_anew(const char *path);

#endif
