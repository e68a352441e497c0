/* SPDX-License-Identifier: MIT */
/*
 * Objects behind handles. Their memory comes in blocks that are never given back, so that a handle of the program's can be
 * looked at when it lies in one of them, at a place where an object begins; anything else is no handle.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

enum { FIRST_BLOCK = 64, KEPT = 64 /* freed objects of a kind before one is used again */ };

typedef struct block {
    struct block *next;
    char *first;
    size_t bytes, room, used; /* of one object; objects */
} block;

static struct {
    block *blocks;
    mpi__object *oldest, **newest;
    size_t freed;
} pools[MPI__KINDS];

/* Each block has twice the room of the one before, so that a handle is looked for in few. */
static mpi__object *fresh(enum mpi__kind kind, size_t bytes)
{
    block *b = pools[kind].blocks;
    if (!b || b->used == b->room) {
        const size_t room = b ? 2 * b->room : FIRST_BLOCK;
        block *more = malloc(sizeof *more);
        char *first = more ? calloc(room, bytes) : NULL;
        if (!first) {
            free(more);
            return NULL;
        }
        *more = (block){b, first, bytes, room, 0};
        pools[kind].blocks = b = more;
    }
    return (mpi__object *)(void *)(b->first + b->bytes * b->used++);
}

void *mpi__object_new(enum mpi__kind kind, size_t bytes)
{
    size_t kept = kind == MPI__REQUEST ? 8 : KEPT;
    mpi__object *object = pools[kind].freed > kept ? pools[kind].oldest : NULL;
    if (object) {
        pools[kind].oldest = object->next;
        pools[kind].freed--;
    } else {
        object = fresh(kind, bytes);
    }
    if (!object) return NULL;
    memset(object, 0, bytes);
    object->magic = MPI__LIVE | (uint32_t)kind;
    object->references = 1;
    return object;
}

void mpi__object_free(void *freed)
{
    mpi__object *object = freed;
    enum mpi__kind kind = (enum mpi__kind)(object->magic & 0xff);
    p2p_layer_given_back(&object->thing);
    object->magic = MPI__FREED | (uint32_t)kind;
    object->next = NULL;
    if (pools[kind].freed++ == 0 || !pools[kind].newest)
        pools[kind].oldest = object;
    else
        *pools[kind].newest = object;
    pools[kind].newest = &object->next;
}

bool mpi__release(void *object)
{
    return --((mpi__object *)object)->references == 0;
}

void *mpi__object_of(enum mpi__kind kind, const void *handle, bool *freed)
{
    const char *at = handle;
    *freed = false;
    for (const block *b = pools[kind].blocks; b; b = b->next) {
        if (at < b->first || at >= b->first + b->used * b->bytes) continue;
        if ((size_t)(at - b->first) % b->bytes) return NULL;
        mpi__object *object = (mpi__object *)(uintptr_t)handle;
        *freed = object->magic == (MPI__FREED | (uint32_t)kind);
        return object->magic == (MPI__LIVE | (uint32_t)kind) ? object : NULL;
    }
    return NULL;
}
