/* SPDX-License-Identifier: MIT */
/* process: what the system says of processes, and of itself. */
#ifndef PAIRWISE_P2P_PROCESS_H
#define PAIRWISE_P2P_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* R, S, D, T, t, Z; 0: there is no such process. */
char p2p__process_letter(int pid);

/* The number behind `name`, which begins a line of this file ("" for the first line); `otherwise` if there is none. */
uint64_t p2p__number_in(const char *path, const char *name, uint64_t otherwise);

/* Processes that the kernel has killed for want of memory since it started; 0 where it does not say. */
static inline uint64_t p2p__oom_kills(void)
{
    return p2p__number_in("/proc/vmstat", "oom_kill ", 0);
}

#endif
