/* SPDX-License-Identifier: MIT */
/* Allocations that fail on demand. The program is linked with --wrap for malloc, calloc and realloc, so that every
 * allocation of the library comes through here; those inside libc do not. */
#include "lab.h"

#include <errno.h>
#include <stdlib.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static long countdown;
static bool failed;

void lab_alloc_fail_at(long n)
{
    countdown = n;
    if (n > 0) failed = false;
}

bool lab_alloc_failed(void)
{
    return failed;
}

static bool fails_now(void)
{
    if (countdown == 0 || --countdown > 0) return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(old, bytes);
}
