/* SPDX-License-Identifier: MIT */
#include "p2p/shared/copy.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "p2p/p2p_layer.h"
#include "p2p/shared/clock.h"

enum { PAGE = 4096, NEAR = 32, LINE = 64 };

/* ---- Measuring ---- */

enum { TIMES = 3, MEASURED = 4 * PAGE, SLOWER = 2 };

enum { UNKNOWN, FAST, SLOW };

static double rate_of(const p2p_copy_way *way, char *to, const char *from)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        uint64_t began = p2p__now();
        way->copy(to, from, MEASURED);
        uint64_t took = p2p__now() - began;
        if (took < least) least = took;
    }
    return MEASURED / (double)(least ? least : 1);
}

p2p_copy_rates p2p__copy_measure(const p2p_copy_way *way)
{
    char *from = aligned_alloc(PAGE, MEASURED + MEASURED + PAGE);
    if (!from) return (p2p_copy_rates){0, 0};
    char *to = from + MEASURED;
    memset(from, 1, MEASURED + MEASURED + PAGE);
    p2p_copy_rates rates = {.far = rate_of(way, to + LINE, from)};
    rates.near = rate_of(way, to + NEAR / 2, from);
    free(from);
    return rates;
}

bool p2p__copy_is_slow(p2p_copy_way *way, uint64_t to, uint64_t from, size_t bytes)
{
    uint64_t behind = (to - from) % PAGE;
    if (bytes < COPY_LONG || behind == 0 || behind >= NEAR) return false;
    int known = atomic_load_explicit(&way->known, memory_order_relaxed);
    if (known == UNKNOWN) {
        p2p_copy_rates rates = p2p__copy_measure(way);
        known = rates.near * SLOWER < rates.far ? SLOW : FAST;
        atomic_store_explicit(&way->known, known, memory_order_relaxed);
    }
    return known == SLOW;
}

/* ---- Copying ---- */

p2p_copy_way p2p__copy_by_libc = {.copy = memcpy};

typedef long long sixteen __attribute__((vector_size(16), aligned(1), may_alias));

/* Forward, each load would seem to hit the store before it, which lies at the same place in another page. */
void p2p__copy_backward(void *to, const void *from, size_t bytes)
{
    for (; bytes >= LINE; bytes -= LINE) {
        const sixteen *in = (const sixteen *)((const char *)from + bytes - LINE);
        sixteen *out = (sixteen *)((char *)to + bytes - LINE);
        sixteen a = in[0], b = in[1], c = in[2], d = in[3];
        out[3] = d;
        out[2] = c;
        out[1] = b;
        out[0] = a;
    }
    memcpy(to, from, bytes);
}

void p2p__copy_long(void *to, const void *from, size_t bytes)
{
    if (p2p__copy_is_slow(&p2p__copy_by_libc, (uintptr_t)to, (uintptr_t)from, bytes))
        p2p__copy_backward(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

void p2p_layer_copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from) p2p__copy(to, from, bytes);
}
