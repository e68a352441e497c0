/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the heap: where each begins, and how long it is. mpicc links this into programs whose accesses are looked at
 * (accesses.c), in front of the C library's functions, for the program and for all libraries that it uses. They do what
 * they did, and a table is kept. So it is known
 *
 *      MPI_Isend(x, ...); free(x); MPI_Wait(...);      that x is freed while the send has it, also by realloc and delete
 *      x = malloc(10); MPI_Recv(x, 100, MPI_INT, ...)  that x is shorter than what is received into it
 *
 * All names are weak, so a program's own malloc takes the place of this one, and nothing is known.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi/internal.h"

enum {
    PAGE = 4096,         /* blocks are found by the page that they begin in */
    CHAINS = 1 << 16,    /* of pages */
    LONG = 16 * PAGE,    /* from here on a block stands in a list of its own */
    TOGETHER = 1024,     /* entries that are made at once */
    EARLY = 16 * PAGE,   /* bytes */
    EARLY_ALIGNMENT = 16 /* of a block */
};

typedef struct block {
    struct block *next;
    uintptr_t begin;
    size_t bytes;
} block;

static block *chains[CHAINS], *longs, *unused;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- The C library's functions ---- */

static struct {
    void *(*malloc)(size_t bytes);
    void (*free)(void *at);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*realloc)(void *at, size_t bytes);
    void *(*memalign)(size_t alignment, size_t bytes);
} real;

/* Until they are known: to look them up may take memory. */
static _Alignas(EARLY_ALIGNMENT) char early[EARLY];
static size_t early_used;

static bool is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + EARLY;
}

static void *early_block(size_t bytes)
{
    size_t begin = early_used;
    if (bytes > EARLY - begin - EARLY_ALIGNMENT) return NULL;
    early_used = (begin + bytes + EARLY_ALIGNMENT - 1) / EARLY_ALIGNMENT * EARLY_ALIGNMENT;
    return early + begin;
}

/* POSIX has dlsym return an object for what may be a function. */
static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static bool is_ready(void)
{
    static bool begun;
    if (real.free) return true;
    if (begun) return false;
    begun = true;
    find(&real.malloc, "malloc");
    find(&real.calloc, "calloc");
    find(&real.realloc, "realloc");
    find(&real.memalign, "memalign");
    find(&real.free, "free");
    return true;
}

/* ---- The table ---- */

static block **chain_of(uintptr_t page)
{
    return &chains[(page * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

static block **list_of(uintptr_t begin, size_t bytes)
{
    return bytes >= LONG ? &longs : chain_of(begin / PAGE);
}

static block *new_entry(void)
{
    if (!unused) {
        block *more = mmap(NULL, TOGETHER * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) return NULL;
        for (int i = 0; i < TOGETHER; i++) more[i].next = unused, unused = &more[i];
    }
    block *entry = unused;
    unused = entry->next;
    return entry;
}

static void *note(void *at, size_t bytes)
{
    int saved = errno;
    if (!at) return NULL;
    pthread_mutex_lock(&mutex);
    block *entry = new_entry(), **list = list_of((uintptr_t)at, bytes);
    if (entry) {
        *entry = (block){*list, (uintptr_t)at, bytes};
        *list = entry;
    }
    pthread_mutex_unlock(&mutex);
    errno = saved;
    return at;
}

static block *take(block **list, uintptr_t begin)
{
    while (*list && (*list)->begin != begin) list = &(*list)->next;
    block *found = *list;
    if (found) *list = found->next;
    return found;
}

/* What was known of the block that begins here is forgotten: its length; 0 if nothing was. */
static size_t forget(const void *at)
{
    size_t bytes = 0;
    pthread_mutex_lock(&mutex);
    block *entry = take(chain_of((uintptr_t)at / PAGE), (uintptr_t)at);
    if (!entry) entry = take(&longs, (uintptr_t)at);
    if (entry) {
        bytes = entry->bytes;
        entry->next = unused;
        unused = entry;
    }
    pthread_mutex_unlock(&mutex);
    return bytes;
}

static const block *search(const block *list, uintptr_t at)
{
    while (list && (at < list->begin || at - list->begin >= list->bytes)) list = list->next;
    return list;
}

/* The block that has this byte. A shorter one begins in this page, or in one of the LONG / PAGE before. */
static bool find_block(uintptr_t at, uintptr_t *begin, uintptr_t *end)
{
    pthread_mutex_lock(&mutex);
    const block *found = search(longs, at);
    for (uintptr_t back = 0; !found && back <= LONG / PAGE && back <= at / PAGE; back++)
        found = search(*chain_of(at / PAGE - back), at);
    if (found) {
        *begin = found->begin;
        *end = found->begin + found->bytes;
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

/* A child has the table as it is between two calls. */
static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static __attribute__((constructor)) void begin(void)
{
    pthread_atfork(lock, unlock, unlock);
    mpi__block_of = find_block;
}

/* ---- In front of them ---- */

#define IN_FRONT __attribute__((weak, visibility("default")))

/* The program's own block: it is looked at. `how`, by which function, for a sentence. */
static size_t look(const void *at, const char *how, const void *from)
{
    size_t bytes = forget(at);
    if (bytes && mpi__may_be_pending(at, bytes)) mpi__freed((uintptr_t)at, bytes, how, from);
    return bytes;
}

IN_FRONT void *malloc(size_t bytes)
{
    return is_ready() ? note(real.malloc(bytes), bytes) : early_block(bytes);
}

IN_FRONT void *calloc(size_t count, size_t bytes)
{
    return is_ready() ? note(real.calloc(count, bytes), count * bytes) : early_block(count * bytes);
}

IN_FRONT void free(void *at)
{
    if (!at || is_early(at)) return;
    look(at, "free", __builtin_return_address(0));
    if (is_ready()) real.free(at);
}

IN_FRONT void *realloc(void *at, size_t bytes)
{
    if (!at || !is_ready()) return malloc(bytes);
    if (is_early(at)) {
        size_t room = (size_t)(early + EARLY - (char *)at);
        void *moved = malloc(bytes);
        return moved ? memcpy(moved, at, bytes < room ? bytes : room) : NULL;
    }
    size_t before = look(at, "realloc", __builtin_return_address(0));
    void *moved = real.realloc(at, bytes);
    if (!moved && bytes && before) note(at, before); /* it is still there */
    return note(moved, bytes);
}

IN_FRONT void *memalign(size_t alignment, size_t bytes)
{
    return is_ready() ? note(real.memalign(alignment, bytes), bytes) : NULL;
}

IN_FRONT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

IN_FRONT int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1)) return EINVAL;
    int saved = errno;
    void *made = memalign(alignment, bytes);
    errno = saved;
    if (!made) return ENOMEM;
    *at = made;
    return 0;
}
