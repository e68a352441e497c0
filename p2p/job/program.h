/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_P2P_PROGRAM_H
#define PAIRWISE_P2P_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Can this program be started, as execvp would find it? Otherwise says why not, and what to type instead. */
bool p2p__program_check(const char *name, char *why, size_t bytes);

#endif
