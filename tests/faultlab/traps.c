/* SPDX-License-Identifier: MIT */
/* Traps in the shm world. The program is linked with --wrap for what its files call in each other, so that a case can
 * stand in between: just before a record is written, and instead of a copy from another rank's memory, or to it. And
 * before buffers are combined. */
#include "lab.h"

#include "dtype/dtype.h"
#include "p2p/message/internal.h"
#include "p2p/world/shm_queue.h"

unsigned char *__real_p2p__queue_begin(shm_writer *writer, size_t content);
bool __real_p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes);
unsigned char *__wrap_p2p__queue_begin(shm_writer *writer, size_t content);
bool __wrap_p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes);
bool __real_p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes);
bool __wrap_p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes);

void __real_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);
void __wrap_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);

static shm_writer *last;
void (*lab_before_combine)(void);
void (*lab_before_record)(unsigned char *place);
bool (*lab_instead_of_cma_read)(pid_t pid, void *to, uint64_t from, size_t bytes);
bool (*lab_instead_of_cma_write)(pid_t pid, void *from, uint64_t to, size_t bytes);

bool lab_in_shm(p2p_comm *world)
{
    return world->engine->world->link_memory;
}

shm_writer *lab_last_writer(void)
{
    return last;
}

unsigned char *__wrap_p2p__queue_begin(shm_writer *writer, size_t content)
{
    unsigned char *place = __real_p2p__queue_begin(writer, content);
    if (lab_before_record) lab_before_record(place);
    last = writer;
    return place;
}

bool lab_cma_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return __real_p2p__cma_read(pid, to, from, bytes);
}

bool __wrap_p2p__cma_read(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return lab_instead_of_cma_read ? lab_instead_of_cma_read(pid, to, from, bytes) : lab_cma_read(pid, to, from, bytes);
}

bool lab_cma_write(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    return __real_p2p__cma_write(pid, from, to, bytes);
}

bool __wrap_p2p__cma_write(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    return lab_instead_of_cma_write ? lab_instead_of_cma_write(pid, from, to, bytes)
                                    : lab_cma_write(pid, from, to, bytes);
}

void __wrap_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    if (lab_before_combine) lab_before_combine();
    __real_dtype_combine(out, left, right, count, dtype, op);
}
