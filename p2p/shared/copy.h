/* SPDX-License-Identifier: MIT */
/*
 * copy: memcpy, without its slow case. AMD's Zen 3 and 4 run `rep movsb`, by which the C library (glibc bug 30994) and the
 * kernel copy what is long, at 2 to 3 GB/s instead of 40 if the destination lies fewer than 32 bytes behind the source, both
 * counted from the beginning of their pages. That is no rare case: malloc puts what is long 16 bytes behind the
 * beginning of a page, and shared memory begins with one. Whether this processor has that case is measured, in 20 us, when
 * the first such copy comes.
 */
#ifndef PAIRWISE_P2P_COPY_H
#define PAIRWISE_P2P_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { COPY_LONG = 2048 }; /* no C library uses it for less */

void p2p__copy_long(void *to, const void *from, size_t bytes);

static inline void p2p__copy(void *to, const void *from, size_t bytes)
{
    if (bytes < COPY_LONG)
        memcpy(to, from, bytes);
    else
        p2p__copy_long(to, from, bytes);
}

/* In the slow case? Addresses of this or of another process. */
bool p2p__copy_is_slow(uint64_t to, uint64_t from, size_t bytes);

/* What was measured: GB/s of `rep movsb`, 16 and 64 bytes behind. 0: the processor has no such instruction. */
typedef struct {
    double near, far;
} p2p_copy_rates;

p2p_copy_rates p2p__copy_rates(void);

#endif
