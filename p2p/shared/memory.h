/* SPDX-License-Identifier: MIT */
/*
 * memory: shared memory of a job, taken as it is needed from one memory file, behind the scoreboard in it. A place is an offset
 * in that file and means the same to every rank; each maps it where it likes. The file only grows. What a process gives
 * back it may take again; other processes do not.
 */
#ifndef PAIRWISE_P2P_MEMORY_H
#define PAIRWISE_P2P_MEMORY_H

#include "p2p/shared/scoreboard.h"

typedef uint64_t memory_place; /* a multiple of MEMORY_UNIT; 0: none */

/* A multiple of the page that memory is mapped by: 4 KiB on x86, 4, 16 or 64 KiB on others, as the kernel was built. */
#if defined __x86_64__
#define MEMORY_UNIT ((size_t)4096)
#else
#define MEMORY_UNIT ((size_t)65536)
#endif

/* What the machine, or the control groups of this process, still have, in bytes. */
uint64_t p2p__memory_left(void);

/* What the control groups of this process leave it; UINT64_MAX: they have no limit. */
uint64_t p2p__group_memory_left(void);

/* Bytes rounded up to what is really taken; 0 if that is impossible. */
size_t p2p__memory_round(size_t bytes);

/* What a process has given back, in order of places; neighbours are one gap. */
typedef struct memory_gap {
    struct memory_gap *next;
    memory_place place;
    size_t bytes;
} memory_gap;

/* A place, zeroed, of so many (rounded) bytes, a multiple of `align` (a power of two, from MEMORY_UNIT on): in one of the gaps, or
 * else at the end of the file. 0 and errno if there is no more: nothing is given out that could not be touched later. */
memory_place p2p__memory_take(scoreboard *b, int fd, memory_gap **gaps, size_t bytes, size_t align);

/* The same in two steps, for memory that several processes take part by part: a place, of which so many bytes will be taken here, and
 * the memory of a part of it. 0, false and errno if there is no more. Place 0: the file gets its first size. */
memory_place p2p__memory_reserve(scoreboard *b, memory_gap **gaps, size_t bytes, size_t align, size_t taken);
bool p2p__memory_fill(int fd, memory_place place, size_t bytes);

/* Map a place, or part of one; NULL and errno on failure. */
void *p2p__memory_map(int fd, memory_place place, size_t bytes);

/* The memory of a place goes back to the system, and the place to the gaps. Mappings of it read as zero. */
void p2p__memory_give_back(int fd, memory_gap **gaps, memory_place place, size_t bytes);

void p2p__memory_forget(memory_gap **gaps);

/* ---- The whole file, to read what others have in it ---- */

/* The file from its beginning, with room for what it will grow to: mapped once, so nothing that is being read ever moves. What lies
 * behind the end of the file must not be touched. at: NULL, with a reach of 0, if there is no room for it. */
typedef struct {
    const char *at;
    size_t reach, held; /* bytes: mapped; in the file when it was last looked at */
} memory_window;

memory_window p2p__memory_window(int fd);

/* These bytes in the window; NULL if it does not reach so far, or the file does not hold them. */
const void *p2p__memory_seen(memory_window *window, int fd, uint64_t place, size_t bytes);

void p2p__memory_shut(memory_window *window);

#endif
