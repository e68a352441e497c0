/* SPDX-License-Identifier: MIT */
/*
 * memory: shared memory of a job, taken as it is needed from one memory file, behind the board in it. A place in that
 * file means the same to every rank; each maps it where it likes. Places are given out once and never again, so a rank
 * may keep a mapping for as long as it pleases.
 */
#ifndef PAIRWISE_P2P_MEMORY_H
#define PAIRWISE_P2P_MEMORY_H

#include "p2p/board.h"

typedef uint64_t memory_place; /* a multiple of MEMORY_UNIT; 0: none */

#define MEMORY_UNIT ((size_t)4096)

/* Where the first place of a board's file is. */
uint64_t p2p__memory_begin(int size, const p2p_config *config);

/* Bytes rounded up to what is really taken; 0 if that is impossible. */
size_t p2p__memory_round(size_t bytes);

/* A new place, zeroed, of so many (rounded) bytes, a multiple of `align` (a power of two, from MEMORY_UNIT on). 0 and errno if there is
 * no more: nothing is given out that could not be touched later. */
memory_place p2p__memory_take(board *b, int fd, size_t bytes, size_t align);

/* Map a place, or part of one; NULL and errno on failure. */
void *p2p__memory_map(int fd, memory_place place, size_t bytes);

/* The memory of a place goes back to the system. Mappings of it read as zero. */
void p2p__memory_give_back(int fd, memory_place place, size_t bytes);

#endif
