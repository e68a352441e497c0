/* SPDX-License-Identifier: MIT */
// worlds: each
/*
 * p2p_copy: copies between any two places, by every way there is, whether or not this processor needs it. What lies beside
 * must stay as it is.
 */
#include "p2p/shared/copy.h"

#include <sys/mman.h>
#include <unistd.h>

#include "p2p/p2p_layer.h"
#include "p2p/world/cma.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { PAGE = 4096, ROOM = 64 * PAGE, AROUND = 64, BESIDE = 0x5a };

static char from[ROOM];
static _Alignas(PAGE) char to[ROOM];

typedef void copier(void *to, const void *from, size_t bytes);

static void read_aside(void *at, const void *other, size_t bytes)
{
    cr_assert(p2p__cma_aside(getpid(), at, (uintptr_t)other, bytes, false));
}

static void write_aside(void *other, const void *at, size_t bytes)
{
    cr_assert(p2p__cma_aside(getpid(), (void *)(uintptr_t)at, (uintptr_t)other, bytes, true));
}

static void check_one(copier *copy, int behind, size_t bytes)
{
    const char *source = from + PAGE - (uintptr_t)from % PAGE + 17;
    char *out = to + PAGE + 17 + behind;
    memset(out - AROUND, BESIDE, bytes + 2 * AROUND);
    copy(out, source, bytes);
    cr_assert(memcmp(out, source, bytes) == 0, "%zu bytes, %d behind", bytes, behind);
    for (int i = 0; i < AROUND; i++)
        cr_assert(out[-1 - i] == BESIDE && out[bytes + (size_t)i] == BESIDE, "%zu bytes: wrote beside them", bytes);
}

static void check_all(copier *copy)
{
    static const size_t sizes[] = {1, 63, 64, 2047, 2048, 2049, 2111, 4096, 4097, 32768, 32769, 100001};
    uint64_t random = 1;

    for (size_t i = 0; i < ROOM; i++) from[i] = (char)pattern_random(&random);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int behind = -40; behind <= 40; behind++) check_one(copy, behind, sizes[k]);
}

Test(p2p_copy, whichever_way_is_taken)
{
    check_all(p2p_layer_copy);
}

Test(p2p_copy, backward)
{
    check_all(p2p__copy_backward);
}

Test(p2p_copy, from_a_process_by_way_of_other_memory)
{
    if (!p2p__cma_works(true)) cr_skip_test("no process may read another's memory here");
    check_all(read_aside);
}

Test(p2p_copy, to_a_process_by_way_of_other_memory)
{
    if (!p2p__cma_works(true)) cr_skip_test("no process may read another's memory here");
    check_all(write_aside);
}

/* Memory that ends behind the first part. */
Test(p2p_copy, what_is_not_there_is_not_copied)
{
    if (!p2p__cma_works(true)) cr_skip_test("no process may read another's memory here");
    char *gone = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(gone != MAP_FAILED);
    cr_assert(munmap(gone + 12 * PAGE, ROOM - 12 * PAGE) == 0);
    cr_expect(p2p__cma_aside(getpid(), to + 16, (uintptr_t)gone, 12 * PAGE, false));
    cr_expect(!p2p__cma_aside(getpid(), to + 16, (uintptr_t)gone, 13 * PAGE, false));
    cr_expect(p2p__cma_aside(getpid(), to, (uintptr_t)gone + 16, 12 * PAGE - 16, true));
    cr_expect(!p2p__cma_aside(getpid(), to, (uintptr_t)gone + 16, 12 * PAGE, true));
    munmap(gone, 12 * PAGE);
}

/* ---- What is found out ---- */

static size_t per_byte; /* times that each byte is copied, 16 bytes behind */

static void *made_slow(void *out, const void *source, size_t bytes)
{
    size_t times = ((uintptr_t)out - (uintptr_t)source) % PAGE < 32 ? per_byte : 1;
    for (size_t i = 0; i < times; i++) {
        memmove(out, source, bytes);
        __asm__ volatile("" : : "r"(out) : "memory");
    }
    return out;
}

static bool is_slow_if_repeated(size_t times, int behind, size_t bytes)
{
    p2p_copy_way way = {.copy = made_slow};
    per_byte = times;
    return p2p__copy_is_slow(&way, (uintptr_t)to + (uintptr_t)behind, (uintptr_t)to, bytes);
}

Test(p2p_copy, a_slow_way_is_noticed)
{
    cr_expect(is_slow_if_repeated(300, 1, COPY_LONG));
    cr_expect(is_slow_if_repeated(300, 31, COPY_LONG));
    cr_expect(!is_slow_if_repeated(300, 31, COPY_LONG - 1), "too short to matter");
    cr_expect(!is_slow_if_repeated(300, 0, COPY_LONG));
    cr_expect(!is_slow_if_repeated(300, 32, COPY_LONG));
    cr_expect(!is_slow_if_repeated(300, -1, COPY_LONG));
}
