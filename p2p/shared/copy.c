/* SPDX-License-Identifier: MIT */
#include "p2p/shared/copy.h"

#if defined(__x86_64__)
enum { PAGE = 4096, NEAR = 32, LINE = 64 };

typedef long long sixteen __attribute__((vector_size(16), aligned(1), may_alias));

bool p2p__copy_is_slow(uint64_t to, uint64_t from, size_t bytes)
{
    uint64_t behind = (to - from) % PAGE;
    return bytes >= COPY_LONG && behind > 0 && behind < NEAR;
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
