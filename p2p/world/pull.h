/* SPDX-License-Identifier: MIT */
/* pull: read another rank's memory, or write to it, in one copy, where the system allows it. */
#ifndef PAIRWISE_P2P_PULL_H
#define PAIRWISE_P2P_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Let the other processes of this user read this one's memory. Where Yama guards it (ptrace_scope 1, the default on
 * Ubuntu), that has to be said; where it need not be, saying it does no harm. */
void p2p__pull_allow(void);

/* Can one process of this user read another's memory? Tried between this one and a child. False also if that could not be
 * tried. */
bool p2p__pull_works(void);

/* Copy so many bytes from `from` in process pid to `to`. False and errno if not all of it could be read. */
bool p2p__pull(pid_t pid, void *to, uint64_t from, size_t bytes);

/* The other way: from `from` to `to` in process pid. */
bool p2p__push(pid_t pid, void *from, uint64_t to, size_t bytes);

#endif
