/* SPDX-License-Identifier: MIT */
/*
 * copy: memcpy, without a slow case of some processors. AMD's Zen 3 and 4 run `rep movsb`, by which the kernel copies, and glibc
 * before 2.40 from 2 KiB up to the size of the second cache (its bug 30994), at 2 to 3 GB/s instead of 40 if the destination
 * begins 1 to 31 bytes behind the source, both counted from the beginnings of their pages. Memory that malloc maps
 * begins 16 bytes behind a page, and shared memory with one.
 *
 * Whether a way to copy has that case here is measured when the first such copy comes, in some 50 us.
 */
#ifndef PAIRWISE_P2P_COPY_H
#define PAIRWISE_P2P_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { COPY_LONG = 2048 }; /* what is shorter is left alone */

/* A way to copy: memcpy, or the kernel's. */
typedef struct {
    void *(*copy)(void *to, const void *from, size_t bytes);
    _Atomic int known; /* by all threads: see copy.c */
} p2p_copy_way;

/* GB/s of 16 KiB, the destination 64 bytes behind the source, and 16; 0, 0: there was no memory. */
typedef struct {
    double far, near;
} p2p_copy_rates;

p2p_copy_rates p2p__copy_measure(const p2p_copy_way *way);

/* Is it slow between these addresses, of this or of another process? */
bool p2p__copy_is_slow(p2p_copy_way *way, uint64_t to, uint64_t from, size_t bytes);

extern p2p_copy_way p2p__copy_by_libc;

/* From the end to the beginning. */
void p2p__copy_backward(void *to, const void *from, size_t bytes);

/* As memcpy: the two do not overlap. */
void p2p__copy_long(void *to, const void *from, size_t bytes);

static inline void p2p__copy(void *to, const void *from, size_t bytes)
{
    if (bytes < COPY_LONG)
        memcpy(to, from, bytes);
    else
        p2p__copy_long(to, from, bytes);
}

#endif
