/* SPDX-License-Identifier: MIT */
#include "p2p/shared/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "p2p/shared/process.h"

#define LOOK_FROM ((size_t)16 << 20) /* before taking so much, see how much there is */
#define REACH_LEAST (UINT64_C(1) << 30)

size_t p2p__memory_round(size_t bytes)
{
    return bytes > SIZE_MAX / 2 ? 0 : (size_t)p2p__round_up(bytes ? bytes : 1, MEMORY_UNIT);
}

uint64_t p2p__memory_left(void)
{
    uint64_t kib = p2p__number_in("/proc/meminfo", "MemAvailable:", UINT64_MAX >> 11) +
                   p2p__number_in("/proc/meminfo", "SwapFree:", 0);
    uint64_t left = p2p__group_memory_left();
    return left < 1024 * kib ? left : 1024 * kib;
}

/* A limit on the size of files (ulimit -f) applies, and would come as a signal. */
bool p2p__memory_fill(int fd, memory_place place, size_t bytes)
{
    sigset_t limit, old;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &old);
    bool failed = TEMP_FAILURE_RETRY(place ? fallocate(fd, 0, (off_t)place, (off_t)bytes)
                                           : ftruncate(fd, (off_t)bytes));
    int saved = errno;
    if (failed && saved == EFBIG && !sigismember(&old, SIGXFSZ)) sigtimedwait(&limit, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return !failed;
}

/* ---- Gaps ---- */

static void join_next(memory_gap *gap)
{
    memory_gap *next = gap ? gap->next : NULL;
    if (!next || gap->place + gap->bytes != next->place) return;
    gap->bytes += next->bytes;
    gap->next = next->next;
    free(next);
}

/* Without memory to note it, the place is lost, and the file grows instead. */
static void add_gap(memory_gap **gaps, memory_place place, size_t bytes)
{
    memory_gap *gap = bytes ? malloc(sizeof *gap) : NULL, *before = NULL;
    if (!gap) return;
    while (*gaps && (*gaps)->place < place) {
        before = *gaps;
        gaps = &before->next;
    }
    *gap = (memory_gap){*gaps, place, bytes};
    *gaps = gap;
    join_next(gap);
    join_next(before);
}

void p2p__memory_forget(memory_gap **gaps)
{
    while (*gaps) {
        memory_gap *gap = *gaps;
        *gaps = gap->next;
        free(gap);
    }
}

/* ---- Places ---- */

memory_place p2p__memory_reserve(scoreboard *b, memory_gap **gaps, size_t bytes, size_t align, size_t taken)
{
    /* Pages of a memory file are taken at once, and where there are no more the system kills processes: ask before. */
    bool possible = taken < LOOK_FROM || taken <= p2p__memory_left();
    memory_gap **best = NULL; /* the smallest that is large enough */
    memory_place place;
    for (memory_gap **at = gaps; *at && possible; at = &(*at)->next) {
        uint64_t skipped = p2p__round_up((*at)->place, align) - (*at)->place;
        bool fits = skipped <= (*at)->bytes && bytes <= (*at)->bytes - skipped;
        if (fits && (!best || (*at)->bytes < (*best)->bytes)) best = at;
    }
    if (best) {
        memory_gap gap = **best;
        free(*best);
        *best = gap.next;
        place = p2p__round_up(gap.place, align);
        add_gap(gaps, gap.place, (size_t)(place - gap.place));
        add_gap(gaps, place + bytes, (size_t)(gap.place + gap.bytes - (place + bytes)));
        return place;
    }
    _Atomic uint64_t *shown = &b->shared->memory_end;
    uint64_t end = atomic_load(shown), begin = p2p__scoreboard_bytes(b->size, &b->config);
    do {
        place = p2p__round_up(end, align);
        if (!possible || end < begin || end > INT64_MAX / 2) { /* an end that cannot be: a rank has overwritten it */
            errno = ENOMEM;
            return 0;
        }
    } while (!atomic_compare_exchange_weak(shown, &end, place + bytes));
    return place;
}

memory_place p2p__memory_take(scoreboard *b, int fd, memory_gap **gaps, size_t bytes, size_t align)
{
    memory_place place = p2p__memory_reserve(b, gaps, bytes, align, bytes);
    if (!place || p2p__memory_fill(fd, place, bytes)) return place;
    int saved = errno;
    p2p__memory_give_back(fd, gaps, place, bytes);
    errno = saved;
    return 0;
}

/* The place may come from what another rank has written: behind the end of the file a touch would be the end. */
void *p2p__memory_map(int fd, memory_place place, size_t bytes)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return NULL;
    if (place > (uint64_t)info.st_size || bytes > (uint64_t)info.st_size - place) {
        errno = EFAULT;
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place);
    return at == MAP_FAILED ? NULL : at;
}

void p2p__memory_give_back(int fd, memory_gap **gaps, memory_place place, size_t bytes)
{
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)place, (off_t)bytes);
    add_gap(gaps, place, bytes);
}

/* The file cannot hold more than the machine, but for gaps. Where addresses are limited (ulimit -v) the program needs them more. */
memory_window p2p__memory_window(int fd)
{
    struct rlimit limit;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), wanted = REACH_LEAST;
    while (wanted < machine) wanted *= 2;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    while (limited && wanted > limit.rlim_cur / 8) wanted /= 2;
    size_t reach = (size_t)wanted;
    void *at = reach ? mmap(NULL, reach, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED) return (memory_window){NULL, 0, 0};
    madvise(at, reach, MADV_DONTDUMP);
    return (memory_window){at, reach, 0};
}

const void *p2p__memory_seen(memory_window *window, int fd, uint64_t place, size_t bytes)
{
    struct stat info;
    if (place > window->reach || bytes > window->reach - place) return NULL;
    if (place + bytes > window->held && fstat(fd, &info) == 0) window->held = (size_t)info.st_size;
    return place + bytes <= window->held ? window->at + place : NULL;
}

void p2p__memory_shut(memory_window *window)
{
    if (window->at) munmap((void *)(uintptr_t)window->at, window->reach);
    *window = (memory_window){NULL, 0, 0};
}
