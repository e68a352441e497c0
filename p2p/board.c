/* SPDX-License-Identifier: MIT */
#include "p2p/board.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "p2p/memory.h"
#include "p2p/trace.h"

static size_t rows_bytes(int size)
{
    return (sizeof(board) + (size_t)size * sizeof(board_row) + 63) / 64 * 64;
}

/* Ranks must not write to the same cache line: a row of counters is a whole number of them. */
static size_t counters_of_a_rank(int size)
{
    return ((size_t)size + 7) / 8 * 8;
}

static size_t counters_bytes(int size)
{
    return 2 * (size_t)size * counters_of_a_rank(size) * sizeof(uint64_t);
}

/* The trace begins on a page of its own. */
static size_t trace_at(int size)
{
    size_t end = rows_bytes(size) + counters_bytes(size) +
                 (size_t)BOARD_CONTEXTS * BOARD_SLOTS * (sizeof(board_gate) + (size_t)size * sizeof(board_line));
    return (end + 4095) / 4096 * 4096;
}

size_t p2p__board_bytes(int size, const p2p_config *config)
{
    return trace_at(size) + p2p__trace_bytes(size, config);
}

void *p2p__board_trace(board *b)
{
    return (char *)b + trace_at(b->size);
}

static board *map(int fd, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

board *p2p__board_create(int size, const p2p_config *config, int *fd)
{
    int file = memfd_create("pairwise-board", MFD_CLOEXEC);
    if (file < 0) return NULL;
    size_t bytes = p2p__board_bytes(size, config);
    board *b = ftruncate(file, (off_t)bytes) == 0 ? map(file, bytes) : NULL;
    if (!b) {
        int saved = errno;
        close(file);
        errno = saved;
        return NULL;
    }
    b->size = size;
    b->config = *config;
    b->magic = BOARD_MAGIC;
    snprintf(b->build_id, sizeof b->build_id, "%s", P2P_BUILD_ID);
    atomic_store(&b->memory_end, p2p__memory_begin(size, config));
    *fd = file;
    return b;
}

board *p2p__board_attach(int fd, char *why, size_t why_bytes)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || (size_t)info.st_size < sizeof(board)) {
        snprintf(why, why_bytes, "the launcher's shared memory cannot be opened");
        return NULL;
    }
    board *b = map(fd, sizeof *b);
    if (!b) {
        snprintf(why, why_bytes, "the launcher's shared memory cannot be mapped: %s", strerror(errno));
        return NULL;
    }
    bool ours = b->magic == BOARD_MAGIC && memcmp(b->build_id, P2P_BUILD_ID, sizeof P2P_BUILD_ID) == 0;
    size_t bytes = ours ? p2p__board_bytes(b->size, &b->config) : 0;
    if (!ours || (size_t)info.st_size < bytes)
        snprintf(why, why_bytes, "the launcher is Pairwise build %.31s, this program is build %s",
                 b->magic == BOARD_MAGIC ? b->build_id : "(unknown)", P2P_BUILD_ID);
    munmap(b, sizeof *b);
    if (!ours || (size_t)info.st_size < bytes) return NULL;
    b = map(fd, bytes);
    if (!b) snprintf(why, why_bytes, "the launcher's shared memory cannot be mapped: %s", strerror(errno));
    return b;
}

void p2p__board_close(board *b)
{
    munmap(b, p2p__board_bytes(b->size, &b->config));
}

static _Atomic uint64_t *counters(board *b)
{
    return (_Atomic uint64_t *)(void *)((char *)b + rows_bytes(b->size));
}

_Atomic uint64_t *p2p__board_sent(board *b, int by)
{
    return counters(b) + (size_t)by * counters_of_a_rank(b->size);
}

_Atomic uint64_t *p2p__board_received(board *b, int by)
{
    return counters(b) + ((size_t)b->size + (size_t)by) * counters_of_a_rank(b->size);
}

static size_t slot_of(uint32_t context, uint64_t number)
{
    return (size_t)(context / 2 % BOARD_CONTEXTS) * BOARD_SLOTS + number % BOARD_SLOTS;
}

board_gate *p2p__board_gate(board *b, uint32_t context, uint64_t number)
{
    board_gate *gates = (board_gate *)(void *)((char *)counters(b) + counters_bytes(b->size));
    return gates + slot_of(context, number);
}

board_line *p2p__board_lines(board *b, uint32_t context, uint64_t number)
{
    board_line *lines = (board_line *)(void *)(p2p__board_gate(b, 0, 0) + (size_t)BOARD_CONTEXTS * BOARD_SLOTS);
    return lines + slot_of(context, number) * (size_t)b->size;
}

/* snprintf at the end of what is there already. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

void p2p__copy_text(char *to, size_t bytes, const char *from)
{
    if (!from) from = "";
    size_t length = strlen(from);
    if (length >= bytes) {
        from += length - (bytes - 1);
        length = bytes - 1;
    }
    memcpy(to, from, length + 1);
}

static void append_what(char *text, size_t bytes, const board_what *what)
{
    if (what->algorithm[0]) append(text, bytes, ", %s", what->algorithm);
    if (what->count != UINT64_MAX) append(text, bytes, ", count %llu", (unsigned long long)what->count);
    if (what->dtype[0]) append(text, bytes, ", %s", what->dtype);
    if (what->op[0]) append(text, bytes, ", %s", what->op);
    if (what->root >= 0) append(text, bytes, ", root %d", what->root);
}

static void append_peer(char *text, size_t bytes, const char *role, int peer, int world_peer, int tag)
{
    if (peer < 0)
        append(text, bytes, "any %s", role);
    else if (peer == world_peer)
        append(text, bytes, "%s %d", role, peer);
    else
        append(text, bytes, "%s %d, which is rank %d of the world", role, peer, world_peer);
    if (tag < 0)
        append(text, bytes, ", any tag");
    else
        append(text, bytes, ", tag %d", tag);
}

static void append_arguments(char *text, size_t bytes, const board_call *call)
{
    unsigned long long amount = call->bytes;
    switch ((enum board_shape)call->shape) {
    case SHAPE_PLAIN: return;
    case SHAPE_WAIT: append(text, bytes, "%llu request%s", amount, amount == 1 ? "" : "s"); return;
    case SHAPE_COLLECTIVE:
        append(text, bytes, "#%llu", (unsigned long long)call->number);
        append_what(text, bytes, &call->what);
        return;
    case SHAPE_RECV: append_peer(text, bytes, "source", call->peer, call->world_peer, call->tag); return;
    case SHAPE_SEND:
    case SHAPE_SENDRECV: append_peer(text, bytes, "dest", call->peer, call->world_peer, call->tag);
    }
    append(text, bytes, ", %llu bytes", amount);
    if (call->shape != SHAPE_SENDRECV) return;
    append(text, bytes, "; ");
    append_peer(text, bytes, "source", call->from, call->world_from, call->from_tag);
}

void p2p__call_text(const board_call *call, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s(", call->name);
    append_arguments(text, bytes, call);
    append(text, bytes, ")");
    if (call->file[0]) append(text, bytes, " at %s:%d", call->file, call->line);
}

void p2p__last_call_text(const board_call *call, char *text, size_t bytes)
{
    if (!call->name[0]) {
        snprintf(text, bytes, "it has made no Pairwise call");
        return;
    }
    snprintf(text, bytes, "its last call was ");
    size_t used = strlen(text);
    p2p__call_text(call, text + used, bytes - used);
}
