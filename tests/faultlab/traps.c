/* SPDX-License-Identifier: MIT */
/* Traps in the shm world. The program is linked with --wrap for what its files call in each other, so that a case can
 * stand in between: just before a record is written, and instead of a copy from another rank's memory. */
#include "lab.h"

#include "p2p/internal.h"
#include "p2p/shm_ring.h"

size_t __real_p2p__ring_room(shm_writer *writer, size_t least);
bool __real_p2p__pull(pid_t pid, void *to, uint64_t from, size_t bytes);
size_t __wrap_p2p__ring_room(shm_writer *writer, size_t least);
bool __wrap_p2p__pull(pid_t pid, void *to, uint64_t from, size_t bytes);

static shm_writer *last;
void (*lab_before_record)(shm_writer *writer);
bool (*lab_instead_of_pull)(pid_t pid, void *to, uint64_t from, size_t bytes);

bool lab_in_shm(p2p_comm *world)
{
    return world->engine->world->link_memory;
}

shm_writer *lab_last_writer(void)
{
    return last;
}

size_t __wrap_p2p__ring_room(shm_writer *writer, size_t least)
{
    size_t room = __real_p2p__ring_room(writer, least);
    if (room && lab_before_record) lab_before_record(writer);
    last = writer;
    return room;
}

bool lab_pull(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return __real_p2p__pull(pid, to, from, bytes);
}

bool __wrap_p2p__pull(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return lab_instead_of_pull ? lab_instead_of_pull(pid, to, from, bytes) : lab_pull(pid, to, from, bytes);
}
