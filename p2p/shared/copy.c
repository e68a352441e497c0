/* SPDX-License-Identifier: MIT */
#include "p2p/shared/copy.h"

#include <stdatomic.h>

#if defined(__x86_64__)
#include "p2p/shared/clock.h"

enum { PAGE = 4096, NEAR = 32, LINE = 64, TIMES = 3, SLOWER = 3 };

typedef long long sixteen __attribute__((vector_size(16), aligned(1), may_alias));

/* ns for two pages, the destination so many bytes behind the source. */
static uint64_t measure(char *to, const char *from, size_t behind)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        size_t bytes = 2 * PAGE;
        const char *source = from;
        char *out = to + behind;
        uint64_t began = p2p__now();
        __asm__ volatile("rep movsb" : "+D"(out), "+S"(source), "+c"(bytes) : : "memory");
        uint64_t took = p2p__now() - began;
        if (took < least) least = took;
    }
    return least ? least : 1;
}

p2p_copy_rates p2p__copy_rates(void)
{
    p2p_copy_rates rates;
    _Alignas(PAGE) char from[2 * PAGE], to[3 * PAGE];
    memset(from, 1, sizeof from);
    memset(to, 2, sizeof to);
    rates.far = (double)sizeof from / (double)measure(to, from, LINE);
    rates.near = (double)sizeof from / (double)measure(to, from, NEAR / 2);
    return rates;
}

bool p2p__copy_is_slow(uint64_t to, uint64_t from, size_t bytes)
{
    uint64_t behind = (to - from) % PAGE;
    if (bytes < COPY_LONG || behind == 0 || behind >= NEAR) return false;
    static _Atomic int known; /* by all threads; 1: it is not slow, 2: it is */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (!answer) {
        p2p_copy_rates rates = p2p__copy_rates();
        answer = rates.near * SLOWER < rates.far ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* From the end: forward, each load would seem to hit the store before it, which lies at the same place in another page. */
static void copy_backward(char *to, const char *from, size_t bytes)
{
    for (; bytes >= LINE; bytes -= LINE) {
        const sixteen *in = (const sixteen *)(from + bytes - LINE);
        sixteen *out = (sixteen *)(to + bytes - LINE);
        sixteen a = in[0], b = in[1], c = in[2], d = in[3];
        out[3] = d;
        out[2] = c;
        out[1] = b;
        out[0] = a;
    }
    memcpy(to, from, bytes);
}
#else
p2p_copy_rates p2p__copy_rates(void)
{
    return (p2p_copy_rates){0, 0};
}

bool p2p__copy_is_slow(uint64_t to, uint64_t from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    return false;
}

static void copy_backward(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

void p2p__copy_long(void *to, const void *from, size_t bytes)
{
    if (p2p__copy_is_slow((uintptr_t)to, (uintptr_t)from, bytes))
        copy_backward(to, from, bytes);
    else
        memcpy(to, from, bytes);
}
