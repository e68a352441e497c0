/* SPDX-License-Identifier: MIT */
#include "p2p/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LOOK_FROM ((size_t)16 << 20) /* before taking so much, see how much there is */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

uint64_t p2p__memory_begin(int size, const p2p_config *config)
{
    return round_up(p2p__board_bytes(size, config), MEMORY_UNIT);
}

size_t p2p__memory_round(size_t bytes)
{
    return bytes > SIZE_MAX / 2 ? 0 : (size_t)round_up(bytes ? bytes : 1, MEMORY_UNIT);
}

/* ---- What there is ---- */

/* The number behind `name` in a file (at its beginning if name is ""); `otherwise` if it is not there. */
static uint64_t number_in(const char *path, const char *name, uint64_t otherwise)
{
    char line[128];
    unsigned long long number;
    bool found = false;
    FILE *file = fopen(path, "re");
    if (!file) return otherwise;
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), "%llu", &number) == 1;
    fclose(file);
    return found ? number : otherwise;
}

/* Pages of a memory file are taken at once, and where there are no more the system looks for somebody to kill. So what is
 * plainly too much is refused before. */
static bool is_too_much(size_t bytes)
{
    if (bytes < LOOK_FROM) return false;
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:", UINT64_MAX >> 11) +
                   number_in("/proc/meminfo", "SwapFree:", 0);
    uint64_t limit = number_in("/sys/fs/cgroup/memory.max", "", UINT64_MAX);
    uint64_t used = number_in("/sys/fs/cgroup/memory.current", "", 0);
    return bytes / 1024 > kib || (limit > used ? limit - used : 0) < bytes;
}

/* ---- Taking and giving ---- */

/* A limit on the size of files (ulimit -f) applies, and would come as a signal. */
static int allocate(int fd, uint64_t place, size_t bytes)
{
    sigset_t limit, old;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &old);
    int failed;
    do failed = fallocate(fd, 0, (off_t)place, (off_t)bytes);
    while (failed && errno == EINTR);
    int saved = errno;
    if (failed && saved == EFBIG && !sigismember(&old, SIGXFSZ)) sigtimedwait(&limit, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return failed;
}

memory_place p2p__memory_take(board *b, int fd, size_t bytes, size_t align)
{
    uint64_t end = atomic_load(&b->memory_end), place;
    if (is_too_much(bytes)) {
        errno = ENOMEM;
        return 0;
    }
    do place = round_up(end, align);
    while (!atomic_compare_exchange_weak(&b->memory_end, &end, place + bytes));
    return allocate(fd, place, bytes) == 0 ? place : 0;
}

void *p2p__memory_map(int fd, memory_place place, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place);
    return at == MAP_FAILED ? NULL : at;
}

void p2p__memory_give_back(int fd, memory_place place, size_t bytes)
{
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)place, (off_t)bytes);
}
