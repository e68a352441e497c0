/* SPDX-License-Identifier: MIT */
/* cma (cross-memory attach): read another rank's memory, or write to it, in one copy, where the system allows it. */
#ifndef PAIRWISE_P2P_CMA_H
#define PAIRWISE_P2P_CMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "p2p/shared/copy.h"

/* Let the other processes of this user read this one's memory. Where Yama guards it (ptrace_scope 1, the default on
 * Ubuntu), that has to be said; where it need not be, saying it does no harm. */
void p2p__cma_allow(void);

/* Can one process of this user read another's memory, and, if that is asked, write to it? Tried between this one and a
 * child. False also if that could not be tried. */
bool p2p__cma_works(bool writes);

/* Copy so many bytes from `from` in process pid to `to`. False and errno if not all of it could be read. */
bool p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes);

/* The other way: from `from` to `to` in process pid. */
bool p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes);

/* How the kernel copies. Where that is slow, both of the above go by p2p__cma_aside: 32 KiB at a time between `other`, in process
 * pid, and memory that begins where `other` does in its page, and from or to there in a second copy. */
extern p2p_copy_way p2p__cma_way;
bool p2p__cma_aside(pid_t pid, void *at, uint64_t other, size_t bytes, bool writes);

#endif
