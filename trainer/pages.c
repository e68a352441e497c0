/* SPDX-License-Identifier: MIT */
#include "trainer/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A huge page would bring back megabytes with the first write. */
void *train__pages_new(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    return pages;
}

void train__pages_free(void *pages, size_t bytes)
{
    if (pages) munmap(pages, bytes);
}

void train__pages_drop(float *array, size_t first, size_t count)
{
    size_t page = page_size();
    char *from = (char *)(array + first), *to = (char *)(array + first + count);
    from += (page - (uintptr_t)from % page) % page;
    to -= (uintptr_t)to % page;
    if (from < to) madvise(from, (size_t)(to - from), MADV_DONTNEED);
}

size_t train__pages_held(const void *array, size_t bytes)
{
    enum { AT_ONCE = 1024 };
    unsigned char in[AT_ONCE];
    size_t page = page_size(), held = 0;
    char *at = (char *)(uintptr_t)array - (uintptr_t)array % page, *end = (char *)(uintptr_t)array + bytes;
    for (; at < end; at += AT_ONCE * page) {
        size_t pages = ((size_t)(end - at) + page - 1) / page;
        if (pages > AT_ONCE) pages = AT_ONCE;
        if (mincore(at, pages * page, in) < 0) continue;
        for (size_t i = 0; i < pages; i++) held += (in[i] & 1) * page;
    }
    return held;
}
