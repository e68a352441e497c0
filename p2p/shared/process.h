/* SPDX-License-Identifier: MIT */
/* What the system knows of a process. */
#ifndef PAIRWISE_P2P_PROCESS_H
#define PAIRWISE_P2P_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "state S (sleeping)", "state T (stopped)", ...; "gone" if there is no such process. */
void p2p__process_state(int pid, char *text, size_t bytes);

/* The letter alone: R, S, D, T, t, Z, or 0; and the words for one. */
char p2p__process_letter(int pid);
void p2p__process_words(char letter, char *text, size_t bytes);

/* Processes that the kernel has killed for want of memory since it started; 0 where it does not say. */
uint64_t p2p__oom_kills(void);

#endif
