/* SPDX-License-Identifier: MIT */
/*
 * Memory of the program's that an operation has, and that is not there: it was freed meanwhile, or never was a buffer. The
 * system says so when the operation gets to it (EFAULT, SIGSEGV), mostly in another call than the one that began it:
 *
 *      p2p_isend(x, ...);
 *      free(x);
 *      p2p_wait(...);         here the kernel finds no memory: the isend is to blame, at its line
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "p2p/message/internal.h"

static bool is_there(const void *at, size_t bytes)
{
    unsigned char resident[256];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)at + bytes;
    if (end < bytes) return false;
    for (uintptr_t from = (uintptr_t)at / page * page; from < end; from += sizeof resident * page) {
        size_t part = end - from < sizeof resident * page ? end - from : sizeof resident * page;
        if (mincore((void *)from, part, resident) != 0 && errno == ENOMEM) return false;
    }
    return true;
}

/* Some of these bytes cannot be accessed: that at `fault` (NULL: not known which), or one that is not mapped. */
static bool is_bad(const void *at, size_t bytes, const void *fault)
{
    return bytes && (((uintptr_t)fault - (uintptr_t)at < bytes && fault) || !is_there(at, bytes));
}

static p2p_request find_gone(const p2p_engine *engine, const void *fault)
{
    for (p2p_request at = engine->requests; at; at = at->all_next)
        if (at->kind != REQUEST_LAYER && (!at->done || at->fresh_link) && is_bad(at->buf, at->bytes, fault)) return at;
    return NULL;
}

/* The open call has begun it. */
static bool is_of_call(const p2p_engine *engine, const struct p2p_operation *request)
{
    return request->name == engine->call_name && request->file == engine->call_file &&
           request->line == engine->call_line;
}

/* The cause, on comm; P2P_OK: all buffers that are known are there. */
static p2p_err blame(p2p_engine *engine, p2p_comm *comm, const void *fault)
{
    const struct p2p_operation *gone = find_gone(engine, fault);
    if (gone && !is_of_call(engine, gone)) {
        p2p__fail(comm, CAUSE_MEMORY_GONE, gone->kind == REQUEST_SEND ? "send" : "receive", gone->line, gone->bytes);
        p2p__blame_request(comm, gone);
        return P2P_ERR_ARG;
    }
    if (gone) return p2p__fail(comm, CAUSE_NO_MEMORY_THERE, gone->buf, gone->bytes);
    for (int i = 0; i < 2; i++)
        if (is_bad(engine->buffers[i].at, engine->buffers[i].bytes, fault))
            return p2p__fail(comm, CAUSE_NO_MEMORY_THERE, engine->buffers[i].at, engine->buffers[i].bytes);
    return P2P_OK;
}

void p2p_layer_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes)
{
    comm->engine->buffers[writes].at = buf;
    comm->engine->buffers[writes].bytes = bytes;
}

p2p_err p2p__bad_memory(p2p_endpoint *self, int rank)
{
    p2p_engine *engine = self->engine;
    p2p_comm *world = engine->comms;
    if (!blame(engine, world, NULL))
        return p2p__broken(self, P2P_ERR_SYS, "a message to or from rank %d has bytes at a bad address", rank);
    return p2p__poison(world, P2P_ERR_ARG);
}

void p2p__tell_bad_memory(p2p_engine *engine, const void *fault)
{
    p2p_comm *world = engine->comms;
    if (!blame(engine, world, fault)) return;
    world->errors = P2P_ERRORS_FATAL; /* the process cannot go on */
    engine->depth = 1;
    p2p__leave(world, P2P_ERR_ARG);
}
