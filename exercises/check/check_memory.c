/* SPDX-License-Identifier: MIT */
/*
 * What a learner's code takes and has to give back, in a rank: memory, and in a case that fails on purpose requests, which are
 * not real there. learn has the linker's tools put check_malloc in place of malloc in the learner's object file, and so on. What
 * is left when a case has ended is said on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check_internal.h"

#pragma weak check_the_exercise /* a program with a main of its own has none */

enum { PIECES = 4096 }; /* watched at the same time; those beyond are not missed */

typedef struct {
    void *memory;
    size_t bytes;
    enum check_end end;
    const void *from; /* where the call returns to */
} piece;

static struct {
    piece pieces[PIECES];
    size_t count;
    size_t now, peak; /* bytes of memory */
} watched;

extern const char __ehdr_start[];
int __sanitizer_get_ownership(const volatile void *memory) __attribute__((weak));
void __asan_alloca_poison(uintptr_t begin, uintptr_t bytes) __attribute__((weak));
void __asan_allocas_unpoison(uintptr_t begin, uintptr_t end) __attribute__((weak));

void *check_watch(void *memory, size_t bytes, enum check_end end, const void *from)
{
    if (!memory || watched.count == PIECES) return memory;
    watched.pieces[watched.count++] = (piece){memory, bytes, end, from};
    watched.now += bytes;
    if (watched.now > watched.peak) watched.peak = watched.now;
    return memory;
}

void check_forget(const void *memory)
{
    for (size_t i = watched.count; memory && i-- > 0;)
        if (watched.pieces[i].memory == memory) {
            watched.now -= watched.pieces[i].bytes;
            watched.pieces[i] = watched.pieces[--watched.count];
            return;
        }
}

size_t check_room(const void *memory)
{
    for (size_t i = 0; memory && i < watched.count; i++)
        if (watched.pieces[i].memory == memory && watched.pieces[i].end != CHECK_WAIT) return watched.pieces[i].bytes;
    return 0;
}

size_t check_peak(size_t *now)
{
    *now = watched.now;
    return watched.peak;
}

/* ---- What is left ---- */

/* Also what a test took over from the learner's function and has freed is gone. */
static bool is_left(const piece *p)
{
    return p->end != CHECK_FREE || !__sanitizer_get_ownership || __sanitizer_get_ownership(p->memory);
}

/* One line, and the place as sanitizers print a stack: learn finds the learner's line by it. */
static void say_left(int number, const piece *p, size_t pieces, size_t bytes, const char *failed)
{
    static const char *const ends[] = {"free", "p2p_release", "p2p_wait"};
    unsigned long at = (unsigned long)((uintptr_t)p->from - 1);
    fprintf(stderr, CHECK_LEFT "%d: %zu %zu %s %s\n    #0 0x%lx  (/ranks+0x%lx)\n\n", number, pieces, bytes,
            ends[p->end], failed, at, at - (unsigned long)(uintptr_t)__ehdr_start);
    fflush(stderr);
}

static void look_for(enum check_end end, int number, const char *failed)
{
    const piece *first = NULL;
    size_t pieces = 0, bytes = 0;
    for (size_t i = 0; i < watched.count; i++) {
        const piece *p = &watched.pieces[i];
        if (p->end != end || !is_left(p)) continue;
        if (!first) first = p;
        pieces++;
        bytes += p->bytes;
    }
    if (first) say_left(number, first, pieces, bytes, failed);
}

void check_look_for_left(int number, const char *failed)
{
    for (enum check_end end = CHECK_FREE; end <= CHECK_WAIT; end++) look_for(end, number, failed);
    watched.count = watched.now = watched.peak = 0;
}

void check_forget_requests(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < watched.count; i++)
        if (watched.pieces[i].end != CHECK_WAIT) watched.pieces[kept++] = watched.pieces[i];
    watched.count = kept;
}

/* ---- Memory ---- */

#define HERE __builtin_return_address(0)

void *check_malloc(size_t bytes)
{
    bool null = &check_the_exercise && check_the_exercise.empty_is_null && !bytes;
    return null ? NULL : check_watch(malloc(bytes), bytes, CHECK_FREE, HERE);
}

void *check_calloc(size_t count, size_t each)
{
    return check_watch(calloc(count, each), count * each, CHECK_FREE, HERE);
}

void *check_realloc(void *memory, size_t bytes)
{
    check_forget(memory);
    return check_watch(realloc(memory, bytes), bytes, CHECK_FREE, HERE);
}

void *check_aligned_alloc(size_t alignment, size_t bytes)
{
    return check_watch(aligned_alloc(alignment, bytes), bytes, CHECK_FREE, HERE);
}

char *check_strdup(const char *text)
{
    return check_watch(strdup(text), strlen(text) + 1, CHECK_FREE, HERE);
}

void check_free(void *memory)
{
    check_forget(memory);
    free(memory);
}

/* ---- Arrays on the stack whose length is known only as it runs ---- */

void check___asan_alloca_poison(uintptr_t begin, uintptr_t bytes)
{
    __asan_alloca_poison(begin, bytes);
    check_watch((void *)begin, bytes, CHECK_NOTHING, HERE); // NOLINT(performance-no-int-to-ptr)
}

/* All that lie between the two places are gone. */
void check___asan_allocas_unpoison(uintptr_t begin, uintptr_t end)
{
    for (size_t i = watched.count; i-- > 0;) {
        const piece *p = &watched.pieces[i];
        if (p->end == CHECK_NOTHING && (uintptr_t)p->memory >= begin && (uintptr_t)p->memory < end)
            check_forget(p->memory);
    }
    __asan_allocas_unpoison(begin, end);
}
