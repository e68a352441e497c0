/* SPDX-License-Identifier: MIT */
/*
 * What a program does to its memory while operations are pending. mpicc has the compiler call a function before each access
 * to memory that others may know of, as the thread sanitizers of gcc and clang do (-fsanitize=thread); these are the functions.
 * An access outside of all pending buffers costs two comparisons.
 *
 *      MPI_Irecv(x, ...);          x is a region
 *      y = x[0];                   __tsan_read4(x): it is in a region, and may not be read: the job ends, with this line
 *      MPI_Wait(...);              x is none any more
 *
 * Nothing is said of accesses inside of MPI's calls (functions of the program's that are called back), nor of those of
 * other threads.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "mpi/internal.h"
#include "mpi/lines.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_RUNTIME 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define OWN_RUNTIME 1
#endif

#ifndef OWN_RUNTIME

/* What is done now, the program does, and not one of MPI's calls, nor a process that it has forked, whose memory is a copy. */
static bool is_looked_at(void)
{
    return mpi__state == MPI__RUNNING && pthread_equal(pthread_self(), mpi__thread) &&
           !p2p_layer_is_inside(mpi__world->p2p) && getpid() == mpi__process;
}

/* It is a mistake, at the instruction at `from`: `does` is what the program does with the region. */
static void tell(const mpi__region *r, const char *call, const char *does, const char *again, const void *from)
{
    mpi__comm *c = r->comm;
    const char *file;
    int line;
    mpi__program_line(from, &file, &line);
    p2p__here(file ? file : r->file, file ? line : r->line);
    p2p_set_errors(c->p2p, P2P_ERRORS_FATAL); /* no call of the program's is there to return it */
    if (mpi__begin_on(c, &(p2p_layer_call){.name = call})) return;
    mpi__say_mistake(c, "buffer_conflict",
                     "the program %s that %s at %s:%d %s, before that has ended" MPI__TRY
                     "MPI_Wait for its request before the buffer is %s",
                     does, r->name, r->file ? r->file : "?", r->line, r->received ? "receives into" : "sends", again);
    p2p_layer_other_line(c->p2p, r->name, r->file, r->line);
    mpi__end(c, MPI_ERR_BUFFER);
}

void mpi__touched(uintptr_t at, size_t bytes, bool writes, const void *from, bool anybody)
{
    if (!is_looked_at()) return;
    mpi__region *r = mpi__region_at(at, bytes, writes);
    if (r && anybody && mpi__is_called()) return;
    if (r && r->is_status) {
        mpi__region_close(r);
        r = mpi__region_at(at, bytes, writes);
    }
    if (r) tell(r, writes ? "write" : "read", writes ? "writes to the buffer" : "reads the buffer", "used again", from);
}

void mpi__freed(uintptr_t at, size_t bytes, const char *how, const void *from)
{
    if (!is_looked_at()) return;
    const mpi__region *r = mpi__region_at(at, bytes, true);
    if (!r || r->is_status || mpi__is_called()) return;
    tell(r, how, "frees the memory", "freed, or goes out of scope", from);
}

static inline void look(const void *at, size_t bytes, bool writes, const void *from)
{
    if (mpi__may_be_pending(at, bytes)) mpi__touched((uintptr_t)at, bytes, writes, from, false);
}

/* The compiler's names. */
#define ACCESS(name, bytes, writes)                           \
    void __tsan_##name(const void *at);                       \
    void __tsan_##name(const void *at)                        \
    {                                                         \
        look(at, bytes, writes, __builtin_return_address(0)); \
    }
#define ACCESSES(bytes)                         \
    ACCESS(read##bytes, bytes, false)           \
    ACCESS(write##bytes, bytes, true)           \
    ACCESS(unaligned_read##bytes, bytes, false) \
    ACCESS(unaligned_write##bytes, bytes, true)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(const void *at, size_t bytes);
void __tsan_read_range(const void *at, size_t bytes)
{
    look(at, bytes, false, __builtin_return_address(0));
}

void __tsan_write_range(const void *at, size_t bytes);
void __tsan_write_range(const void *at, size_t bytes)
{
    look(at, bytes, true, __builtin_return_address(0));
}

/* Before main. */
void __tsan_init(void);
void __tsan_init(void)
{
    mpi__looks = true;
}

/* Nothing to do. */
#define NOTHING(name, ...)           \
    void __tsan_##name(__VA_ARGS__); \
    void __tsan_##name(__VA_ARGS__)  \
    {                                \
    }
NOTHING(func_entry, const void *from __attribute__((unused)))
NOTHING(func_exit, void)
NOTHING(vptr_update, void **at __attribute__((unused)), void *value __attribute__((unused)))
NOTHING(vptr_read, void **at __attribute__((unused)))

#endif
