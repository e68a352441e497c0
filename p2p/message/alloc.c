/* SPDX-License-Identifier: MIT */
/*
 * Buffers of the program that other ranks can read in place.
 *
 *      p2p_alloc            a buffer with a place in the job's memory file (memory.h)
 *      p2p_layer_export     says where a buffer lies, in words that another rank understands
 *      p2p_layer_attach     the same memory in this rank: through one window on the whole file, which never moves
 *
 * A long message out of such a buffer is read there by its receiver, in one copy (send.c, recv.c).
 *
 * Where ranks share no memory, p2p_alloc gives ordinary memory, which no other rank can attach.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "p2p/message/internal.h"

#define HUGE_PAGE ((size_t)2 << 20)

bool p2p_layer_has_shared_memory(const p2p_comm *comm)
{
    return comm && comm->engine && comm->one_host && comm->engine->memory_fd >= 0 && !comm->engine->config.network.on;
}

bool p2p_layer_has_inline(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->memory_fd >= 0 && !comm->engine->config.network.on;
}

/* ---- Buffers ---- */

static void *new_memory(p2p_engine *engine, size_t bytes, size_t align, memory_place *place)
{
    *place = 0;
    if (engine->memory_fd < 0) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return at == MAP_FAILED ? NULL : at;
    }
    *place = p2p__memory_take(engine->scoreboard, engine->memory_fd, &engine->gaps, bytes, align);
    void *at = *place ? p2p__memory_map(engine->memory_fd, *place, bytes) : NULL;
    if (*place && !at) p2p__memory_give_back(engine->memory_fd, &engine->gaps, *place, bytes);
    if (at && align == HUGE_PAGE) madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

p2p_err p2p_alloc(p2p_comm *comm, size_t bytes, void **buf)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_alloc", SHAPE_PLAIN, 0, 0, bytes, 0, 0, 0, 0});
    if (err) return err;
    if (!buf) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_ADDRESS));
    p2p_engine *engine = comm->engine;
    size_t room = p2p__memory_round(bytes), align = room >= HUGE_PAGE ? HUGE_PAGE : MEMORY_UNIT;
    p2p_block *block = room ? malloc(sizeof *block) : NULL;
    memory_place place;
    char *at = block ? new_memory(engine, room, align, &place) : NULL;
    if (!at) {
        int why = room ? errno : ENOMEM;
        free(block);
        return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_SHARED_MEMORY, bytes, strerror(why)));
    }
    *block = (p2p_block){.next = engine->blocks,
                         .place = place,
                         .bytes = room,
                         .at = at,
                         .asked = bytes,
                         .file = engine->call_file,
                         .line = engine->call_line};
    engine->blocks = block;
    *buf = at;
    return p2p__leave(comm, P2P_OK);
}

static void free_block(p2p_engine *engine, p2p_block **link)
{
    p2p_block *block = *link;
    munmap(block->at, block->bytes);
    if (block->place) p2p__memory_give_back(engine->memory_fd, &engine->gaps, block->place, block->bytes);
    *link = block->next;
    free(block);
}

p2p_err p2p_release(p2p_comm *comm, void *buf)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_release", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err) return err;
    p2p_block **link = &comm->engine->blocks;
    while (*link && (*link)->at != buf) link = &(*link)->next;
    if (!*link && buf) return p2p__leave(comm, p2p__fail(comm, CAUSE_NOT_FROM_ALLOC));
    const char *at = buf;
    p2p_request user = *link ? comm->engine->requests : NULL;
    while (user && (user->done || (char *)user->buf < at || (char *)user->buf >= at + (*link)->bytes))
        user = user->all_next;
    if (user) {
        p2p__fail(comm, CAUSE_IN_USE, user->bytes, user->line);
        p2p__blame_request(comm, user);
        return p2p__leave(comm, P2P_ERR_STATE);
    }
    if (*link) free_block(comm->engine, link);
    return p2p__leave(comm, P2P_OK);
}

/* Where there is no memory for the copy, it becomes ordinary memory. */
static void move_block(p2p_engine *to, p2p_block *block)
{
    size_t align = block->bytes >= HUGE_PAGE ? HUGE_PAGE : MEMORY_UNIT;
    memory_place place = 0;
    if (!block->place || to->memory_fd < 0) return;
    void *copy = new_memory(to, block->bytes, align, &place);
    block->place = 0;
    if (!copy) return;
    memcpy(copy, block->at, block->bytes);
    if (mremap(copy, block->bytes, block->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, block->at) == block->at) {
        block->place = place;
        return;
    }
    munmap(copy, block->bytes);
    p2p__memory_give_back(to->memory_fd, &to->gaps, place, block->bytes);
}

void p2p__blocks_move(p2p_engine *from, p2p_engine *to)
{
    to->blocks = from->blocks;
    from->blocks = NULL;
    for (p2p_block *block = to->blocks; block; block = block->next) move_block(to, block);
}

/* ---- What others have ---- */

/* Of a collective's own memory (scratch.c). */
static uint64_t scratch_place(const p2p_engine *engine, const void *buf, size_t bytes)
{
    for (const p2p_comm *comm = engine->comms; comm; comm = comm->next) {
        size_t all = comm->scratch ? comm->segment_bytes * (size_t)comm->size : 0;
        const unsigned char *at = buf;
        if (!all || at < comm->scratch || at >= comm->scratch + all) continue;
        return bytes && bytes <= all - (size_t)(at - comm->scratch) ? comm->scratch_place + (size_t)(at - comm->scratch)
                                                                    : 0;
    }
    return 0;
}

uint64_t p2p__shared_place(const p2p_engine *engine, const void *buf, size_t bytes)
{
    const p2p_block *block = engine->blocks;
    while (block && ((const char *)buf < block->at || (const char *)buf >= block->at + block->bytes))
        block = block->next;
    size_t before = block ? (size_t)((const char *)buf - block->at) : 0;
    if (!block) return scratch_place(engine, buf, bytes);
    return block->place && bytes && bytes <= block->bytes - before ? block->place + before : 0;
}

/* Tried once: a rank that has no room for it must not have it all of a sudden, when others know that it has not. */
static memory_window *window_of(p2p_engine *engine)
{
    if (!engine->has_looked) engine->window = p2p__memory_window(engine->memory_fd);
    engine->has_looked = true;
    return &engine->window;
}

const void *p2p__shared_bytes(p2p_engine *engine, uint64_t place, size_t bytes)
{
    return engine->memory_fd >= 0 ? p2p__memory_seen(window_of(engine), engine->memory_fd, place, bytes) : NULL;
}

p2p_export p2p_layer_export(const p2p_comm *comm, const void *buf, size_t bytes)
{
    if (!p2p_layer_has_shared_memory(comm)) return (p2p_export){0, 0};
    return (p2p_export){p2p__shared_place(comm->engine, buf, bytes), window_of(comm->engine)->reach};
}

const void *p2p_layer_attach(p2p_comm *comm, p2p_export exported, size_t bytes)
{
    comm->attaches = true;
    return exported.place ? p2p__shared_bytes(comm->engine, exported.place, bytes) : NULL;
}

void p2p__blocks_free(p2p_engine *engine)
{
    while (engine->blocks) free_block(engine, &engine->blocks);
    p2p__memory_shut(&engine->window);
    p2p__memory_forget(&engine->gaps);
}
